"""The ways to write one paper leaf: which first steps they have, which can be said in whole numbers, a text for each.

A leaf is a `Node`: an int, or (operator, term, term, …) with sums and products flattened. Its writings are the ordered
binary trees that flatten to it: terms in any order and bracketing, each term itself written in any way. A writing is
expressible when all its values are whole and in 0…100.
"""

from operator import itemgetter

from workflow_scripts.tasks.countdown.expressions import Expression
from workflow_scripts.tasks.countdown.text import LARGEST

Node = int | tuple


def canonical(expression: Expression) -> tuple[str, Node, Expression]:
    """(Paper form, the leaf with its terms in that order, the writing that has this order from left to right).

    The text equals expressions.paper_form; one pass for all three is a third of the time that parsing it back takes.
    """
    if type(expression) is int:
        return str(expression), expression, expression
    operator, left, right = expression
    if type(left) is type(right) is int:  # most nodes
        if operator in "+*" and str(right) < str(left):
            expression = (operator, right, left)
        return f"({expression[1]}{operator}{expression[2]})", expression, expression
    if operator in "-/":
        left_text, left, left_line = canonical(left)
        right_text, right, right_line = canonical(right)
        return f"({left_text}{operator}{right_text})", (operator, left, right), (operator, left_line, right_line)
    terms, pending = [], [left, right]
    while pending:
        term = pending.pop()
        if type(term) is int:
            terms.append((str(term), term, term))
        elif term[0] == operator:
            pending += term[1:]
        else:
            terms.append(canonical(term))
    terms.sort(key=_text)
    line = terms[0][2]
    for _, _, term in terms[1:]:
        line = (operator, line, term)
    return f"({operator.join([term[0] for term in terms])})", (operator, *[term[1] for term in terms]), line


_text = itemgetter(0)


def family_of(line: Expression) -> str:
    """Paper family `4*` of the third result of `canonical`: its first number and operator; empty for a number."""
    if type(line) is int:
        return ""
    while type(line[1]) is tuple:
        line = line[1]
    return f"{line[1]}{line[0]}"


def said(node: Node) -> int | None:
    """Value of a leaf, or None unless the values of all its sums, products, differences and quotients are whole, 0…100.

    Not None exactly when some writing is expressible: terms are then not negative, so that a partial sum is at most the
    sum, and a product can begin with a factor of zero where it has one.
    """
    if type(node) is int:
        return node if 0 <= node <= LARGEST else None
    values = [said(term) for term in node[1:]]
    return None if None in values else _result(node[0], values)


def _result(operator: str, values: list[int]) -> int | None:
    value = values[0]
    for other in values[1:]:
        if operator == "+":
            value += other
        elif operator == "*":
            value *= other
        elif operator == "-":
            value -= other
        elif other == 0 or value % other:
            return None
        else:
            value //= other
    return value if 0 <= value <= LARGEST else None


def said_and_openings(node: Node) -> tuple[int | None, dict[str, bool]]:
    """(`said`, openings of all writings spelled `4*`: True where an expressible writing has it). None for a number.

    The first executed step is inside one term that is no number (which then stands first), or joins two numbers.
    """
    if type(node) is int:
        return (node if 0 <= node <= LARGEST else None), {}
    operator, *terms = node
    if len(terms) == 2 and type(terms[0]) is type(terms[1]) is int:  # most nodes
        value = _result(operator, terms) if max(terms) <= LARGEST else None
        firsts = terms[:1] if operator in "-/" else terms
        return value, {f"{number}{operator}": value is not None for number in firsts}
    values, numbers, inner = [], [], []
    for term in terms:
        if type(term) is int:
            numbers.append(term)
            values.append(term if term <= LARGEST else None)
        else:
            value, inside = said_and_openings(term)
            values.append(value)
            inner.append(inside)
    value = None if None in values else _result(operator, values)
    whole = value is not None
    if operator in "-/":
        return value, inner[0] if whole else dict.fromkeys(inner[0], False)
    found = dict(inner[0]) if inner else {}
    for inside in inner[1:]:
        for opening, sayable in inside.items():
            found[opening] = found.get(opening, False) or sayable
    if not whole:
        found = dict.fromkeys(found, False)
    if len(numbers) > 1:
        for at, number in enumerate(numbers):
            opening = f"{number}{operator}"
            # Parts of a sum, or of a product that is not 0, are no larger than the whole
            sayable = whole and (value != 0 or _partner(operator, numbers, at) is not None)
            found[opening] = found.get(opening, False) or sayable
    return value, found


def _partner(operator: str, numbers: list[int], at: int) -> int | None:
    """Position of a number that numbers[at] can be joined with in 0…100 (a product of zero may have larger pairs)."""
    for other, number in enumerate(numbers):
        if other != at and _result(operator, [numbers[at], number]) is not None:
            return other
    return None


def written(node: Node, opening: str | None = None) -> Expression:
    """A writing of a leaf, with the given opening if one is named; expressible if such a writing (with it) exists.

    Raises ValueError where no writing has the opening.
    """
    if type(node) is int:
        return node
    operator, *terms = node
    if operator in "-/":
        left, right = terms
        if opening is None or (type(left) is int and type(right) is int):
            if opening not in (None, f"{left}{operator}"):
                raise ValueError(f"no writing begins with {opening}")
            return operator, written(left), written(right)
        if type(left) is tuple:
            return operator, written(left, opening), written(right)
        return operator, left, written(right, opening)
    if operator == "*" and any(said(term) == 0 for term in terms):
        terms.sort(key=lambda term: said(term) != 0)  # zero first keeps every partial product in range
    head = _head(operator, terms, opening) if opening else [0]
    first = terms[head[0]]
    inner = opening if opening and len(head) == 1 else None
    line = written(first, inner)
    for at in head[1:] + [at for at in range(len(terms)) if at not in head]:
        line = (operator, line, written(terms[at]))
    return line


def _head(operator: str, terms: list[Node], opening: str) -> list[int]:
    """Positions of the terms that must stand first: one that itself opens so, or a number and its partner."""
    choices: list[tuple[bool, list[int]]] = []
    numbers = [at for at, term in enumerate(terms) if type(term) is int]
    for at, term in enumerate(terms):
        if type(term) is tuple:
            inside = said_and_openings(term)[1]
            if opening in inside:
                choices.append((inside[opening], [at]))
        elif len(numbers) > 1 and opening == f"{term}{operator}":
            partner = _partner(operator, [terms[i] for i in numbers], numbers.index(at))
            other = numbers[partner] if partner is not None else next(i for i in numbers if i != at)
            choices.append((partner is not None, [at, other]))
    if not choices:
        raise ValueError(f"no writing begins with {opening}")
    return max(choices, key=lambda choice: choice[0])[1]
