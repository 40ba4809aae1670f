"""A digest of the code that a rule runs: its stage file and every module of ours that it imports, directly or not.

Taken over syntax trees without comments, docstrings and positions, so that a touched or commented file makes nothing
stale while an edited helper reruns exactly the rules that use it. Rules carry it among their params.
"""

import ast
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from pathlib import Path

_PACKAGE = "workflow_scripts"
_ROOT = Path(__file__).resolve().parents[1]


def _file_of(module: str) -> Path | None:
    """The source file of a module of this package, None where it is none of ours (or an attribute)."""
    first, *rest = module.split(".")
    if first != _PACKAGE:
        return None
    base = _ROOT.joinpath(*rest)
    return next((p for p in (base.with_suffix(".py"), base / "__init__.py") if p.is_file()), None)


def _is_text(line: ast.stmt) -> bool:
    return isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant) and isinstance(line.value.value, str)


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        # A bare string is a docstring or stands below a constant to explain it; neither is executed.
        node.body = [line for line in node.body if not _is_text(line)] or [ast.Pass()]
    return tree


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _with_packages(module: str) -> Iterator[str]:
    """The module and the packages that it lies in: Python runs their `__init__` files too."""
    parts = module.split(".")
    yield from (".".join(parts[:length]) for length in range(1, len(parts) + 1))


@cache
def _read(file: Path) -> tuple[str, tuple[Path, ...]]:
    """Digest of one file, and the files of this package that it imports."""
    tree = ast.parse(file.read_text(), filename=str(file))
    found = {_file_of(name) for module in _imported(tree) for name in _with_packages(module)} - {None}
    return blake2b(ast.dump(_without_docstrings(tree)).encode(), digest_size=16).hexdigest(), tuple(sorted(found))


@cache
def of_code(*files: str) -> str:
    """Hex digest of the code reached from `files`, given relative to the package folder (`stages/sample.py`)."""
    waiting = [_ROOT / name for name in files]
    seen: dict[Path, str] = {}
    while waiting:
        file = waiting.pop()
        if file not in seen:
            seen[file], imports = _read(file)
            waiting.extend(imports)
    listing = "\n".join(f"{path.relative_to(_ROOT).as_posix()} {digest}" for path, digest in sorted(seen.items()))
    return blake2b(listing.encode(), digest_size=8).hexdigest()
