"""Planted faults are named, each by its own sentence and as the one alarm; a healthy training raises none."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from ltr.data import RankingData, Splits, synthetic
from ltr.gap.belief import counted
from ltr.gap.budget import budget_distance
from ltr.gap.diagnose import Diagnosis, diagnose, measure
from ltr.gap.scored import ScoredLists, descent, scored
from ltr.losses import ApproxMetric, LambdaRank, ListMLE, NeuralNDCG, RankNet, Softmax, Surrogate
from ltr.losses.named import named
from ltr.metrics import parse

Train = Callable[..., tuple[ScoredLists, ScoredLists]]
TARGET = parse("ndcg@10")
HEALTHY = ("approx", "lambdarank", "softmax", "ranknet", "mse", "listnet", "listmle", "hinge")


class Flipped(Surrogate):
    """A loss with the wrong sign."""

    def __init__(self, right: Surrogate) -> None:
        super().__init__()
        self.right = right

    def forward(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        return -self.right(scores, relevance, mask)


class Dropping(Surrogate):
    """A loss whose mask drops the document with the highest score."""

    def __init__(self, right: Surrogate) -> None:
        super().__init__()
        self.right = right

    def forward(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        assert mask is not None
        top = scores.masked_fill(~mask, -torch.inf).argmax(1, keepdim=True)
        return self.right(scores, relevance, mask.scatter(1, top, False))


class Boasting(Surrogate):
    """A bound that guarantees too much: its gains are those of another metric."""

    metric = TARGET

    @property
    def kind(self) -> str:  # type: ignore[override]
        return "bound"

    def forward(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        return RankNet()(scores, relevance, mask)

    def certificate(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        return parse("ndcg-linear@10").exact(scores, relevance, mask)


def alarms(found: Diagnosis) -> list[str]:
    return [each.code for each in found.alarms]


def times(lists: ScoredLists, factor: float) -> ScoredLists:
    return lists.with_scores(lists.scores * factor)


def shuffled(part: RankingData | None) -> RankingData:
    assert part is not None
    return replace(part, relevance=np.random.default_rng(0).permutation(part.relevance))


def few(seed: int = 0) -> Splits:
    data = synthetic(seed=seed)
    return data._replace(train=data.train.select(range(30)))


@pytest.mark.parametrize("seed", range(20))
def test_a_healthy_training_raises_no_alarm(trained: Train, seed: int) -> None:
    for loss in (named(HEALTHY[(seed + step) % len(HEALTHY)], TARGET) for step in (0, 3)):
        validation, train = trained(loss, seed=seed)
        assert alarms(diagnose(loss, TARGET, validation, train)) == []


@pytest.mark.parametrize("loss", [RankNet(), Softmax("ndcg@10"), LambdaRank("ndcg@10"), ListMLE()], ids=repr)
def test_a_flipped_sign(trained: Train, loss: Surrogate) -> None:
    validation, train = trained(Flipped(loss))
    found = diagnose(Flipped(loss), TARGET, validation, train)
    assert alarms(found) == ["against-the-metric"]
    assert found.findings[0].sentence.startswith("A step down Flipped moves against ndcg@10: ")
    assert found.findings[0].figure.high < 0.5


@pytest.mark.parametrize("loss", [RankNet(), Softmax("ndcg@10"), LambdaRank("ndcg@10")], ids=repr)
def test_a_mask_that_drops_the_top_document(trained: Train, loss: Surrogate) -> None:
    found = diagnose(Dropping(loss), TARGET, *trained(Dropping(loss)))
    assert alarms(found) == ["top-document-unseen"]
    assert "in 100.0 % of the lists" in found.findings[0].sentence


def test_a_certificate_above_the_truth(trained: Train) -> None:
    found = diagnose(Boasting(), TARGET, *trained(RankNet()))
    assert alarms(found) == ["certificate-broken"]
    assert found.findings[0].figure.value < 0


@pytest.mark.parametrize(
    "loss",
    [ApproxMetric("ndcg-linear@10"), LambdaRank("ndcg-linear@10"), Softmax("ndcg-linear@10")],
    ids=lambda loss: type(loss).__name__,
)
def test_another_gain(trained: Train, loss: Surrogate) -> None:
    found = diagnose(loss, TARGET, *trained(loss))
    assert alarms(found) == ["aim-gain"]
    assert "gain differs; that alone makes" in found.findings[0].sentence


@pytest.mark.parametrize("loss", [ApproxMetric("ndcg@1", truncate=True), LambdaRank("ndcg@1")], ids=repr)
def test_a_smaller_cutoff(trained: Train, loss: Surrogate) -> None:
    found = diagnose(loss, TARGET, *trained(loss))
    assert alarms(found) == ["aim-k"]
    assert "works on ndcg@1, and ndcg@10 is reported: it does not look below place 1" in found.findings[0].sentence


def test_another_rule_for_lists_without_an_answer(trained: Train) -> None:
    loss = LambdaRank(replace(TARGET, empty="one"))
    assert alarms(diagnose(loss, TARGET, *trained(loss))) == ["aim-empty"]


def test_a_deeper_cutoff_is_no_fault(trained: Train) -> None:
    loss = ApproxMetric("ndcg@10")
    found = diagnose(loss, TARGET, *trained(loss))
    assert alarms(found) == []
    assert "aim-deeper" in [each.code for each in found.findings]


@pytest.mark.parametrize(
    ("loss", "code"),
    [
        (ApproxMetric("ndcg@10", temperature=0.1 / 100), "temperature-small"),
        (ApproxMetric("ndcg@10", temperature=0.1 * 100), "temperature-large"),
        (NeuralNDCG("ndcg@10", temperature=1 / 100), "temperature-small"),
        (NeuralNDCG("ndcg@10", temperature=1 * 100), "temperature-large"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_temperature_a_hundred_times_off(trained: Train, loss: Surrogate, code: str) -> None:
    assert alarms(diagnose(loss, TARGET, *trained(loss))) == [code]


@pytest.mark.parametrize("name", ["softmax", "ranknet", "lambdarank", "mse", "listmle"])
def test_scores_times_ten(trained: Train, name: str) -> None:
    loss = named(name, TARGET)
    found = diagnose(loss, TARGET, *(times(each, 10) for each in trained(loss)))
    assert alarms(found) == ["over-confident"]
    assert found.figures["scale"].value == pytest.approx(0.1, rel=0.5)


def test_scores_times_ten_are_too_large_for_a_temperature(trained: Train) -> None:
    loss = ApproxMetric("ndcg@10")
    assert alarms(diagnose(loss, TARGET, *(times(each, 10) for each in trained(loss)))) == ["temperature-small"]


@pytest.mark.parametrize("name", ["softmax", "ranknet", "lambdarank", "approx", "mse"])
def test_an_overfitted_model(trained: Train, name: str) -> None:
    loss = named(name, TARGET)
    found = diagnose(loss, TARGET, *trained(loss, few(), hidden=256, steps=400))
    assert alarms(found) == ["overfitted"]
    assert found.figures["drop"].low > 0


@pytest.mark.parametrize("name", ["softmax", "ranknet", "lambdarank", "approx", "mse"])
def test_rows_that_are_shuffled_together(trained: Train, name: str) -> None:
    data = synthetic(seed=0)
    mixed = data._replace(train=shuffled(data.train), validation=shuffled(data.validation))
    loss = named(name, TARGET)
    found = diagnose(loss, TARGET, *trained(loss, mixed))
    assert alarms(found) == ["no-better-than-chance"]
    assert "The ranking is no better than a random order: ndcg@10 is " in found.findings[0].sentence


@pytest.mark.parametrize("name", ["softmax", "lambdarank", "mse"])
def test_training_rows_that_are_shuffled_together(trained: Train, name: str) -> None:
    data = synthetic(queries=600, noise=0, seed=0)
    mixed = np.random.default_rng(0).random(len(data.train.relevance)) < 0.8
    labels = data.train.relevance.copy()
    labels[mixed] = np.random.default_rng(1).permutation(labels[mixed])
    loss = named(name, TARGET)
    found = diagnose(loss, TARGET, *trained(loss, data._replace(train=replace(data.train, relevance=labels))))
    assert alarms(found) == ["training-rows-mixed"]
    assert found.findings[0].sentence.startswith("The ranking is far better on lists that were not trained on")


def test_scores_that_are_upside_down(trained: Train) -> None:
    loss = RankNet()
    validation, _ = trained(loss)
    found = diagnose(loss, TARGET, times(validation, -1))
    assert alarms(found) == ["no-better-than-chance"]
    assert found.findings[0].sentence.startswith("The ranking is worse than a random order: ndcg@10 is ")


def test_each_option_that_differs_is_told_what_it_alone_makes(trained: Train) -> None:
    loss = ApproxMetric("ndcg-linear@10")
    validation, train = trained(loss)
    found = diagnose(loss, TARGET, validation, train)
    given = validation.scores, validation.relevance, validation.mask
    kept = TARGET.defined(*given[1:]) & (
        validation.relevance.masked_fill(~validation.mask, 9).amin(1) < validation.relevance.amax(1)
    )
    for option, other in (("gain", "ndcg-linear@10"), ("k", "ndcg")):
        alone = (parse(other)(*given) - TARGET(*given))[kept].mean().item()
        assert found.figures[f"aim_{option}"].value == pytest.approx(alone), option


def test_a_loss_a_little_above_that_of_equal_scores_is_no_proof(trained: Train) -> None:
    validation, _ = trained(RankNet())
    lists = validation.pick(torch.arange(25))
    generator = torch.Generator().manual_seed(0)
    noisy = lists.with_scores(
        lists.relevance + 2 * torch.randn(lists.scores.shape, generator=generator, dtype=torch.float64)
    )
    found = diagnose(named("mse", TARGET), TARGET, noisy)
    excess = found.figures["loss_above_equal"]
    assert excess.low is not None
    assert ("over-confident" in alarms(found)) == (excess.low > 0)


def test_training_on_clicks_and_reporting_on_grades(trained: Train) -> None:
    data = synthetic(seed=0)
    clicks = data._replace(train=replace(data.train, relevance=(data.train.relevance > 1).astype(np.float64)))
    found = diagnose(Softmax("ndcg@10"), TARGET, *trained(Softmax("ndcg@10"), clicks))
    assert alarms(found) == ["labels-differ"]
    assert "above 1, the highest train label (they go up to 4)" in found.findings[0].sentence


def test_what_stands_behind_an_alarm_is_a_remark_without_advice(trained: Train) -> None:
    found = diagnose(Flipped(RankNet()), TARGET, *trained(Flipped(RankNet())))
    behind = {each.code: each for each in found.findings[1:]}
    assert behind["no-better-than-chance"].level == "remark"
    assert behind["no-better-than-chance"].advice == ""


def test_without_training_lists_nothing_is_said_of_generalisation(trained: Train) -> None:
    loss = RankNet()
    validation, _ = trained(loss, few(), hidden=256, steps=400)
    assert "drop" not in diagnose(loss, TARGET, validation).figures
    assert alarms(diagnose(loss, TARGET, validation)) == []


def test_the_report_holds_every_figure_and_finding(trained: Train) -> None:
    loss = ApproxMetric("ndcg@10")
    found = diagnose(loss, TARGET, *trained(loss))
    report = found.report()
    assert list(report["figures"]) == list(found.figures)
    assert report["figures"]["target"] == found.figures["target"].row()
    assert [each["code"] for each in report["findings"]] == [each.code for each in found.findings]
    assert report["target"] == TARGET.convention
    assert sum(each["value"] for line, each in report["ledger"].items() if line != "total") == pytest.approx(
        report["ledger"]["total"]["value"], abs=1e-6
    )


def test_lists_in_another_order_and_wider_have_the_same_figures(trained: Train) -> None:
    loss = LambdaRank("ndcg@10")
    validation, train = trained(loss)
    wide = scored(
        *(torch.nn.functional.pad(each, (0, 7)) for each in (validation.scores, validation.relevance)),
        torch.nn.functional.pad(validation.mask, (0, 7)),
    )
    first, second = (measure(loss, TARGET, each, train, lists=1000, sure=False) for each in (validation, wide))
    for name, each in first.figures.items():
        assert second.figures[name].value == pytest.approx(each.value, rel=1e-9), name


def test_nothing_to_diagnose_is_an_error() -> None:
    lists = scored(torch.tensor([[0.1, 0.2]]), torch.tensor([[0.0, 0.0]]))
    with pytest.raises(ValueError, match=r"^ndcg@10: no list counts: each is without an answer, or all of its labels"):
        diagnose(RankNet(), TARGET, lists)


def test_a_metric_whose_smoothed_gradient_is_slow_has_the_alignment_of_few_lists(trained: Train) -> None:
    validation, _ = trained(RankNet())
    found = measure(RankNet(), parse("tau"), validation, lists=1000, sure=False).figures
    assert found["alignment"].lists == 8 < found["coherence"].lists


def test_the_gradient_budget_counts_what_a_list_weighs_in_the_mean_loss(trained: Train) -> None:
    validation, _ = trained(RankNet())
    loss = RankNet(pairs="batch")
    found = measure(loss, TARGET, validation, lists=1000, sure=False).figures["budget_distance"].value
    some = validation.sample(counted(loss, TARGET, validation.relevance, validation.mask), 1000)
    share = loss.shares(some.scores, some.relevance, some.mask)[:, None]
    regret = 1 - TARGET(some.scores, some.relevance, some.mask)
    assert found == pytest.approx(budget_distance(share * descent(loss, some), regret, some.mask, some.weight))
    assert found != pytest.approx(budget_distance(descent(loss, some), regret, some.mask, some.weight))
