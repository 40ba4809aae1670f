"""Symbolic arguments inside the sandbox: the trees of `values` as sympy's objects."""

from typing import Any

from workflow_scripts.tasks.scicode.encoding import CONSTANTS, Expression

_NAMES = {name: kind for kind, name in CONSTANTS.items()}


def lively(value: Any) -> Any:
    """The value with sympy's objects for every `Expression` in it; sympy is imported where there is one.

    Raises ValueError for a name that sympy has no class for.
    """
    if isinstance(value, Expression):
        return _built(value.tree)
    if isinstance(value, dict):
        return {lively(key): lively(item) for key, item in value.items()}
    return type(value)(map(lively, value)) if isinstance(value, list | tuple | frozenset) else value


def _built(tree: tuple) -> Any:
    import sympy

    name, *rest = tree
    if name in ("Symbol", "Dummy", "Integer", "Rational", "Float"):
        # Digits are read by these classes themselves: nothing here is taken for source.
        return getattr(sympy, name)(*(int(text) if name in ("Integer", "Rational") else text for text in rest))
    if name == "-oo":
        return -sympy.oo
    if name in _NAMES:
        return getattr(sympy, name)
    if name == "Function":
        return sympy.Function(rest[0])(*map(_built, rest[1:]))
    if name == "ExprCondPair":  # a branch of Piecewise, which takes pairs
        return tuple(map(_built, rest))
    kind = getattr(sympy, name, None)
    if not isinstance(kind, type) and not isinstance(kind, sympy.Basic):
        raise ValueError(f"sympy has no class {name!r}")
    return kind(*map(_built, rest)) if isinstance(kind, type) else kind
