"""Lattice models, coupled spins, protocols in pieces."""

from workflow_scripts.tasks.scicode.families.kinds import Family
from workflow_scripts.tasks.scicode.families.numbers import decimal, nonzero, power_sums, whole, wholes

TOPIC = "lattices and spins"


def _chain(generator, level):
    sites = 2 + level
    return {
        "onsite": wholes(generator, sites, -3, 3),
        "hopping": [nonzero(generator, 3) for _ in range(sites - 1)],
        "exponent": whole(generator, 3, 3 + 2 * level),
    }


def _characteristic(parameters):
    """Coefficients of det(x - H), the highest first, by the recurrence of tridiagonal determinants."""
    before: list[int] = []
    last = [1]
    for site, energy in enumerate(parameters["onsite"]):
        coupling = parameters["hopping"][site - 1] ** 2 if site else 0
        grown = [*last, 0]
        for place, coefficient in enumerate(last):
            grown[place + 1] -= energy * coefficient
        for place, coefficient in enumerate(before):
            grown[place + 2] -= coupling * coefficient
        before, last = last, grown
    return last


def _by_newton(parameters):
    elementary = [(-1) ** k * c for k, c in enumerate(_characteristic(parameters))][1:]
    return power_sums(elementary, parameters["exponent"])[-1]


def _lower_traces(parameters):
    elementary = [(-1) ** k * c for k, c in enumerate(_characteristic(parameters))][1:]
    sums = power_sums(elementary, 2)
    return {"trace": sums[0], "trace_of_square": sums[1]}


def _surface(generator, level):
    return {
        "a": whole(generator, 1, 3 + level),
        "b": whole(generator, 1, 3 + level),
        "c": whole(generator, -3, 3),
        "d": whole(generator, -10 * level, 10 * level),
        "e": whole(generator, -10 * level, 10 * level),
        "limit": whole(generator, 3, 4 + 4 * level),
    }


def _by_columns(parameters):
    """For each x the energy is convex in y: its minimum lies beside the vertex or at an end."""
    a, b, c, d, e, limit = (parameters[name] for name in ("a", "b", "c", "d", "e", "limit"))
    found = []
    for x in range(-limit, limit + 1):
        vertex = -(c * x + e) // (2 * b)
        for y in {min(max(vertex + shift, -limit), limit) for shift in (0, 1)}:
            found.append((a * x * x + b * y * y + c * x * y + d * x + e * y, x, y))
    energy, x, y = min(found)
    return [x, y, energy]


def _spins(generator, level):
    return {"doubled": sorted(wholes(generator, 2 + level, 1, 3 + level))}


def _by_projections(parameters):
    """Multiplets of spin J: states of projection J less those of J + 1."""
    counts = {0: 1}
    for doubled in parameters["doubled"]:
        grown: dict[int, int] = {}
        for projection, count in counts.items():
            for own in range(-doubled, doubled + 1, 2):
                grown[projection + own] = grown.get(projection + own, 0) + count
        counts = grown
    found = {m: count - counts.get(m + 2, 0) for m, count in counts.items() if m >= 0}
    return {m: count for m, count in found.items() if count}


def _ramps(generator, level):
    pieces = [[decimal(generator, 0.5, 2, 1), decimal(generator, -3, 3, 1)] for _ in range(2 + level)]
    return {"start": decimal(generator, -2, 2, 1), "pieces": pieces}


def _times(parameters):
    first, second = parameters["pieces"][0][0], parameters["pieces"][1][0]
    total = sum(duration for duration, _ in parameters["pieces"])
    return [[first + second / 2], [first], [first / 2], [total], [total + 1.5], [0.0]]


def _by_kinks(parameters, time):
    """start * t plus, for every change of slope at u < t, half of the change times (t - u)²."""
    total, begun, slope = parameters["start"] * time, 0.0, 0.0
    for duration, rate in [*parameters["pieces"], [0.0, 0.0]]:
        if time > begun:
            total += (rate - slope) * (time - begun) ** 2 / 2
        begun, slope = begun + duration, rate
    return total


FAMILIES = (
    Family(
        name="hopping_trace",
        topic=TOPIC,
        task="""A particle on an open chain has the Hamiltonian H with the site energies {onsite} on its diagonal and
        the hopping amplitudes {hopping} between neighbouring sites, real and symmetric. What is the trace of H to the
        power {exponent}?""",
        returns="the trace, a whole number",
        draw=_chain,
        body="""
            size = len(onsite)
            h = [[0] * size for _ in range(size)]
            for i in range(size):
                h[i][i] = onsite[i]
                if i + 1 < size:
                    h[i][i + 1] = h[i + 1][i] = hopping[i]
            power = h
            for _ in range(exponent - 1):
                power = [[sum(row[k] * h[k][j] for k in range(size)) for j in range(size)] for row in power]
            return sum(power[i][i] for i in range(size))
        """,
        value=_by_newton,
        kind="exact",
        intermediates=_lower_traces,
    ),
    Family(
        name="grid_minimum",
        topic=TOPIC,
        task="""On the grid of whole numbers x and y, both from -{limit} to {limit}, a lattice energy is E(x, y) =
        {a}*x**2 + {b}*y**2 + ({c})*x*y + ({d})*x + ({e})*y. Where is it lowest? Of several points with the lowest
        energy take the one with the smallest x, then the smallest y.""",
        returns="the list [x, y, E] of whole numbers at that point",
        draw=_surface,
        body="""
            points = [(x, y) for x in range(-limit, limit + 1) for y in range(-limit, limit + 1)]
            energies = {(x, y): a * x**2 + b * y**2 + c * x * y + d * x + e * y for x, y in points}
            x, y = min(points, key=lambda point: (energies[point], point))
            return [x, y, energies[x, y]]
        """,
        value=_by_columns,
        kind="sequence",
    ),
    Family(
        name="spin_multiplets",
        topic=TOPIC,
        task="""Spins whose doubled quantum numbers 2s are {doubled} are coupled to a total spin J. Which values can 2J
        take, and how many independent multiplets belong to each?""",
        returns="the dict from each possible 2J, a whole number, to its number of multiplets",
        draw=_spins,
        body="""
            found = {0: 1}
            for spin in doubled:
                coupled = {}
                for total, count in found.items():
                    for value in range(abs(total - spin), total + spin + 1, 2):
                        coupled[value] = coupled.get(value, 0) + count
                found = coupled
            return found
        """,
        value=_by_projections,
        kind="exact",
    ),
    Family(
        name="ramped_phase",
        topic=TOPIC,
        task="""The detuning of a qubit is {start} at time 0 and changes linearly in pieces, listed as [duration,
        slope] in order of time: {pieces}; afterwards it stays as it is. Its phase is the integral of the detuning from
        time 0 to `time` (at least 0). What is the phase?""",
        returns="the phase at that time, a float",
        draw=_ramps,
        body="""
            phase, value, left = 0.0, start, time
            for duration, slope in pieces:
                spent = min(duration, left)
                phase += value * spent + slope * spent**2 / 2
                value += slope * spent
                left -= spent
            return phase + value * left
        """,
        value=_by_kinks,
        kind="numeric",
        arguments=("time",),
        calls=_times,
    ),
)
