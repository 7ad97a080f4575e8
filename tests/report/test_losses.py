"""What an NDCG lacks to 1, and what lies where nobody looks."""

from math import log2

import pytest

from ltr.evaluation import RankedLists, evaluate_lists
from ltr.evaluation.aggregates import How
from ltr.metrics import METRICS, parse
from ltr.report.losses import kinds, losses, share_below, shown_lines, what_is_lost

GRADES = [3, 1, 2, 0, 3]


def lists(*grades: list[int]) -> RankedLists:
    labels = [grade for each in grades for grade in each]
    queries = [place for place, each in enumerate(grades) for _ in each]
    return RankedLists.from_arrays(labels, range(len(labels), 0, -1), queries)


def test_the_two_parts_and_the_classes() -> None:
    table = evaluate_lists(lists(GRADES, [1, 0], [0, 0]), ["mrr", "ndcg@3"])
    found = losses({"x": table})
    (block,) = what_is_lost(found)
    reached, best, ideal = 7 + 1 / log2(3) + 3 / 2, 7 + 3 / log2(3) + 1 / 2, 7 + 7 / log2(3) + 3 / 2
    assert block.title == "lost by ndcg@3"
    assert block.rows == [
        (
            "x",
            {  # of one of two lists with an answer
                "lost": f"{(1 - reached / ideal) / 2:.4f}",
                "selection": f"{(1 - best / ideal) / 2:.4f}",
                "order": f"{(best - reached) / ideal / 2:.4f}",
                "perfect": "1",
                "wrong order": "-",
                "below": "1",
                "late": "-",
                "nothing": "-",
                "no answer": "1",
            },
        )
    ]
    assert kinds(found, {"below", "lost", "selection"}) == {
        "lost": "selection + order, over lists with an answer",
        "selection": "better documents are not in the first 3",
        "below": "lists with a relevant document below the cutoff",
    }


@pytest.mark.parametrize("how", ["micro", "median", "min"])
def test_a_loss_of_the_mean_is_called_so_where_the_table_is_of_something_else(how: How) -> None:
    table = evaluate_lists(lists(GRADES, [1, 0]), ["ndcg-linear-docid@3"], aggregate=how)
    assert what_is_lost(losses({"x": table}))[0].title == "lost by mean ndcg-linear-docid@3"


def test_nothing_is_said_where_nothing_is_lost() -> None:
    assert losses({"x": evaluate_lists(lists([1, 0]), ["ndcg@3"])}) == {}
    assert losses({"x": evaluate_lists(lists([0, 1]), ["mrr"])}) == {}
    assert what_is_lost({}) == list(kinds({}, {"lost"})) == []


@pytest.mark.parametrize(
    ("metric", "share"),
    [
        ("ndcg@10", sum(1 / log2(1 + r) for r in range(4, 11)) / sum(1 / log2(1 + r) for r in range(1, 11))),
        ("ndcg-linear-docid-zero@10", sum(1 / log2(1 + r) for r in range(4, 11)) / 4.543559),
        ("mrr@5", (1 / 4 + 1 / 5) / (1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5)),
        ("precision-rel2@4", 1 / 4),
        ("rbp-p0.5", 0.5**3),
        ("judged@5", None),
        ("tau", None),
    ],
)
def test_the_share_that_lies_below_a_position(metric: str, share: float | None) -> None:
    assert share_below(parse(metric), 3) == (None if share is None else pytest.approx(share, abs=1e-6))


def test_what_is_shown() -> None:
    metrics = [parse(name) for name in ("ndcg-linear@10", "mrr@3", "rbp-p0.5", "judged@10")]
    assert shown_lines(metrics, 3, 20) == [
        "ndcg@10: 53 % of its weight lies below position 3, where nobody looks; ndcg@3 scores what is shown",
        "rbp: 12 % of its weight lies below position 3, where nobody looks; rbp@3 scores what is shown",
    ]
    assert shown_lines([parse("tau"), parse("bpref"), parse("mrr@3")], 3, 20) == [
        "tau and bpref: the whole list counts, also below position 3, where nobody looks"
    ]
    assert shown_lines([parse("ndcg@3"), parse("judged@10")], 3, 20) == [
        "shown=3: no metric here scores what lies below that position"
    ]


@pytest.mark.parametrize("base", [base for base, each in METRICS.items() if each.cuts and base != "judged"])
def test_every_metric_with_a_cutoff_says_what_lies_below(base: str) -> None:
    """The weight of a position is what a list is worth whose only document of the top grade stands there."""
    metric = parse(f"{base}-max4@10" if base in ("err", "gradedap") else f"{base}@10")
    top = 4 if base in ("err", "gradedap") else 1
    worth = [metric(range(10, 0, -1), [top * (place == at) for place in range(10)]).item() for at in range(10)]
    (line,) = shown_lines([metric], 3, 10)
    if base == "success":
        assert worth == [1] * 10
    assert f"{100 * sum(worth[3:]) / sum(worth):.0f} % of its weight lies below position 3" in line
