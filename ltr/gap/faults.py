"""What can be wrong between a loss and a metric: each fault with the evidence from which on it is an alarm."""

from __future__ import annotations

from collections.abc import Iterator

from ltr.gap.alarm import parting
from ltr.gap.figures import Figure
from ltr.gap.findings import Case, Finding, signed, sure
from ltr.gap.numbers import number, percent
from ltr.metrics import RankingMetric

# Where an alarm begins. Healthy trainings of eight losses on 20 made sets stay well on the right side of each:
# coherence 0.65 and more, losses to scale up to 0.06 and to bluntness up to 0.05, drops up to 0.40 of the regret,
# alignment gained by another temperature up to 0.25.
FEW = 20  # lists below which an interval is no ground for an alarm
CHANCE = 0.5  # of pairs that a random direction favours
UNSEEN = 0.9  # of lists whose top document has no gradient, where other documents have one
DEAD = 0.5  # of the exchanges that matter, those with a document without gradient
BLUNT = 0.2  # of what an estimate could rise above that of equal scores, what scores of another scale would add
WAIT = 20  # validations that may pass until a loss, at its present rate, is at its best scale
OVERFITTED = 0.5  # of what the metric lacks on validation lists, what it does not lack on training lists
SHARPER = 0.3  # cosine that another temperature would add
STRANGE = 0.01  # of the labels of a split, those beyond the other's highest


# -- wiring: what no training can mend ---------------------------------------------------------------------------------


def broken_certificate(case: Case) -> Iterator[Finding]:
    worst = case.figures.get("least_gap")
    if case.surrogate.kind == "bound" and worst is not None and worst.value is not None and worst.value < -1e-6:
        yield Finding(
            "certificate-broken",
            "alarm",
            f"{case.name} guarantees more than is true: on one list its certificate is {number(-worst.value)} "
            f"{worst.unit} better than the metric.",
            worst,
            "This cannot be: a mask, a gain or a cutoff differs between the loss and the metric.",
        )


def wrong_sign(case: Case) -> Iterator[Finding]:
    coherence = _firm(case, "coherence")
    if coherence is None or coherence.high >= CHANCE or _too_large(case):
        return
    yield Finding(
        "against-the-metric",
        "alarm",
        f"A step down {case.name} moves against {case.target.name}: of neighbours in the ranking, each pair counted by "
        f"what its exchange is worth, it favours the better document in {sure(coherence, percent)} (chance: 50 %).",
        coherence,
        "Look for a flipped sign: of the loss, of the labels, or of the scores.",
    )


def unseen_top(case: Case) -> Iterator[Finding]:
    top, elsewhere = _firm(case, "blind_top"), case.value("blind_elsewhere")
    if top is None or top.low < UNSEEN or (elsewhere or 0) >= DEAD:
        return
    yield Finding(
        "top-document-unseen",
        "alarm",
        f"The top document has no gradient in {sure(top, percent)} of the lists, though {case.target.name} depends on "
        "it and other documents have one.",
        top,
        "Look for a mask that drops the first or the best-scored document.",
    )


def no_better_than_chance(case: Case) -> Iterator[Finding]:
    above, sign = _firm(case, "above_floor"), _sign(case)
    if above is None or min(sign * above.low, sign * above.high) > 0:
        return
    worse = max(sign * above.low, sign * above.high) < 0
    yield Finding(
        "no-better-than-chance",
        "alarm",
        f"The ranking is {'worse' if worse else 'no better'} than a random order: {case.target.name} is "
        f"{number(case.value('target'))}, {sure(above, signed)} against a random order's.",
        above,
        "Look for scores or labels that are upside down: the larger, the better."
        if worse
        else "Check that each label stands beside the score of its own row, and each row under its own query.",
    )


def unlearned_rows(case: Case) -> Iterator[Finding]:
    """A ranker that does well where it was not trained learned from lists that hide what it learned."""
    there, here, sign = _firm(case, "train_above_floor"), _firm(case, "above_floor"), _sign(case)
    if there is None or here is None:
        return
    most, least = max(sign * there.low, sign * there.high), min(sign * here.low, sign * here.high)
    if least <= 0 or most >= least / 2:
        return
    yield Finding(
        "training-rows-mixed",
        "alarm",
        f"The ranking is far better on lists that were not trained on: {case.target.name} is {sure(there, signed)} "
        f"against a random order's on training lists, and {sure(here, signed)} on validation lists.",
        there,
        "Check that each training label stands beside its own row, and each row under its own query.",
    )


def unlike_labels(case: Case) -> Iterator[Finding]:
    for name, other in (("train", "validation"), ("validation", "train")):
        beyond = case.figures.get(f"{name}_labels_beyond")
        if beyond is not None and beyond.value is not None and beyond.value > STRANGE:
            most = [case.value(f"{each}_top_label") for each in (name, other)]
            yield Finding(
                "labels-differ",
                "alarm",
                f"The two splits are labelled differently: {percent(beyond.value)} of the {name} labels are above "
                f"{number(most[1], 0)}, the highest {other} label (they go up to {number(most[0], 0)}).",
                beyond,
                "A ranker of one kind of label (clicks, say) is judged by another (grades, say): map one to the other, "
                "or report a metric of the kind that is trained on.",
            )


# -- settings ----------------------------------------------------------------------------------------------------------


def other_aim(case: Case) -> Iterator[Finding]:
    inside = case.surrogate.metric
    if inside is None or inside == case.target:
        return
    cost = case.ledger.get("specification", Figure(None, case.target.name))
    if inside.base != case.target.base:
        yield Finding(
            "aim-of-another-metric",
            "remark",
            f"{case.name} works on {inside.name}, and {case.target.name} is reported: they have no unit in common.",
            cost,
        )
        return
    told = f"{case.name} works on {inside.name}, and {case.target.name} is reported"
    for option in differing(inside, case.target):
        alone = case.figures.get(f"aim_{option}", cost)
        worth = "" if alone.value is None else f"; that alone makes {sure(alone, signed)} on these lists"
        if option != "k":
            said = f"{told}: {option} differs{worth}."
            yield Finding(f"aim-{option}", "alarm", said, alone, "Give the loss the metric that is reported.")
        elif inside.k is None or (case.target.k is not None and inside.k > case.target.k):
            yield Finding("aim-deeper", "remark", f"{told}: it looks beyond the cutoff{worth}.", alone)
        else:
            said = f"{told}: it does not look below place {inside.k}{worth}."
            yield Finding("aim-k", "alarm", said, alone, "Give the loss the cutoff of the metric, or a deeper one.")


def differing(inside: RankingMetric | None, target: RankingMetric) -> list[str]:
    """The options in which two metrics of one base differ, but for the rule for equal scores; the cutoff last."""
    if inside is None or inside.base != target.base:
        return []
    options = [*(each.name for each in target.options() if each.name != "ties"), "k"]
    return [each for each in options if getattr(inside, each) != getattr(target, each)]


def unfit_temperature(case: Case) -> Iterator[Finding]:
    gain, other, now = _firm(case, "temperature_gain"), case.value("temperature_best"), case.surrogate.softness
    spread = number(case.value("spread"), 2)
    if gain is None or other is None or now is None:
        return
    if other > now and gain.value > SHARPER and gain.low > SHARPER / 2:
        yield Finding(
            "temperature-small",
            "alarm",
            f"The temperature of {now:.3g} is too small for these scores, which spread by {spread}: at "
            f"{other:.3g} the gradient would point {sure(gain, signed)} (cosine) closer to {case.target.name}.",
            gain,
            f"Try a temperature of {other:.3g}, or scores of a smaller spread.",
        )
        return
    share = case.value("scale_loss_share")
    if share is not None and share > BLUNT and _levelled(case):
        yield Finding(
            "temperature-large",
            "alarm",
            f"The temperature of {now:.3g} is too large for these scores, which spread by {spread}: scores of a larger "
            f"scale, in the same order, would mend {percent(share)} of what the estimate lacks.",
            case.figures["scale_loss_share"],
            "Try a smaller temperature.",
        )


class Firm(Figure):
    """A figure whose interval is known, over lists enough."""

    value: float
    low: float
    high: float


def _firm(case: Case, name: str) -> Firm | None:
    """The figure, where its interval may be the ground for an alarm."""
    found = case.figures.get(name)
    if found is None or found.lists < FEW or found.value is None or found.low is None or found.high is None:
        return None
    return Firm(*found)


def _sign(case: Case) -> int:
    return 1 if case.target.larger_is_better else -1


def _too_large(case: Case) -> bool:
    """Has the loss more than equal scores have, and less at a smaller scale?"""
    share, factor = case.value("scale_loss_share"), case.value("scale")
    bounded = case.surrogate.kind == "approximation"  # it cannot be much worse than equal scores
    return not bounded and share is not None and factor is not None and share > 1 > factor


def _levelled(case: Case) -> bool:
    """Is this no state on the way to a larger scale? Where nothing is known of a training, or at its present rate it
    would take many more validations."""
    if not case.history:
        return True
    change, loss, best = case.history[-1].get("change"), case.value("loss"), case.value("best_loss")
    if not change or loss is None or best is None:
        return False
    return bool(-change["loss"] * WAIT < (loss - best) * change["validations"])


def over_confident(case: Case) -> Iterator[Finding]:
    above = _firm(case, "loss_above_equal")
    if above is None or above.low <= 0 or not _too_large(case):
        return
    worth = _firm(case, "yield")
    worse = worth is not None and worth.high < 0
    also = f" A step down the loss now makes {case.target.name} worse." if worse else ""
    yield Finding(
        "over-confident",
        "alarm",
        f"The scores are too large: {case.name} is {number(case.value('loss'))} {case.surrogate.unit}, "
        f"{sure(above, signed)} against that of scores that are all equal; times {case.value('scale'):.2g} they would "
        f"have {number(case.value('best_loss'))}, in the same order.{also}",
        above,
        "Look for scores that are scaled after training; else train for less long, or with weight decay.",
    )


# -- what came of training ---------------------------------------------------------------------------------------------


def overfitted(case: Case) -> Iterator[Finding]:
    drop, lost, sign = _firm(case, "drop"), case.value("regret"), _sign(case)
    if drop is None or not lost:
        return
    if sign * drop.value < OVERFITTED * lost or min(sign * drop.low, sign * drop.high) <= 0:
        return
    yield Finding(
        "overfitted",
        "alarm",
        f"What was learned holds for the training lists: {case.target.name} is {number(case.value('train_target'))} "
        f"there and {number(case.value('target'))} on validation lists, {sure(drop, signed)} apart.",
        drop,
        "Try more data, a smaller model, weight decay, or an earlier state.",
    )


def harmful_step(case: Case) -> Iterator[Finding]:
    worth = _firm(case, "yield")
    if worth is None or worth.high >= 0:
        return
    yield Finding(
        "step-lowers-the-metric",
        "alarm",
        f"A step down {case.name} makes {case.target.name} worse: {sure(worth, signed)} for a step of a tenth of the "
        "scores' spread.",
        worth,
        "Another surrogate may serve the metric better from here.",
    )


def loss_without_metric(case: Case) -> Iterator[Finding]:
    change = case.history[-1].get("change") if case.history and case.history[-1].get("alarm") else None
    if change is not None:
        low, high = change["interval"]
        moved = Figure(change["target"], case.target.name, low, high, case.belief["lists"])
        yield parting(case.target, Figure(change["loss"], case.surrogate.unit), moved)


FAULTS = (  # wiring, then settings, then what came of training
    *(broken_certificate, wrong_sign, unseen_top, unlike_labels, no_better_than_chance, unlearned_rows),
    *(other_aim, overfitted, unfit_temperature, over_confident, harmful_step, loss_without_metric),
)
