"""The others' verifiers behave as they do, faults included."""

import pytest

from workflow_scripts.tasks.maths.other_verifiers import VERIFIERS, lab_rules, opinions_on, paper_extractor
from workflow_scripts.tasks.maths.symbolic import Symbolic
from workflow_scripts.tasks.maths.verdicts import Status

OK, WRONG, NO_ANSWER, ERROR = Status.OK, Status.WRONG, Status.NO_ANSWER, Status.ERROR


@pytest.mark.parametrize(
    ("completion", "gold", "lab", "paper"),
    [
        (r"\boxed{5}", "5", OK, OK),
        (r"\boxed{6}", "5", WRONG, WRONG),
        ("#### 1,234", "1234", OK, OK),
        ("nothing", "5", NO_ANSWER, NO_ANSWER),
        ("", "5", NO_ANSWER, NO_ANSWER),
        ("it is -2.0", "-2", OK, OK),
        # Rules that differ
        (r"\boxed{4} no, \boxed{5}", "5", WRONG, OK),
        (r"\boxed{5} no, \boxed{4}", "5", OK, WRONG),
        (r"\boxed{0.5}", "1/2", OK, WRONG),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}", OK, OK),
        (r"\boxed{\frac{2}{4}}", r"\frac{1}{2}", OK, WRONG),
        (r"\boxed{1 1/2}", "3/2", OK, WRONG),
        (r"\boxed{0.333333333}", "0.3333333333", WRONG, OK),
        ("The answer is 3, of 5", "3", WRONG, WRONG),
        ("answer 3\nof 5 boxes", "3", OK, WRONG),
        (r"\boxed{50%}", "1/2", OK, WRONG),
        (r"\boxed{50\%}", "50", WRONG, OK),
        (r"\boxed{\text{yes}}", "yes", WRONG, OK),
        ("the answer is yes", "yes", OK, NO_ANSWER),
        # Faults of both or one
        (r"\boxed{1,2}", "12", OK, OK),
        (r"\boxed{tan}", "a", OK, WRONG),
        (r"\boxed{n}", "n", WRONG, OK),
        (r"\boxed{inf}", "inf", OK, WRONG),
        (r"\boxed{1e5000}", "5", ERROR, WRONG),
        (r"\boxed{1e30000000}", "5", ERROR, WRONG),
        (r"\boxed{5", "5", OK, OK),
        (r"\boxed{x=5}", "5", OK, WRONG),
        (r"\boxed{\sqrt{4}}", "2", WRONG, WRONG),
        (r"\boxed{1/0}", "5", WRONG, WRONG),
        (r"\boxed{}", "5", NO_ANSWER, NO_ANSWER),
    ],
)
def test_verdicts(completion, gold, lab, paper):
    assert lab_rules(completion, gold).status is lab
    assert paper_extractor(completion, gold).status is paper


def test_all_of_them_on_one_completion():
    pytest.importorskip("math_verify")
    with Symbolic(seconds=10) as symbolic:
        said = opinions_on(r"so \boxed{\frac{\sqrt{12}}{2}}", r"\sqrt{3}", symbolic)
        assert tuple(said) == VERIFIERS
        assert {name: opinion.accept for name, opinion in said.items()} == {
            "ours": True, "math_verify": True, "lab_rules": False, "paper_extractor": False,
        }  # fmt: skip
        # Quirks of math-verify that ours does not share
        for gold, answer in (("10", r"10\%"), (r"\{1,2\}", "(1,2)"), ("0.0000001", "0.00000011"), ("52_8", "52_9")):
            said = opinions_on(f"\\boxed{{{answer}}}", gold, symbolic)
            assert said["math_verify"].accept and not said["ours"].accept, (gold, answer)
    with Symbolic(seconds=0.4) as symbolic:
        hostile = opinions_on(r"\boxed{9^{9^{9^{9}}}}", "5", symbolic)
        assert not any(opinion.accept for opinion in hostile.values())
        assert (hostile["ours"].status, hostile["math_verify"].status) == (Status.TOO_LARGE, Status.TIMEOUT)
        assert not hostile["math_verify"].decided
