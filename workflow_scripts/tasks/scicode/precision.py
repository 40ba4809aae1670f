"""Numbers of many digits whose work is counted: nothing that a formula asks for takes long, whatever mpmath does.

mpmath's functions are written in Python and ask their context for everything, so that the context can count, and stop
them in between. What runs without asking is one multiplication, elementary function or hypergeometric sum, of limited
precision and length.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

DIGITS = 50
"""Of numbers, unless more are asked for."""
GUARD = 10
"""Digits that rounding may have spoilt."""
SECONDS = 2.0
"""Processor time for one comparison, should units of work turn out dear."""

_MOST_BITS = 6_000
_MOST_TERMS = 5_000
_SUM = 100
_LOOK = 64


class UndefinedError(Exception):
    """There is no value at this point."""


class ImpreciseError(UndefinedError):
    """Rounding has left too little of a number; with more digits there may be a value."""


class MissingBranchError(Exception):
    """No branch of a piecewise expression holds at this point."""


class UnknownError(Exception):
    """This cannot be evaluated anywhere: a name without meaning, or too much work."""


class Work:
    """What may still be done: units (about 5 µs each) and, as the last line, processor time of this thread."""

    def __init__(self, units: int, until: float | None = None) -> None:
        self.left = units
        self.until = time.thread_time() + SECONDS if until is None else until

    def take(self, units: int = 1) -> None:
        """Raises UnknownError where nothing is left."""
        before, self.left = self.left, self.left - units
        if self.left < 0 or (before // _LOOK != self.left // _LOOK and time.thread_time() > self.until):
            self.left = -1
            raise UnknownError("the comparison takes too much work")

    @contextmanager
    def part(self, units: int) -> Iterator["Work"]:
        """Work of its own, at most so many units, that counts here too."""
        own = Work(min(units, self.left), self.until)
        start = own.left
        try:
            yield own
        finally:
            self.left -= start - max(own.left, 0)


def context() -> Any:
    """This thread's mpmath context: nobody else changes its precision."""
    if not hasattr(_threads, "context"):
        _threads.context = _metered()()
        _threads.context.dps = DIGITS
    return _threads.context


def rounding(digits: int) -> float:
    """What may be wrong with a number, as a share of its scale."""
    return 10.0 ** (GUARD - digits)


@contextmanager
def precision(digits: int, work: Work | None = None) -> Iterator[Any]:
    """The context with so many digits, its work counted; `context().unsure` is what rounding leaves, of a scale."""
    mp = context()
    before = mp.digits, mp.work
    try:
        _set(mp, digits, work)
        yield mp
    finally:
        _set(mp, *before)


def _set(mp: Any, digits: int, work: Work | None) -> None:
    mp.work = None  # whatever is left
    mp.dps = mp.digits = digits
    mp.unsure, mp.work = rounding(digits), work


_threads = threading.local()


@cache
def _metered() -> type:
    from mpmath.ctx_mp import MPContext

    class Metered(MPContext):
        work: Work | None = None
        digits = DIGITS
        unsure = rounding(DIGITS)

        def __getattribute__(self, name: str) -> Any:
            work = object.__getattribute__(self, "work")
            if work is not None and name not in ("unsure", "digits", "work"):
                work.take(object.__getattribute__(self, "digits") // DIGITS)
            return object.__getattribute__(self, name)

        def __setattr__(self, name: str, value: Any) -> None:
            if name == "prec" and value > _MOST_BITS:
                raise self.NoConvergence
            object.__setattr__(self, name, value)

        def hypsum(self, *given: Any, **options: Any) -> Any:
            if self.work is not None:
                self.work.take(_SUM)
            return super().hypsum(*given, **{"maxterms": _MOST_TERMS, **options})

    return Metered
