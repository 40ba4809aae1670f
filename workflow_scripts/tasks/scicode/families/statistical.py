"""Statistical mechanics: partition sums and counts of configurations."""

import cmath
import math

from workflow_scripts.tasks.scicode.families.kinds import Family
from workflow_scripts.tasks.scicode.families.numbers import decimal, distinct, whole, wholes

TOPIC = "statistical mechanics"
_STEP = 1e-30


def _levels(generator, level):
    count = level + 2
    return {
        "energies": [tenth / 10 for tenth in distinct(generator, count, 0, 20 + 10 * level)],
        "degeneracies": wholes(generator, count, 1, 2 + level),
        "temperature": decimal(generator, 0.5, 3),
    }


def _energy(parameters, temperature):
    weights = [g * cmath.exp(-e / temperature) for e, g in zip(parameters["energies"], parameters["degeneracies"])]
    return sum(e * w for e, w in zip(parameters["energies"], weights)) / sum(weights)


def _by_complex_step(parameters):
    """dU/dT, exact to rounding: the imaginary part of U at a temperature with a tiny imaginary part."""
    return _energy(parameters, complex(parameters["temperature"], _STEP)).imag / _STEP


def _sums(parameters):
    temperature = parameters["temperature"]
    weights = [g * math.exp(-e / temperature) for e, g in zip(parameters["energies"], parameters["degeneracies"])]
    return {"partition_sum": sum(weights), "mean_energy": _energy(parameters, temperature).real}


def _ring(generator, level):
    spins = whole(generator, 6 + 4 * level, 10 + 6 * level)
    up = whole(generator, 3, spins - 3)
    # With two walls the answer is the number of spins, which the prompt says.
    return {"spins": spins, "up": up, "walls": 2 * whole(generator, 2, min(up, spins - up))}


def _by_transfer(parameters):
    spins, up, walls = parameters["spins"], parameters["up"], parameters["walls"]
    total = 0
    for first in (0, 1):
        counts = {(first, first, 0): 1}
        for _ in range(spins - 1):
            longer: dict[tuple[int, int, int], int] = {}
            for (last, ups, broken), count in counts.items():
                for spin in (0, 1):
                    key = (spin, ups + spin, broken + (spin != last))
                    longer[key] = longer.get(key, 0) + count
            counts = longer
        total += sum(c for (last, ups, broken), c in counts.items() if ups == up and broken + (last != first) == walls)
    return total


def _bosons(generator, level):
    energies = distinct(generator, 4 + level, 1, 5 + 3 * level)
    particles = whole(generator, 3 + level, 5 + 3 * level)
    chosen = generator.choice(energies, size=particles)
    return {"energies": energies, "particles": particles, "total": int(sum(chosen))}


def _by_polynomials(parameters):
    """Coefficient of x^total y^particles in the product of 1 / (1 - y x^e)."""
    counts = {(0, 0): 1}
    for energy in parameters["energies"]:
        grown: dict[tuple[int, int], int] = {}
        for (number, total), count in counts.items():
            for more in range(parameters["particles"] - number + 1):
                key = (number + more, total + more * energy)
                grown[key] = grown.get(key, 0) + count
        counts = grown
    return counts.get((parameters["particles"], parameters["total"]), 0)


FAMILIES = (
    Family(
        name="heat_capacity",
        topic=TOPIC,
        task="""A system in thermal equilibrium has levels at the energies {energies} with the degeneracies
        {degeneracies}, in the same order and in units where Boltzmann's constant is 1. What is its heat capacity at
        the temperature {temperature}?""",
        returns="the heat capacity, a float",
        draw=_levels,
        imports="import math",
        body="""
            weights = [g * math.exp(-e / temperature) for e, g in zip(energies, degeneracies)]
            z = sum(weights)
            mean = sum(e * w for e, w in zip(energies, weights)) / z
            return sum((e - mean) ** 2 * w for e, w in zip(energies, weights)) / z / temperature**2
        """,
        value=_by_complex_step,
        kind="numeric",
        intermediates=_sums,
    ),
    Family(
        name="ring_configurations",
        topic=TOPIC,
        task="""Ising spins sit at {spins} numbered sites of a closed ring. How many configurations have exactly {up}
        spins up and exactly {walls} pairs of neighbours that point in opposite directions?""",
        returns="the number of configurations, a whole number",
        draw=_ring,
        imports="from math import comb",
        body="""
            domains = walls // 2
            down = spins - up
            return spins * comb(up - 1, domains - 1) * comb(down - 1, domains - 1) // domains
        """,
        value=_by_transfer,
        kind="exact",
    ),
    Family(
        name="boson_states",
        topic=TOPIC,
        task="""Identical bosons occupy single-particle levels at the energies {energies}, each of them non-degenerate.
        How many states of {particles} bosons have the total energy {total}?""",
        returns="the number of states, a whole number",
        draw=_bosons,
        body="""
            def states(levels, left, energy):
                if not levels:
                    return left == 0 and energy == 0
                first, *rest = levels
                return sum(states(rest, left - n, energy - n * first) for n in range(left + 1) if n * first <= energy)

            return int(states(energies, particles, total))
        """,
        value=_by_polynomials,
        kind="exact",
    ),
)
