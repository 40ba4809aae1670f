"""Wave optics: interference, modes of structured light, rays."""

import cmath
import math

from workflow_scripts.tasks.scicode.families.kinds import Family
from workflow_scripts.tasks.scicode.families.numbers import decimal, distinct, whole

TOPIC = "wave optics"


def _slits(generator, level):
    slits = whole(generator, 4 + level, 6 + 4 * level)
    closed = distinct(generator, whole(generator, 1, level), 1, slits - 2)
    return {"slits": slits, "closed": closed}


def _phases(parameters):
    return [[0.7], [2.0], [3.0], [0.0], [-2 * math.pi], [5.1]]


def _by_geometric_sum(parameters, phase):
    slits, closed = parameters["slits"], parameters["closed"]
    step = cmath.exp(1j * phase)
    total = complex(slits) if abs(step - 1) < 1e-9 else (step**slits - 1) / (step - 1)
    return abs(total - sum(step**place for place in closed)) ** 2


def _modes(generator, level):
    order, modulus = whole(generator, 3 + level, 4 + 3 * level), whole(generator, 2, 3 + level)
    return {
        "order": order,
        "modulus": modulus,
        "residue": whole(generator, 0, modulus - 1),
        "blocked": distinct(generator, level, -order, order),
    }


def _by_total(parameters):
    """From the total angular momentum j = l + s down to the modes, instead of from the modes up."""
    order, modulus, found = parameters["order"], parameters["modulus"], set()
    for total in range(-order - 1, order + 2):
        if total % modulus != parameters["residue"]:
            continue
        for helicity in (1, -1):
            charge = total - helicity
            if abs(charge) <= order and charge not in parameters["blocked"]:
                found |= {(radial, charge, helicity) for radial in range((order - abs(charge)) // 2 + 1)}
    return found


def _bench(generator, level):
    elements = []
    for place in range(2 * level + 1):
        if place % 2:
            focal = decimal(generator, 5, 40, 1) * (1 if generator.integers(3) else -1)
            elements.append(["lens", focal])
        else:
            elements.append(["gap", decimal(generator, 1, 30, 1)])
    return {"elements": elements}


def _by_two_rays(parameters):
    ends = []
    for height, angle in ((1.0, 0.0), (0.0, 1.0)):
        for kind, size in parameters["elements"]:
            if kind == "gap":
                height += size * angle
            else:
                angle -= height / size
        ends.append((height, angle))
    (a, c), (b, d) = ends
    return [[a, b], [c, d]]


FAMILIES = (
    Family(
        name="grating_intensity",
        topic=TOPIC,
        task="""A grating has {slits} equal narrow slits, numbered from 0 and equally spaced; those with the numbers
        {closed} are closed. Light from one open slit alone gives the intensity 1 on a distant screen. What is the
        intensity where the paths from neighbouring slits differ by the phase `phase`, in radians?""",
        returns="the intensity at that phase, a float",
        draw=_slits,
        imports="import cmath",
        body="""
            amplitude = sum(cmath.exp(1j * phase * place) for place in range(slits) if place not in closed)
            return abs(amplitude) ** 2
        """,
        value=_by_geometric_sum,
        kind="numeric",
        arguments=("phase",),
        calls=_phases,
    ),
    Family(
        name="light_modes",
        topic=TOPIC,
        task="""A Laguerre-Gauss mode of light has a radial number p >= 0, an azimuthal number l (any whole number) and
        a helicity s, +1 or -1. An experiment passes modes with 2*p + |l| at most {order}, for which l + s leaves the
        remainder {residue} when divided by {modulus} (remainders run from 0 to the divisor less one), and whose l is
        not among {blocked}. Which modes does it pass?""",
        returns="the set of these modes, each a tuple (p, l, s)",
        draw=_modes,
        body="""
            modes = set()
            for l in range(-order, order + 1):
                for p in range(order + 1):
                    for s in (1, -1):
                        if 2 * p + abs(l) <= order and (l + s) % modulus == residue and l not in blocked:
                            modes.add((p, l, s))
            return modes
        """,
        value=_by_total,
        kind="set",
    ),
    Family(
        name="ray_matrix",
        topic=TOPIC,
        task="""Paraxial light passes these elements in order, all lengths in centimetres: {elements}. "gap" is free
        space of that length, "lens" a thin lens of that focal length (negative: diverging). A ray is the pair (height,
        angle). Which matrix [[A, B], [C, D]] takes the ray before all elements to the ray behind them?""",
        returns="the list of rows [[A, B], [C, D]], four floats",
        draw=_bench,
        body="""
            (a, b), (c, d) = (1.0, 0.0), (0.0, 1.0)
            for kind, size in elements:
                (p, q), (r, s) = ((1.0, size), (0.0, 1.0)) if kind == "gap" else ((1.0, 0.0), (-1.0 / size, 1.0))
                (a, b), (c, d) = (p * a + q * c, p * b + q * d), (r * a + s * c, r * b + s * d)
            return [[a, b], [c, d]]
        """,
        value=_by_two_rays,
        kind="sequence",
    ),
)
