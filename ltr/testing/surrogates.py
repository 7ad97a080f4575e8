"""The contract that every surrogate is held to, yours included."""

from __future__ import annotations

from inspect import signature
from itertools import product

import torch
from torch import Tensor
from torch.autograd.gradcheck import GradcheckError, gradcheck

from ltr.losses import Surrogate
from ltr.losses.draws import Drawing
from ltr.metrics import RankingMetric
from ltr.testing.drawn import Checks, random_lists, refused, same, taken, widened, wider


def check_surrogate(
    surrogate: Surrogate, *, labels: tuple[float, ...] = (0, 1, 2, 3, 4), sharpen: float = 1e6, seed: int = 0
) -> list[str]:
    """Hold a surrogate to the contract; returns the names of the checks that it passed.

    One loss per list; unchanged by padding, document order, batch mates and (where ``shift_invariant``) a common
    score shift; finite values and gradients for scores up to 1e4 either way and for lists of 1 to 5,000 documents, in
    float32 and float64, with bfloat16 lifted; labels between the grades taken, or refused where not ``fractional``, and
    those above ``largest_label`` refused; zero with a live graph for a list without documents, and for an approximation
    or bound also for one without an answer; nothing flows into padding; weights of 1 change nothing, where it takes
    any; draws follow the seed, and a checkpoint continues them; gradients equal finite differences in float64, unless
    ``sampled_gradient``; an approximation equals its aim once scores are sharpened, and its loss is 1 - estimate; a
    bound's certificate is never better than its aim.

    Args:
        surrogate: the one to check.
        labels: the labels to draw from, without those above the ``largest_label`` of the surrogate.
        sharpen: the factor on the scores that takes an approximation to its limit.
        seed: of the random lists.

    Raises:
        AssertionError: which check failed, with the values.

    Example:
        >>> from ltr.losses import ListNet
        >>> check_surrogate(ListNet())[:2]
        ['one loss a list', 'padding changes nothing']
    """
    generator = torch.Generator().manual_seed(seed)
    labels = tuple(each for each in labels if each <= surrogate.largest_label)
    passed = []
    training = surrogate.training
    surrogate.eval()  # the same draws at every call
    try:
        for name, check in _surrogate_checks(surrogate, labels, sharpen, generator):
            try:
                check()
            except AssertionError as error:
                raise AssertionError(f"{type(surrogate).__name__}: {name}: {error}") from None
            passed.append(name)
    finally:
        surrogate.train(training)
    return passed


def _surrogate_checks(
    surrogate: Surrogate, labels: tuple[float, ...], sharpen: float, generator: torch.Generator
) -> Checks:
    scores, relevance, mask = random_lists(generator, labels, lists=6, longest=9)
    more = _documents(surrogate, scores, generator)
    loss = surrogate(scores, relevance, mask, **more)
    takes = signature(surrogate.forward).parameters

    def shape() -> None:
        assert loss.shape == (6,), f"wanted one loss for each of 6 lists, got the shape {list(loss.shape)}"
        assert torch.isfinite(loss).all(), f"wanted finite losses, got {loss.tolist()}"

    def padding() -> None:
        others = {name: widened(each, mask, 7.0 if name == "teacher" else 0.5) for name, each in more.items()}
        same(surrogate(*wider(scores, relevance, mask), **others), loss)

    def order() -> None:
        shuffle = torch.rand(scores.shape, generator=generator).argsort(1)
        shuffled = {name: taken(each, shuffle) for name, each in more.items()}
        same(surrogate(*(each.gather(1, shuffle) for each in (scores, relevance, mask)), **shuffled), loss)

    def mates() -> None:
        for i in range(len(scores)):
            one = mask[i]
            alone = {name: each[i : i + 1, one] for name, each in more.items()}
            same(
                surrogate(scores[i : i + 1, one], relevance[i : i + 1, one], mask[i : i + 1, one], **alone),
                loss[i : i + 1],
            )

    def shift() -> None:
        for constant in (3, -1e4, 1e4) if surrogate.shift_invariant else ():
            same(surrogate(scores + constant, relevance, mask, **more), loss, 1e-8)

    def weights() -> None:
        ones = torch.ones_like(scores)
        if _weighable(surrogate, scores, relevance, mask, more):
            same(surrogate(scores, relevance, mask, weight=ones.masked_fill(~mask, 5.0), **more), loss)
            weight = torch.rand(scores.shape, generator=generator, dtype=scores.dtype)
            _finite(surrogate, scores, relevance, mask, weight=weight, **more)
            _finite(surrogate, scores, relevance, mask, weight=0 * ones, **more)

    def extremes() -> None:
        for dtype, size in product((torch.float32, torch.float64), (1e-6, 1.0, 1e4)):
            given = {name: each.to(dtype) for name, each in more.items()}
            for sign in (1, -1):
                worst = torch.where(torch.rand(scores.shape, generator=generator) < 0.5, sign * size, -sign * size)
                _finite(surrogate, worst.to(dtype), relevance.to(dtype), mask, **given)
                _finite(surrogate, (scores * size).to(dtype), relevance.to(dtype), mask, **given)
                _finite(surrogate, (scores + sign * size).to(dtype), relevance.to(dtype), mask, **given)
            _finite(surrogate, torch.full_like(scores, size, dtype=dtype), relevance.to(dtype), mask, **given)

    def sizes() -> None:
        for dtype, longest in product((torch.float32, torch.float64), (1, 2, 300, 5000)):
            long = torch.randn(1, longest, generator=generator, dtype=dtype)
            found = torch.zeros(1, longest, dtype=dtype)
            found[:, :: max(1, longest // 5)] = max(labels)
            given = _documents(surrogate, long, generator)
            _finite(surrogate, long, found, torch.ones_like(found, dtype=torch.bool), **given)

    def halves() -> None:
        rough = scores.bfloat16()
        lifted = surrogate(rough.float(), relevance.float(), mask, **more)
        value, gradient = _finite(surrogate, rough, relevance.bfloat16(), mask, **more)
        assert value.dtype == torch.float32, f"wanted bfloat16 lifted to float32, got {value.dtype}"
        assert gradient.dtype == torch.bfloat16, f"wanted the gradient in bfloat16, got {gradient.dtype}"
        same(value, lifted)

    def fractions() -> None:
        between = relevance * torch.rand(scores.shape, generator=generator, dtype=scores.dtype)
        if surrogate.largest_label < float("inf"):
            refused(lambda: surrogate(scores, relevance + surrogate.largest_label + 1, mask, **more), "label")
        if not surrogate.fractional:
            refused(lambda: surrogate(scores, between, mask, **more), "label")
            return
        try:
            _finite(surrogate, scores, between, mask, **more)
        except ValueError as error:
            raise AssertionError(
                f"wanted labels between the grades taken, or fractional = False; got {error}"
            ) from error

    def silent() -> None:
        nothing = torch.zeros_like(mask)
        value, _ = _finite(surrogate, scores, relevance, nothing, **more)
        assert (value == 0).all(), f"wanted 0 for lists without documents, got {value.tolist()}"
        if surrogate.kind != "neither":
            value, _ = _finite(surrogate, scores, torch.zeros_like(relevance), mask, **more)
            assert (value == 0).all(), f"wanted 0 where the aim has no answer, got {value.tolist()}"
        for label in labels:
            _finite(surrogate, scores, torch.full_like(relevance, label), mask, **more)

    def pads_get_nothing() -> None:
        _, gradient = _finite(surrogate, scores, relevance, mask, **more)
        assert (gradient[~mask] == 0).all(), f"the gradient flows into padding: {gradient[~mask].tolist()}"

    def gradient() -> None:
        leaf = scores.clone().requires_grad_()
        try:
            gradcheck(lambda s: surrogate(s, relevance, mask, **more), leaf)
        except GradcheckError as error:
            raise AssertionError(str(error).partition("\n")[0]) from None

    def draws() -> None:
        assert isinstance(surrogate, Drawing)
        same(surrogate(scores, relevance, mask), surrogate(scores, relevance, mask))
        surrogate.train()
        try:
            state = surrogate.state_dict()
            first, second = (surrogate.noise(scores) for _ in range(2))
            assert not torch.equal(first, second), "a second call in training drew what the first one did"
            surrogate.load_state_dict(state)
            same(surrogate.noise(scores), first)
        finally:
            surrogate.eval()

    yield "one loss a list", shape
    yield "padding changes nothing", padding
    yield "document order changes nothing", order
    yield "batch mates change nothing", mates
    yield "a common score shift changes nothing", shift
    yield "finite for scores up to 1e4", extremes
    yield "zero with a live graph where there is nothing to learn", silent
    yield "padding gets no gradient", pads_get_nothing
    yield "finite for lists of 1 to 5,000", sizes
    yield "half precision is lifted", halves
    yield "labels between the grades", fractions
    if "weight" in takes:
        yield "weights of 1 change nothing", weights
    if "noise" in takes:
        yield "seeded draws", draws
    if not surrogate.sampled_gradient:
        yield "gradients equal finite differences", gradient
    if surrogate.kind != "neither":
        yield "belief keeps its promise", lambda: _promise(surrogate, labels, sharpen, generator)


def _documents(surrogate: Surrogate, scores: Tensor, generator: torch.Generator) -> dict[str, Tensor]:
    """What the surrogate takes besides scores, labels and mask: a teacher's scores, and its own draws."""
    more = {}
    if surrogate.needs_teacher:
        more["teacher"] = torch.randn(scores.shape, generator=generator, dtype=scores.dtype)
    if isinstance(surrogate, Drawing):
        more["noise"] = surrogate.noise(scores)
    return more


def _weighable(surrogate: Surrogate, scores: Tensor, relevance: Tensor, mask: Tensor, more: dict[str, Tensor]) -> bool:
    """Does the surrogate take weights of documents, as its metric has it? It says so where not."""
    try:
        surrogate(scores, relevance, mask, weight=torch.ones_like(scores), **more)
    except ValueError as error:
        if not str(error).startswith("weight: "):
            raise AssertionError(f"wanted weights refused by name, got {error}") from error
        return False
    return True


def _promise(surrogate: Surrogate, labels: tuple[float, ...], sharpen: float, generator: torch.Generator) -> None:
    aim = surrogate.aim
    assert aim is not None, f"kind {surrogate.kind} needs an aim"
    for spread, longest in product((1e-3, 0.1, 1.0, 5.0), (2, 8)):
        scores, relevance, mask = random_lists(generator, labels, lists=200, longest=longest)
        scores = scores * spread
        defined = aim.defined(relevance, mask)
        if surrogate.kind == "bound":
            single = torch.zeros_like(relevance).scatter(1, torch.zeros(200, 1, dtype=torch.long), max(labels))
            _below(surrogate, aim, scores, relevance, mask)
            _below(surrogate, aim, 20 * single, single, mask)  # where bounds are tight
            continue
        estimate = surrogate.estimate(scores, relevance, mask)
        assert estimate is not None, "an approximation gives an estimate"
        same(surrogate(scores, relevance, mask), (1 - estimate) * defined)
        scores = scores.argsort(1).argsort(1).to(scores.dtype)  # without near ties, which no factor tears apart
        limit = surrogate.estimate(scores * sharpen, relevance, mask)
        assert limit is not None
        same(limit * defined, aim(scores, relevance, mask) * defined)


def _below(surrogate: Surrogate, aim: RankingMetric, scores: Tensor, relevance: Tensor, mask: Tensor) -> None:
    certificate = surrogate.certificate(scores, relevance, mask)
    assert certificate is not None, "a bound gives a certificate"
    better = (certificate - aim(scores, relevance, mask)) * (1 if aim.larger_is_better else -1)
    excess = (better * aim.defined(relevance, mask)).max().item()
    assert excess <= 1e-9, f"a certificate is better than {aim.name} by {excess:g}"


def _finite(
    surrogate: Surrogate, scores: Tensor, relevance: Tensor, mask: Tensor, **documents: Tensor
) -> tuple[Tensor, Tensor]:
    scores = scores.detach().clone().requires_grad_()
    loss = surrogate(scores, relevance, mask, **documents)
    assert torch.isfinite(loss).all(), f"losses {loss.tolist()} for scores {scores.tolist()}"
    assert loss.requires_grad, "the loss has lost its graph"
    (gradient,) = torch.autograd.grad(loss.sum(), scores)
    assert torch.isfinite(gradient).all(), f"gradients {gradient.tolist()} for scores {scores.tolist()}"
    return loss.detach(), gradient
