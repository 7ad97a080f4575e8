"""Every example in README.md and docs/ runs, and every number printed beside a line of Python is what it gives.

The blocks of a file run in order, in one empty folder; its `python` blocks share one namespace.

- `ndcg(scores, labels)   # 0.887`: a comment that begins with a number, a list or a quote is the value of its line, to
  the digits printed. Behind a `print(...)` it is what was printed.
- `<!-- file: my_loss.py -->` before a block also writes the block to that file.
- `<!-- run -->` before a `console` block runs its lines that begin with `$ ltr`; each other line must be among what
  they print, up to its numbers, which depend on the processor after a training. `...` stands for anything. The last
  command of `<!-- run: exit 3 -->` has that exit status.
- `<!-- not run: reason -->` before a `python` block leaves it out.
"""

import ast
import io
import math
import os
import re
import shlex
import subprocess
import sysconfig
import tokenize
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NUMBER = r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
VALUE = re.compile(rf"#\s*(?P<value>'[^']*'|(?:True|False)\b|(?:tensor\()?\[[-+\d.,e\s\[\]]*\]|{NUMBER}(?![\w@]))")
FENCE = re.compile(
    r"(?:^<!--[ ](?P<mark>run|file|not[ ]run)(?::[ ](?P<note>[^\n]+?))?[ ]-->\n+)?"
    r"^```(?P<language>\w+)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)


class Block(NamedTuple):
    line: int  # of its first line of text in the page
    mark: str | None
    note: str | None
    language: str
    text: str


def blocks_of(page: str) -> Iterator[Block]:
    for match in FENCE.finditer(page):
        line = page.count("\n", 0, match.start("text")) + 1
        yield Block(line, match["mark"], match["note"], match["language"], match["text"])


def shown_values(text: str) -> dict[int, str]:
    """The value that a comment claims, by line of the block."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    found = ((token.start[0], VALUE.match(token.string)) for token in tokens if token.type == tokenize.COMMENT)
    return {line: match["value"] for line, match in found if match}


def agrees(value: Any, shown: str) -> bool:
    """Is the value the shown one, in every number to the digits shown?"""
    if shown.startswith("'") or shown in ("True", "False"):
        return str(value) == shown.strip("'")
    shown_numbers = re.findall(NUMBER, shown)
    text = str(value.tolist() if hasattr(value, "tolist") else value)
    numbers = re.findall(rf"{NUMBER}|nan|inf", text)
    shape = re.sub(rf"{NUMBER}|[^\[\]]", "", shown) if "[" in shown else ""
    if "[" in text and shape and re.sub(r"[^\[\]]", "", text) != shape:
        return False
    return len(numbers) == len(shown_numbers) and all(
        math.isclose(float(number), float(wanted), rel_tol=0, abs_tol=half_unit(wanted))
        for number, wanted in zip(numbers, shown_numbers, strict=True)
    )


def half_unit(shown: str) -> float:
    """Half of the last digit of a printed number."""
    digits, _, exponent = shown.partition("e")
    decimals = len(digits.partition(".")[2])
    return 0.5000001 * 10.0 ** (int(exponent or 0) - decimals) if "." in digits else 0.0


def run_python(block: Block, page: str, namespace: dict[str, Any]) -> None:
    shown = shown_values(block.text)
    for statement in ast.parse(block.text).body:
        last = statement.end_lineno or statement.lineno
        ast.increment_lineno(statement, block.line - 1)
        printed = io.StringIO()
        value: Any = None
        with redirect_stdout(printed):
            if isinstance(statement, ast.Expr):
                value = eval(compile(ast.Expression(statement.value), page, "eval"), namespace)
            else:
                exec(compile(ast.Module([statement], []), page, "exec"), namespace)
        if last in shown and isinstance(statement, ast.Expr):
            got = printed.getvalue().strip() if value is None else value
            where = f"{page}, line {block.line + last - 1}"
            assert agrees(got, shown[last]), f"{where}: {ast.unparse(statement)} gives {got}, not {shown[last]}"


def run_console(block: Block, page: str, folder: Path) -> None:
    printed: set[str] = set()
    lines = re.sub(r"\\\n\s*", " ", block.text).splitlines()
    commands = [line for line in lines if line.startswith("$ ltr ")]
    for place, line in enumerate(commands, start=1):
        status = int((block.note or "0").removeprefix("exit ")) if place == len(commands) else 0
        program = Path(sysconfig.get_path("scripts")) / "ltr"
        command = [str(program), *shlex.split(line.removeprefix("$ ltr "), comments=True)]
        plain = {name: value for name, value in os.environ.items() if name != "COLUMNS"}  # readline sets it unseen
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=plain)
        assert done.returncode == status, f"{page}, line {block.line}: {line}\n{done.stdout}{done.stderr}"
        printed |= {without_numbers(each) for each in done.stdout.splitlines()}
    for line in lines:
        if not line.startswith("$"):
            wanted = re.escape(without_numbers(line)).replace(re.escape("..."), ".*")
            assert any(re.fullmatch(wanted, each) for each in {"", *printed}), f"{page}: never printed: {line}"


def without_numbers(line: str) -> str:
    return re.sub(NUMBER, "0", " ".join(line.split()))


def run_page(page: str, name: str, folder: Path) -> int:
    """Run a page's blocks in this folder; how many of them ran."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    ran = 0
    for block in blocks_of(page):
        if block.mark == "file":
            (folder / str(block.note)).write_text(block.text)
        if block.language == "python" and block.mark != "not run":
            run_python(block, name, namespace)
        elif block.language == "console" and block.mark == "run":
            run_console(block, name, folder)
        else:
            continue
        ran += 1
    return ran


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_examples_of_a_page_run(path: Path, empty_folder: Path) -> None:
    page = path.read_text()
    fences = re.findall(r"^\s*```(\w+)", page, re.MULTILINE)
    assert [block.language for block in blocks_of(page)] == fences, "a block that is indented or not closed is not run"
    run_page(page, path.name, empty_folder)


def test_readme_shows_numbers() -> None:
    blocks = [block for block in blocks_of(PAGES[0].read_text()) if block.language == "python"]
    assert any(shown_values(block.text) for block in blocks)


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("1 / 3", "# 0.333"),
        ("1 / 3", "#  0.33, a third"),
        ("-1e-7 / 3", "# -3.33e-8"),
        ("3", "# 3"),
        ("[1 / 3, 2.0]", "# [0.33, 2.00]"),
        ("__import__('numpy').array([[0.5, 0.25]])", "# [[0.50, 0.25]]"),
        ("__import__('torch').tensor([0.5, 1 / 3])", "# tensor([0.5000, 0.3333])"),
        ("'ndcg@10'", "# 'ndcg@10'"),
        ("1 < 3", "# True"),
        ("print(1 / 3)", "# 0.333"),
        ("1 / 3", "# a third, not 0.4"),
        ("1 / 3", "# 2nd form"),
    ],
)
def test_a_right_value_passes(expression: str, shown: str, tmp_path: Path) -> None:
    assert run_page(f"```python\n{expression}   {shown}\n```\n", "page.md", tmp_path) == 1


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("1 / 3", "# 0.334"),
        ("3.4", "# 3"),
        ("[1 / 3, 2.0]", "# [0.33, 2.1]"),
        ("[1 / 3]", "# [0.33, 0.33]"),
        ("[0.5, 0.5]", "# [[0.5, 0.5]]"),
        ("float('nan')", "# 0.5"),
        ("'ndcg@5'", "# 'ndcg@10'"),
        ("1 > 3", "# True"),
        ("print(1 / 3)", "# 0.4"),
    ],
)
def test_a_wrong_value_fails_with_its_line(expression: str, shown: str, tmp_path: Path) -> None:
    page = f"# A page\n\n```python\nimport math\n{expression}   {shown}\n```\n"
    with pytest.raises(AssertionError, match=r"^page\.md, line 5: .* gives .*, not "):
        run_page(page, "page.md", tmp_path)


def test_blocks_share_names_and_files(empty_folder: Path) -> None:
    page = (
        "<!-- file: mine_of_the_page.py -->\n```python\nFIRST = 2\n```\n"
        "```python\nimport mine_of_the_page\nassert mine_of_the_page.FIRST == FIRST\n```\n"
        "<!-- not run: needs a printer -->\n```python\nraise SystemExit\n```\n"
        "```console\n$ ltr no-such-verb\n```\n"
    )
    assert run_page(page, "page.md", empty_folder) == 2


@pytest.mark.parametrize(("shown", "right"), [("ltr 7.8.9", True), ("lt... 7.8.9", True), ("ltr one", False)])
def test_what_a_command_prints_is_compared_up_to_numbers(shown: str, right: bool, tmp_path: Path) -> None:
    page = f"<!-- run -->\n```console\n$ ltr --version\n{shown}\n```\n"
    if right:
        assert run_page(page, "page.md", tmp_path) == 1
        return
    with pytest.raises(AssertionError, match=r"page\.md: never printed: ltr one"):
        run_page(page, "page.md", tmp_path)


def test_a_failing_command_fails(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="line 3: \\$ ltr no-such-verb"):
        run_page("<!-- run -->\n```console\n$ ltr no-such-verb\n```\n", "page.md", tmp_path)
