"""Curves as tables, as sentences and as pictures."""

from pathlib import Path

import pytest

from ltr.evaluation import Evaluation, RankedLists, evaluate_lists
from ltr.report.curves import Curves, can_draw, curve_blocks, curves, plot_curves


def table(*labels: int, metrics: tuple[str, ...] = ("mrr", "ndcg@2")) -> Evaluation:
    return evaluate_lists(RankedLists.from_arrays(labels, range(len(labels), 0, -1)), metrics)


def drawn(over: str, **systems: Evaluation) -> Curves:
    return curves(systems, over)  # type: ignore[arg-type]


def test_only_metrics_that_have_the_option() -> None:
    found = drawn("gain", x=table(0, 2, 1))
    assert list(found.found) == ["ndcg@2"]
    assert list(drawn("threshold", x=table(0, 2, 1)).found) == ["mrr"]
    assert list(drawn("k", x=table(0, 2, 1)).found) == ["mrr", "ndcg@2"]


def test_one_system_has_intervals_and_bars() -> None:
    ((blocks, sentences), _) = curve_blocks(drawn("k", x=table(0, 2, 1)))
    (block,) = blocks
    assert block.title == "mrr, over k"
    assert [(label, row["mean"], row["n"], row["undefined"], row[""]) for label, row in block.rows] == [
        ("1", "0.0000", "1", "-", ""),
        ("2", "0.5000", "1", "-", "#" * 24),
        ("3", "0.5000", "1", "-", "#" * 24),
    ]
    assert sentences == ["mrr lies between 0.0000 (k 1) and 0.5000 (k 2)."]


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [((1, 0), "mrr is the same under every k."), ((0, 0), "mrr has no mean under any k.")],
)
def test_what_does_not_move(labels: tuple[int, ...], sentence: str) -> None:
    ((_, sentences),) = curve_blocks(drawn("k", x=table(*labels, metrics=("mrr",))))
    assert sentences == [sentence]


def test_several_systems_stand_side_by_side() -> None:
    found = drawn("k", a=table(0, 1, 0, 1, metrics=("recall",)), b=table(1, 0, 0, 1, metrics=("recall",)))
    ((blocks, sentences),) = curve_blocks(found)
    assert blocks[0].rows == [
        ("1", {"a": "0.0000", "b": "0.5000"}),
        ("2", {"a": "0.5000", "b": "0.5000"}),
        ("3", {"a": "0.5000", "b": "0.5000"}),
        ("4", {"a": "1.0000", "b": "1.0000"}),
    ]
    assert sentences == ["The order hangs on k. The best mean: b at k 1; a at k 2 to 4."]
    ((_, sentences),) = curve_blocks(Curves("k", {"recall": dict(reversed(found.found["recall"].items()))}))
    assert sentences == ["b has the best mean under every k."]


def test_names_without_room_are_numbered() -> None:
    wide = {f"system-{'x' * 20}-{place}": table(0, 1, metrics=("mrr",)) for place in range(3)}
    ((blocks, sentences),) = curve_blocks(curves(wide, "k"), 80)
    assert list(blocks[0].rows[0][1]) == ["1", "2", "3"]
    assert sentences[0] == ", ".join(f"{place}: {name}" for place, name in enumerate(wide, start=1))
    ((blocks, sentences),) = curve_blocks(curves(wide, "k"))
    assert list(blocks[0].rows[0][1]) == list(wide)
    assert len(sentences) == 1


def test_settings_that_are_words_are_named_one_by_one() -> None:
    a = evaluate_lists(RankedLists.from_arrays([3, 2, 0, 3], [2, 1, 2, 1], [0, 0, 1, 1]), ["ndcg@1"])  # always 1/2
    b = evaluate_lists(RankedLists.from_arrays([2, 3], [2, 1]), ["ndcg@1"])  # 3/7 by exp2, 2/3, 1 and 0
    ((_, (sentence,)),) = curve_blocks(drawn("gain", a=a, b=b))
    assert (
        sentence == "The order hangs on gain. The best mean: a at gain exp2 and binary3; b at gain linear and binary2."
    )


def test_a_shorter_curve_has_gaps() -> None:
    found = drawn("k", a=table(0, 1, 1, metrics=("mrr",)), b=table(0, 1, metrics=("mrr",)))
    ((blocks, _),) = curve_blocks(found)
    assert blocks[0].rows[-1] == ("3", {"a": "0.5000", "b": "-"})


@pytest.mark.parametrize(("ending", "head"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")])
def test_a_picture_of_every_kind(tmp_path: Path, ending: str, head: bytes) -> None:
    assert can_draw()
    for over in ("k", "gain"):
        path = tmp_path / f"{over}{ending}"
        plot_curves(drawn(over, a=table(0, 2, 1), b=table(2, 0, 1)), path)
        assert path.read_bytes().startswith(head)


def test_a_picture_names_systems_metrics_and_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib

    monkeypatch.setitem(matplotlib.rcParams, "svg.fonttype", "none")
    plot_curves(drawn("gain", first=table(0, 2, 1), second=table(2, 0, 1)), tmp_path / "g.svg")
    text = (tmp_path / "g.svg").read_text()
    assert all(f">{word}<" in text for word in ("first", "second", "ndcg@2", "exp2", "linear", "gain"))
