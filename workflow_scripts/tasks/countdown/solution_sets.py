"""What is known of one problem's solutions: a row per paper leaf, a row per opening of the menu, and their counts."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from workflow_scripts.tasks.countdown.expressions import Expression, formula_form, render
from workflow_scripts.tasks.countdown.problems import problem_id
from workflow_scripts.tasks.countdown.writings import canonical, family_of, said_and_openings, written


class Solution(NamedTuple):
    """One paper leaf; columns of records/schemas.py SOLUTIONS."""

    paper_form: str
    formula_form: str
    paper_family: str
    rendering: str
    expressible: bool
    witness: bool


class Opening(NamedTuple):
    """One entry of a problem's menu; columns of records/schemas.py OPENINGS."""

    opening: str
    solutions: int
    expressible: bool
    witness: str


@dataclass(frozen=True)
class SolutionSet:
    """What `solve` returns. solutions: ordered by paper form. openings: ordered alphabetically."""

    numbers: tuple[int, ...]
    target: int
    solutions: tuple[Solution, ...]
    openings: tuple[Opening, ...]

    @classmethod
    def of(cls, numbers: tuple[int, ...], target: int, expressions: Iterable[Expression]) -> "SolutionSet":
        """The set of these expressions: each must have the target's value and be another paper leaf."""
        return cls(numbers, target, *_rows(expressions))

    @property
    def problem_id(self) -> str:
        return problem_id(self.numbers, self.target)

    def _counted(self, *, expressible_only: bool) -> dict[str, int]:
        """Numbers of paper leaves, formulas, paper families and openings; of the expressible ones if so asked."""
        leaves = [s for s in self.solutions if s.expressible or not expressible_only]
        return {
            "paper": len(leaves),
            "formula": len({s.formula_form for s in leaves}),
            "families": len({s.paper_family for s in leaves}),
            "openings": sum(o.expressible or not expressible_only for o in self.openings),
        }

    @property
    def counts(self) -> dict[str, int]:
        """{paper, formula, families, openings} over all solutions."""
        return self._counted(expressible_only=False)

    @property
    def expressible(self) -> dict[str, int]:
        """{paper, formula, families, openings} over what the laptop text can say."""
        return self._counted(expressible_only=True)

    @property
    def families(self) -> dict[str, int]:
        """Paper leaves in each paper family, largest first, then alphabetical."""
        sizes: dict[str, int] = {}
        for solution in self.solutions:
            sizes[solution.paper_family] = sizes.get(solution.paper_family, 0) + 1
        return dict(sorted(sizes.items(), key=lambda item: (-item[1], item[0])))

    def to_json(self) -> dict:
        """Plain values for json.dumps: counts, expressible counts, solutions, families and openings."""
        return {
            "numbers": list(self.numbers),
            "target": self.target,
            "counts": self.counts,
            "expressible": self.expressible,
            "solutions": [
                {
                    "paper_form": s.paper_form,
                    "formula_form": s.formula_form,
                    "family": s.paper_family,
                    "rendering": s.rendering,
                    "expressible": s.expressible,
                }
                for s in self.solutions
            ],
            "families": self.families,
            "openings": [o._asdict() for o in self.openings],
        }


def _rows(expressions: Iterable[Expression]) -> tuple[tuple[Solution, ...], tuple[Opening, ...]]:
    leaves = []
    for expression in expressions:
        paper, leaf, line = canonical(expression)
        rendering = render(line)
        # Order within a family: no leading bracket, shorter, alphabetical (the paper's choice of a witness).
        order = rendering.startswith("("), len(rendering), rendering
        leaves.append((order, paper, formula_form(expression), family_of(line), leaf, *said_and_openings(leaf)))
    leaves.sort()
    solutions, families = [], set()
    counts: dict[str, int] = {}
    best: dict[str, tuple] = {}  # opening: (expressible, the leaf that its witness is written from)
    for (_, _, rendering), paper, formula, family, leaf, value, openings in leaves:
        solutions.append(Solution(paper, formula, family, rendering, value is not None, family not in families))
        families.add(family)
        for opening, sayable in openings.items():
            counts[opening] = counts.get(opening, 0) + 1
            if opening not in best or sayable > best[opening][0]:
                best[opening] = sayable, leaf
    menu = [
        Opening(opening, counts[opening], sayable, render(written(leaf, opening)))
        for opening, (sayable, leaf) in sorted(best.items())
    ]
    return tuple(sorted(solutions)), tuple(menu)
