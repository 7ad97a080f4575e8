"""Silence by name: what nobody can act on is not heard, all else is."""

import logging
import warnings

import pytest

from ltr.training.quiet import quiet


@pytest.mark.parametrize(("message", "heard"), [
    ("The 'train_dataloader' does not have many workers which may be a bottleneck. Consider ...", False),
    ("The number of training batches (3) is smaller than the logging interval Trainer(log_every_n_steps=50).", False),
    ("Be aware that when using `ckpt_path`, callbacks used to create the checkpoint need to be provided ...", False),
    ("Detected call of `lr_scheduler.step()` before `optimizer.step()`.", True),
    ("Found 2 module(s) in eval mode at the start of training.", True),
])  # fmt: skip
def test_warnings_are_silenced_by_name(message: str, heard: bool) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with quiet():
            warnings.warn(message, stacklevel=1)
    assert bool(caught) is heard


@pytest.mark.parametrize(("message", "heard"), [
    ("GPU available: False, used: False", False),
    ("\N{ELECTRIC LIGHT BULB} Tip: For seamless cloud uploads and versioning, try ...", False),
    ("`Trainer.fit` stopped: `max_epochs=4` reached.", False),
    ("`Trainer.fit` stopped: No training batches.", True),
    ("Using bfloat16 Automatic Mixed Precision (AMP)", True),
])  # fmt: skip
def test_lines_are_silenced_by_name(message: str, heard: bool, caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("pytorch_lightning.utilities.rank_zero")
    with caplog.at_level(logging.INFO, logger.name), quiet():
        logger.info(message)
    assert bool(caplog.messages) is heard


def test_after_the_block_everything_is_heard_again(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("pytorch_lightning.utilities.rank_zero")
    with quiet():
        pass
    with caplog.at_level(logging.INFO, logger.name):
        logger.info("GPU available: False")
    assert caplog.messages == ["GPU available: False"]
