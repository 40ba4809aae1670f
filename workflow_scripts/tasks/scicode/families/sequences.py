"""Recurrences and generating functions."""

from math import comb, factorial

from workflow_scripts.tasks.scicode.families.kinds import Family
from workflow_scripts.tasks.scicode.families.numbers import nonzero, whole
from workflow_scripts.tasks.scicode.families.trees import divide, polynomial, symbol
from workflow_scripts.tasks.scicode.values import Expression

TOPIC = "recurrences"


def _recurrence(generator, level):
    size = 2 + 2 * level
    return {
        "p": nonzero(generator, size),
        "q": nonzero(generator, size),
        "first": whole(generator, -size, size),
        "second": nonzero(generator, size),
    }


def _by_terms(parameters, variable):
    """The denominator 1 - p x - q x^2 times the series, of which two terms are left."""
    p, q = parameters["p"], parameters["q"]
    terms = [parameters["first"], parameters["second"]]
    for _ in range(6):
        terms.append(p * terms[-1] + q * terms[-2])
    below = (1, -p, -q)
    above = [sum(below[j] * terms[n - j] for j in range(3) if n >= j) for n in range(len(terms))]
    return Expression(divide(polynomial(above, variable), polynomial(below, variable)))


def _response(generator, level):
    return {
        "a": nonzero(generator, 2 + level),
        "b": nonzero(generator, 2 + level),
        "s": nonzero(generator, 3),
        "order": whole(generator, 2 + level, 4 + level),
    }


def _by_double_sum(parameters):
    a, b, s = parameters["a"], parameters["b"], parameters["s"]

    def plain(n):
        """n! times the coefficient without the factor 1 + s x."""
        return sum(factorial(n) // factorial(k) * a**k * b ** (n - k) for k in range(n + 1))

    return [plain(n) + (s * n * plain(n - 1) if n else 0) for n in range(parameters["order"] + 1)]


def _forced(generator, level):
    return {
        "p": nonzero(generator, 3),
        "q": nonzero(generator, 3),
        "r": nonzero(generator, 5),
        "start": [whole(generator, -5, 5), whole(generator, -5, 5)],
        "n": whole(generator, 6 * level, 10 * level),
    }


def _by_matrix_power(parameters):
    """State (a_n, a_(n-1), n, 1), moved on by one matrix, whose power is taken by squaring."""
    p, q, r, n = (parameters[name] for name in "pqrn")
    step = [[p, q, r, r], [1, 0, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1]]
    total = [[int(i == j) for j in range(4)] for i in range(4)]
    exponent = n - 1
    while exponent:
        if exponent % 2:
            total = _times(total, step)
        step, exponent = _times(step, step), exponent // 2
    first, second = parameters["start"]
    return sum(c * v for c, v in zip(total[0], (second, first, 1, 1)))


def _times(left, right):
    return [[sum(row[k] * right[k][j] for k in range(4)) for j in range(4)] for row in left]


def _walk(generator, level):
    steps = whole(generator, 6 + 4 * level, 10 + 6 * level)
    barrier = whole(generator, 1, 2 + level)
    end = whole(generator, -barrier + 1, 3 + level)
    return {"steps": steps + (steps + end) % 2, "barrier": -barrier, "end": end}


def _by_reflection(parameters):
    steps, end, barrier = parameters["steps"], parameters["end"], parameters["barrier"]

    def free(target):
        ups = (steps + target) // 2
        return comb(steps, ups) if 0 <= ups <= steps else 0

    return free(end) - free(2 * barrier - end)


FAMILIES = (
    Family(
        name="generating_function",
        topic=TOPIC,
        task="""A sequence obeys a(n) = {p}*a(n-1) + ({q})*a(n-2) for n >= 2, with a(0) = {first} and a(1) = {second}.
        What is its ordinary generating function, the sum over n >= 0 of a(n)*x**n, in closed form?""",
        returns="the closed form as a sympy expression in the symbol that is given as x",
        draw=_recurrence,
        body="""
            return (first + (second - p * first) * x) / (1 - p * x - q * x**2)
        """,
        value=_by_terms,
        kind="symbolic",
        arguments=("x",),
        calls=lambda parameters: [[symbol("x")]],
    ),
    Family(
        name="series_integers",
        topic=TOPIC,
        task="""A response function is R(x) = (1 + ({s})*x) * exp({a}*x) / (1 - ({b})*x), expanded as the sum of
        c(n)*x**n. Find the whole numbers n! * c(n) for n from 0 to {order}, both included.""",
        returns="the list of these whole numbers in order of n",
        draw=_response,
        body="""
            found, plain, before, power = [], 1, 0, 1
            for n in range(order + 1):
                if n:
                    power *= a
                    before, plain = plain, n * b * plain + power
                found.append(plain + s * n * before)
            return found
        """,
        value=_by_double_sum,
        kind="sequence",
    ),
    Family(
        name="forced_recurrence",
        topic=TOPIC,
        task="""A driven sequence obeys a(n) = ({p})*a(n-1) + ({q})*a(n-2) + ({r})*n for n >= 2 and starts with a(0),
        a(1) = {start}. What is a({n})?""",
        returns="the value, an exact whole number",
        draw=_forced,
        body="""
            before, last = start
            for k in range(2, n + 1):
                before, last = last, p * last + q * before + r * k
            return last
        """,
        value=_by_matrix_power,
        kind="exact",
    ),
    Family(
        name="absorbed_walks",
        topic=TOPIC,
        task="""A walker on the whole numbers starts at 0 and makes {steps} steps of +1 or -1. How many such walks end
        at {end} without ever standing on {barrier}?""",
        returns="the number of walks, a whole number",
        draw=_walk,
        body="""
            counts = {0: 1}
            for _ in range(steps):
                moved = {}
                for place, count in counts.items():
                    for target in (place - 1, place + 1):
                        if target != barrier:
                            moved[target] = moved.get(target, 0) + count
                counts = moved
            return counts.get(end, 0)
        """,
        value=_by_reflection,
        kind="exact",
    ),
)
