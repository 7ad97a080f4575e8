"""ltr.load: a trained run from Python."""

from pathlib import Path

import numpy as np
import pytest
import torch

import ltr
from ltr.cli import main
from ltr.data import DataError, RankingData
from ltr.runs import Run, RunError
from tests.cli.conftest import write_letor


def test_predicts_from_arrays_files_and_lists_alike(at_work: Path) -> None:
    trained = ltr.load("first")
    data = trained.read("data/test.txt", labelled=True)
    from_lists = trained.predict(data)
    np.testing.assert_allclose(trained.predict("data/test.txt"), from_lists, atol=1e-6)
    np.testing.assert_allclose(trained.predict(data.features, lengths=data.lengths.tolist()), from_lists, atol=1e-6)
    assert trained.predict(data.features).shape == (len(data.features),)


def test_scores_go_back_in_the_order_of_the_rows(at_work: Path) -> None:
    trained = ltr.load("first")
    features = np.random.default_rng(0).standard_normal((6, 4))
    together = trained.predict(features, queries=list("abcabc"))
    apart = trained.predict(features, queries=list("aabbcc"))
    np.testing.assert_allclose(
        together, apart, atol=1e-6
    )  # a pointwise model: the list does not matter, the order does


def test_part_of_a_file_is_scored_like_the_whole(at_work: Path) -> None:
    trained = ltr.load("first")
    data = trained.read("data/test.txt", labelled=True)
    part = data.select([3, 1])
    whole = dict(zip(data.row.tolist(), trained.predict(data), strict=True))
    found = trained.predict(part)
    order = np.sort(part.row)
    np.testing.assert_allclose(found, [whole[row] for row in order.tolist()], atol=1e-6)


def test_evaluates_with_the_metrics_of_the_run_or_others(at_work: Path) -> None:
    trained = ltr.load("first")
    assert [values.metric.name for values in trained.evaluate("data/test.txt")] == ["ndcg-linear@5", "mrr"]
    (found,) = trained.evaluate("data/test.txt", ["ndcg-linear@5"])
    assert found.summary().value == pytest.approx(trained.run.read_info()["test"]["ndcg-linear@5"], abs=1e-6)


def test_the_best_state_unless_asked_and_in_evaluation_mode(at_work: Path) -> None:
    best, last = ltr.load(Run("runs/first")), ltr.load(at_work / "runs/first", checkpoint="last")
    assert best.checkpoint == Run("runs/first").best_checkpoint()
    assert last.checkpoint.name == "last.ckpt"
    assert not best.model.training
    assert best.metric.name == "ndcg-linear@5"


def test_a_trained_run_is_a_scorer_on_raw_features(at_work: Path) -> None:
    trained = ltr.load("first")
    features = torch.randn(2, 3, 4)
    mask = torch.tensor([[True, True, False], [True, True, True]])
    scores = trained(features, mask)
    alone = trained(features[:1, :2], mask[:1, :2])
    torch.testing.assert_close(scores[0, :2], alone[0])


@pytest.fixture
def mapped(here: Path) -> Path:
    """A run with a label map and weights, and other.txt, whose queries have weights in the same file."""
    for place, name in enumerate(("train", "test", "other")):
        write_letor(here / f"{name}.txt", 8, seed=place)
    weights = [f"s{place}q{query} {1 + query % 3}\n" for place in range(3) for query in range(8)]
    (here / "weights.txt").write_text("".join(weights))
    words = ["data=letor", "data.train=train.txt", "data.test=test.txt", "data.labels={0:0,1:0,2:1,3:1}"]
    quick = ["metric=mrr", "metrics=[]", "model=linear", "trainer.max_epochs=1", "name=mapped"]
    (here / "known.txt").write_text("".join(line for line in weights if not line.startswith("s2")))
    assert main(["train", *words, "data.weights=known.txt", *quick]) == 0
    return here


def test_a_file_gets_the_label_map_and_the_weights_of_the_run(mapped: Path) -> None:
    trained = ltr.load("mapped")
    (found,) = trained.evaluate("test.txt")
    assert found.summary().value == pytest.approx(trained.run.read_info()["test"]["mrr"], abs=1e-6)
    assert sorted(set(found.weight.tolist())) == [1, 2, 3]
    assert set(trained.read("test.txt", labelled=True).relevance.tolist()) == {0, 1}
    with pytest.raises(DataError, match=r"known\.txt: wanted a weight for each query of .*other\.txt, came none for 8"):
        trained.evaluate("other.txt")
    assert len(trained.predict("other.txt")) > 8  # neither is asked of what has no labels


def test_the_verb_evaluates_one_file_by_map_and_weights(mapped: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (own,) = ltr.load("mapped").evaluate("test.txt")
    capsys.readouterr()
    assert main(["evaluate", "mapped"]) == 0
    assert f" {own.summary().value:.4f} " in capsys.readouterr().out
    assert main(["evaluate", "mapped", "data.test=other.txt", "data.weights=weights.txt"]) == 0
    out, err = capsys.readouterr()
    assert f"test: {mapped}/other.txt, 8 queries" in out
    assert "train.txt" not in err  # only what is asked for is read


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ltr.load("nope"), RunError, "no run 'nope'"),
        (lambda: ltr.load("first", checkpoint="worst"), RunError, "checkpoint: wanted best or last, got 'worst'"),
        (lambda: ltr.load("first").predict(np.zeros((2, 3))), DataError, "first was trained on 4 features, came 3"),
        (
            lambda: ltr.load("first").evaluate(RankingData.from_arrays(np.zeros((2, 4)), queries="aa")),
            DataError,
            "wanted labels to evaluate on",
        ),
    ],
)
def test_what_is_refused(at_work: Path, call, error: type[Exception], message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(error, match=message):
        call()


def test_a_run_that_never_trained(here: Path) -> None:
    run = ltr.runs.claim(here / "runs", "empty", "")
    run.write_config("data: {}\n")
    with pytest.raises(RunError, match="stopped before it trained: there is no model in it"):
        ltr.load("empty")
