"""How things stand between a loss and a metric, and how they moved, in plain words."""

from __future__ import annotations

from collections.abc import Iterator

from ltr.gap.faults import CHANCE
from ltr.gap.figures import Figure
from ltr.gap.findings import Case, Finding, signed, sure
from ltr.gap.numbers import counted, number, percent

SCALE = 0.8  # of a change of the loss, what is scale alone


def movement(case: Case) -> Iterator[Finding]:
    """What happened over the last validations."""
    change = dict(case.history[-1].get("change") or {}) if case.history else {}
    if not change.get("interval"):
        return
    low, high = change["interval"]
    moved = Figure(change["target"], case.target.name, low, high, case.belief["lists"])
    fell = "fell" if change["loss"] < 0 else "rose"
    share = change.get("scale_share")
    still, alone = low <= 0 <= high, share is not None and share >= SCALE and change["loss"] < 0
    scale = "" if share is None else f"; {_part(share)} of that is the scale of the scores"
    order = "The ordering changed"
    if still:
        order = "The ordering did not change" if alone else "The ordering did not change beyond chance"
    code = "scale-only" if still and alone else "movement"
    yield Finding(
        code,
        "remark",
        f"The loss {fell} by {number(abs(change['loss']))} over the last {counted(change['validations'], 'validation')}"
        f"{scale}. {order}: {case.target.name} {sure(moved, signed)}.",
        moved,
    )


def _part(share: float) -> str:
    return "none" if share < -0.05 else "more than all" if share > 1.05 else percent(min(max(share, 0), 1))


def standing(case: Case) -> Iterator[Finding]:
    target = case.figures["target"]
    yield Finding(
        "target",
        "remark",
        f"{case.target.name} is {sure(target)} on {counted(target.lists, 'list')}; a random order has "
        f"{number(case.belief['floor'])}, the best one {number(case.belief['ceiling'])}.",
        target,
    )
    gap, row = case.figures["gap_aim"], case.belief
    if case.surrogate.kind == "approximation":
        yield Finding(
            "belief",
            "remark",
            f"{case.name} believes {number(row['belief'])} {row['aim']}, where {number(row['aim_value'])} is true: "
            f"a gap of {sure(gap, signed)}.",
            gap,
        )
    elif case.surrogate.kind == "bound":
        empty = "; a random order does better, so that says nothing" if row["vacuous"] else ""
        side = "at least" if row["gap_says"] == "exact - certificate" else "at most"
        yield Finding(
            "certificate",
            "remark",
            f"{case.name} guarantees {row['aim']} {side} {number(row['belief'])}, where {number(row['aim_value'])} is "
            f"true{empty}.",
            gap,
        )
    else:
        yield Finding(
            "no-common-unit",
            "remark",
            f"{case.name} is in {case.surrogate.unit}: it has no unit in common with {case.target.name}, so that only "
            "their directions can be compared.",
            Figure(row["loss"], case.surrogate.unit, lists=row["lists"]),
        )


def ledger(case: Case) -> Iterator[Finding]:
    parts = {line: each for line, each in case.ledger.items() if line != "total" and each.value is not None}
    total = case.ledger.get("total")
    if total is None or total.value is None or not parts or case.surrogate.kind == "bound":
        return  # a certificate is far below the truth by nature
    line, most = max(parts.items(), key=lambda part: abs(part[1].value or 0))
    trained = case.ledger["generalisation"].value is not None
    ends = f"the loss on training lists and {most.unit} on validation lists" if trained else f"the loss and {most.unit}"
    yield Finding(
        "ledger",
        "remark",
        f"Between {ends} lie {number(total.value, sign=True)}; the largest part is {line}: {sure(most, signed)}.",
        most,
    )


def direction(case: Case) -> Iterator[Finding]:
    alignment, coherence, worth = (case.figures.get(each) for each in ("alignment", "coherence", "yield"))
    if alignment is not None and alignment.value is not None:
        yield Finding(
            "alignment",
            "remark",
            f"The gradient points towards {case.target.name} with a cosine of {sure(alignment)} on "
            f"{counted(alignment.lists, 'list')} (1: the best direction; 0: none).",
            alignment,
        )
    if coherence is not None and coherence.value is not None and (coherence.high or 1) >= CHANCE:
        yield Finding(
            "coherence",
            "remark",
            f"It favours the better of two neighbours in {sure(coherence, percent)} of what their exchanges are worth.",
            coherence,
        )
    if worth is not None and worth.value is not None and (worth.high or 0) >= 0:
        yield Finding(
            "yield",
            "remark",
            f"A step of a tenth of the scores' spread changes {case.target.name} by {sure(worth, signed)}.",
            worth,
        )


REMARKS = (movement, standing, ledger, direction)
