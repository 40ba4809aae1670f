"""Programs as the small policy writes them: words between blanks, two of them for the end of a line and an indent.

```python <nl> def answer(): <nl> <in> return 3 * 4 <nl> ```
"""

import re
from collections.abc import Iterable

from workflow_scripts.tasks.scicode.short_families import Body

LINE, INDENT = "<nl>", "<in>"
OPEN, CLOSE = "```python", "```"
HEAD = "def answer():"

_LINES = re.compile(rf" *{LINE} *")


def rendered(words: str) -> str:
    """The text that a completion in words stands for; any other text stays as it is."""
    text = _LINES.sub("\n", words)
    return re.sub(rf"{INDENT} ?", "    ", text)


def indented(body: Iterable[str]) -> list[str]:
    """The lines of a body under `def answer():`, in words."""
    lines = []
    for line in body:
        deeper = line.startswith("> ")
        lines.append(f"{INDENT} {INDENT} {line[2:]}" if deeper else f"{INDENT} {line}")
    return lines


def completion_of(body: Body, *, fenced: bool = True) -> str:
    """The completion, in words, that hands in a program as asked. fenced: in its block."""
    lines = [HEAD, *indented(body)]
    return f" {LINE} ".join([OPEN, *lines, CLOSE] if fenced else lines)
