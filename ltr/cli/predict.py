"""``ltr predict RUN FILE``: a score and a rank for every row of a file."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from ltr.cli.load import load
from ltr.cli.output import check_writable, write
from ltr.data import RankingData
from ltr.ranking import exact_ranking


def predict(
    *,
    run: str,
    file: str | Path,
    output: str | Path | None,
    checkpoint: Literal["best", "last"],
    root: str | Path,
) -> None:
    """Write one row for each row of the file, in its order: query, document (if the file names any), score, rank."""
    check_writable(output, file)
    trained = load(run, root, checkpoint)
    data = trained.read(file, labelled=False)
    scores = trained.predict(data)
    write(_csv(table(data, scores)), output)
    if output is not None:
        print(f"{len(scores)} scores by {trained.checkpoint} in {output}")


def table(data: RankingData, scores: Any) -> Iterator[list[Any]]:
    """The header, then the rows in the order of the source."""
    named = data.document_ids is not None
    yield ["query", *(["document"] if named else []), "score", "rank"]
    place = np.argsort(np.argsort(data.row))  # of each row of the data among those of the source
    rank = np.empty(len(scores), dtype=np.int64)
    source = np.argsort(data.row)
    query = np.repeat(np.arange(len(data.query_ids)), data.lengths)
    for start, end in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        own = torch.from_numpy(scores[place[start:end]])
        rank[place[start:end]] = exact_ranking(own[None], ties="stable").position[0].numpy()
    for at, row in enumerate(source.tolist()):
        name = [data.document_ids[row]] if data.document_ids is not None else []
        yield [data.query_ids[query[row]], *name, f"{scores[at]:.9g}", int(rank[at])]


def _csv(rows: Iterable[list[Any]]) -> str:
    text = StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
