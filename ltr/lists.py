"""Batches of ranked lists: padding, masks, and the one check that every metric and surrogate makes at its door."""

from __future__ import annotations

import reprlib
from collections.abc import Hashable
from math import inf
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad


class ListBatch(NamedTuple):
    """A padded batch of B lists of at most L documents with F features each.

    A NamedTuple, since Lightning moves those between devices and refuses frozen dataclasses.
    """

    features: Tensor  # [B, L, F] float, 0 where padded
    relevance: Tensor  # [B, L] float >= 0, 0 where padded
    mask: Tensor  # [B, L] bool, True = a real document
    query: Tensor  # [B] int64, index into the data set's query ids
    weight: Tensor  # [B] float, one weight a list


def check_lists(
    scores: Any, relevance: Any, mask: Any = None, *, finite_scores: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """Read scores, relevance and mask as three [B, L] tensors, with 0 in the padded places.

    A single list [L] is read as [1, L]; half precision is lifted to float32, since ranks and sums need it; whole
    numbers and bools become float64, in which a whole score that it cannot tell from its neighbours is NaN.
    Values are looked at on the CPU only, so that nothing waits for an accelerator.

    Args:
        scores: [B, L] or [L], one score a document, any real unit.
        relevance: the same shape, labels >= 0.
        mask: the same shape, True for a real document; all real when None.
        finite_scores: refuse NaN scores too (exact metrics do).

    Raises:
        ValueError: shapes differ, numbers are complex, a label is NaN or negative, a whole score is beyond 2^53, or a
            score is NaN where that is refused.

    Example:
        >>> scores, relevance, mask = check_lists([0.3, 0.1], [1, 0])
        >>> scores.shape, mask.tolist()
        (torch.Size([1, 2]), [[True, True]])
    """
    scores, relevance = as_tensor(scores, "scores"), as_tensor(relevance, "relevance")
    relevance = relevance.to(scores.device)
    full = mask is None
    mask = torch.ones_like(scores, dtype=torch.bool) if full else as_tensor(mask, "mask").to(scores.device)
    if not scores.shape == relevance.shape == mask.shape or scores.dim() not in (1, 2):
        raise ValueError(
            "scores, relevance and mask must have one shape, [lists, documents] or [documents]; got "
            f"{list(scores.shape)}, {list(relevance.shape)} and {list(mask.shape)}"
        )
    if scores.dim() == 1:
        scores, relevance, mask = scores[None], relevance[None], mask[None]
    if not scores.shape[1]:  # lists without documents are lists of padding
        scores, relevance, mask = (pad(each, (0, 1)) for each in (scores, relevance, mask))
    mask, given = mask.bool(), scores
    scores, relevance = _told_apart(_real(scores, "scores"), given), _real(relevance, "relevance")
    if not full:
        scores, relevance = scores.masked_fill(~mask, 0.0), relevance.masked_fill(~mask, 0.0)
    if may_look(scores) and scores.numel():
        least, most = (each.item() for each in relevance.aminmax())
        if not 0 <= least <= most < inf:  # NaN where one is
            _refuse(torch.isnan(relevance), relevance, "relevance must be a number")
            _refuse(relevance < 0, relevance, "relevance must not be negative")
            _refuse(torch.isinf(relevance), relevance, "relevance must be finite")
        whole = not given.is_floating_point()
        if (finite_scores or whole) and torch.isnan(scores.min()):
            rule = "scores must be numbers" + " that float64 tells apart (to 2^53)" * whole
            _refuse(torch.isnan(scores), given, rule)
    return scores, relevance, mask


def ragged(documents: int, *, lengths: Any = None, qid: Any = None) -> tuple[Tensor, Tensor]:
    """Where the rows of flat arrays stand in a padded batch: index [B, L] into the rows, and mask [B, L].

    Args:
        documents: N, the rows.
        lengths: [B] whole numbers, documents of each list, one list after the other.
        qid: [N] query ids of any kind, their rows in any order; lists stand in order of first appearance.

    Raises:
        ValueError: neither or both are given, or they do not add up to the rows.

    Example:
        >>> index, mask = ragged(5, qid=["b", "a", "b", "b", "a"])
        >>> index.tolist(), mask.tolist()
        ([[0, 2, 3], [1, 4, 0]], [[True, True, True], [True, True, False]])
    """
    if (lengths is None) == (qid is None):
        raise ValueError("wanted lengths or qid, one of the two, to tell the lists apart")
    if lengths is not None:
        order, counts = torch.arange(documents), _lengths(lengths, documents)
    else:
        lists = _numbered(qid, documents)
        order, counts = lists.argsort(stable=True), lists.bincount()
    place = torch.arange(int(counts.max()) if len(counts) else 0)
    mask = place < counts[:, None]
    index = torch.zeros(mask.shape, dtype=torch.long).masked_scatter(mask, order)
    return index, mask


def _lengths(lengths: Any, documents: int) -> Tensor:
    given = lengths if hasattr(lengths, "dtype") else list(lengths) if hasattr(lengths, "__iter__") else [lengths]
    try:
        counts = torch.as_tensor(given).cpu()
    except (TypeError, ValueError, RuntimeError):
        counts = torch.full((1,), torch.nan)
    counts = counts if counts.numel() else counts.long()
    whole = not (counts.is_floating_point() or counts.is_complex() or counts.dtype == torch.bool)
    counts = counts.long() if whole else counts
    if counts.dim() != 1 or not whole or (counts < 0).any() or counts.sum() != documents:
        raise ValueError(
            f"lengths must be whole numbers >= 0 that add up to the {documents} documents, got {reprlib.repr(given)}"
        )
    return counts


def _numbered(qid: Any, documents: int) -> Tensor:
    """[N] the ids as whole numbers, in order of first appearance."""
    given = qid.tolist() if hasattr(qid, "tolist") else list(qid) if hasattr(qid, "__iter__") else [qid]
    ids = [each.item() if hasattr(each, "item") and not getattr(each, "ndim", 0) else each for each in given]
    if len(ids) != documents:
        raise ValueError(f"qid must have an id for each of the {documents} documents, got {len(ids)}")
    number: dict[Any, int] = {}
    for place, each in enumerate(ids):
        if each != each or not isinstance(each, Hashable) or hasattr(each, "dtype"):
            raise ValueError(f"qid must hold ids that can be told apart, got {each!r} for document {place}")
        number.setdefault(each, len(number))
    return torch.tensor([number[each] for each in ids], dtype=torch.long)


def check_weight(weight: Tensor) -> Tensor:
    """The weights [B] of lists as they came, if they are finite numbers >= 0; looked at on the CPU alone.

    Raises:
        ValueError: one is not.
    """
    if may_look(weight) and not (right := torch.isfinite(weight) & (weight >= 0)).all():
        raise ValueError(f"weight must be numbers >= 0, got {weight[~right][0].item():g}")
    return weight


def may_look(values: Tensor) -> bool:
    """May the program branch on these values? Not where it would wait for an accelerator, nor in a compiled graph."""
    return values.device.type == "cpu" and not torch.compiler.is_compiling()


def all_real(mask: Tensor) -> bool:
    """Is nothing padded, as far as the program may look? Told by NumPy, which stops at the first False."""
    return may_look(mask) and bool(mask.numpy().all())


def exact_dtype(device: torch.device) -> torch.dtype:
    """float64, in which exact metrics are summed; float32 on devices that have no other (Apple's)."""
    return torch.float32 if device.type == "mps" else torch.float64


def as_tensor(values: Any, name: str) -> Tensor:
    """Tensors and arrays as they are; plain numbers in float64, or in int64 where that tells more of them apart.

    Raises:
        ValueError: they are no numbers, or nested lists of unequal lengths; the error calls them by ``name``.
    """
    if isinstance(values, Tensor):
        return values
    plain = not hasattr(values, "dtype")
    try:
        real = torch.as_tensor(values, dtype=torch.float64 if plain else None)
    except (TypeError, ValueError, RuntimeError) as error:
        lengths = {len(each) for each in values if hasattr(each, "__len__")} if hasattr(values, "__iter__") else set()
        if len(lengths) > 1 and plain:
            wanted = "have as many documents in each list (fill up the shorter ones, and say where by mask)"
            raise ValueError(f"{name} must {wanted}; got lists of {min(lengths)} to {max(lengths)}") from error
        raise ValueError(f"{name} must be real numbers, got {reprlib.repr(values)}") from error
    if not plain:
        return real
    if (real.abs() >= 2**53).any() and (real.abs() < 2**63).all():
        whole = torch.as_tensor(values)
        return real if whole.is_floating_point() else whole
    return real


def _real(values: Tensor, name: str) -> Tensor:
    if values.dtype in (torch.float32, torch.float64):
        return values
    if values.is_complex():
        raise ValueError(f"{name} must be real numbers, got {str(values.dtype).removeprefix('torch.')}")
    return values.to(torch.float32 if values.is_floating_point() else exact_dtype(values.device))


def _told_apart(real: Tensor, given: Tensor) -> Tensor:
    """NaN for the given whole numbers that are others in floating point, and so would be ties that are none."""
    if given.is_floating_point() or given.dtype.itemsize < real.dtype.itemsize:
        return real
    return torch.where(real.to(given.dtype) == given, real, torch.nan)


def _refuse(wrong: Tensor, values: Tensor, rule: str) -> None:
    if wrong.any():
        row, column = wrong.nonzero()[0].tolist()
        count = int(wrong.sum())
        more = f", and {count - 1} more" if count > 1 else ""
        value = values[row, column].item()
        shown = str(value) if isinstance(value, int) else f"{value:g}"
        raise ValueError(f"{rule}: list {row}, document {column} has {shown}{more}")
