"""The contract that every surrogate is held to, yours included."""

from __future__ import annotations

from inspect import signature
from itertools import product

import torch
from torch import Tensor
from torch.autograd.gradcheck import GradcheckError, gradcheck

from ltr.losses import Surrogate
from ltr.losses.draws import Drawing
from ltr.testing.beliefs import keeps_its_promise
from ltr.testing.drawn import Checks, Lists, documents, random_lists, refused, same, taken, widened, wider
from ltr.testing.longest import holds_for_the_longest


def check_surrogate(
    surrogate: Surrogate, *, labels: tuple[float, ...] = (0, 1, 2, 3, 4), sharpen: float = 1e6, seed: int = 0
) -> list[str]:
    """Hold a surrogate to the contract; returns the names of the checks that it passed.

    One loss per list; unchanged by padding, document order (that of equal scores too, unless ``by_index``), batch
    mates, training mode and (where ``shift_invariant``) a common score shift, in long lists too; nothing given to it is
    changed; finite values and gradients for scores up to 1e4 either way and for lists of 1 to 5,000 documents, of
    labels of every kind, in float32 and float64, with bfloat16 lifted, and no less under autocast; labels between the
    grades taken as they are,
    or refused where not ``fractional``, and those above ``largest_label`` refused; zero with a live graph for a list
    without documents, and for an approximation or bound also for one without an answer; nothing flows into padding;
    twice a list's loss has twice its gradient. Where it takes weights of documents, those of 1 change nothing, others
    something, with their documents and list by list, and a document that is the only one above others is learned by its
    weight alone. Draws follow the seed, and a checkpoint continues them; gradients equal finite differences in float64,
    and a second derivative is right or refused, unless ``sampled_gradient`` or ``constant_parts``; an approximation
    equals its aim once scores are sharpened, and its loss is 1 - estimate; a bound's certificate is never better than
    its aim, and near to it in the easiest list.

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
        ['one loss a list', 'what it is given stays as it was']
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
    more = documents(surrogate, scores, generator)
    loss = surrogate(scores, relevance, mask, **more)
    takes = signature(surrogate.forward).parameters
    single = torch.zeros_like(relevance)
    single[:, 0] = max(labels)
    long = _long(generator, labels)

    def shape() -> None:
        assert loss.shape == (6,), f"wanted one loss for each of 6 lists, got the shape {list(loss.shape)}"
        assert torch.isfinite(loss).all(), f"wanted finite losses, got {loss.tolist()}"

    def untouched() -> None:
        for dtype in (torch.float32, torch.float64):
            s, y, m = random_lists(generator, labels, lists=3, longest=6)
            given = [s.to(dtype), y.to(dtype), m, *documents(surrogate, s.to(dtype), generator).values()]
            named, before = dict(zip(more, given[3:], strict=True)), [each.clone() for each in given]
            if weighable():
                named["weight"] = torch.ones_like(given[0])
                given, before = [*given, named["weight"]], [*before, named["weight"].clone()]
            surrogate(*given[:3], **named)
            surrogate.estimate(*given[:3])
            surrogate.certificate(*given[:3])
            changed = [i for i, each in enumerate(given) if not torch.equal(each, before[i])]
            names = ["scores", "relevance", "mask", *named]
            assert not changed, f"it wrote into the caller's {names[changed[0]]}"

    def padding() -> None:
        for places in (3, 120):
            others = {
                name: widened(each, mask, 7.0 if name == "teacher" else 0.5, places) for name, each in more.items()
            }
            same(surrogate(*wider(scores, relevance, mask, places), **others), loss)

    def order() -> None:
        tied = scores if surrogate.by_index else scores.round()
        for lists in ((scores, relevance, mask), (tied, relevance, mask), long):
            given = documents(surrogate, lists[0], generator)
            same(_reordered(surrogate, lists, given, generator), surrogate(*lists, **given))

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
        if surrogate.shift_invariant:
            given = documents(surrogate, long[0], generator)
            same(surrogate(long[0] + 3, *long[1:], **given), surrogate(*long, **given), 1e-8)

    def training() -> None:
        surrogate.train()
        try:
            same(surrogate(scores, relevance, mask, **more), loss)
        finally:
            surrogate.eval()

    def upstream() -> None:
        factor = torch.rand(len(scores), generator=generator, dtype=scores.dtype) + 0.5
        each, scaled = (
            _gradient(surrogate, scores, relevance, mask, given, **more) for given in (1 + 0 * factor, factor)
        )
        same(scaled, factor[:, None] * each)

    def weighable() -> bool:
        return "weight" in takes and _weighable(surrogate, scores, relevance, mask, more)

    def of_documents() -> None:
        if not weighable():
            return
        weight = 2 * torch.rand(scores.shape, generator=generator, dtype=scores.dtype)
        given = more | {"weight": weight}
        value, light = surrogate(scores, relevance, mask, **given), surrogate(scores, single, mask, **given)
        plain = surrogate(scores, single, mask, **more)
        ignored = torch.allclose(torch.cat([value, light]), torch.cat([loss, plain]), rtol=1e-9, atol=1e-9)
        assert not ignored, "weights between 0 and 2 change nothing"
        same(_reordered(surrogate, (scores, relevance, mask), given, generator), value)
        for i in range(len(scores)):
            alone = {name: each[i : i + 1] for name, each in given.items()}
            same(surrogate(scores[i : i + 1], relevance[i : i + 1], mask[i : i + 1], **alone), value[i : i + 1])
        one = (single > 0).to(scores.dtype)
        _, gradient = _finite(surrogate, scores, single, mask, weight=one, **more)
        assert gradient.any(), "the only document above others has all the weight, and there is no gradient"

    def weights() -> None:
        ones = torch.ones_like(scores)
        if weighable():
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
        for dtype, longest in product((torch.float32, torch.float64), (1, 2, 300)):
            wide = torch.randn(1, longest, generator=generator, dtype=dtype)
            found, real = torch.zeros(1, longest, dtype=dtype), torch.ones(1, longest, dtype=torch.bool)
            if dtype == torch.float32:
                found[:, :: max(1, longest // 5)] = max(labels)
            else:
                found[0, -len(labels) :] = torch.tensor(labels[-longest:], dtype=dtype)
                real = (torch.rand(1, longest, generator=generator) < 0.9).index_fill(1, torch.tensor([0]), True)
            _finite(surrogate, wide, found, real, **documents(surrogate, wide, generator))
        holds_for_the_longest(surrogate, labels, generator)

    def autocast() -> None:
        given = {name: each.float() for name, each in more.items()}
        with torch.autocast("cpu", dtype=torch.bfloat16):
            found, gradient = _finite(surrogate, scores.float(), relevance.float(), mask, **given)
        plain = _finite(surrogate, scores.float(), relevance.float(), mask, **given)
        for got, wanted in zip((found, gradient), plain, strict=True):
            assert got.dtype == wanted.dtype, f"{got.dtype} inside of it, {wanted.dtype} outside"
            same(got, wanted, 1e-6)

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
            value, _ = _finite(surrogate, scores, between, mask, **more)
        except ValueError as error:
            raise AssertionError(
                f"wanted labels between the grades taken, or fractional = False; got {error}"
            ) from error

        rounded, none = (surrogate(scores, each, mask, **more) for each in (between.round(), 0 * between))
        if not torch.equal(value, none):  # labels count
            assert not torch.equal(value, rounded), "labels between the grades are rounded"

    def silent() -> None:
        nothing = torch.zeros_like(mask)
        value, _ = _finite(surrogate, scores, relevance, nothing, **more)
        assert (value == 0).all(), f"wanted 0 for lists without documents, got {value.tolist()}"
        for dtype, spread, lists in product(
            (torch.float32, torch.float64), (1e-6, 1.0, 1e4), ((scores, mask), long[::2])
        ):
            s = (spread * lists[0]).to(dtype)
            given = documents(surrogate, s, generator)
            for label in dict.fromkeys((0, max(labels), *(labels if lists[0] is scores else ()))):
                value, _ = _finite(surrogate, s, torch.full_like(s, label), lists[1], **given)
                if surrogate.kind != "neither" and not label:
                    assert (value == 0).all(), f"wanted 0 where the aim has no answer, got {value.tolist()}"

    def pads_get_nothing() -> None:
        _, gradient = _finite(surrogate, scores, relevance, mask, **more)
        assert (gradient[~mask] == 0).all(), f"the gradient flows into padding: {gradient[~mask].tolist()}"

    def gradient() -> None:
        leaf = scores.clone().requires_grad_()
        try:
            gradcheck(lambda s: surrogate(s, relevance, mask, **more), leaf)
        except GradcheckError as error:
            raise AssertionError(str(error).partition("\n")[0]) from None

    def slope() -> None:
        s, y, m = long
        if surrogate.fractional:
            y = torch.where(torch.rand(y.shape, generator=generator) < 0.5, y, 0.7 * y)
        given = documents(surrogate, s, generator)
        if weighable():
            given["weight"] = torch.rand(s.shape, generator=generator, dtype=s.dtype)
        way, step = torch.randn(s.shape, generator=generator, dtype=s.dtype), 1e-6
        gradient = _gradient(surrogate, s, y, m, torch.ones_like(s[:, 0]), **given)
        found, wanted = (gradient * way).sum(), gradient.new_zeros(())
        for sign in (1, -1):
            wanted += sign * surrogate(s + sign * step * way, y, m, **given).detach().sum() / (2 * step)
        apart, most = (found - wanted).abs().item(), 1e-8 + 1e-4 * (gradient * way).abs().sum().item()
        assert apart <= most, (
            f"a slope of {wanted.item():g} in a list of {s.shape[1]}, and the gradient says {found.item():g}"
        )

    def curvature() -> None:
        for s, y, m in ((scores, relevance, mask), long):
            given, step = documents(surrogate, s, generator), 1e-5
            way, leaf = torch.randn(s.shape, generator=generator, dtype=s.dtype), s.clone().requires_grad_()
            try:
                (each,) = torch.autograd.grad(surrogate(leaf, y, m, **given).sum(), leaf, create_graph=True)
            except RuntimeError:
                continue  # refused
            found = torch.zeros_like(s)
            if each.requires_grad:
                (found,) = torch.autograd.grad((each * way).sum(), leaf, materialize_grads=True, allow_unused=True)
            ones = torch.ones_like(s[:, 0])
            above, below = (_gradient(surrogate, s + sign * step * way, y, m, ones, **given) for sign in (1, -1))
            apart = (found - (above - below) / (2 * step)).abs().max().item()
            assert apart <= 1e-4 * (1 + found.abs().max().item()), f"a second derivative is wrong by {apart:g}"

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
    yield "what it is given stays as it was", untouched
    yield "padding changes nothing", padding
    yield "document order changes nothing", order
    yield "batch mates change nothing", mates
    yield "a common score shift changes nothing", shift
    yield "training mode changes nothing", training
    yield "finite for scores up to 1e4", extremes
    yield "zero with a live graph where there is nothing to learn", silent
    yield "padding gets no gradient", pads_get_nothing
    yield "twice the loss, twice the gradient", upstream
    yield "labels between the grades", fractions
    yield "finite for lists of 1 to 5,000", sizes
    yield "half precision is lifted", halves
    yield "autocast changes nothing", autocast
    if "weight" in takes:
        yield "weights of 1 change nothing", weights
        yield "weights belong to their documents", of_documents
    if "noise" in takes:
        yield "seeded draws", draws
    if not surrogate.sampled_gradient and not surrogate.constant_parts:
        yield "gradients equal finite differences", gradient
        yield "gradients of long lists equal finite differences", slope
        yield "second derivatives are right or refused", curvature
    if surrogate.kind != "neither":
        yield "belief keeps its promise", lambda: keeps_its_promise(surrogate, labels, sharpen, generator)


def _weighable(surrogate: Surrogate, scores: Tensor, relevance: Tensor, mask: Tensor, more: dict[str, Tensor]) -> bool:
    """Does the surrogate take weights of documents, as its metric has it? It says so where not."""
    try:
        surrogate(scores, relevance, mask, weight=torch.ones_like(scores), **more)
    except ValueError as error:
        if not str(error).startswith("weight: "):
            raise AssertionError(f"wanted weights refused by name, got {error}") from error
        return False
    return True


def _long(generator: torch.Generator, labels: tuple[float, ...]) -> Lists:
    """One list in which most documents have the lowest label, long enough for what is worked out in parts."""
    scores, relevance, mask = random_lists(generator, labels, lists=1, longest=300)
    return scores, torch.where(torch.rand(scores.shape, generator=generator) < 0.2, relevance, min(labels)), mask


def _reordered(surrogate: Surrogate, lists: Lists, given: dict[str, Tensor], generator: torch.Generator) -> Tensor:
    """[B] the losses of the same lists, their documents in another order."""
    shuffle = torch.rand(lists[0].shape, generator=generator).argsort(1)
    shuffled = {name: taken(each, shuffle) for name, each in given.items()}
    losses: Tensor = surrogate(*(each.gather(1, shuffle) for each in lists), **shuffled)
    return losses


def _gradient(
    surrogate: Surrogate, scores: Tensor, relevance: Tensor, mask: Tensor, factor: Tensor, **documents: Tensor
) -> Tensor:
    """[B, L] the gradient of the losses, each times a factor."""
    leaf = scores.clone().requires_grad_()
    return torch.autograd.grad((factor * surrogate(leaf, relevance, mask, **documents)).sum(), leaf)[0]


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
