"""A trained run back in memory: its model with its transform, ready to score and to be measured."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ltr import evaluation, runs
from ltr.cli.build import build, metric_of, metrics_of
from ltr.data import DataError, RankingData, read_letor
from ltr.metrics import RankingMetric, parse

if TYPE_CHECKING:
    from torch import Tensor, nn

LETOR = "ltr.data.letor"
READING = ("index_base", "scattered", "labels", "weights")  # arguments of read_letor that a set of LETOR files takes
DOCUMENTS = 16384  # padded documents scored at once


@dataclass(frozen=True, eq=False)
class Trained:
    """A trained model, its feature transform, and the metrics of its run."""

    run: runs.Run
    checkpoint: Path
    features: int  # how many it was trained on
    model: nn.Module
    transform: nn.Module | None
    metric: RankingMetric
    metrics: tuple[RankingMetric, ...]  # the run's metric first
    reading: Mapping[str, Any]  # how its data files were read: the keys in READING

    def __call__(self, features: Tensor, mask: Tensor) -> Tensor:
        """Raw features [B, L, F] and mask [B, L] -> scores [B, L]."""
        raw = features if self.transform is None else self.transform(features, mask)
        scores: Tensor = self.model(raw, mask)
        return scores

    def predict(
        self,
        data: RankingData | str | os.PathLike[str] | ArrayLike,
        *,
        queries: Sequence[Any] | None = None,
        lengths: Sequence[int] | None = None,
    ) -> NDArray[np.float32]:
        """Scores in the order of the rows as they were given.

        Args:
            data: lists, a file in LETOR form (labels not needed), or raw features [N, F].
            queries: with features: N query ids, one a row.
            lengths: with features, instead of queries: group sizes. Neither: all rows are one list.

        Raises:
            DataError: the data cannot be read, or has another number of features than the run was trained on.

        Example:
            >>> from ltr.models import Linear  # `ltr.load("first")` gives what is put together here
            >>> trained = Trained(runs.Run("first"), Path("best.ckpt"), 2, Linear(2), None, parse("ndcg"), (), {})
            >>> trained.predict([[0.2, 1.0], [0.4, 0.0], [0.3, 0.1]]).shape
            (3,)
        """
        lists = self._lists(data, queries, lengths)
        scores = np.empty(len(lists.row), dtype=np.float32)
        scores[np.argsort(np.argsort(lists.row))] = evaluation.score(self, lists, DOCUMENTS)
        return scores

    def evaluate(
        self, data: RankingData | str | os.PathLike[str], metrics: Sequence[str | RankingMetric] | None = None
    ) -> list[evaluation.MetricValues]:
        """The exact metrics on every list of labelled data; those of the run when none is named.

        Args:
            data: lists, as they are; or a file in LETOR form, to which the run's label map and weights are applied.
            metrics: names or metrics.

        Raises:
            DataError: as predict does, or the data has no labels.
        """
        lists = data if isinstance(data, RankingData) else self.read(data, labelled=True)
        wanted = self.metrics if metrics is None else [parse(metric) for metric in metrics]
        self._check_width(lists)
        return evaluation.per_query(evaluation.lists_of(evaluation.score(self, lists, DOCUMENTS), lists), wanted)

    def read(self, path: str | os.PathLike[str], *, labelled: bool) -> RankingData:
        """A file in LETOR form, read as the run's own data were; its label map and weights serve labelled data only."""
        wanted = {key: value for key, value in self.reading.items() if labelled or key != "weights"}
        return read_letor(path, width=self.features, labelled=labelled, **wanted)

    def _lists(self, data: Any, queries: Sequence[Any] | None, lengths: Sequence[int] | None) -> RankingData:
        if isinstance(data, str | os.PathLike):
            return self.read(data, labelled=False)
        if isinstance(data, RankingData):
            lists = data
        else:
            rows = np.asarray(data)
            sizes = [len(rows)] if queries is None and lengths is None else lengths
            lists = RankingData.from_arrays(rows, queries=queries, lengths=sizes)
        self._check_width(lists)
        return lists

    def _check_width(self, data: RankingData) -> None:
        width = data.features.shape[1]
        if width != self.features:
            raise DataError(
                f"{data.source}: {self.run.path.name} was trained on {self.features} features, came {width}"
            )


def load(
    run: runs.Run | str | os.PathLike[str], root: str | os.PathLike[str] = "runs", checkpoint: str = "best"
) -> Trained:
    """Load a trained run.

    Args:
        run: its folder, its name below root, or "last".
        root: where run folders lie.
        checkpoint: "best" or "last".

    Raises:
        RunError: there is no such run, or it has no such checkpoint.
        ConfigError: its configuration cannot be built any more.
    """
    import torch

    if checkpoint not in ("best", "last"):
        raise runs.RunError(f"checkpoint: wanted best or last, got {checkpoint!r}")
    found = run if isinstance(run, runs.Run) else runs.find(os.fspath(run), Path(root))
    config, about = found.read_config(), found.read_info().get("data")
    if about is None:
        raise runs.RunError(f"{found.path} stopped before it trained: there is no model in it")
    width = about["train"]["features"]
    file = found.best_checkpoint() if checkpoint == "best" else found.last_checkpoint()
    metric = metric_of(config["metric"])
    model = build(config["model"], "model", features=width)
    transform = build(config["transform"], "transform")
    state = torch.load(file, map_location="cpu", weights_only=True)["state_dict"]
    model.load_state_dict(_below(state, "model."))
    if transform is not None:
        transform.load_state_dict(_below(state, "transform."))
        transform.eval()
    keys = READING if config["data"].get("_target_") == LETOR else READING[:2]  # labels may be anything elsewhere
    reading = {key: config["data"][key] for key in keys if key in config["data"]}
    others = [other for other in metrics_of(config["metrics"]) if other != metric]
    return Trained(found, file, width, model.eval(), transform, metric, (metric, *others), reading)


def _below(state: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}
