"""Curves as tables, as sentences and as pictures."""

import re
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
        ("all", "0.5000", "1", "-", "#" * 24),
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
        ("all", {"a": "1.0000", "b": "1.0000"}),
    ]
    assert sentences == ["b has the best mean under every k."]


def test_systems_that_are_level_lead_together() -> None:
    a, b, c = (table(*labels, metrics=("recall",)) for labels in ((0, 1, 1, 0), (1, 0, 1, 0), (1, 0, 0, 1)))
    ((_, sentences),) = curve_blocks(drawn("k", a=a, b=b, c=c))
    assert sentences == ["b has the best mean under every k."]
    ((_, sentences),) = curve_blocks(drawn("k", a=a, c=c))
    assert sentences == ["The order hangs on k. The best mean: c at k 1; a and c at k 2, 4 and all; a at k 3."]
    ((_, sentences),) = curve_blocks(drawn("k", b=b, d=b))
    assert sentences == ["b and d have the best mean under every k."]


def deep(length: int, metric: str) -> Evaluation:
    labels = [int(place % 7 == 3) for place in range(2 * length)]
    lists = RankedLists.from_arrays(labels, range(2 * length, 0, -1), [0] * length + [1] * length)
    return evaluate_lists(lists, [metric])


def test_a_long_curve_has_rows_at_round_cutoffs_at_its_own_and_at_the_end() -> None:
    round_ones = ["1", "2", "3", "5", "10", "20", "50", "100", "200", "500", "1000"]
    for metric, rows in (
        ("recall@1000", round_ones),
        ("recall@17", [*round_ones[:5], "17", *round_ones[5:]]),
        ("recall", [*round_ones, "all"]),
        ("recall@2000", [*round_ones, "2000"]),
    ):
        found = drawn("k", x=deep(1000, metric))
        ((blocks, sentences),) = curve_blocks(found)
        assert [label for label, _ in blocks[0].rows] == rows
        many = len(found.found[metric]["x"])
        assert sentences[1] == f"{len(rows)} of {many} settings; plot=FILE draws all."
        assert many > 100
    assert len(next(curve_blocks(drawn("k", x=deep(20, "recall@3"))))[0][0].rows) == 20


def test_intervals_are_worked_out_for_what_is_shown_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr("ltr.evaluation.curves.interval", lambda *given: asked.append(given) or (0.0, 1.0, ""))
    found = drawn("k", x=deep(100, "recall@10"))
    assert asked == []
    list(curve_blocks(found))
    assert len(asked) == 8
    list(curve_blocks(drawn("k", x=deep(100, "recall@10"), y=deep(100, "recall@10"))))
    assert len(asked) == 8


def test_metrics_without_the_option_are_named() -> None:
    *_, (blocks, sentences) = curve_blocks(drawn("discount", x=table(0, 2, 1, metrics=("ndcg", "ap", "mrr"))))
    assert (blocks, sentences) == ([], ["ap and mrr have no discount to vary."])


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
    assert blocks[0].rows[-2] == ("3", {"a": "0.5000", "b": "-"})


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


@pytest.mark.parametrize(
    ("over", "length", "ticks"),
    [
        ("k", 100, ["1", "2", "3", "5", "10", "20", "50", "100", "all"]),
        ("k", 3, ["1", "2", "3", "all"]),
        ("threshold", 3, ["1"]),
    ],
)
def test_ticks_are_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, over: str, length: int, ticks: list[str]
) -> None:
    import matplotlib

    monkeypatch.setitem(matplotlib.rcParams, "svg.fonttype", "none")
    plot_curves(drawn(over, a=deep(length, "recall"), b=deep(length, "recall")), tmp_path / "x.svg")
    axis = (tmp_path / "x.svg").read_text().partition('id="matplotlib.axis_2"')[0]
    assert re.findall(r">([^<\s]+)</text>", axis)[: len(ticks)] == ticks
