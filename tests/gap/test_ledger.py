"""The ledger: lines that add up to what lies between the training loss and the metric, for surrogates of all kinds."""

import numpy as np
import pytest
import torch

from ltr import options
from ltr.gap.belief import columns
from ltr.gap.ledger import ledger
from ltr.gap.scale import scale_split
from ltr.gap.scored import ScoredLists, losses, scored
from ltr.losses import MSE, ApproxMetric, ARPLoss, LambdaRank, RankNet, Softmax, Surrogate
from ltr.losses.named import named
from ltr.metrics import parse

TARGET = parse("ndcg@5")
NAMES = sorted({path.stem for path in (options.folder() / "loss").glob("*.yaml")} - {"custom", "sum", "perturbed"})
HISTORY = [
    {"loss": loss, "target_value": value} for loss, value in ((9.0, 0.2), (0.9, 0.5), (0.5, 0.4), (0.2, 0.7), (-9, 0.8))
]


def lists(seed: int, queries: int = 12, noise: float = 1.0) -> ScoredLists:
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, 2, (queries, 9), generator=generator).double()
    scores = labels + noise * torch.randn(queries, 9, generator=generator, dtype=torch.float64)
    mask = torch.arange(9) < torch.randint(3, 10, (queries, 1), generator=generator)
    return scored(scores, labels, mask, torch.rand(queries, generator=generator), teacher=scores / 2)


def mean(surrogate: Surrogate, some: ScoredLists, column: str, target: str = TARGET.name) -> float:
    found = columns(surrogate, parse(target), some.scores, some.relevance, some.mask, teacher=some.teacher)
    weight = (found["counted"] * some.weight).numpy()
    return float(np.average(found[column].numpy(), weights=weight))


@pytest.mark.parametrize("name", NAMES)
def test_the_lines_add_up_to_what_lies_between_the_two_ends(name: str) -> None:
    surrogate = named(name, TARGET)
    validation, train = lists(0), lists(1, noise=0.5)
    factor = scale_split(surrogate, validation).factor
    lines = ledger(surrogate, TARGET, validation, train, factor=factor, history=HISTORY, sure=False)
    total = lines.pop("total").value
    assert sum(line.value for line in lines.values() if line.value is not None) == pytest.approx(total, abs=1e-6)
    aim = surrogate.aim or TARGET
    truth = mean(surrogate, validation, "target" if aim.base == TARGET.base else "aim")
    if surrogate.kind == "neither":
        counted = columns(surrogate, TARGET, train.scores, train.relevance, train.mask, teacher=train.teacher)[
            "counted"
        ]
        share = surrogate.shares(train.scores, train.relevance, train.mask, train.weight * counted)
        loss = float((losses(surrogate, train) * share).sum() / share.sum())
        levels = sorted((row["loss"], value) for row, value in zip(HISTORY, (0.2, 0.45, 0.45, 0.7, 0.8), strict=True))
        assert total == pytest.approx(truth - float(np.interp(loss, *zip(*levels, strict=True))), abs=1e-6)
        return
    believed = mean(surrogate, train, "belief")
    sign = 1 if surrogate.kind == "bound" and aim.larger_is_better else -1
    assert total == pytest.approx(sign * (truth - believed), abs=1e-6)


def test_an_approximation_at_zero_temperature_is_its_aim() -> None:
    loss, some = ApproxMetric("ndcg@5", temperature=0.3), lists(2)
    lines = ledger(loss, TARGET, some, some, factor=None)
    exact, aim, belief = (mean(loss, some, each) for each in ("target", "aim", "belief"))
    assert lines["smoothing"].value == pytest.approx(belief - aim)
    assert lines["specification"].value == pytest.approx(aim - exact)
    assert lines["generalisation"].value == 0
    assert {line.unit for line in lines.values()} == {"ndcg@5"}


@pytest.mark.parametrize("loss", [ApproxMetric("ndcg@5", truncate=True), LambdaRank("ndcg@5")], ids=repr)
def test_without_another_aim_there_is_nothing_to_specify(loss: Surrogate) -> None:
    lines = ledger(loss, TARGET, lists(3), lists(4), factor=1.0)
    assert lines["specification"].value == pytest.approx(0, abs=1e-12)


def test_a_bound_pays_for_the_scale_of_its_scores() -> None:
    loss, some = Softmax("ndcg"), lists(5)
    wide = some.with_scores(some.scores * 10)
    factor = scale_split(loss, wide).factor
    lines = ledger(loss, TARGET, wide, None, factor=factor)
    best = loss.certificate(wide.scores * factor, wide.relevance, wide.mask)
    now = loss.certificate(wide.scores, wide.relevance, wide.mask)
    assert best is not None
    assert now is not None
    counted = columns(loss, TARGET, wide.scores, wide.relevance, wide.mask)["counted"] * wide.weight
    assert lines["scale"].value == pytest.approx(((best - now) * counted).sum().item() / counted.sum().item())
    assert lines["generalisation"].value is None


def test_an_aim_of_which_less_is_better_turns_the_signs() -> None:
    loss, some = ARPLoss(), lists(6)
    lines = ledger(loss, parse("arp"), some, some, factor=None)
    believed, exact = (mean(loss, some, each, "arp") for each in ("belief", "aim"))
    assert lines["intrinsic"].value == pytest.approx(believed - exact)
    assert believed > exact


def test_aim_and_target_without_a_common_unit_are_not_subtracted() -> None:
    loss, some = ApproxMetric("ap"), lists(7)
    lines = ledger(loss, TARGET, some, some, factor=None)
    assert {line.unit for line in lines.values()} == {"ap"}
    assert lines["total"].value == pytest.approx(mean(loss, some, "belief") - mean(loss, some, "aim"))


@pytest.mark.parametrize("history", [[], HISTORY[:2], [{"loss": float("nan"), "target_value": 0.1}] * 3])
def test_what_is_neither_needs_three_states(history: list[dict[str, float]]) -> None:
    lines = ledger(MSE(), TARGET, lists(8), lists(9), factor=None, history=history)
    assert {line.value for line in lines.values()} == {None}


@pytest.mark.parametrize(
    "loss", [ApproxMetric("ndcg"), Softmax("ndcg"), RankNet()], ids=lambda loss: type(loss).__name__
)
def test_parts_padding_and_lists_without_weight_change_nothing(
    loss: Surrogate, monkeypatch: pytest.MonkeyPatch
) -> None:
    validation, train = lists(10), lists(11)
    options = {"factor": 0.5, "history": HISTORY, "sure": False}
    whole = ledger(loss, TARGET, validation, train, **options)
    padded = [
        torch.nn.functional.pad(each, (0, 4)) for each in (validation.scores, validation.relevance, validation.mask)
    ]
    more = [torch.cat([each, each[:2]]) for each in padded]
    wide = scored(more[0], more[1], more[2], torch.cat([validation.weight, torch.zeros(2)]))
    monkeypatch.setattr("ltr.gap.scored.CELLS", 1)
    again = ledger(loss, TARGET, wide, train, **options)
    for name, line in whole.items():
        assert again[name].value == pytest.approx(line.value, abs=1e-12), name
