"""Lists of operators, charges of fields, codes."""

from itertools import combinations_with_replacement
from math import comb

from workflow_scripts.tasks.scicode.families.kinds import Family
from workflow_scripts.tasks.scicode.families.numbers import distinct, nonzero, power_sums, whole, wholes

TOPIC = "operators and charges"


def _letters(generator, level):
    names = ["a", "b", "c", "d"][: 2 + min(level, 2)]
    charges = [nonzero(generator, 3) for _ in names]
    degree = 3 + level
    chosen = generator.choice(len(names), size=whole(generator, 2, degree))
    return {
        "names": names,
        "charges": charges,
        "most": wholes(generator, len(names), 1, 3),
        "degree": degree,
        "total": int(sum(charges[place] for place in chosen)),
    }


def _by_filter(parameters):
    names = parameters["names"]
    charge, most = (dict(zip(names, parameters[key])) for key in ("charges", "most"))
    found = []
    for degree in range(1, parameters["degree"] + 1):
        for letters in combinations_with_replacement(names, degree):
            fits = all(letters.count(name) <= most[name] for name in names)
            if fits and sum(charge[name] for name in letters) == parameters["total"]:
                found.append(" ".join(letters))
    return found


def _fields(generator, level):
    count = 3 + level
    return {
        "charges": [nonzero(generator, 4 + level) for _ in range(count)],
        "copies": wholes(generator, count, 1, 3),
    }


def _by_symmetric_functions(parameters):
    """Power sums of the charges, each as often as it occurs, from the coefficients of the product of (1 + q t)."""
    elementary = [1]
    for charge, copies in zip(parameters["charges"], parameters["copies"]):
        for _ in range(copies):
            elementary = [a + charge * b for a, b in zip([*elementary, 0], [0, *elementary])]
    first, second, third = power_sums(elementary[1:], 3)
    return [first, second, third]


def _code(generator, level):
    length = 5 + level
    rows: list[str] = []
    while len(rows) < 2 + (level > 1):
        row = "".join(generator.choice(list("01"), size=length))
        if "1" in row and _rank([*rows, row]) == len(rows) + 1:
            rows.append(row)
    return {"generators": rows}


def _rank(rows):
    basis: list[int] = []
    for row in rows:
        left = int(row, 2)
        for other in basis:
            left = min(left, left ^ other)
        if left:
            basis.append(left)
    return len(basis)


def _by_dual(parameters):
    """MacWilliams' identity from the words that are orthogonal to all generators."""
    rows = [int(row, 2) for row in parameters["generators"]]
    length = len(parameters["generators"][0])
    dual = [word for word in range(2**length) if all((word & row).bit_count() % 2 == 0 for row in rows)]
    weights = [0] * (length + 1)
    for word in dual:
        weights[word.bit_count()] += 1
    return [
        sum(count * _krawtchouk(length, wanted, weight) for weight, count in enumerate(weights)) // len(dual)
        for wanted in range(length + 1)
    ]


def _krawtchouk(length, wanted, weight):
    return sum((-1) ** j * comb(weight, j) * comb(length - weight, wanted - j) for j in range(wanted + 1))


def _ladder(generator, level):
    most = whole(generator, 4 + 2 * level, 6 + 4 * level)
    forbidden = distinct(generator, 1 + level, 0, most)
    return {
        "most": most,
        "divisor": whole(generator, 2, 2 + level),
        "step": whole(generator, 1, 2 + level),
        "forbidden": forbidden,
    }


def _by_starts(parameters):
    """The labels n for which n and n + step are allowed, from runs of allowed labels."""
    most, step, divisor = parameters["most"], parameters["step"], parameters["divisor"]
    allowed = set(range(most + 1)) - set(parameters["forbidden"])
    shifted = {label - step for label in allowed}
    return {label for label in allowed & shifted if (2 * label + step) % divisor}


FAMILIES = (
    Family(
        name="operator_list",
        topic=TOPIC,
        task="""Commuting operators {names} carry the charges {charges} and may stand in a product at most {most}
        times, all in the same order. Which products of 1 to {degree} factors have the total charge {total}?""",
        returns="the list of these products as texts, the factors in alphabetical order with one space between them, "
        "e.g. 'a a b'; shorter products first, products of one length in alphabetical order",
        draw=_letters,
        body="""
            found = []

            def extend(place, word, charge):
                if place == len(names):
                    if word and len(word) <= degree and charge == total:
                        found.append(word)
                    return
                for times in range(most[place] + 1):
                    extend(place + 1, word + [names[place]] * times, charge + times * charges[place])

            extend(0, [], 0)
            return [" ".join(word) for word in sorted(found, key=lambda word: (len(word), word))]
        """,
        value=_by_filter,
        kind="sequence",
    ),
    Family(
        name="anomaly_sums",
        topic=TOPIC,
        task="""Left-handed fermions carry the charges {charges} under a U(1) group, and there are {copies} copies of
        them, in the same order. Find the sum of the charges over all fermions, which enters the mixed gravitational
        anomaly, the sum of their squares, and the sum of their cubes, which enters the cubic anomaly.""",
        returns="the list of these three sums, whole numbers",
        draw=_fields,
        body="""
            return [sum(d * q**power for q, d in zip(charges, copies)) for power in (1, 2, 3)]
        """,
        value=_by_symmetric_functions,
        kind="sequence",
    ),
    Family(
        name="weight_enumerator",
        topic=TOPIC,
        task="""A classical binary code, from which a quantum code is to be built, is spanned over the field of two
        elements by the words {generators}. How many of its words have 0, 1, 2, … ones, up to the length of the
        words?""",
        returns="the list of these counts, by the number of ones from 0 to the length",
        draw=_code,
        body="""
            rows = [int(row, 2) for row in generators]
            counts = [0] * (len(generators[0]) + 1)
            for chosen in range(2 ** len(rows)):
                word = 0
                for place, row in enumerate(rows):
                    if chosen >> place & 1:
                        word ^= row
                counts[bin(word).count("1")] += 1
            return counts
        """,
        value=_by_dual,
        kind="sequence",
    ),
    Family(
        name="allowed_transitions",
        topic=TOPIC,
        task="""States carry the labels 0 to {most}; those with the labels {forbidden} are not there. A photon takes a
        state n to n + {step}, when both are there and n plus the label of the final state is not divisible by
        {divisor}. From which states can it do so?""",
        returns="the set of the labels n, whole numbers",
        draw=_ladder,
        body="""
            return {
                n
                for n in range(most + 1 - step)
                if n not in forbidden and n + step not in forbidden and (n + n + step) % divisor != 0
            }
        """,
        value=_by_starts,
        kind="set",
    ),
)
