"""All that can be said of a surrogate and a metric at one state of a ranker, from labels and scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ltr.gap.alignment import alignment, step_yield, swap_coherence, vanished
from ltr.gap.belief import columns, counted, summarise
from ltr.gap.budget import blind, budget_distance, reach
from ltr.gap.faults import FAULTS, differing
from ltr.gap.figures import Figure, difference, figure
from ltr.gap.findings import Case, Finding
from ltr.gap.ledger import ledger
from ltr.gap.remarks import REMARKS
from ltr.gap.scale import ScaleSplit, scale_split
from ltr.gap.scored import CELLS, ScoredLists, descent, losses
from ltr.gap.smoothed import affordable, default_sigma
from ltr.gap.temperature import FACTORS, sweep
from ltr.losses import Surrogate
from ltr.metrics import RankingMetric


class Measured(NamedTuple):
    """The figures of one state over a sample of lists."""

    figures: Mapping[str, Figure]  # by stable name
    ledger: Mapping[str, Figure]  # line -> its part of the total; "total" last
    scale: ScaleSplit | None  # None where no list counts


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """The figures of one state, and what they mean."""

    surrogate: Surrogate
    target: RankingMetric
    belief: Mapping[str, Any]  # as ``summarise`` gives it, over all validation lists
    figures: Mapping[str, Figure]
    ledger: Mapping[str, Figure]
    history: Sequence[Mapping[str, Any]]  # the rows of gap.jsonl, where the state is one of a training
    findings: Sequence[Finding]  # in the order in which they are to be read, alarms first

    @property
    def alarms(self) -> list[Finding]:
        return [each for each in self.findings if each.level == "alarm"]

    def report(self) -> dict[str, Any]:
        """Every figure, for a file: surrogate, kind, conventions, belief, figures, ledger, history and findings."""
        aim = self.surrogate.aim
        return {
            "surrogate": type(self.surrogate).__name__,
            "kind": self.surrogate.kind,
            "aim": aim.convention if aim else None,
            "target": self.target.convention,
            "belief": dict(self.belief),
            "figures": {name: each.row() for name, each in self.figures.items()},
            "ledger": {line: each.row() for line, each in self.ledger.items()},
            "history": [dict(row) for row in self.history],
            "findings": [each.row() for each in self.findings],
        }


def diagnose(
    surrogate: Surrogate,
    target: RankingMetric,
    validation: ScoredLists,
    train: ScoredLists | None = None,
    *,
    history: Sequence[Mapping[str, Any]] = (),
    lists: int = 256,
    seed: int = 0,
) -> Diagnosis:
    """What a surrogate is worth to a metric at one state of a ranker: figures with intervals, and what they mean.

    Args:
        surrogate: the loss that is trained on.
        target: the metric that is reported.
        validation: the lists that the ranker was not trained on.
        train: those that it was; without them nothing is said of generalisation.
        history: the rows of a run's gap.jsonl, for what is said of a training.
        lists: the most lists whose gradients are looked at; means of values are over all.
        seed: of the sample and of the bootstrap.

    Raises:
        ValueError: no list counts: the metrics are undefined, or all labels of a list are equal, for each of them.

    Example:
        >>> from ltr.gap.scored import scored
        >>> from ltr.losses import ApproxMetric
        >>> from ltr.metrics import NDCG
        >>> scores = torch.arange(12.0).reshape(3, 4)
        >>> lists = scored(scores, torch.tensor([[0.0, 0.0, 1.0, 2.0]]).expand(3, 4))
        >>> found = diagnose(ApproxMetric("ndcg", temperature=0.01), NDCG(), lists)
        >>> round(found.figures["target"].value, 3), found.alarms
        (1.0, [])
    """
    values = _columns(surrogate, target, validation)
    table = {name: value.cpu().numpy() for name, value in values.items()}
    weight = validation.weight.cpu().numpy()
    belief = summarise(surrogate, target, table, weight)
    if not belief["lists"]:
        raise ValueError(f"{target.name}: no list counts: each is without an answer, or all of its labels are equal")
    measured = measure(surrogate, target, validation, train, lists=lists, history=history, seed=seed)
    kept = values["counted"] > 0
    every = {
        name: figure(torch.where(kept, value, torch.nan).cpu(), unit, weight, seed=seed)
        for name, value, unit in (
            ("target", values["target"], target.name),
            ("above_floor", values["target"] - values["floor"], target.name),
            ("regret", _regret(target, values), target.name),
            ("gap_aim", _gap(surrogate, values), surrogate.aim.name if surrogate.aim else target.name),
        )
    }
    if surrogate.kind == "bound":
        least = float(_gap(surrogate, values)[kept].min())
        every["least_gap"] = Figure(least, every["gap_aim"].unit, lists=belief["lists"])
    some = _sampled(surrogate, target, validation, lists, seed)
    every |= _temperatures(surrogate, target, some, seed) | {"loss_above_equal": _above_equal(surrogate, some, seed)}
    every |= _aims(surrogate, target, validation, kept, seed)
    if train is not None:
        every |= _train(target, train, _columns(surrogate, target, train), validation, values, seed)
    figures = {**measured.figures, **every}
    found = findings(Case(surrogate, target, belief, figures, measured.ledger, history))
    return Diagnosis(surrogate, target, belief, figures, measured.ledger, tuple(history), found)


def measure(
    surrogate: Surrogate,
    target: RankingMetric,
    validation: ScoredLists,
    train: ScoredLists | None = None,
    *,
    lists: int = 64,
    history: Sequence[Mapping[str, Any]] = (),
    sure: bool = True,
    seed: int = 0,
) -> Measured:
    """The figures of one state over a sample of the lists that count.

    Args:
        surrogate, target, validation, train, history, seed: as ``diagnose`` takes them.
        lists: the most lists of either kind.
        sure: work out intervals too.
    """
    some = _sampled(surrogate, target, validation, lists, seed)
    if not len(some):
        return Measured({}, {}, None)
    gradient = descent(surrogate, some)
    given = (target, some.scores, some.relevance, gradient, some.mask)
    weight, name = some.weight.cpu().numpy(), target.name
    share = surrogate.shares(some.scores, some.relevance, some.mask)[:, None]  # of a list in the mean loss
    unseen, few = blind(*given), len(affordable(target, some))
    cosines = alignment(target, *(each[:few] for each in given[1:]))
    scale = scale_split(surrogate, some)

    def mean(values: Tensor, unit: str) -> Figure:
        return figure(values.cpu(), unit, weight, sure=sure, seed=seed)

    exact = {"ceiling": target.ceiling(some.relevance, some.mask)}
    regret = _regret(target, exact | {"target": target.exact(some.scores, some.relevance, some.mask)})
    figures = {
        "coherence": mean(swap_coherence(*given), "share"),
        "alignment": figure(cosines.cpu(), "cosine", weight[:few], sure=sure, seed=seed),
        "yield": mean(step_yield(*given), name),
        "reach": mean(reach(*given), "share"),
        "budget_distance": Figure(
            budget_distance(share * gradient, regret, some.mask, some.weight), "total variation", lists=len(some)
        ),
        "blind_top": mean(unseen.top, "share"),
        "blind_elsewhere": mean(unseen.elsewhere, "share"),
        "flat": mean(vanished(gradient, some.mask).to(gradient.dtype), "share"),
        "loss": Figure(scale.loss, surrogate.unit, lists=len(some)),
        "best_loss": Figure(scale.best, surrogate.unit, lists=len(some)),
        "scale": Figure(scale.factor, "times the scores", lists=len(some)),
        "constant_loss": Figure(scale.constant, surrogate.unit, lists=len(some)),
        "scale_loss_share": Figure(_scale_loss_share(scale), "share", lists=len(some)),
        "r2": Figure(scale.r2, "share", lists=len(some)),
        "spread": mean(4 * default_sigma(some.scores, some.mask), "units of the scores"),
    }
    taught = None if train is None else _sampled(surrogate, target, train, lists, seed)
    lines = ledger(surrogate, target, some, taught, factor=scale.factor, history=history, sure=sure, seed=seed)
    return Measured(figures, lines, scale)


def findings(case: Case) -> list[Finding]:
    """Alarms first, then remarks, each in the order in which they are to be read.

    Faults hide one another: a loss of the wrong sign makes a ranking that is worse than chance, which is no second
    fault. So rules go from wiring to settings to what came of training; only the first that holds raises an alarm, and
    what holds behind it is a remark.
    """
    faults = [found for rule in FAULTS for found in rule(case)]
    alarm = next((each for each in faults if each.level == "alarm"), None)
    behind = [each._replace(level="remark", advice="") for each in faults if each is not alarm]
    remarks = [found for rule in REMARKS for found in rule(case)]
    return [*([alarm] if alarm else []), *behind, *remarks]


def _train(
    target: RankingMetric,
    train: ScoredLists,
    there: Mapping[str, Tensor],
    validation: ScoredLists,
    here: Mapping[str, Tensor],
    seed: int,
) -> dict[str, Figure]:
    """The training lists beside those of validation: the metric, and what they are labelled with."""
    both = [torch.where(each["counted"] > 0, each["target"], torch.nan).cpu() for each in (there, here)]
    weights = train.weight.cpu().numpy(), validation.weight.cpu().numpy()
    found = {
        "train_target": figure(both[0], target.name, weights[0], seed=seed),
        "train_above_floor": figure(both[0] - there["floor"].cpu(), target.name, weights[0], seed=seed),
        "drop": difference(both[0], both[1], target.name, weights),
    }
    labels = {name: each.relevance[each.mask] for name, each in (("train", train), ("validation", validation))}
    for name, other in (("train", "validation"), ("validation", "train")):
        found[f"{name}_top_label"] = Figure(float(labels[name].max()), "label")
        beyond = float((labels[name] > labels[other].max()).double().mean())
        if beyond:
            found[f"{name}_labels_beyond"] = Figure(beyond, "share of the labels")
    return found


def _temperatures(surrogate: Surrogate, target: RankingMetric, some: ScoredLists, seed: int) -> dict[str, Figure]:
    """What the gradient would gain at the best of other temperatures, list by list."""
    if surrogate.softness is None or surrogate.kind != "approximation":
        return {}
    some = affordable(target, some)
    settings = sweep(surrogate, target, some, sure=False)
    now = settings.pop(FACTORS.index(1.0))
    best = max(settings, key=lambda each: each.alignment.value or 0.0)
    gain = figure((best.cosines - now.cosines).cpu(), "cosine", some.weight.cpu().numpy(), seed=seed)
    return {"temperature_gain": gain, "temperature_best": Figure(best.softness, "units of the scores", lists=len(some))}


def _above_equal(surrogate: Surrogate, some: ScoredLists, seed: int) -> Figure:
    """What the loss is above that of equal scores, list by list."""
    above = losses(surrogate, some) - losses(surrogate, some.with_scores(torch.zeros_like(some.scores)))
    share = surrogate.shares(some.scores, some.relevance, some.mask, some.weight)
    return figure(above.cpu(), surrogate.unit, share.cpu().numpy(), seed=seed)


def _aims(
    surrogate: Surrogate, target: RankingMetric, lists: ScoredLists, kept: Tensor, seed: int
) -> dict[str, Figure]:
    """For each option in which the loss' metric differs from the target: what that alone makes of the target."""
    found: dict[str, Figure] = {}
    given = lists.scores, lists.relevance, lists.mask
    for option in differing(surrogate.metric, target):
        other = replace(target, **{option: getattr(surrogate.metric, option)})
        moved = torch.where(kept, other.exact(*given) - target.exact(*given), torch.nan)
        found[f"aim_{option}"] = figure(moved.cpu(), target.name, lists.weight.cpu().numpy(), seed=seed)
    return found


def _regret(target: RankingMetric, values: Mapping[str, Tensor]) -> Tensor:
    """[B] what the metric lacks to that of the best order."""
    lost = values["ceiling"] - values["target"]
    return lost if target.larger_is_better else -lost


def _sampled(surrogate: Surrogate, target: RankingMetric, lists: ScoredLists, most: int, seed: int) -> ScoredLists:
    return lists.sample(counted(surrogate, target, lists.relevance, lists.mask), most, seed)


def _columns(surrogate: Surrogate, target: RankingMetric, lists: ScoredLists) -> dict[str, Tensor]:
    """``columns`` of all lists, some at a time."""
    step = max(1, CELLS // max(1, lists.scores.shape[1]))
    parts = [lists.pick(part) for part in torch.split(torch.arange(len(lists), device=lists.scores.device), step)]
    found = [columns(surrogate, target, each.scores, each.relevance, each.mask, teacher=each.teacher) for each in parts]
    return {name: torch.cat([each[name] for each in found]) for name in found[0]}


def _scale_loss_share(scale: ScaleSplit) -> float | None:
    """Of what scores of the best scale have over equal scores, the part that these lack: above 1 they are worse."""
    attainable = scale.constant - scale.best
    return (scale.loss - scale.best) / attainable if attainable > 0 else None


def _gap(surrogate: Surrogate, values: Mapping[str, Tensor]) -> Tensor:
    """[B] the gap to the surrogate's own aim, with the sign of its kind; NaN for neither."""
    aim = surrogate.aim
    gap = values["belief"] - values["aim"]
    return -gap if surrogate.kind == "bound" and (aim is None or aim.larger_is_better) else gap
