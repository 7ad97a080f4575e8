"""Where a list loses its NDCG: the wrong documents in the top k, or the right ones in the wrong order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from ltr.intervals import counting
from ltr.metrics import NDCG, Answer, answer, parse
from ltr.ranking import exact_ranking

CLASSES = (
    "perfect",
    "right set, wrong order",
    "relevant below the cutoff",
    "first relevant late",
    "nothing found",
    "no answer",
)
SAME = 1e-12
CELLS = 1 << 22  # outcomes of drawing from a tie block that are held at once


class Regret(NamedTuple):
    """1 - NDCG@k of each list in two parts, and the class of the list; what ``split_regret`` returns."""

    selection: Tensor  # [B] lost because the wrong documents are in the top k; 0 without an answer
    order: Tensor  # [B] lost because those in it stand in the wrong order; 0 without an answer
    kind: Tensor  # [B] int64, index into CLASSES

    def names(self) -> list[str]:
        """The class of each list in words."""
        return [CLASSES[kind] for kind in self.kind.tolist()]


class ClassOfLists(NamedTuple):
    """One class of a summary; selection and order of all classes add up to those of the mean."""

    name: str
    lists: int
    share: float  # of the weight of all lists
    selection: float  # what this class adds to the mean selection over lists with an answer
    order: float  # and to the mean order


def split_regret(
    metric: NDCG | str, scores: Any, relevance: Any, mask: Any = None, *, retrieved: Any = None, judged: Any = None
) -> Regret:
    """Split 1 - NDCG@k of each list into selection + order, and say in words what went wrong.

    selection = 1 - (DCG of the best order of the documents in the top k) / (ideal DCG); order = 1 - NDCG - selection.
    Where ``ties="average"`` and a block of tied documents crosses the cutoff, the expected value over all orders:
    with gain levels g_1 > g_2 > ..., D(n) the sum of the first n discounts, and N_l the number of documents of at
    least g_l in the top k (those above the block, and a hypergeometric number of the block's), the best order's DCG
    is sum over l of (g_l - g_(l+1)) E[D(N_l)]. A list that ``short="zero"`` sets to 0 loses all of it by selection, and
    has the class that it has under ``short="keep"``.

    The classes, each list in the first that holds; a document is relevant when its gain is above 0, and under
    averaged ties "can" means in some order, and a part is 0 when it is 0 in every order:

    - "no answer": no judged document is relevant.
    - "perfect": selection and order are 0.
    - "nothing found": no relevant document can stand in the top k.
    - "first relevant late": one can, but none on top.
    - "relevant below the cutoff": selection is above 0: a better document than one in the top k was left out of it.
    - "right set, wrong order": selection is 0.

    Args:
        metric: any NDCG or its name; ties, gain, discount, cutoff and what the ideal order is taken over are its own.
        scores: [B, L] or [L], any real unit; larger is better.
        relevance: the same shape, labels >= 0.
        mask: the same shape, True for a real document.
        retrieved: the same shape, False for a judged document that was not returned.
        judged: the same shape, False for a document that nobody judged.

    Raises:
        ValueError: the metric is no NDCG, shapes differ, a score or label is NaN, or a label is negative.

    Example:
        >>> scores, grades = [5, 4, 3, 2, 1], [3, 1, 2, 0, 3]
        >>> found = split_regret(NDCG(k=3), scores, grades)
        >>> found.selection.item(), found.order.item(), found.names()
        (0.273, 0.020, ['relevant below the cutoff'])
        >>> found = split_regret(NDCG(k=5), scores, grades)
        >>> found.selection.item(), found.order.item(), found.names()
        (0.0, 0.113, ['right set, wrong order'])
    """
    return regret_of(metric, answer(scores, relevance, mask, retrieved=retrieved, judged=judged, finite_scores=True))


def regret_of(metric: NDCG | str, given: Answer) -> Regret:
    """The same, of what ``ltr.metrics.answer`` read."""
    named = parse(metric)
    if not isinstance(named, NDCG):
        raise ValueError(f"regret is 1 - NDCG in two parts: wanted an ndcg, such as ndcg@10; got {named.name}")
    metric = named
    strict, defined = metric.measured(given)
    value = strict if metric.short == "keep" else replace(metric, short="keep").measured(given).value

    ranked = given.ranked(metric.unjudged)
    ranking = exact_ranking(given.scores, ranked, metric.ties, relevance=given.labels)
    pool = given.pool(metric.ideal)
    labels, places = pool.ideal(metric.k)
    longest = max(ranked.shape[1], labels.shape[1])
    cutoff = metric.k or longest
    last = ranking.position + ranking.block - 1
    sure, split = ranked & (last <= cutoff), ranked & (ranking.position <= cutoff) & (last > cutoff)  # [B, L]

    rank = torch.arange(1, 1 + longest, device=labels.device, dtype=labels.dtype)
    discount = metric.discount(rank) * (rank <= cutoff)
    ideal = (metric.gain.relative(labels, pool.top) * discount[: labels.shape[1]] * places).sum(1)
    known = ranked if given.judged is None else ranked & given.judged
    gain = metric.gain.relative(given.relevance * known, pool.top) * known
    best = _best_order(gain, sure, split, discount, cutoff) / torch.where(defined, ideal, 1)

    selection, order = (_settled(each, defined) for each in (1 - best, best - value))
    relevant = (metric.gain(given.relevance) > 0) & known
    found = (relevant & (sure | split)).any(1)
    on_top = (relevant & (ranking.position == 1)).any(1)
    kind = torch.full_like(defined, CLASSES.index("right set, wrong order"), dtype=torch.int64)
    for name, holds in (  # the later ones go before the earlier ones
        ("relevant below the cutoff", selection > 0),
        ("first relevant late", ~on_top),
        ("nothing found", ~found),
        ("perfect", (selection == 0) & (order == 0)),
        ("no answer", ~defined),
    ):
        kind[holds] = CLASSES.index(name)
    short = defined & (strict < value)
    return Regret(torch.where(short, 1, selection), torch.where(short, 0, order), kind)


def regret_classes(found: Regret, weight: ArrayLike | None = None) -> list[ClassOfLists]:
    """Count the lists of each class, and what each adds to the mean regret.

    Args:
        found: of Q lists.
        weight: [Q] >= 0, a list of weight 0 does not count; all 1 when None.

    Returns:
        All classes, in the order of CLASSES.

    Raises:
        ValueError: the shapes differ, or a weight is negative or no number.

    Example:
        >>> found = split_regret(NDCG(k=1), [[2, 1], [2, 1], [2, 1], [2, 1]], [[1, 0], [0, 1], [1, 2], [0, 0]])
        >>> for name, lists, share, selection, order in regret_classes(found):
        ...     print(f"{name}: {lists} ({share:.0%}), {selection:.3f} + {order:.3f}")
        perfect: 1 (25%), 0.000 + 0.000
        right set, wrong order: 0 (0%), 0.000 + 0.000
        relevant below the cutoff: 1 (25%), 0.222 + 0.000
        first relevant late: 0 (0%), 0.000 + 0.000
        nothing found: 1 (25%), 0.333 + 0.000
        no answer: 1 (25%), 0.000 + 0.000
    """
    columns = [counting(each.cpu().numpy(), weight) for each in found]
    (selection, weights), (order, _), (kind, _) = columns
    answered = weights[kind != CLASSES.index("no answer")].sum()
    rows = []
    for index, name in enumerate(CLASSES):
        mine = weights * (kind == index)
        added = [float(mine @ part / answered) if answered else 0.0 for part in (selection, order)]
        share = float(mine.sum() / weights.sum()) if len(weights) else np.nan
        rows.append(ClassOfLists(name, int((mine > 0).sum()), share, *added))
    return rows


def _settled(part: Tensor, defined: Tensor) -> Tensor:
    return torch.where(defined & (part.abs() > SAME), part, 0)


def _best_order(gain: Tensor, sure: Tensor, split: Tensor, discount: Tensor, cutoff: int) -> Tensor:
    """[B] expected DCG of the best order of the top k: all documents that are sure, and some of a split tie block."""
    gain, order = gain.sort(dim=1, descending=True)
    step = gain - torch.cat([gain[:, 1:], torch.zeros_like(gain[:, :1])], 1)  # above 0 at the end of each gain level
    above, block = (each.gather(1, order).cumsum(1) for each in (sure, split))  # [B, L] of at least this gain
    total = torch.cat([discount.new_zeros(1), discount.cumsum(0)])
    worth = total[above]
    drawn = block[:, -1:].clamp(max=1) * (cutoff - above[:, -1:])
    level = (step > 0) & (drawn > 0)
    size, drawn = (each.expand_as(block)[level] for each in (block[:, -1:], drawn))
    worth[level] = _expected(total, above[level], block[level], size, drawn)
    return (step * worth).sum(1)


def _expected(total: Tensor, above: Tensor, marked: Tensor, size: Tensor, drawn: Tensor) -> Tensor:
    """[P] E[total[above + h]] where h of the drawn ones are marked: ``drawn`` out of ``size``, ``marked`` of which are.

    P(h) = C(marked, h) C(size - marked, drawn - h) / C(size, drawn).
    """
    if not len(above):
        return total[above]
    most = int(size.max())
    ln = torch.arange(1, most + 1, device=total.device, dtype=total.dtype).log()
    factorial = torch.cat([ln.new_zeros(1), ln.cumsum(0)])

    def choose(n: Tensor, h: Tensor) -> Tensor:
        """ln C(n, h), -inf where it is 0."""
        inside = (h >= 0) & (h <= n)
        h = torch.where(inside, h, 0)
        return torch.where(inside, factorial[n] - factorial[h] - factorial[n - h], -torch.inf)

    h = torch.arange(int(drawn.max()) + 1, device=total.device)
    chunk = max(1, CELLS // len(h))
    parts = []
    for start in range(0, len(above), chunk):
        a, r, m, c = (each[start : start + chunk, None] for each in (above, marked, size, drawn))
        odds = (choose(r, h) + choose(m - r, c - h) - choose(m, c)).exp()  # [P, H]
        mean = (odds * total[(a + h).clamp(max=len(total) - 1)]).sum(1) / odds.sum(
            1
        )  # logarithms of large n are coarse
        parts.append(mean)
    return torch.cat(parts)
