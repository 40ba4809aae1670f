"""Slow, independent restatements to hold the code against: Python's own parser, polynomials, exhaustive trees."""

import ast
import itertools
import re
import warnings
from collections import Counter
from fractions import Fraction

OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


def all_trees(numbers):
    """Every ordered binary tree over every order of `numbers`: 7680 of four."""
    for order in set(itertools.permutations(numbers)):
        yield from _trees(order)


def _trees(leaves):
    if len(leaves) == 1:
        yield leaves[0]
        return
    for cut in range(1, len(leaves)):
        for left, right in itertools.product(_trees(leaves[:cut]), _trees(leaves[cut:])):
            for operator in "+-*/":
                yield operator, left, right


def value(tree):
    """Exact value, None where a divisor is 0."""
    if isinstance(tree, int):
        return Fraction(tree)
    operator, left, right = tree[0], value(tree[1]), value(tree[2])
    if left is None or right is None or (operator == "/" and right == 0):
        return None
    return {"+": left + right, "-": left - right, "*": left * right, "/": right and left / right}[operator]


def rational_function(tree):
    """(numerator, denominator) as polynomials {sorted variables: coefficient}; None where a divisor vanishes."""
    if isinstance(tree, int):
        return Counter({(tree,): 1}), Counter({(): 1})
    left, right = rational_function(tree[1]), rational_function(tree[2])
    if left is None or right is None:
        return None
    (a, b), (c, d) = left, right
    if tree[0] == "*":
        return _times(a, c), _times(b, d)
    if tree[0] == "/":
        return (_times(a, d), _times(b, c)) if c else None
    sign = 1 if tree[0] == "+" else -1
    return _plus(_times(a, d), _times(c, b), sign), _times(b, d)


def same_function(one, other):
    """Whether two rational functions are equal, by cross multiplication."""
    return _times(one[0], other[1]) == _times(other[0], one[1])


def _times(p, q):
    product = Counter()
    for (u, s), (v, t) in itertools.product(p.items(), q.items()):
        product[tuple(sorted(u + v))] += s * t
    return Counter({monomial: factor for monomial, factor in product.items() if factor})


def _plus(p, q, sign):
    total = Counter(p)
    for monomial, factor in q.items():
        total[monomial] += sign * factor
    return Counter({monomial: factor for monomial, factor in total.items() if factor})


def python_tree(text):
    """Python's syntax tree of an expression; raises what `ast.parse` raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, mode="eval").body


def python_canonical(text):
    """The paper's canonical form (protocol, section 1.4) over Python's syntax tree; None where it has none."""
    if not re.fullmatch(r"[0-9+\-*/().\s]+", text):
        return None

    def form(node):
        if isinstance(node, ast.Constant):
            number = node.value
            return str(int(number)) if isinstance(number, int) or number.is_integer() else str(number)
        if isinstance(node, ast.UnaryOp):
            if not isinstance(node.op, ast.USub):
                raise ValueError
            return f"(-{form(node.operand)})"
        operator = OPERATORS[type(node.op)]
        if operator in "-/":
            return f"({form(node.left)}{operator}{form(node.right)})"
        return "(" + operator.join(sorted(map(form, chain(node, type(node.op))))) + ")"

    def chain(node, kind):
        if isinstance(node, ast.BinOp) and isinstance(node.op, kind):
            return chain(node.left, kind) + chain(node.right, kind)
        return [node]

    try:
        return form(python_tree(text))
    except (ValueError, OverflowError):
        return None


def _walk(node, number, constants):
    if isinstance(node, ast.Constant):
        constants.append(node.value)
        return number(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        inner = _walk(node.operand, number, constants)
        return -inner if isinstance(node.op, ast.USub) else inner
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        left, right = _walk(node.left, number, constants), _walk(node.right, number, constants)
        operator = OPERATORS[type(node.op)]
        if operator == "/":
            return left / right
        return left + right if operator == "+" else left - right if operator == "-" else left * right
    raise ValueError


def ppo_answer_accepted(text, numbers, target):
    """(readable, accepted) by the evaluator of the local PPO line (protocol, section 1.3)."""

    def number(constant):
        if not isinstance(constant, int | float):
            raise ValueError
        return float(constant)

    constants = []
    try:
        result = _walk(python_tree(text.strip()), number, constants)
    except (SyntaxError, ValueError, ZeroDivisionError, OverflowError):
        return False, False
    whole = sorted(abs(int(c)) for c in constants if isinstance(c, int))
    return True, whole == sorted(numbers) and abs(result - target) < 1e-6


def grpo_answer_accepted(text, numbers, target):
    """(readable, accepted) by the native evaluator of the public GRPO line (protocol, section 1.7)."""

    def number(constant):
        if type(constant) is not int:
            raise ValueError
        return Fraction(constant)

    sides = [side.strip() for side in text.split("=")]
    if len(sides) > 2 or (len(sides) == 2 and not (sides[0] and re.fullmatch(r"[+-]?\d+", sides[1]))):
        return False, False
    constants = []
    if not re.fullmatch(r"[0-9+*/().\s-]+", sides[0]):
        return False, False
    try:
        result = _walk(python_tree(sides[0]), number, constants)
    except (SyntaxError, ValueError, ZeroDivisionError):
        return False, False
    used = sorted(map(abs, constants)) == sorted(numbers)
    return True, used and result == target and (len(sides) == 1 or int(sides[1]) == target)


def grpo_completion_accepted(text, numbers, target):
    """Acceptance of a whole completion by the native evaluator (protocol, section 1.7)."""
    full = text if text.lstrip().lower().startswith("<think>") else "<think>" + text
    thinks = list(re.finditer(r"<think>.*?</think>", full, re.IGNORECASE | re.DOTALL))
    answers = list(re.finditer(r"<answer>(.*?)</answer>", full, re.IGNORECASE | re.DOTALL))
    if len(thinks) != 1 or len(answers) != 1 or thinks[0].end() > answers[0].start():
        return False
    return grpo_answer_accepted(answers[0][1].strip(), numbers, target)[1]


def ppo_completion_accepted(text, numbers, target):
    """Acceptance of a whole completion by the PPO line's parser and evaluator (protocol, sections 1.2 and 1.3)."""
    for mark in ("<|endoftext|>", "<|im_end|>"):
        text = text.split(mark)[0]
    text = text.strip()
    label = re.search(r"<feasible>\s*(yes|no)\s*</feasible>", text, re.IGNORECASE)
    label = label[1].lower() if label else None
    if label is None and "<feasible>" in text.lower():
        after = text[text.lower().find("<feasible>") + 10 :][:10].lower()
        label = "yes" if "yes" in after else "no" if "no" in after else None
    block = re.search(r"<answer>\s*(.*?)\s*</answer>", text, re.IGNORECASE | re.DOTALL)
    answer = block[1].strip() if block else ""
    if not answer and "<answer>" in text.lower():
        answer = text[text.lower().find("<answer>") + 8 :].strip()
    return label == "yes" and ppo_answer_accepted(answer, numbers, target)[1]
