"""Rate equations."""

from fractions import Fraction
from itertools import product
from math import gcd

from workflow_scripts.tasks.scicode.families.kinds import Family
from workflow_scripts.tasks.scicode.families.numbers import decimal, distinct, exponential, whole, wholes

TOPIC = "kinetics"


def _chain(generator, level):
    first, second = (tenth / 10 for tenth in distinct(generator, 2, 1, 30))
    if generator.integers(2):
        first, second = second, first
    return {
        "initial": [
            decimal(generator, 1, 9, 1),
            *(decimal(generator, 0, 3, 1) if level > 1 else 0.0 for _ in range(2)),
        ],
        "first": first,
        "second": second,
        "time": decimal(generator, 0.2, level),
    }


def _by_exponential(parameters):
    first, second, time = parameters["first"], parameters["second"], parameters["time"]
    matrix = [[-first * time, 0, 0], [first * time, -second * time, 0], [0, second * time, 0]]
    return [sum(c * n for c, n in zip(row, parameters["initial"])).real for row in exponential(matrix)]


def _network(generator, level):
    size = 3 if level < 3 else 4
    rates = [[whole(generator, 1, 3 + 2 * level) if i != j else 0 for j in range(size)] for i in range(size)]
    return {"rates": rates}


def _by_trees(parameters):
    """The weight of a state is the sum, over spanning trees that lead to it, of the products of rates."""
    rates = parameters["rates"]
    size = len(rates)
    weights = []
    for root in range(size):
        others = [state for state in range(size) if state != root]
        total = 0
        for targets in product(range(size), repeat=size - 1):
            onward = dict(zip(others, targets))
            if all(_arrives(state, onward, root) for state in others):
                weight = 1
                for state, target in onward.items():
                    weight *= rates[state][target]
                total += weight
        weights.append(total)
    shared = gcd(*weights)
    return [weight // shared for weight in weights]


def _arrives(state, onward, root):
    for _ in range(len(onward)):
        state = onward[state]
        if state == root:
            return True
    return False


def _track(generator, level):
    return {"forward": wholes(generator, 2 + level, 1, 9), "backward": wholes(generator, 2 + level, 1, 5)}


def _by_first_steps(parameters):
    """Times from each site to the next, by first-step equations from the left."""
    passage, total = Fraction(0), Fraction(0)
    for up, down in zip(parameters["forward"], parameters["backward"]):
        passage = (1 + down * passage) / Fraction(up) if total else Fraction(1, up)
        total += passage
    return total


FAMILIES = (
    Family(
        name="decay_chain",
        topic=TOPIC,
        task="""Substance A turns into B with the rate constant {first}, B turns into C with the rate constant
        {second}, both steps are of first order and irreversible, and C is stable. At time 0 the amounts of A, B and C
        are {initial}. What are they at time {time}?""",
        returns="the list [A, B, C] of amounts, three floats",
        draw=_chain,
        imports="import math",
        body="""
            a0, b0, c0 = initial
            a = a0 * math.exp(-first * time)
            fed = a0 * first / (second - first)
            b = b0 * math.exp(-second * time) + fed * (math.exp(-first * time) - math.exp(-second * time))
            return [a, b, a0 + b0 + c0 - a - b]
        """,
        value=_by_exponential,
        kind="sequence",
    ),
    Family(
        name="stationary_weights",
        topic=TOPIC,
        task="""A system hops at random among a few states. Row i, column j of {rates} is the rate of hops from state i
        to state j. Its stationary probabilities are in the ratio of whole numbers. Find the smallest such numbers.""",
        returns="the list of these whole numbers, one for each state in order",
        draw=_network,
        imports="from fractions import Fraction\nfrom math import gcd, lcm",
        body="""
            size = len(rates)
            rows = [
                [Fraction(rates[i][j] if i != j else -sum(rates[j])) for i in range(size)] for j in range(size - 1)
            ]
            rows = [row + [Fraction(0)] for row in rows] + [[Fraction(1)] * (size + 1)]
            for column in range(size):
                pivot = next(r for r in range(column, size) if rows[r][column])
                rows[column], rows[pivot] = rows[pivot], rows[column]
                rows[column] = [entry / rows[column][column] for entry in rows[column]]
                for r in range(size):
                    if r != column:
                        rows[r] = [a - rows[r][column] * b for a, b in zip(rows[r], rows[column])]
            chances = [row[-1] for row in rows]
            common = lcm(*(chance.denominator for chance in chances))
            weights = [int(chance * common) for chance in chances]
            shared = gcd(*weights)
            return [weight // shared for weight in weights]
        """,
        value=_by_trees,
        kind="sequence",
    ),
    Family(
        name="passage_time",
        topic=TOPIC,
        task="""A motor moves on the sites 0, 1, 2, … of a track. From site n it steps forward with the n-th of the
        rates {forward} (counted from 0) and, unless n = 0, backward with the n-th of the rates {backward}; from site 0
        it cannot step backward. It starts on site 0. What is the mean time until it first reaches the site whose
        number is the length of these lists?""",
        returns="the mean time, a fractions.Fraction in exact arithmetic",
        draw=_track,
        imports="from fractions import Fraction",
        body="""
            size = len(forward)
            total = Fraction(0)
            for start in range(size):
                for low in range(start + 1):
                    term = Fraction(1, forward[low])
                    for site in range(low + 1, start + 1):
                        term *= Fraction(backward[site], forward[site])
                    total += term
            return total
        """,
        value=_by_first_steps,
        kind="exact",
    ),
)
