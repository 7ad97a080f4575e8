"""Distillation: softmax cross entropy with another ranker's scores as targets."""

from __future__ import annotations

import torch
from torch import Tensor

from ltr.lists import may_look
from ltr.losses.base import Surrogate, like_documents, positive, read_lists
from ltr.losses.softmax import log_softmax


def distillation(
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None = None,
    temperature: float = 1.0,
    *,
    teacher: Tensor | None,
    weight: Tensor | None = None,
) -> Tensor:
    """[B] -sum_i q_i log softmax(s / T)_i with q = softmax(teacher / T), a constant. The labels are not looked at.

    Raises:
        ValueError: there is no teacher, or it has not one finite score a document.
    """
    scores, relevance, mask, weight = read_lists(scores, relevance, mask, weight)
    given = read_teacher(teacher, mask).to(scores)
    target = torch.where(mask, log_softmax(given / temperature, mask).exp(), 0)
    return -(weight * target * log_softmax(scores / temperature, mask)).sum(-1)


def read_teacher(teacher: Tensor | None, mask: Tensor) -> Tensor:
    """[B, L] the teacher's scores, 0 where padded, without a graph.

    Raises:
        ValueError: there are none, not one a document, or one that is no finite number.
    """
    if teacher is None:
        raise ValueError("teacher: wanted the scores of another ranker, one a document; got none")
    teacher = like_documents("teacher", teacher, mask).detach()
    if may_look(teacher) and not (right := torch.isfinite(teacher)).all():
        row, column = (~right).nonzero()[0].tolist()
        raise ValueError(f"teacher must be finite: list {row}, document {column} has {teacher[row, column].item():g}")
    return teacher


class Distil(Surrogate):
    """The student's top-one probabilities are to be the teacher's.

    ``loss = -sum_i q_i log softmax(s / T)_i, q = softmax(teacher / T)``; least, and equal to the entropy of q, where
    scores differ from the teacher's by a constant. Source: Hinton, Vinyals, Dean (2015), Distilling the knowledge in a
    neural network, over the documents of a list.

    NOTE[DIFF] There the loss is multiplied by T^2, so that its gradient keeps its size at any T beside another loss;
    here a loss beside others has its weight in ``WeightedSum``.

    Args:
        temperature: T > 0, in units of both scores; a higher one tells more of the teacher's lower places.

    Raises:
        ValueError: a temperature that is not above 0.

    Example:
        >>> import torch
        >>> scores, labels = torch.tensor([[2.0, 0.0]]), torch.zeros(1, 2)
        >>> round(Distil()(scores, labels, teacher=torch.tensor([[-10.0, 10.0]])).item(), 4)
        2.1269
    """

    unit = "nats"
    cost = "O(L)"
    softness_in = "temperature"
    suits = ("teacher",)
    needs_teacher = True

    def __init__(self, temperature: float = 1.0) -> None:
        super().__init__()
        self.temperature = positive("temperature", temperature)

    def forward(
        self,
        scores: Tensor,
        relevance: Tensor,
        mask: Tensor | None = None,
        *,
        teacher: Tensor | None = None,
        weight: Tensor | None = None,
    ) -> Tensor:
        return distillation(scores, relevance, mask, self.temperature, teacher=teacher, weight=weight)
