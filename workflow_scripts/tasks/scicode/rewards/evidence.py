"""What a reward may look at: the text of a completion, its verdict, the problem, and what a judge said of it."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from workflow_scripts.tasks.scicode.problems import Problem
from workflow_scripts.tasks.scicode.rewards.text_answers import TextAnswer, mentioned, text_answer
from workflow_scripts.tasks.scicode.rewards.text_shape import FENCE, Shape, shape_of
from workflow_scripts.tasks.scicode.values import decode
from workflow_scripts.tasks.scicode.verdicts import Verdict


@dataclass(frozen=True)
class Judgement:
    """What a judge said of one completion. kind: of judges.KINDS. fields: 0 to 10 each (`reward`: 0 to 1). fatal: an
    error that makes the rest worthless. tags: of judges.TAGS."""

    kind: str
    fields: Mapping[str, float]
    fatal: bool = False
    tags: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True)
class Evidence:
    """One completion, judged. What is costly is found once, when it is first asked for."""

    completion: str
    verdict: Verdict
    problem: Problem
    judgement: Judgement | None = None

    @cached_property
    def shape(self) -> Shape:
        return shape_of(self.completion)

    @cached_property
    def target(self) -> int:
        """Characters of the reference in its fence: the length that is paid in full."""
        return len(fenced(self.problem.reference))

    @cached_property
    def functions(self) -> int:
        """Top-level definitions of `answer`; 0 where the program does not parse."""
        return sum(isinstance(node, ast.FunctionDef) and node.name == "answer" for node in self._tree.body)

    @cached_property
    def literals(self) -> int:
        """Texts and numbers that are written out in the program."""
        return _literals(self._tree)

    @cached_property
    def literals_of_reference(self) -> int:
        return _literals(ast.parse(self.problem.reference))

    @cached_property
    def expects_empty(self) -> bool:
        """Whether some check expects an empty list, tuple, set or mapping."""
        return any(_empty(decode(check.expected)) for check in self.problem.checks)

    @cached_property
    def text_answer(self) -> TextAnswer:
        return text_answer(self.completion, self.problem)

    @cached_property
    def intermediates(self) -> float:
        """Share of the problem's `intermediates` (a parameter: names or a list of numbers) that the text mentions."""
        return mentioned(self.completion, self.problem.parameters.get("intermediates", ()))

    @cached_property
    def _tree(self) -> ast.Module:
        # The verdict parsed it within its limits; a text that breaks them has no tree here either.
        return ast.parse(self.verdict.code) if self.verdict.parses and self.verdict.code else ast.Module([], [])


def fenced(program: str) -> str:
    """A program as a completion: one closed Python block."""
    return f"{FENCE}python\n{program.strip()}\n{FENCE}"


def _literals(tree: ast.Module) -> int:
    return sum(isinstance(node, ast.Constant) for node in ast.walk(tree))


def _empty(value: object) -> bool:
    return isinstance(value, list | tuple | frozenset | dict) and not value
