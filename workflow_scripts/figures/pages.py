"""Tables as pages that a browser shows by themselves: the Markdown that this workflow writes, as self-contained HTML.

Not a Markdown library: it knows what our own tables use (paragraphs, bold, code, bullets, tables, fenced blocks).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape

import yaml

_STYLE = """
body { font: 15px/1.5 "Helvetica Neue", Helvetica, Arial, "DejaVu Sans", sans-serif; color: #1d2731; margin: 1.5rem; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid #d6dde3; padding: .35rem .7rem; vertical-align: top; text-align: left; }
thead th { border-bottom: 2px solid #7a8794; }
td.right, th.right { text-align: right; }
td.right { white-space: nowrap; }
small { color: #55636f; }
ul, p { max-width: 60rem; }
li { margin: .35rem 0; }
pre { background: #f3f6f8; padding: .8rem 1rem; overflow-x: auto; border-radius: 6px; font-size: 13px; }
code { font-size: 90%; }
h1 { font-size: 1.25rem; } h2 { font-size: 1.05rem; }
"""

_INTERVAL = re.compile(r"^(\S+) (\[[^\]]+\])$")
_CELLS = re.compile(r"(?<!\\)\|")
_ALIGNMENT = re.compile(r"^\|(\s*:?-+:?\s*\|)+$")


def _inline(text: str) -> str:
    """Bold and code inside a line; everything else is shown as it stands."""
    text = escape(text.replace("\\|", "|"), quote=False)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    return re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", text)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in _CELLS.split(line)[1:-1]]


def _table(lines: Sequence[str]) -> str:
    head, alignment, *rows = lines
    sides = [' class="right"' if cell.endswith(":") else "" for cell in _cells(alignment)]

    def cell(text: str) -> str:
        # An interval goes under its number, so that a table of many columns fits a screen.
        return _INTERVAL.sub(r"\1<br><small>\2</small>", _inline(text))

    def row(line: str, tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}{s}>{cell(c)}</{tag}>" for s, c in zip(sides, _cells(line))) + "</tr>"

    body = "\n".join(row(line, "td") for line in rows)
    return f"<table><thead>{row(head, 'th')}</thead>\n<tbody>\n{body}\n</tbody></table>"


def _blocks(markdown: str) -> Iterator[list[str]]:
    """Runs of lines that belong together; a fenced block is one run, blank lines and all."""
    block, fenced = [], False
    for line in markdown.splitlines():
        fence = line.startswith("```")
        if (not line.strip() and not fenced) or (fence and not fenced):
            if block:
                yield block
            block = [line] if fence else []
            fenced = fence
        elif fence:
            yield block
            block, fenced = [], False
        else:
            block.append(line)
    if block:
        yield block


def body(markdown: str) -> str:
    """HTML of Markdown as this workflow writes it. A line that is bold as a whole is a heading, the first one the
    page's."""
    parts, headed = [], False
    for block in _blocks(markdown):
        if block[0].startswith("```"):
            parts.append(f"<pre>{escape(chr(10).join(block[1:]), quote=False)}</pre>")
        elif len(block) > 1 and _ALIGNMENT.match(block[1]):
            parts.append(_table(block))
        elif all(line.startswith("* ") for line in block):
            parts.append("<ul>" + "\n".join(f"<li>{_inline(line[2:])}</li>" for line in block) + "</ul>")
        elif heading := re.fullmatch(r"\*\*([^*]+)\*\*", " ".join(block)):
            tag, headed = ("h2" if headed else "h1"), True
            parts.append(f"<{tag}>{_inline(heading[1])}</{tag}>")
        else:
            parts.append(f"<p>{_inline(' '.join(block))}</p>")
    return "\n".join(parts)


def page(markdown: str, *, title: str) -> str:
    """A whole HTML page of it, with its style inside and nothing to load."""
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style></head>\n<body>\n{body(markdown)}\n</body></html>\n"
    )


class _ShortLists(yaml.SafeDumper):
    """YAML with sections in lines of their own and lists within the line."""

    def represent_sequence(self, tag, sequence, flow_style=None):
        return super().represent_sequence(tag, sequence, flow_style=True)


def config_text(config: Mapping[str, object]) -> str:
    """A config as YAML text, keys in their own order."""
    return yaml.dump(dict(config), Dumper=_ShortLists, allow_unicode=True, sort_keys=False, width=100)


def study_markdown(
    *, study: str, config: str, versions: Mapping[str, Sequence[str]], commits: Sequence[str], seeds: Sequence[str]
) -> str:
    """What a study was made with, as Markdown: code, packages and every key of its config.

    config: from config_text. versions: package to the versions found in the results' manifests, more than one where
    parts were made at different times. commits: of the code, likewise; none where it was no checkout. seeds: one
    sentence each.
    """
    lines = [f"**Study {study}: settings and versions**", ""]
    lines += [
        f"Code: commit {', '.join(f'`{commit}`' for commit in commits) or 'unknown (not a checkout)'}, as the "
        "manifests of the results say. `-dirty` marks edits that were not committed.",
        "",
        "| package | version |",
        "|---|---|",
        *(f"| {name} | {', '.join(found)} |" for name, found in versions.items()),
        "",
        *(f"* {sentence}" for sentence in seeds),
        "",
        "**Every key of the config**",
        "",
        "```",
        config.rstrip("\n"),
        "```",
    ]
    return "\n".join(lines) + "\n"
