"""Which plural form of a catalogue is for which number: `Plural-Forms: nplurals=2; plural=(n != 1);`.

The rule is an expression of C over n. It is parsed into small functions and never handed to Python's own `eval`.
"""

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

MOST_FORMS = 10
MOST_TOKENS = 200
"""Arabic, the longest in use, has six forms and about 50 tokens. Longer ones would only cost recursion."""

Rule = Callable[[int], int]

_FORMS = re.compile(r"^Plural-Forms:\s*nplurals\s*=\s*(\d{1,3})\s*;\s*plural\s*=\s*([^;\n]+)", re.MULTILINE | re.I)
_TOKEN = re.compile(r"\s*(\d{1,9}|n|&&|\|\||[=!<>]=|[-+*/%<>!?:()])")

_BINARY: dict[str, tuple[int, Callable[[int, int], int]]] = {
    "||": (1, lambda left, right: int(bool(left) or bool(right))),
    "&&": (2, lambda left, right: int(bool(left) and bool(right))),
    "==": (3, operator.eq),
    "!=": (3, operator.ne),
    "<": (4, operator.lt),
    "<=": (4, operator.le),
    ">": (4, operator.gt),
    ">=": (4, operator.ge),
    "+": (5, operator.add),
    "-": (5, operator.sub),
    "*": (6, operator.mul),
    "/": (6, operator.floordiv),
    "%": (6, operator.mod),
}


@dataclass(frozen=True)
class PluralForms:
    """How many forms there are, which of them is for one thing, and whether that one is for no other number."""

    count: int
    one: int
    only_one: bool


def plural_forms(header: str) -> PluralForms | None:
    """What the header of a catalogue says; None when it says nothing that can be used, as in a template."""
    stated = _FORMS.search(header)
    if not stated or not 1 <= int(stated[1]) <= MOST_FORMS:
        return None
    count = int(stated[1])
    try:
        rule = _parsed(stated[2])
        forms = [int(rule(number)) for number in range(1001)]
    except (ValueError, IndexError, ZeroDivisionError):
        return None
    if not all(0 <= form < count for form in forms):
        return None
    return PluralForms(count, forms[1], forms.count(forms[1]) == 1)


def _parsed(expression: str) -> Rule:
    tokens: list[str] = []
    place = 0
    text = expression.strip()
    while place < len(text):
        token = _TOKEN.match(text, place)
        if not token or len(tokens) >= MOST_TOKENS:
            raise ValueError("not a plural rule")
        tokens.append(token[1])
        place = token.end()
    tokens.reverse()  # the next one is the last one: reading is `pop`
    rule = _choice(tokens)
    if tokens:
        raise ValueError("not a plural rule")
    return rule


def _choice(tokens: list[str]) -> Rule:
    """condition ? rule : rule"""
    condition = _operation(tokens, 1)
    if not tokens or tokens[-1] != "?":
        return condition
    tokens.pop()
    yes = _choice(tokens)
    if tokens.pop() != ":":
        raise ValueError("not a plural rule")
    no = _choice(tokens)
    return lambda n: yes(n) if condition(n) else no(n)


def _operation(tokens: list[str], least: int) -> Rule:
    """Operators that bind at least so strongly, from left to right."""
    left = _operand(tokens)
    while tokens and tokens[-1] in _BINARY and _BINARY[tokens[-1]][0] >= least:
        strength, compute = _BINARY[tokens.pop()]
        left = _joined(compute, left, _operation(tokens, strength + 1))
    return left


def _joined(compute: Callable[[int, int], int], left: Rule, right: Rule) -> Rule:
    return lambda n: compute(left(n), right(n))


def _operand(tokens: list[str]) -> Rule:
    match token := tokens.pop():
        case "n":
            return lambda n: n
        case "!":
            inner = _operand(tokens)
            return lambda n: int(not inner(n))
        case "(":
            inner = _choice(tokens)
            if tokens.pop() != ")":
                raise ValueError("not a plural rule")
            return inner
        case _ if token.isdecimal():
            number = int(token)
            return lambda n: number
    raise ValueError("not a plural rule")
