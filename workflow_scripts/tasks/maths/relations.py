"""What an equation or inequality amounts to: a named value, a difference of its sides, an interval."""

from workflow_scripts.tasks.maths import algebra
from workflow_scripts.tasks.maths.structures import Group, Leaf, Node, Relation


def named_value(equation: Relation) -> Node | None:
    """The side of ``name = value`` that is no name (the right one of two names), else None."""
    if equation.names[0]:
        return equation.sides[1]
    return equation.sides[0] if equation.names[1] else None


def name_of(equation: Relation) -> str:
    """The name in ``name = value``, '' in any other equation."""
    return equation.names[0] or equation.names[1]


def read(relation: Relation) -> bool:
    """Whether all is known of a relation that it says: an equation, an inequality in one name that has an interval, or
    ``x != 5``. Of another (``2x > 10``) it is not, and it may equal what looks different."""
    if relation.signs == ("!=",):
        return any(relation.names)
    return relation.signs == ("=",) or interval_of(relation) is not None


def difference(equation: Relation) -> algebra.Quotient | None:
    """Left side minus right side, None where one is not read exactly."""
    left, right = equation.sides
    if not (isinstance(left, Leaf) and isinstance(right, Leaf) and left.kind == right.kind == "value"):
        return None
    return algebra.add(left.value, algebra.negative(right.value))


def interval_of(relation: Relation) -> Group | None:
    """An inequality in one name as an interval: ``-2 < x <= 7``, ``x >= 5``; None for any other relation."""
    if not set(relation.signs) <= {"<", "<="}:
        return None
    infinite = {sign: Leaf("value", sign, _infinity(sign)) for sign in ("+", "-")}
    if len(relation.sides) == 3 and relation.names[1]:
        low, high = relation.sides[0], relation.sides[2]
        brackets = ("[" if relation.signs[0] == "<=" else "(") + ("]" if relation.signs[1] == "<=" else ")")
    elif len(relation.sides) == 2 and relation.names[0]:
        low, high = infinite["-"], relation.sides[1]
        brackets = "(" + ("]" if relation.signs[0] == "<=" else ")")
    elif len(relation.sides) == 2 and relation.names[1]:
        low, high = relation.sides[0], infinite["+"]
        brackets = ("[" if relation.signs[0] == "<=" else "(") + ")"
    else:
        return None
    return Group("ordered", (low, high), brackets)


def _infinity(sign: str) -> algebra.Quotient:
    value = algebra.variable("infty")
    return value if sign == "+" else algebra.negative(value)
