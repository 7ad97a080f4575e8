"""Runs a verb: compose, check, call."""

from __future__ import annotations

import gc
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from ltr.cli.errors import ConfigError
from ltr.cli.words import Command, Word


def run(verb: str, command: Command) -> None:
    """Compose the configuration of a verb, check it, and call the verb's function with it.

    Raises:
        ConfigError: everything that is wrong with the configuration, one line each.
    """
    if verb == "list":
        _list(command.words)
        return
    with _collecting_later():
        from ltr.cli.compose import Composer

        function = verb_function(verb)
    module = sys.modules[function.__module__]
    composer = Composer(verb, function, command.config_dir, getattr(module, "base", None))
    log_to_stderr()
    if command.multirun and verb != "train":
        raise ConfigError(f"-m: ltr {verb} runs once; only ltr train sweeps")
    if command.multirun:
        from ltr.cli.sweep import sweep

        sweep(composer, command.words, show=command.show)
        return
    config = composer.compose(command.words)
    if command.show:
        print(as_yaml(config), end="")
    composer.check(config, module.idle(config) if hasattr(module, "idle") else ())
    if not command.show:
        function(**config)


def verb_function(verb: str) -> Callable[..., None]:
    """The function of a verb; its keyword arguments are the verb's keys."""
    function: Callable[..., None] = getattr(import_module(f"ltr.cli.{verb}"), verb)
    return function


@contextmanager
def _collecting_later() -> Iterator[None]:
    """Imports leave no garbage: to look for it among them, then and ever after, is a tenth of a short command."""
    gc.disable()
    try:
        yield
        if not gc.get_freeze_count():  # once: a process that calls again must not keep its garbage
            gc.freeze()
    finally:
        gc.enable()


def as_yaml(config: dict[str, Any]) -> str:
    from omegaconf import OmegaConf

    return OmegaConf.to_yaml(OmegaConf.create(config))


def log_to_stderr() -> None:
    """Show what the package logs: plain lines, a warning with its name in front."""
    logger = logging.getLogger("ltr")
    if not logger.handlers:
        handler = _Stderr()
        handler.setFormatter(_Plain())
        logger.addHandler(handler)
    logger.setLevel(logging.INFO)


@contextmanager
def said_once() -> Iterator[None]:
    """Within this, what was logged for information is not logged again: the runs of a sweep read the same data."""
    seen: set[str] = set()

    def new(record: logging.LogRecord) -> bool:
        text = record.getMessage()
        known = text in seen
        seen.add(text)
        return record.levelno > logging.INFO or not known

    handlers = logging.getLogger("ltr").handlers
    for handler in handlers:
        handler.addFilter(new)
    try:
        yield
    finally:
        for handler in handlers:
            handler.removeFilter(new)


class _Stderr(logging.StreamHandler[Any]):
    """Writes to what sys.stderr is at the time."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> Any:
        return sys.stderr

    @stream.setter
    def stream(self, _: Any) -> None:
        raise AttributeError("the stream is sys.stderr")


class _Plain(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        return text if record.levelno < logging.WARNING else f"{record.levelname.lower()}: {text}"


def _list(words: list[Word]) -> None:
    from ltr.cli.listing import listing

    strange = [word.typed for word in words if word.key != "what"]
    if strange:
        raise ConfigError(f"ltr list takes one word, such as ltr list losses; got {' '.join(strange)}")
    print(listing(words[0].value if words else None))
