"""Quantum two-level systems and Pauli operators."""

from functools import reduce

import numpy as np

from workflow_scripts.tasks.scicode.families.kinds import Family
from workflow_scripts.tasks.scicode.families.numbers import decimal, exponential, product, whole

TOPIC = "quantum systems"
_MATRICES = {
    "I": np.eye(2, dtype=complex),
    "X": np.array([[0, 1], [1, 0]], dtype=complex),
    "Y": np.array([[0, -1j], [1j, 0]]),
    "Z": np.diag([1, -1]).astype(complex),
}


def _pulses(generator, level):
    pulses = [
        [decimal(generator, 0.3, 3), decimal(generator, -2, 2), decimal(generator, 0.4, 2 + level, 1)]
        for _ in range(level)
    ]
    return {"pulses": pulses}


def _by_exponentials(parameters):
    total = [[1, 0], [0, 1]]
    for omega, delta, time in parameters["pulses"]:
        total = product(
            exponential([[-0.5j * delta * time, -0.5j * omega * time], [-0.5j * omega * time, 0.5j * delta * time]]),
            total,
        )
    return abs(total[0][1]) ** 2


def _strings(generator, level):
    count, qubits = whole(generator, 2, 2 + level), 2 + level
    return {"factors": ["".join(generator.choice(list("IXYZ"), size=qubits)) for _ in range(count)]}


def _by_phases(parameters):
    """X^a Z^b = (-i)^(ab) times a Pauli letter: the exponents add up, and Z past X gives a sign."""
    label, phase = [], 0
    for letters in zip(*parameters["factors"]):
        x = z = 0
        for letter in letters:
            a, b = letter in "XY", letter in "YZ"
            phase += (a and b) + 2 * (z and a)
            x, z = x ^ a, z ^ b
        phase -= x and z
        label.append({(0, 0): "I", (1, 0): "X", (1, 1): "Y", (0, 1): "Z"}[int(x), int(z)])
    return [phase % 4, "".join(label)]


def _measured(generator, level):
    qubits = min(level + 1, 3)
    letters = list("IXYZ")
    found: set[str] = set()
    while len(found) < 2:
        label = "".join(generator.choice(letters, size=qubits))
        if set(label) != {"I"}:
            found.add(label)
    return {"qubits": qubits, "terms": sorted(found)}


def _by_matrices(parameters):
    labels = [""]
    for _ in range(parameters["qubits"]):
        labels = [label + letter for label in labels for letter in "IXYZ"]
    terms = [_matrix(label) for label in parameters["terms"]]
    return {
        label
        for label in labels
        if set(label) != {"I"} and all(np.allclose(_matrix(label) @ term, term @ _matrix(label)) for term in terms)
    }


def _matrix(label):
    return reduce(np.kron, (_MATRICES[letter] for letter in label))


FAMILIES = (
    Family(
        name="rabi_pulses",
        topic=TOPIC,
        task="""A two-level system with states |u> and |d> starts in |d>. It is driven by pulses that follow each other
        without a pause, listed as [omega, delta, duration] in order of time: {pulses}. During a pulse the Hamiltonian
        in the rotating frame is H = (delta/2) sigma_z + (omega/2) sigma_x, with hbar = 1 and sigma_z |u> = |u>. With
        which probability is the system found in |u> after the last pulse?""",
        returns="the probability, a float",
        draw=_pulses,
        imports="import math",
        body="""
            up, down = 0j, 1 + 0j
            for omega, delta, time in pulses:
                rate = math.hypot(omega, delta)
                c, s = math.cos(rate * time / 2), math.sin(rate * time / 2) / rate
                up, down = (
                    (c - 1j * delta * s) * up - 1j * omega * s * down,
                    (c + 1j * delta * s) * down - 1j * omega * s * up,
                )
            return abs(up) ** 2
        """,
        value=_by_exponentials,
        kind="numeric",
    ),
    Family(
        name="pauli_product",
        topic=TOPIC,
        task="""Pauli strings act on one qubit per letter. The operator product of the strings {factors}, the first one
        leftmost, equals i**k times a single Pauli string, with k = 0, 1, 2 or 3. Find k and that string.""",
        returns="the list [k, string], a whole number and a text of the letters I, X, Y, Z",
        draw=_strings,
        body="""
            cyclic = "XYZ"
            k, total = 0, ["I"] * len(factors[0])
            for factor in factors:
                for place, letter in enumerate(factor):
                    other = total[place]
                    if letter == "I":
                        continue
                    if other == "I":
                        total[place] = letter
                    elif other == letter:
                        total[place] = "I"
                    else:
                        step = (cyclic.index(letter) - cyclic.index(other)) % 3
                        k += 1 if step == 1 else 3
                        total[place] = (set(cyclic) - {letter, other}).pop()
            return [k % 4, "".join(total)]
        """,
        value=_by_phases,
        kind="sequence",
    ),
    Family(
        name="commuting_strings",
        topic=TOPIC,
        task="""A Hamiltonian on {qubits} qubits is a sum, with generic coefficients, of the two Pauli strings {terms}.
        Find all Pauli strings on these qubits, other than the identity, that commute with both of them.""",
        returns="the set of these strings, each a text of the letters I, X, Y, Z",
        draw=_measured,
        imports="from itertools import product",
        body="""
            def commute(one, other):
                return sum("I" not in (a, b) and a != b for a, b in zip(one, other)) % 2 == 0

            labels = ("".join(letters) for letters in product("IXYZ", repeat=qubits))
            return {label for label in labels if set(label) != {"I"} and all(commute(label, term) for term in terms)}
        """,
        value=_by_matrices,
        kind="set",
    ),
)
