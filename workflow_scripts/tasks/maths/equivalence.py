r"""Whether two answers are the same.

Exact first: rationals, roots, polynomials and their quotients (algebra.py) and the structures around them
(structures.py). What cannot be read exactly goes, pair by pair, to an oracle: the symbolic worker, or none.

Closed rules:

* a decimal is the rational that it writes: 0.33 is not 1/3 (unless a tolerance is asked for);
* 50 % = 1/2; 50 is not 50 % unless `percent_is_unit`, which the caller sets where the question asks for a percentage;
* order counts in tuples, intervals, vectors and matrices, as do their brackets; it does not in bare lists, sets and
  unions; a bare list equals the set of its elements, never a tuple; in sets repeated elements count once, in lists each
  time;
* ``x = 5`` equals 5, and ``x = 5``, but not ``y = 5``; other equations are equal when one is a multiple of the other;
  an inequality in one name equals its interval;
* words are compared without case; ``(C)``, ``\text{(C)}`` and ``C`` are one choice. Letters alone are words in
  ``\text{…}``, where there are three or more of them, and where two stand bare on both sides and are capitals or a word
  of a closed list: TS is not ST and no is not on, but xy = yx and RC = ``C \cdot R``;
* units: see units.py.

The relation is symmetric. All of it is exact but for the oracle.
"""

from collections.abc import Callable
from fractions import Fraction

from workflow_scripts.tasks.maths import algebra, structures
from workflow_scripts.tasks.maths.numbers import PLAIN
from workflow_scripts.tasks.maths.relations import difference, interval_of, name_of, named_value, read
from workflow_scripts.tasks.maths.spelling import fingerprint, tidy
from workflow_scripts.tasks.maths.structures import Group, Leaf, Node, Relation
from workflow_scripts.tasks.maths.verdicts import Rejected, Status

Oracle = Callable[[str, str], Status]
"""Says OK, WRONG or why it cannot tell of two tidied formulas without structure; ``left = right`` for equations."""
MAX_ASKED = 24
"""Pairs of one comparison that go to the oracle."""


def undecided(_gold: str, _answer: str) -> Status:
    """The oracle of the exact path: it cannot tell."""
    return Status.UNSUPPORTED


def compare(
    gold: str,
    answer: str,
    oracle: Oracle = undecided,
    *,
    percent_is_unit: bool = False,
    tolerance: float = 0.0,
) -> tuple[Status, str]:
    """Compares two answers as written; gives the status and what decided ('exact', 'text', 'symbolic' or '').

    percent_is_unit: a percent sign on one side alone may be dropped.  tolerance: relative, of two real numbers that are
    not equal exactly; 0 asks for equality.  Never raises on what the texts say.
    """
    if PLAIN(gold) and PLAIN(answer):
        return (Status.OK if int(gold) == int(answer) else Status.WRONG), "exact"
    try:
        ours, theirs = tidy(gold), tidy(answer)
        if not theirs:
            raise Rejected(Status.EMPTY)
        if fingerprint(ours) == fingerprint(theirs):
            return Status.OK, "text"
        judge = _Comparison(oracle, percent_is_unit, tolerance)
        same = judge.same(structures.read(ours), structures.read(theirs))
    except Rejected as fault:
        return fault.status, ""
    return (Status.OK if same else Status.WRONG), judge.method


def readable(text: str) -> bool:
    """Whether an answer is read exactly, all of it, so that the oracle is never asked about it."""
    try:
        return _exact(structures.read(tidy(text)))
    except Rejected:
        return False


def _exact(node: Node) -> bool:
    if isinstance(node, Leaf):
        return node.kind != "formula"
    return all(map(_exact, node.items if isinstance(node, Group) else node.sides))


class _Comparison:
    """One comparison: a walk over two structures that raises `Rejected` only where no difference was found."""

    def __init__(self, oracle: Oracle, percent_is_unit: bool, tolerance: float) -> None:
        self.oracle, self.percent_is_unit, self.tolerance = oracle, percent_is_unit, tolerance
        self.method = "exact"
        self.asked = 0

    def same(self, one: Node, other: Node) -> bool:
        if isinstance(one, Relation) or isinstance(other, Relation):
            return self._relations(one, other)
        if isinstance(one, Leaf) and isinstance(other, Leaf):
            return self._leaves(one, other)
        if isinstance(one, Leaf) or isinstance(other, Leaf):
            leaf, group = (one, other) if isinstance(one, Leaf) else (other, one)
            if group.kind in ("list", "set") and len(group.items) == 1:
                return self.same(leaf, group.items[0])
            if leaf.kind == "formula":
                raise Rejected(Status.UNSUPPORTED, "a structure that is not read")
            return False
        kinds = {one.kind, other.kind}
        if kinds == {"ordered"} or kinds == {"matrix"}:
            return one.brackets == other.brackets and self._in_order(one.items, other.items)
        if kinds == {"list"}:
            return self._in_any_order(one.items, other.items)
        if kinds <= {"list", "set"}:
            return self._in_any_order(self._distinct(one.items), self._distinct(other.items))
        if kinds == {"union", "list"}:
            parts = one.items if one.kind == "list" else other.items
            if any(isinstance(part, Relation) for part in parts):
                raise Rejected(Status.UNSUPPORTED, "inequalities and a union")
        if kinds == {"union"}:
            return self._in_any_order(one.items, other.items)
        return False

    def _in_order(self, ones: tuple[Node, ...], others: tuple[Node, ...]) -> bool:
        return len(ones) == len(others) and self._all(zip(ones, others))

    def _all(self, pairs) -> bool:
        """Whether all pairs are the same; a pair that differs decides, whatever cannot be told of the others."""
        doubt: Rejected | None = None
        for one, other in pairs:
            try:
                if not self.same(one, other):
                    return False
            except Rejected as fault:
                doubt = doubt or fault
        if doubt:
            raise doubt
        return True

    def _in_any_order(self, ones, others) -> bool:
        if len(ones) != len(others):
            return False
        left = list(others)
        doubt: Rejected | None = None
        for one in ones:
            unsure = None
            for position, other in enumerate(left):
                try:
                    if self.same(one, other):
                        del left[position]
                        break
                except Rejected as fault:
                    unsure = unsure or fault
            else:
                if not unsure:
                    return False
                doubt = doubt or unsure
        if doubt:
            raise doubt
        return True

    def _distinct(self, items: tuple[Node, ...]) -> list[Node]:
        kept: list[Node] = []
        for item in items:
            if not any(self._surely_same(item, other) for other in kept):
                kept.append(item)
        return kept

    def _surely_same(self, one: Node, other: Node) -> bool:
        try:
            return self.same(one, other)
        except Rejected:
            return False

    def _leaves(self, one: Leaf, other: Leaf) -> bool:
        if "words" in (one.kind, other.kind) or (structures.is_words(one) and structures.is_words(other)):
            self.method = "text"
            return bool(one.words) and one.words == other.words
        if one.kind == "base" or other.kind == "base":
            return one.kind == other.kind and one.text == other.text
        if one.unit and other.unit and one.unit != other.unit:
            return False
        if one.kind == "formula" or other.kind == "formula":
            if one.percent != other.percent:
                raise Rejected(Status.UNSUPPORTED, "a percentage that is no number")
            return fingerprint(one.text) == fingerprint(other.text) or self._ask(one.text, other.text)
        if algebra.equal(one.value, other.value):
            return True
        values = [(one.value, other.value)]
        if self.percent_is_unit and one.percent != other.percent:
            hundred = algebra.constant(Fraction(100))
            value = algebra.multiply(one.value if one.percent else other.value, hundred)
            values.append((value, other.value if one.percent else one.value))
            if algebra.equal(*values[1]):
                return True
        return any(self._near(*pair) for pair in values) if self.tolerance else False

    def _near(self, one: algebra.Quotient, other: algebra.Quotient) -> bool:
        ours, theirs = algebra.real(one), algebra.real(other)
        if ours is None or theirs is None:
            return False
        return abs(ours - theirs) <= self.tolerance * max(abs(ours), abs(theirs))

    def _ask(self, one: str, other: str) -> bool:
        self.asked += 1
        if self.asked > MAX_ASKED:
            raise Rejected(Status.UNSUPPORTED, f"more than {MAX_ASKED} formulas to compare")
        status = self.oracle(one, other)
        if status not in (Status.OK, Status.WRONG):
            raise Rejected(status)
        self.method = "symbolic"
        return status is Status.OK

    def _relations(self, one: Node, other: Node) -> bool:
        if not (isinstance(one, Relation) and isinstance(other, Relation)):
            relation, node = (one, other) if isinstance(one, Relation) else (other, one)
            if relation.signs == ("=",) and (side := named_value(relation)) is not None:
                return self.same(side, node)
            if isinstance(node, Group) and (interval := interval_of(relation)) is not None:
                return self.same(interval, node)
            if (isinstance(node, Leaf) and node.kind == "formula") or (isinstance(node, Group) and not read(relation)):
                raise Rejected(Status.UNSUPPORTED, "a relation and what is not read")
            return False
        if one.signs == other.signs == ("=",):
            return self._equations(one, other)
        if one.signs == other.signs and self._in_order(one.sides, other.sides):
            return True
        if not (read(one) and read(other)):
            raise Rejected(Status.UNSUPPORTED, "relations that are not solved for a name")
        return False

    def _equations(self, one: Relation, other: Relation) -> bool:
        for sides in (other.sides, other.sides[::-1]):
            if all(self._surely_same(ours, theirs) for ours, theirs in zip(one.sides, sides)):
                return True
        differences = [difference(relation) for relation in (one, other)]
        if None not in differences:
            return algebra.proportional(*(top for top, _ in differences))
        if any(not isinstance(side, Leaf) for side in (*one.sides, *other.sides)):
            if name_of(one) and name_of(other):
                return name_of(one) == name_of(other) and self.same(named_value(one), named_value(other))
            raise Rejected(Status.UNSUPPORTED, "equations of structures")
        return self._ask(*(" = ".join(side.text for side in relation.sides) for relation in (one, other)))
