"""ltr/report/tables.py: what a person reads at the end of a run and of a sweep."""

import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from ltr.report import print_run, print_sweep
from ltr.runs import Run, claim

NDCG = "ndcg@10 gain=2^y-1 discount=1/log2(1+r) ideal=judged unjudged=zero ties=average empty=skip"


def gap_row(kind: str = "approximation", **changes: Any) -> dict[str, Any]:
    neither = kind == "neither"
    row = {
        "surrogate": {"approximation": "ApproxMetric", "bound": "LambdaRank", "neither": "ListNet"}[kind],
        "kind": kind,
        "aim": {"approximation": "ndcg", "bound": "ndcg@10", "neither": None}[kind],
        "target": "ndcg@10",
        "lists": 12,
        "left_out": 1,
        "loss": 0.25,
        "loss_unit": {"approximation": "ndcg", "bound": "ndcg@10", "neither": "nats"}[kind],
        "target_value": 0.4,
        "floor": 0.2,
        "ceiling": 1.0,
        "belief": None if neither else 0.75,
        "aim_value": None if neither else 0.7,
        "gap_aim": None if neither else 0.05,
        "gap_target": None if neither else 0.35,
        "gap_says": {"approximation": "estimate - exact", "bound": "exact - certificate", "neither": None}[kind],
        "vacuous": None if neither else False,
        "tau": 0.5,
        "regret": 0.01,
        "validations": 3,
        "not_finite": 0,
    }
    return row | changes


def finished(root: Path, name: str, values: list[float], row: dict[str, Any], **facts: Any) -> Run:
    run = claim(root, name, "")
    for epoch in range(3):
        loss = row["loss"] and row["loss"] + 2 - epoch
        run.append_gap({"val_loss": loss, "val_target": row["target_value"]} | row | {"epoch": epoch, "loss": loss})
    run.write_info(
        status="finished",
        metric="ndcg@10",
        larger_is_better={"ndcg@10": True},
        conventions={"ndcg@10": NDCG},
        data={"test": {"hash": "a", "queries": len(values)}},
        best={"epoch": 2},
        checkpoint="checkpoints/epoch02.ckpt",
        test={"ndcg@10": sum(values) / len(values)},
        test_gap=row,
        test_bounds={"ndcg@10": {"floor": 0.1729, "ceiling": 1.0}},
    )
    run.write_info(**facts)
    common = {"metric": "ndcg@10", "documents": 5, "defined": True, "weight": 1.0}
    run.write_per_query("test", [{"query": f"q{at}", "value": value, **common} for at, value in enumerate(values)])
    return run


@pytest.fixture
def console() -> Console:
    return Console(width=160, record=True, force_terminal=False)


def test_a_run_says_what_was_believed_and_what_was_true(tmp_path: Path, console: Console) -> None:
    print_run(finished(tmp_path, "first", [0.1, 0.5, 0.9], gap_row()), console)
    text = console.export_text()
    assert "what ApproxMetric believed on 12 lists of validation data" in text
    assert "  2 *  0.2500 ndcg         0.7500      0.7000    +0.0500         +0.3500       0.4000" in text
    assert "gap, ndcg  gap to ndcg@10  val/ndcg@10" in text
    assert "* the best epoch by val/ndcg@10; a random order is worth 0.2000 ndcg@10, the ideal one 1.0000\n" in text
    assert "belief, gap, tau and regret leave out 1 list without an order to learn, val/ does not" in text
    assert "ApproxMetric estimates ndcg, not ndcg@10, which is reported; gap = estimate - exact" in text
    assert "tau of -loss and ndcg@10 is 0.50; choosing the epoch by the loss would have cost 0.0100 ndcg@10." in text
    assert "first  ndcg@10  0.5000  0.1000 to 0.9000  0.1729  1.0000      3           2" in text
    assert NDCG in text
    assert "tested: checkpoints/epoch02.ckpt, epoch 2" in text


def test_a_vacuous_certificate_is_said_and_not_subtracted(tmp_path: Path, console: Console) -> None:
    print_run(finished(tmp_path, "first", [0.1, 0.5], gap_row("bound", belief=-27.0, vacuous=True)), console)
    text = console.export_text()
    assert re.search(r"-27\.0000 +0\.7000 +vacuous", text)
    assert "Vacuous: worse than a random order." in text


def test_a_bound_of_another_metric_from_above(tmp_path: Path, console: Console) -> None:
    says = {"surrogate": "ARPLoss", "aim": "arp", "gap_says": "certificate - exact", "gap_target": None}
    runs = [finished(tmp_path, f"s/{name}", [0.1, 0.5], gap_row("bound", **says)) for name in "ab"]
    print_run(runs[0], console)
    text = console.export_text()
    assert "guaranteed arp  exact arp  gap, arp  val/ndcg@10" in text
    assert (
        "ARPLoss guarantees that arp is not above its certificate; gap = certificate - exact, never negative." in text
    )
    print_sweep(runs, console)
    assert re.search(r"arp <= 0\.7500 +arp 0\.7000 +\+0\.0500 arp +none", console.export_text())


@pytest.mark.parametrize("kind", ["approximation", "bound"])
def test_nan_and_nothing_are_shown_as_nothing(tmp_path: Path, console: Console, kind: str) -> None:
    numbers = ("loss", "target_value", "belief", "aim_value", "gap_aim", "gap_target", "floor", "ceiling")
    nothing = gap_row(kind, **dict.fromkeys([*numbers, "tau", "regret"]), validations=0, not_finite=3)
    single = finished(tmp_path, "first", [0.1, float("nan")], nothing)
    nan = finished(tmp_path, "s/a", [0.1, float("nan")], nothing, best={"epoch": 0, "value": None, "metric": "ndcg@10"})
    fine = finished(tmp_path, "s/b", [0.1, 0.3], gap_row(kind))
    print_run(nan, console)
    print_run(single, console)
    print_sweep([nan, fine], console)
    text = console.export_text()
    assert text.count("No state was better than NaN by ndcg@10: * is the first one.") == 1
    assert "0 validations (3 more not finite), too few or too alike" in text
    assert "a has NaN among its test values, and is compared with nothing." in text
    assert "None" not in text


def test_lists_without_an_answer_are_counted(tmp_path: Path, console: Console) -> None:
    run = finished(tmp_path, "first", [0.1] * 8, gap_row())
    rows = run.read_per_query("test")
    run.write_per_query(
        "test", [row | ({"value": None, "defined": False} if row["query"] == "q3" else {}) for row in rows]
    )
    print_run(run, console)
    print_sweep([run], console)
    assert console.export_text().count("what was true on 8 lists of test data, 1 of them without an answer\n") == 2


def test_conventions_stand_in_the_order_of_the_metrics(tmp_path: Path, console: Console) -> None:
    names = ["ndcg@10", *(f"m{place}" for place in range(9, 0, -1))]
    run = finished(tmp_path, "first", [0.1, 0.5], gap_row())
    run.write_info(
        test=dict.fromkeys(names, 0.3), conventions={name: f"convention of {name}" for name in sorted(names)}
    )
    print_run(run, console)
    lines = [line for line in console.export_text().splitlines() if line.startswith("convention of")]
    assert lines == [f"convention of {name}" for name in names]


def test_huge_numbers_fit(tmp_path: Path, console: Console) -> None:
    print_run(
        finished(tmp_path, "first", [0.1, 0.5], gap_row(loss=40139808258602776788681234284110963277824.0)), console
    )
    text = console.export_text()
    assert "4.014e+40 ndcg" in text
    assert "40139808" not in text


def test_the_direction_of_a_metric_of_ones_own(tmp_path: Path, console: Console) -> None:
    mine = {
        "metric": "rank_of_first",
        "larger_is_better": {"rank_of_first": False},
        "conventions": {"rank_of_first": "rank_of_first"},
        "test_bounds": {"rank_of_first": {"floor": 3.0, "ceiling": 1.0}},
    }
    runs = []
    for name, low in (("s/a", 1.0), ("s/b", 5.0)):
        run = finished(tmp_path, name, [low + at / 100 for at in range(60)], gap_row("neither"), **mine)
        run.write_per_query("test", [row | {"metric": "rank_of_first"} for row in run.read_per_query("test")])
        run.write_info(test={"rank_of_first": low})
        runs.append(run)
    print_sweep(runs, console)
    assert "a minus b: -4.0000 rank_of_first" in console.export_text()


def test_differences_are_weighted(tmp_path: Path, console: Console) -> None:
    runs = [
        finished(tmp_path, f"s/{name}", values, gap_row())
        for name, values in {"a": [0.9, 0.1], "b": [0.5, 0.5]}.items()
    ]
    for run in runs:
        rows = run.read_per_query("test")
        run.write_per_query("test", [row | {"weight": 3.0 if row["query"] == "q0" else 1.0} for row in rows])
    print_sweep(runs, console)
    assert "a minus b: +0.2000 ndcg@10" in console.export_text()


def test_weighted_lists_are_not_called_alike_without_a_test(tmp_path: Path, console: Console) -> None:
    runs = [finished(tmp_path, f"s/{name}", [low + at / 1000 for at in range(60)], gap_row())
            for name, low in {"a": 0.1, "b": 0.8}.items()]  # fmt: skip
    for run in runs:
        run.write_per_query("test", [row | {"weight": float(len(row["query"]))} for row in run.read_per_query("test")])
    print_sweep(runs, console)
    text = console.export_text()
    assert "Weighted lists have no test here" in text
    assert "told apart" not in text


def test_a_sweep_without_validation_data(tmp_path: Path, console: Console) -> None:
    run = finished(tmp_path, "s/a", [0.1, 0.5], gap_row())
    run.gap_path.unlink()
    print_sweep([run], console)
    assert "what was true on 2 lists of test data" in console.export_text()


def test_neither_forms_no_difference(tmp_path: Path, console: Console) -> None:
    print_run(finished(tmp_path, "first", [0.1, 0.5], gap_row("neither")), console)
    text = console.export_text()
    assert "what ListNet was worth on 12 lists of validation data" in text
    assert "2 *  0.2500 nats       0.4000" in text
    assert "ListNet has no unit in common with ndcg@10" in text
    assert "gap" not in text.split("ListNet has no unit")[0]


def test_without_test_data_nothing_is_said_of_it(tmp_path: Path, console: Console) -> None:
    run = finished(tmp_path, "first", [0.1], gap_row())
    run.write_info(test={})
    print_run(run, console)
    assert "test data" not in console.export_text()


def test_too_few_lists_name_no_winner(tmp_path: Path, console: Console) -> None:
    low = finished(tmp_path, "s/loss-approx", [0.1 + at / 1000 for at in range(43)], gap_row())
    high = finished(tmp_path, "s/loss-listnet", [0.8 + at / 990 for at in range(43)], gap_row("neither"))
    print_sweep([low, high], console)
    text = console.export_text()
    assert "43 lists are too few to name a winner" in text
    assert "lies above" not in text
    assert "loss-approx minus loss-listnet: -0.7" in text
    assert "loss-listnet  neither            nothing  ndcg@10 0.4000            none" in text
    assert "loss-listnet             0.2500 nats            3  0.50  0.0100 ndcg@10" in text


def test_enough_lists_that_differ_are_told_apart(tmp_path: Path, console: Console) -> None:
    low = finished(tmp_path, "s/loss-approx", [0.1 + at / 1000 for at in range(60)], gap_row())
    high = finished(tmp_path, "s/loss-listnet", [0.8 + at / 990 for at in range(60)], gap_row("neither"))
    print_sweep([low, high], console)
    assert "loss-listnet lies above loss-approx on lists like these 60" in console.export_text()


def test_enough_lists_that_do_not_differ_are_not(tmp_path: Path, console: Console) -> None:
    values = [(at * 7919 % 101) / 101 for at in range(60)]
    first = finished(tmp_path, "s/loss-approx", values, gap_row())
    second = finished(
        tmp_path, "s/loss-listnet", [value + (-1) ** at / 50 for at, value in enumerate(values)], gap_row()
    )
    print_sweep([first, second], console)
    assert "On ndcg@10 these 60 lists leave no two told apart" in console.export_text()


def test_seeds_of_one_setting_are_averaged(tmp_path: Path, console: Console) -> None:
    names = ["s/loss-approx_seed-1", "s/loss-approx_seed-2", "s/loss-mse_seed-1", "s/loss-mse_seed-2"]
    runs = [finished(tmp_path, name, [0.1 * (at + 1), 0.5, 0.3], gap_row()) for at, name in enumerate(names)]
    print_sweep(runs, console)
    assert "loss-approx minus loss-mse: -0.0667 ndcg@10" in console.export_text()


def test_other_data_or_conventions_are_not_compared(tmp_path: Path, console: Console) -> None:
    first = finished(tmp_path, "s/a", [0.1, 0.5], gap_row())
    second = finished(tmp_path, "s/b", [0.1, 0.5], gap_row(), conventions={"ndcg@10": NDCG.replace("skip", "zero")})
    third = finished(tmp_path, "s/c", [0.1, 0.5], gap_row(), data={"test": {"hash": "b", "queries": 2}})
    print_sweep([first, second, third], console)
    text = console.export_text()
    assert "minus" not in text
    assert text.count("what was true") == 3


def test_failed_runs_are_left_out(tmp_path: Path, console: Console) -> None:
    good = finished(tmp_path, "s/good", [0.1, 0.5], gap_row())
    bad = claim(tmp_path, "s/bad", "")
    bad.write_info(status="failed")
    print_sweep([good, bad], console)
    text = console.export_text()
    assert "good" in text
    assert "bad " not in text
