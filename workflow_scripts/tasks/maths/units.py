r"""What stands behind a number and is no part of its value: units, things counted, percent signs, scale words.

Percent is a factor: ``50%`` = ``50\%`` = ``50 percent`` = 1/2, and 50 is not 50 %. Where the question asks for a
percentage (the caller says so) the sign is a unit instead, and 50 = 50 %: see equivalence.py.
``5 squared`` is 25 and ``5 cm squared`` a unit; a.m. and p.m. are units that differ.
Units are not converted. Two units of the list that differ make the answers differ; a thing counted ("12 apples") and
a unit on one side alone do not. Degrees are a unit (``90^\circ`` = 90), never a factor of pi/180.
"""

import re
from typing import NamedTuple

_KINDS = {
    "dollar": "dollar dollars usd bucks",
    "cent": "cent cents",
    "euro": "euro euros eur",
    "pound": "pound pounds lb lbs",
    "degree": "degree degrees deg",
    "radian": "radian radians rad",
    "mm": "mm millimeter millimeters millimetre millimetres",
    "cm": "cm centimeter centimeters centimetre centimetres",
    "m": "m meter meters metre metres",
    "km": "km kilometer kilometers kilometre kilometres",
    "inch": "in inch inches",
    "foot": "ft foot feet",
    "yard": "yd yard yards",
    "mile": "mi mile miles",
    "second": "s sec secs second seconds",
    "minute": "min mins minute minutes",
    "hour": "h hr hrs hour hours",
    "day": "day days",
    "am": "am",
    "pm": "pm",
    "week": "week weeks",
    "month": "month months",
    "year": "yr year years",
    "gram": "g gram grams",
    "kg": "kg kilogram kilograms",
    "mg": "mg milligram milligrams",
    "ounce": "oz ounce ounces",
    "ton": "ton tons tonne tonnes",
    "litre": "l liter liters litre litres",
    "ml": "ml milliliter milliliters millilitre millilitres",
    "gallon": "gallon gallons gal",
    "mph": "mph",
    "square": "sq square",
    "cubic": "cubic cu",
    "unit": "unit units",
}
UNITS = {word: kind for kind, words in _KINDS.items() for word in words.split()}
"""Every unit word and its kind: a closed list."""
SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
"""Words that multiply: the power of ten."""
MAX_WORDS = 8
"""Words after a number that may name what is counted."""
_NOT_THINGS_TEXT = (
    "and or to if for where when not no than between plus minus times by is are isn aren with but only infinity"
    " infinite sin cos tan cot sec csc log ln exp arcsin arccos arctan sinh cosh tanh sqrt mod lim max gcd lcm det frac"
    " base choose pi theta alpha beta gamma delta lambda mu sigma phi omega half halves third thirds quarter quarters"
    " hundred thousand million billion trillion dozen percent"
)
_NOT_THINGS = frozenset(_NOT_THINGS_TEXT.split())
_PERCENT = re.compile(r"\s*(?:\\?%|\\text\s*\{\s*(?:\\?%|per ?cent)\s*\}|(?<![A-Za-z])per ?cent)\s*$", re.IGNORECASE)
_DEGREE = re.compile(r"\s*\^\\circ\s*(?:[CFK]|\\text\s*\{\s*[CFK]\s*\})?\s*$")
_SCALE = re.compile(
    r"(?P<number>[-+]?[\d,]*\.?\d+)\s*(?:\\text\s*\{\s*)?(?P<word>[A-Za-z]+)\s*\}?(?P<rest>[^\d\\]*)", re.DOTALL
).fullmatch
_POWER = r"\s*(?:\^\s*\{?\s*(?P<power>-?[23])\s*\}?)?\s*$"
_IN_TEXT = re.compile(r"\\text\s*\{(?P<words>[^{}]*?)(?:\^?(?P<inner>[23]))?\s*\}" + _POWER)
_BARE = re.compile(r"(?<=[\d\s})])(?P<words>[A-Za-z]{2,}[A-Za-z .,/'-]*)" + _POWER)
_HALF_DAY = re.compile(r"(?<![A-Za-z\\])([ap])\.\s?m(?:\.|(?![A-Za-z]))", re.IGNORECASE)
_POWER_WORD = re.compile(r"\s*\b(squared|cubed)\b", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z]+")


class Measured(NamedTuple):
    """text: the number's own.  unit: canonical, '' for none or one not in the list.  percent: a sign was there.
    scale: power of ten of a word like "million"."""

    text: str
    unit: str = ""
    percent: bool = False
    scale: int = 0


def measured(text: str) -> Measured:
    """Takes what is no part of the value off the end of a tidied answer; the text itself where there is nothing."""
    if text[-1:].isdigit() and "\\text" not in text and "^" not in text:
        return Measured(text)
    text = _HALF_DAY.sub(r"\1m", text)
    text = _POWER_WORD.sub(lambda found: {"s": "^2", "c": "^3"}[found[1][0].lower()], text)
    for pattern, unit in ((_PERCENT, ""), (_DEGREE, "degree")):
        found = pattern.search(text)
        if found and found.start():
            return Measured(text[: found.start()].strip(), unit, percent=not unit)
    if (found := _SCALE(text)) and found["word"].lower() in SCALES:
        unit = _unit(found["rest"], in_text=True)
        return Measured(text) if unit is None else Measured(found["number"], unit, scale=SCALES[found["word"].lower()])
    found, in_text = _IN_TEXT.search(text), True
    if not found:
        found, in_text = _BARE.search(text), False
    if not found or not found.start():
        return Measured(text)
    number = text[: found.start()].strip()
    unit = _unit(found["words"], in_text=in_text, spaced=text[found.start() - 1] == " ")
    if unit is None or not _NUMBERLIKE(number):
        return Measured(text)
    power = found["power"] or (found["inner"] if in_text else None)
    if power and not found["words"].strip():  # 5\text{ squared}
        return Measured(f"{number}^{power}")
    inner = measured(number) if number.endswith("}") and "\\text" in number else Measured(number)
    return Measured(inner.text, f"{unit}^{power}" if unit and power else unit or inner.unit)


_NUMBERLIKE = re.compile(r"(?=.*[\d\\])[^A-Za-z]*(?:\\[A-Za-z]+[^A-Za-z]*)*").fullmatch


def _unit(words: str, *, in_text: bool, spaced: bool = True) -> str | None:
    r"""The unit that words after a number name, '' for a thing counted, None where they are neither.

    in_text: they stand in ``\text{…}``, where one letter may be a unit (m, s, g).  spaced: white space before them.
    """
    found = [word for word in _WORD.findall(words.lower()) if word != "per"]
    if any(character.isdigit() for character in words) or len(found) > MAX_WORDS or not _NOT_THINGS.isdisjoint(found):
        return None
    kinds = [UNITS.get(word, "") for word in found]
    if found and all(kinds):
        if kinds[0] in ("square", "cubic") and len(kinds) == 2:
            return f"{kinds[1]}^{2 if kinds[0] == 'square' else 3}"
        return "/".join(kinds)
    if not in_text and (not spaced or len(found[0]) < 3):
        return None
    return ""
