"""Lines of TREC files that could be read in two ways, or that say two things: refused, or told."""

import math
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ltr.data import DataError
from ltr.data.formats.trec import read_run

RUN = "QUERY Q0 DOCUMENT RANK SCORE TAG"
ANSWER = "q1 Q0 d1 1 2.5 bm25\n"


@pytest.fixture
def write(tmp_path: Path):
    def write_file(text: str) -> Path:
        path = tmp_path / "file.txt"
        path.write_bytes(text.encode())
        return path

    return write_file


BLANK = st.sampled_from(["my doc", "doc 12", "d 7", "a b"])


@given(
    ids=st.lists(BLANK, min_size=1, max_size=6),
    tagged=st.booleans(),
    around=st.sampled_from(["none", "tag", "number"]),
    step=st.sampled_from([0.5, 1.0, 1.5]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_blank_in_an_id_never_makes_a_rank_the_score(
    ids: list[str], tagged: bool, around: str, step: float, tmp_path: Path
) -> None:
    """Ids of one blank with a tag or none, alone in the file or beside lines as they should be: all are refused."""
    lines = [] if around == "none" else [f"q Q0 d{at} {at} {9 - at} {'t' if around == 'tag' else 1}\n" for at in (1, 2)]
    for at, name in enumerate(ids, start=1):
        lines.append(f"p{at} Q0 {name} {at} {step / at}{' t' if tagged else ''}\n")
    path = tmp_path / "run"
    path.write_text("".join(lines))
    numbered = any(name[-1].isdigit() for name in ids)
    if around == "none" and not tagged and numbered and len(ids) == 1:
        assert read_run(path).tag == str(step)  # nothing tells this line from one whose tag is a number
        return
    with pytest.raises(DataError) as caught:
        read_run(path)
    assert re.fullmatch(
        rf"{path}, line \d+: wanted 6 fields '{RUN}', came [67]: 'p\d Q0 \w+ \w+ .*', "
        r"where SCORE would be '\d' and TAG '[\d.]+'; is there a blank in an id\?",
        str(caught.value),
    )


@pytest.mark.parametrize(
    "line", ["q2 Q0 d2 word -1 2", "q2 Q0 d2 7 -1 2", "q2 Q0 d2 2 -1 1e3 t", "q2 Q0 d2 two -1 0.5", "q2 Q0 d2 1 1 2 3"]
)
def test_a_number_for_a_tag_is_the_tag_of_all_lines(write, line: str) -> None:
    with pytest.raises(DataError, match=rf"line 2: .*, came [67]: '{line}', where SCORE .*; is there a blank in an id"):
        read_run(write(f"{ANSWER}{line}\n"))
    run = read_run(write("q1 Q0 d1 1 2.5 7\nq1 Q0 d2 2 1.5 7\n"))
    assert (run.tag, run.table["score"].to_list()) == ("7", [2.5, 1.5])
    assert read_run(write("q1 Q0 d1 one 2.5 nan\nq1 Q0 d2 two 1.5 inf\n")).tag == "inf"


@pytest.mark.parametrize(
    "text, said",
    [
        (f"#q7 Q0 d1 1 2 t\n{ANSWER}", "line 1, which starts"),
        (f"{ANSWER}# one\n\n  #two\n{ANSWER.replace('d1', 'd2')}#", "3 lines, such as line 2, which start"),
        (f"{ANSWER}\t# one\r\n#\r\n", "2 lines, such as line 2, which start"),
    ],
)
def test_lines_that_are_passed_over_are_counted(write, caplog: pytest.LogCaptureFixture, text: str, said: str) -> None:
    path = write(text)
    read_run(path)
    assert caplog.messages == [f"{path}: passed over {said} with #"]


ANY_ROWS = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 4), st.sampled_from([-math.inf, 0.0, 0.5, 1.0, math.inf])),
    min_size=1,
    max_size=8,
)


@given(rows=ANY_ROWS)
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_ranks_that_contradict_the_scores_are_told(
    rows: list[tuple[str, int, float]], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """In any order of lines, against all pairs of each query."""
    caplog.clear()
    path = tmp_path / "run"
    path.write_text("".join(f"{query} Q0 d{at} {rank} {score} t\n" for at, (query, rank, score) in enumerate(rows)))
    read_run(path)
    wrong = {q for q, rank, score in rows for p, other, higher in rows if q == p and other > rank and higher > score}
    if not wrong:
        assert caplog.messages == []
        return
    (message,) = caplog.messages
    told = re.fullmatch(
        r".*run: RANK contradicts SCORE in (\d) of (\d) queries, such as (.); the scores count", message
    )
    assert told is not None
    assert (int(told[1]), int(told[2])) == (len(wrong), len({row[0] for row in rows}))
    assert told[3] in wrong


def test_ranks_that_are_words_or_all_the_same_contradict_nothing(write, caplog: pytest.LogCaptureFixture) -> None:
    read_run(write("q1 Q0 d1 one 1 t\nq1 Q0 d2 two 2 t\n"))
    read_run(write("q1 Q0 d1 one 1 t\nq1 Q0 d2 two 2 t\nq2 Q0 d1 0 1 t\nq2 Q0 d2 0 2 t\nq2 Q0 d3 - 3 t\n"))
    assert len(caplog.messages) == 2
    assert all("RANK is no number in" in message for message in caplog.messages)


@pytest.mark.parametrize(
    ("ranks", "told"),
    [
        (["foo", "2", "3"], "1 of 3 lines, such as line 2, 'foo'"),
        (["1", "-", "nan"], "2 of 3 lines, such as line 3, '-'"),
        (["a", "b", "c"], "3 of 3 lines, such as line 2, 'a'"),
    ],
)
def test_ranks_that_are_no_numbers_are_told(
    ranks: list[str], told: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "run"
    path.write_text("\n" + "".join(f"q Q0 d{at} {rank} {-at} t\n" for at, rank in enumerate(ranks)))
    assert read_run(path).table["score"].to_list() == [0, -1, -2]
    assert caplog.messages == [f"{path}: RANK is no number in {told}; nothing reads it"]
