"""Symbolic results: information about a parameter, moments, thermal averages."""

from fractions import Fraction

from workflow_scripts.tasks.scicode.families.kinds import Family
from workflow_scripts.tasks.scicode.families.numbers import distinct, nonzero, whole, wholes
from workflow_scripts.tasks.scicode.families.trees import add, divide, multiply, polynomial, power, rational, symbol
from workflow_scripts.tasks.scicode.values import Expression

TOPIC = "estimation and averages"


def _fringe(generator, level):
    below = whole(generator, 3, 6 + 4 * level)
    return {
        "photons": whole(generator, 1, 3 + 2 * level),
        "runs": whole(generator, 1, 5 * level),
        "top": whole(generator, 1, below - 1),
        "below": below,
    }


def _by_formula(parameters, theta):
    """m n² v² sin² / (1 - v² cos²) of n theta."""
    n, visibility = parameters["photons"], Fraction(parameters["top"], parameters["below"])
    angle = multiply(rational(n), theta)
    top = multiply(rational(parameters["runs"] * n * n * visibility**2), power(("sin", angle), 2))
    below = add(rational(1), multiply(rational(-(visibility**2)), power(("cos", angle), 2)))
    return Expression(divide(top, below))


def _moment(generator, level):
    return {"coefficients": [nonzero(generator, 3 + level) for _ in range(1 + level)], "scale": whole(generator, 1, 5)}


def _by_ratios(parameters, width):
    """<x^(2k)> = (2k - 1) / (2 s w) times <x^(2k-2)>."""
    average, terms = Fraction(1), []
    for order, coefficient in enumerate(parameters["coefficients"]):
        if order:
            average *= Fraction(2 * order - 1, 2 * parameters["scale"])
        terms.append(multiply(rational(coefficient * average), power(width, -order)))
    return Expression(add(*terms))


def _levels(generator, level):
    energies = distinct(generator, 2 + level, 0, 4 + 3 * level)
    return {"energies": energies, "degeneracies": wholes(generator, len(energies), 1, 2 + level)}


def _by_weights(parameters, beta):
    """Ratio of polynomials in exp(-beta)."""
    size = max(parameters["energies"]) + 1
    counts = [0] * size
    for energy, degeneracy in zip(parameters["energies"], parameters["degeneracies"]):
        counts[energy] = degeneracy
    factor = ("exp", multiply(rational(-1), beta))
    return Expression(
        divide(polynomial([energy * count for energy, count in enumerate(counts)], factor), polynomial(counts, factor))
    )


FAMILIES = (
    Family(
        name="fringe_information",
        topic=TOPIC,
        task="""An interferometer's detector clicks in one run with the probability (1 + v*cos({photons}*theta))/2,
        with the visibility v = {top}/{below}. What is the Fisher information about theta of {runs} independent runs,
        each of which clicks or does not?""",
        returns="the Fisher information as a sympy expression in the symbol that is given as theta",
        draw=_fringe,
        imports="import sympy",
        body="""
            chance = (1 + sympy.Rational(top, below) * sympy.cos(photons * theta)) / 2
            return runs * sympy.diff(chance, theta) ** 2 / (chance * (1 - chance))
        """,
        value=_by_formula,
        kind="symbolic",
        arguments=("theta",),
        calls=lambda parameters: [[symbol("theta")]],
    ),
    Family(
        name="gaussian_average",
        topic=TOPIC,
        task="""The variable x has a normalised density proportional to exp(-{scale}*w*x**2) with w > 0. The list
        {coefficients} holds the coefficients of 1, x**2, x**4, … in this order. What is the mean of that
        polynomial?""",
        returns="the mean as a sympy expression in the symbol that is given as w",
        draw=_moment,
        imports="import sympy",
        body="""
            rate = scale * w
            return sum(
                c * sympy.factorial2(2 * k - 1) / (2 * rate) ** k if k else sympy.Integer(c)
                for k, c in enumerate(coefficients)
            )
        """,
        value=_by_ratios,
        kind="symbolic",
        arguments=("w",),
        calls=lambda parameters: [[symbol("w")]],
    ),
    Family(
        name="thermal_average",
        topic=TOPIC,
        task="""A molecule has levels at the energies {energies} with the degeneracies {degeneracies}, in the same
        order. What is its mean energy in equilibrium at the inverse temperature beta?""",
        returns="the mean energy as a sympy expression in the symbol that is given as beta",
        draw=_levels,
        imports="import sympy",
        body="""
            z = sum(g * sympy.exp(-beta * e) for e, g in zip(energies, degeneracies))
            return -sympy.diff(sympy.log(z), beta)
        """,
        value=_by_weights,
        kind="symbolic",
        arguments=("beta",),
        calls=lambda parameters: [[symbol("beta")]],
    ),
)
