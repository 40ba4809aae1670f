"""The numeric trace of a text: its first numbers in order, which tells solutions apart by what they calculate."""

import re
from hashlib import blake2b
from itertools import islice

from workflow_scripts.tasks.maths.number_runs import LONGEST_TEXT, NUMBER, plain

NUMBERS = 24
"""How many numbers are a trace (paper; reference protocol, section 6)."""

_NUMBER = re.compile(rf"(?<![A-Za-z0-9_])(?:{NUMBER})")


def numeric_trace(text: str, numbers: int = NUMBERS) -> str | None:
    """The first `numbers` numbers joined by `|`, without sign, separators and needless zeros; None without a number.

    `1,050 - 3.50 = 1046.5` gives `1050|3.5|1046.5`. Digits behind a letter (`x2`) are no number.
    """
    found = [plain(match[0]) for match in islice(_NUMBER.finditer(text, 0, LONGEST_TEXT), numbers)]
    return "|".join(found) if found else None


def trace_key(text: str, numbers: int = NUMBERS) -> str | None:
    """64 bits of a hash of the numeric trace, as 16 hexadecimal digits; None where a text has no number."""
    trace = numeric_trace(text, numbers)
    return None if trace is None else blake2b(trace.encode(), digest_size=8).hexdigest()
