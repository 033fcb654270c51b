#!/usr/bin/env python3
"""Checks what a Writ service recorded, without the service and without trust in it.

Reads an export of records, the exported policy sets, and evidence that was kept elsewhere: checkpoints, proofs and
receipts. One file for Python 3.9 or later with its standard library alone; it opens no connection. It follows the
documents `record-format.md` and `LANGUAGE.md`, RFC 6962, RFC 8032 and the C2SP formats `signed-note`,
`tlog-checkpoint`, `tlog-cosignature` and `tlog-proof`. INVARIANT: what it cannot check it lists as not checked; it
never counts as checked. Memory is bounded by the open requests and the policy sets, not by the number of records.
"""

import argparse
import base64
import binascii
import datetime
import functools
import gzip
import hashlib
import io
import json
import os
import re
import struct
import sys
import time
import unicodedata
from collections import Counter, OrderedDict
from decimal import (
    ROUND_HALF_EVEN,
    Context,
    Decimal,
    DecimalException,
    DivisionByZero,
    Inexact,
    InvalidOperation,
    Overflow,
    Underflow,
)
from pathlib import Path
from typing import Any, BinaryIO, Callable, Dict, Iterable, List, NamedTuple, Optional, Set, Tuple, Union

Json = Any
Value = Any

# --- Findings ---------------------------------------------------------------------------------------------------------

PROBLEMS_SHOWN = 100

MEANINGS = {
    "line": "a line is not a record in its one canonical form",
    "order": "the number of a record is not greater than that of the record before",
    "missing": "records are missing",
    "inserted": "a record does not follow the record before it in its lane",
    "hash": "the content of a record does not have the hash of the record",
    "rewritten": "a record is not the one that a knot or a checkpoint names",
    "truncated": "the last records are missing",
    "time": "a record is older than the records before it",
    "columns": "the columns of a record contradict its content",
    "state": "an event is not possible in the state of its request",
    "vote": "a vote was not given for this request and its rules",
    "approval": "a request was granted without the approvals that its rules require",
    "key": "a grant used a key or an agent that was not valid",
    "policy-set": "a policy set is not the one with its digest",
    "decision": "a decision does not follow from its facts and policies",
    "checkpoint": "a checkpoint is not genuine",
    "note": "a signed checkpoint is not genuine",
    "root": "the records do not have the root of a signed checkpoint",
    "split-view": "two signed checkpoints of one size have different roots",
    "shrunk": "a later signed checkpoint covers less than an earlier one",
    "witness": "a signed checkpoint lacks the signatures of witnesses",
    "inclusion": "a proof does not show that a record is in the log",
    "consistency": "a proof does not show that an earlier log is part of a later one",
    "receipt": "a receipt or statement does not agree with the records",
    "begin": "the export does not continue the earlier one",
    "empty": "the export has no records",
}


class Report:
    """Gathers problems, what was checked, and what could not be checked."""

    def __init__(self) -> None:
        self.counts: "Counter[str]" = Counter()
        self.problems: List[Dict[str, Json]] = []
        self.checked: "Counter[str]" = Counter()
        self.not_checked: "Counter[str]" = Counter()

    def find(self, code: str, message: str, sequence: Optional[int] = None) -> None:
        self.counts[code] += 1
        if len(self.problems) < PROBLEMS_SHOWN:
            where: Dict[str, Json] = {} if sequence is None else {"sequence": sequence}
            self.problems.append({"code": code, **where, "message": message})

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def check(self, what: str, unless_since: Optional[int] = None) -> None:
        """Counts a check as passed, unless problems have been found since there were so many of them."""
        if unless_since is None or self.total == unless_since:
            self.checked[what] += 1

    def leave(self, what: str) -> None:
        self.not_checked[what] += 1


class UsageError(Exception):
    """A file or an option that cannot be used."""


class NotCovered(Exception):
    """A part of a policy that this program does not evaluate, or a fact that is not recorded."""


# --- JSON -------------------------------------------------------------------------------------------------------------

SAFE_INTEGER = 2**53


class NotStrict(ValueError):
    """JSON that two readers could understand differently."""


def strict_json(text: str) -> Json:
    """Reads JSON as I-JSON (RFC 7493): no name twice in an object, numbers as doubles, no lone surrogates."""
    try:
        return json.loads(
            text, object_pairs_hook=_members, parse_int=_integer, parse_float=_float, parse_constant=_constant
        )
    except RecursionError:
        raise NotStrict("it is nested too deeply") from None


def _members(pairs: List[Tuple[str, Json]]) -> Dict[str, Json]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise NotStrict("an object has a name twice")
    return members


def _integer(text: str) -> Union[int, float]:
    if len(text) > 400:
        raise NotStrict("a number is out of range")
    number = int(text)
    return number if -SAFE_INTEGER <= number <= SAFE_INTEGER and text != "-0" else _float(text)


def _float(text: str) -> Union[int, float]:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise NotStrict("a number is out of range")
    whole = number.is_integer() and abs(number) <= SAFE_INTEGER
    return int(number) if whole else number


def _constant(text: str) -> Json:
    raise NotStrict(f"{text} is no JSON")


def canonical_json(value: Json) -> str:
    """Writes JSON in its one canonical form (RFC 8785)."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, (int, float)):
        return number_text(value)
    if isinstance(value, dict):
        names = sorted(value, key=_utf16)
        return "{" + ",".join(f"{canonical_json(name)}:{canonical_json(value[name])}" for name in names) + "}"
    return "[" + ",".join(map(canonical_json, value)) + "]"


def _utf16(name: str) -> bytes:
    return name.encode("utf-16-be", "surrogatepass")


def flat_json(columns: Dict[str, Json]) -> str:
    """As `canonical_json`, quicker, for an object whose values are texts, whole numbers and null."""
    if all(type(value) in (str, int, type(None)) for value in columns.values()) and all(map(str.isascii, columns)):
        return json.dumps(columns, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return canonical_json(columns)


def number_text(number: Union[int, float]) -> str:
    """Writes a double as ECMAScript does: the shortest digits that read back as the number."""
    if isinstance(number, int) and abs(number) < 10**21:
        return str(number)
    if number == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(float(number))).as_tuple()
    text = "".join(map(str, digits)).lstrip("0")
    stripped = text.rstrip("0")
    point = len(text) + int(exponent)
    body = _placed(stripped, point)
    return f"-{body}" if sign else body


def _placed(digits: str, point: int) -> str:
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    power = point - 1
    mantissa = digits if count == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{mantissa}e{'+' if power > 0 else '-'}{abs(power)}"


# --- Ed25519 (RFC 8032), verification alone ---------------------------------------------------------------------------

_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)
_Point = Tuple[int, int, int, int]


def _add(a: _Point, b: _Point) -> _Point:
    low = (a[1] - a[0]) * (b[1] - b[0]) % _P
    high = (a[1] + a[0]) * (b[1] + b[0]) % _P
    c = 2 * a[3] * b[3] * _D % _P
    d = 2 * a[2] * b[2] % _P
    e, f, g, h = high - low, d - c, d + c, high + low
    return (e * f % _P, g * h % _P, f * g % _P, e * h % _P)


def _times(factor: int, point: _Point) -> _Point:
    result: _Point = (0, 1, 1, 0)
    while factor > 0:
        if factor & 1:
            result = _add(result, point)
        point = _add(point, point)
        factor >>= 1
    return result


def _point(data: bytes) -> Optional[_Point]:
    number = int.from_bytes(data, "little")
    sign, y = number >> 255, number & (2**255 - 1)
    if y >= _P:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, _P - 2, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P != 0:
        x = x * _ROOT % _P
    if (x * x - square) % _P != 0 or (x == 0 and sign == 1):
        return None
    if x & 1 != sign:
        x = _P - x
    return (x, y, 1, x * y % _P)


_BASE = _point(bytes.fromhex("58" + "66" * 31))


@functools.lru_cache(maxsize=4_096)
def is_signed(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether the signature is one of the key over the message. Many proofs hold the same checkpoint."""
    if len(public_key) != 32 or len(signature) != 64 or _BASE is None:
        return False
    key, commitment = _point(public_key), _point(signature[:32])
    scalar = int.from_bytes(signature[32:], "little")
    # A key of small order signs anything.
    if key is None or commitment is None or scalar >= _L or _same(_times(8, key), (0, 1, 1, 0)):
        return False
    challenge = int.from_bytes(hashlib.sha512(signature[:32] + public_key + message).digest(), "little") % _L
    return _same(_times(scalar, _BASE), _add(commitment, _times(challenge, key)))


def _same(a: _Point, b: _Point) -> bool:
    return (a[0] * b[2] - b[0] * a[2]) % _P == 0 and (a[1] * b[2] - b[1] * a[2]) % _P == 0


def url_bytes(text: str) -> Optional[bytes]:
    """Decodes base64url without padding; None for any other spelling."""
    if not re.fullmatch(r"[A-Za-z0-9_-]*", text):
        return None
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (ValueError, binascii.Error):
        return None
    return data if base64.urlsafe_b64encode(data).decode().rstrip("=") == text else None


def plain_bytes(text: str) -> Optional[bytes]:
    """Decodes base64 (RFC 4648, section 4); None for any other spelling."""
    try:
        data = base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        return None
    return data if base64.b64encode(data).decode() == text else None


# --- Merkle trees (RFC 6962) ------------------------------------------------------------------------------------------


def leaf_hash(data: bytes) -> bytes:
    return hashlib.sha256(b"\0" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\1" + left + right).digest()


class Tree:
    """The roots of the largest complete subtrees, from left to right: all that a growing tree needs."""

    def __init__(self, size: int = 0, peaks: Iterable[bytes] = ()) -> None:
        self.size = size
        self.peaks = list(peaks)

    def add(self, leaf: bytes) -> None:
        size, node = self.size, leaf
        while size & 1:
            node = node_hash(self.peaks.pop(), node)
            size >>= 1
        self.peaks.append(node)
        self.size += 1

    def root(self) -> bytes:
        if not self.peaks:
            return hashlib.sha256().digest()
        root = self.peaks[-1]
        for peak in reversed(self.peaks[:-1]):
            root = node_hash(peak, root)
        return root


def root_of_inclusion(index: int, size: int, leaf: bytes, path: List[bytes]) -> Optional[bytes]:
    """The root to which a path leads from a leaf; None when the path has another length (RFC 9162, 2.1.3.2)."""
    if not 0 <= index < size:
        return None
    first, last, root = index, size - 1, leaf
    for sibling in path:
        if last == 0:
            return None
        if first & 1 or first == last:
            root = node_hash(sibling, root)
            while not first & 1 and first != 0:
                first, last = first >> 1, last >> 1
        else:
            root = node_hash(root, sibling)
        first, last = first >> 1, last >> 1
    return root if last == 0 else None


def is_consistent(sizes: Tuple[int, int], roots: Tuple[bytes, bytes], path: List[bytes]) -> bool:
    """Whether the path shows that the second tree begins with the first (RFC 9162, 2.1.4.2)."""
    (old, new), (old_root, new_root) = sizes, roots
    if old == new:
        return not path and old_root == new_root
    if not 0 < old < new or not path:
        return False
    nodes = [old_root, *path] if old & (old - 1) == 0 else list(path)
    first, last = old - 1, new - 1
    while first & 1:
        first, last = first >> 1, last >> 1
    old_now = new_now = nodes[0]
    for node in nodes[1:]:
        if last == 0:
            return False
        if first & 1 or first == last:
            old_now, new_now = node_hash(node, old_now), node_hash(node, new_now)
            while not first & 1 and first != 0:
                first, last = first >> 1, last >> 1
        else:
            new_now = node_hash(new_now, node)
        first, last = first >> 1, last >> 1
    return last == 0 and old_now == old_root and new_now == new_root


# --- Signed notes and log checkpoints (C2SP) --------------------------------------------------------------------------

LOG_KEY, WITNESS_KEY = 1, 4
_SPACES = re.compile(r"[\s+]")


class NoteKey(NamedTuple):
    """A key by which notes are verified: `name+id+key`."""

    name: str
    id: bytes
    kind: int
    public: bytes


def note_key(text: str) -> Optional[NoteKey]:
    match = re.fullmatch(r"([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)", text)
    data = plain_bytes(match[3]) if match else None
    if match is None or data is None or len(data) != 33 or data[0] not in (LOG_KEY, WITNESS_KEY):
        return None
    expected = hashlib.sha256(match[1].encode() + b"\n" + data).digest()[:4]
    return NoteKey(match[1], expected, data[0], data[1:]) if expected.hex() == match[2] else None


class Note(NamedTuple):
    """A log checkpoint whose signature by the log is genuine."""

    origin: str
    size: int
    root: bytes
    # When each witness cosigned it, by the name of the witness; seconds since 1970.
    witnesses: Dict[str, int]


class BadNote(Exception):
    """A note that proves nothing; the text says why."""


def open_note(text: str, keys: List[NoteKey]) -> Note:
    """Reads a checkpoint that is signed by a known key. Raises BadNote."""
    body, separator, lines = text.rpartition("\n\n")
    if separator == "" or not text.endswith("\n") or re.search(r"[\x00-\x09\x0b-\x1f]", text):
        raise BadNote("it is no signed note")
    body += "\n"
    origin, size, root = _checkpoint_lines(body)
    is_logged, witnesses = False, {}
    for line in lines[:-1].split("\n"):
        match = re.fullmatch(r"\u2014 ([^\s+]+) (\S+)", line)
        signature = plain_bytes(match[2]) if match else None
        if match is None or signature is None or len(signature) < 5:
            raise BadNote("a signature line is malformed")
        for key in keys:
            if key.name != match[1] or key.id != signature[:4]:
                continue
            at = _signed_at(key, body, signature[4:])
            if at is None:
                raise BadNote(f"the signature of {key.name} is not genuine")
            if key.kind == WITNESS_KEY:
                witnesses[key.name] = at
            elif key.name == origin:
                is_logged = True
            else:
                raise BadNote(f"it is of the log {origin}, but signed by {key.name}")
    if not is_logged:
        raise BadNote("no known key of the log has signed it")
    return Note(origin, size, root, witnesses)


def _checkpoint_lines(body: str) -> Tuple[str, int, bytes]:
    lines = body[:-1].split("\n")
    root = plain_bytes(lines[2]) if len(lines) >= 3 else None
    if root is None or len(root) != 32 or "" in lines or not re.fullmatch(r"0|[1-9][0-9]{0,18}", lines[1]):
        raise BadNote("it is no checkpoint of a log")
    return lines[0], int(lines[1]), root


def _signed_at(key: NoteKey, body: str, signature: bytes) -> Optional[int]:
    """When the key signed, 0 for a log; None when the signature is not genuine."""
    if key.kind == LOG_KEY:
        return 0 if is_signed(key.public, body.encode(), signature) else None
    if len(signature) != 72:
        return None
    at = int.from_bytes(signature[:8], "big")
    message = f"cosignature/v1\ntime {at}\n{body}".encode()
    return at if at < 2**63 and is_signed(key.public, message, signature[8:]) else None


# --- Values of the language -------------------------------------------------------------------------------------------


class _Mark:
    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


UNKNOWN: Value = _Mark("unknown")
ABSENT: Value = _Mark("absent")


class Money(NamedTuple):
    amount: Decimal
    currency: Optional[str]


class Interval(NamedTuple):
    """A meter's reading while requests are pending, a risk, or the range of a type."""

    low: Value
    high: Value


class Ip(NamedTuple):
    family: int
    bits: int


class Cidr(NamedTuple):
    family: int
    bits: int
    prefix: int


_EXACT = Context(
    34, ROUND_HALF_EVEN, -6143, 6144, 1, 0, [], [Inexact, Overflow, Underflow, InvalidOperation, DivisionByZero]
)
_ROUNDED = Context(34, ROUND_HALF_EVEN, -6143, 6144, 1, 0, [], [Overflow, Underflow, InvalidOperation, DivisionByZero])
ZERO = Decimal(0)


def decimal_of(number: Union[int, float]) -> Decimal:
    return Decimal(number) if isinstance(number, int) else Decimal(repr(number))


def decimal_text(value: Decimal) -> str:
    """Plain notation, or scientific notation beyond 40 places."""
    sign, digits, _ = value.as_tuple()
    text = "".join(map(str, digits)).strip("0") if value else "0"
    exponent = 0 if not value else _last_power(value)
    power = len(text) - 1 + exponent
    minus = "-" if sign and value else ""
    if power > 40 or exponent < -40:
        return f"{minus}{text[0]}{'.' + text[1:] if len(text) > 1 else ''}e{power}"
    if exponent >= 0:
        return minus + text + "0" * exponent
    padded = text.rjust(1 - exponent, "0")
    return f"{minus}{padded[:exponent]}.{padded[exponent:]}"


def _last_power(value: Decimal) -> int:
    """The power of ten of the last digit that is not zero; 0 for zero."""
    _, digits, exponent = value.as_tuple()
    text = "".join(map(str, digits))
    return int(exponent) + len(text) - len(text.rstrip("0")) if value else 0


def _first_power(value: Decimal) -> int:
    return value.adjusted() if value else 0


def _calculate(operator: str, a: Decimal, b: Decimal) -> Value:
    try:
        if operator == "/":
            return _ROUNDED.divide(a, b)
        return {"+": _EXACT.add, "-": _EXACT.subtract, "*": _EXACT.multiply}[operator](a, b)
    except DecimalException:
        return UNKNOWN


def is_quantity(value: Value) -> bool:
    return isinstance(value, (Decimal, Money, Interval))


def _ends(value: Value) -> Optional[Interval]:
    if isinstance(value, Interval):
        return value
    return Interval(value, value) if isinstance(value, (Decimal, Money)) else None


def _amount(scalar: Value) -> Decimal:
    amount: Decimal = scalar.amount if isinstance(scalar, Money) else scalar
    return amount


def _share_currency(scalars: Iterable[Value]) -> bool:
    return len({one.currency for one in scalars if isinstance(one, Money) and one.currency is not None}) < 2


def span(low: Value, high: Value) -> Value:
    return low if _amount(low) == _amount(high) else Interval(low, high)


def compare_quantities(operator: str, left: Value, right: Value) -> Value:
    a, b = _ends(left), _ends(right)
    if a is None or b is None or not _share_currency([*a, *b]):
        return UNKNOWN
    before = _amount(a.high).compare(_amount(b.low))
    after = _amount(a.low).compare(_amount(b.high))
    if operator == "<":
        return True if before < 0 else False if after >= 0 else UNKNOWN
    if operator == "<=":
        return True if before <= 0 else False if after > 0 else UNKNOWN
    if operator == "==":
        return False if before < 0 or after > 0 else True if before == 0 and after == 0 else UNKNOWN
    return negated(compare_quantities({">": "<=", ">=": "<", "!=": "=="}[operator], left, right))


def calculate(operator: str, left: Value, right: Value) -> Value:
    """The hull of the results for the ends; unknown when one of them has no exact result."""
    a, b = _ends(left), _ends(right)
    if a is None or b is None or (operator == "/" and _amount(b.low) <= 0 <= _amount(b.high)):
        return UNKNOWN
    return _hull([_calculate_scalars(operator, x, y) for x in a for y in b])


def _calculate_scalars(operator: str, x: Value, y: Value) -> Value:
    if not _share_currency([x, y]):
        return UNKNOWN
    amount = _calculate(operator, _amount(x), _amount(y))
    money = [one for one in (x, y) if isinstance(one, Money)]
    if amount is UNKNOWN or not money or (operator == "/" and len(money) == 2):
        return amount
    return Money(amount, next((one.currency for one in money if one.currency is not None), None))


def _hull(scalars: List[Value]) -> Value:
    if any(one is UNKNOWN for one in scalars):
        return UNKNOWN
    ordered = sorted(scalars, key=_amount)
    return span(ordered[0], ordered[-1])


def _with_amount(scalar: Value, change: Callable[[Decimal], Decimal]) -> Value:
    return scalar._replace(amount=change(scalar.amount)) if isinstance(scalar, Money) else change(scalar)


def negation_of(operand: Value) -> Value:
    ends = _ends(operand)
    minus: Callable[[Decimal], Decimal] = lambda one: one.copy_negate() if one else ZERO
    return UNKNOWN if ends is None else _hull([_with_amount(ends.high, minus), _with_amount(ends.low, minus)])


def absolute_of(operand: Value) -> Value:
    ends = _ends(operand)
    if ends is None:
        return UNKNOWN
    corners = [_with_amount(one, Decimal.copy_abs) for one in ends]
    crosses = _amount(ends.low) < 0 < _amount(ends.high)
    return _hull(corners + [_with_amount(ends.low, lambda _: ZERO)] if crosses else corners)


def extreme(pick: Callable[..., Value], operands: List[Value]) -> Value:
    ends = [_ends(one) for one in operands]
    known = [one for one in ends if one is not None]
    if len(known) < len(ends) or not _share_currency([one for pair in known for one in pair]):
        return UNKNOWN
    return _hull([pick((one.low for one in known), key=_amount), pick((one.high for one in known), key=_amount)])


def negated(truth: Value) -> Value:
    return UNKNOWN if truth is UNKNOWN else not truth


def all_of(truths: Iterable[Callable[[], Value]]) -> Value:
    """Kleene's `and`. A part that is not covered does not matter where another part is false."""
    result: Value = True
    uncovered: Optional[NotCovered] = None
    for truth in truths:
        try:
            one = truth()
        except NotCovered as reason:
            uncovered = uncovered or reason
            continue
        if one is False:
            return False
        if one is not True:
            result = UNKNOWN
    if uncovered is not None:
        raise uncovered
    return result


def any_of(truths: Iterable[Callable[[], Value]]) -> Value:
    return negated(all_of(functools.partial(_negation, truth) for truth in truths))


def _negation(truth: Callable[[], Value]) -> Value:
    return negated(_truth(truth()))


def _truth(value: Value) -> Value:
    return value if isinstance(value, bool) else UNKNOWN


# --- Texts ------------------------------------------------------------------------------------------------------------


def _is_assigned(text: str) -> bool:
    return text.isascii() or all(unicodedata.category(one) != "Cn" for one in text)


def _assigned(text: str) -> str:
    if not _is_assigned(text):
        raise NotCovered(f"characters that are newer than Unicode {unicodedata.unidata_version}")
    return text


def utf16_length(text: str) -> int:
    return len(text) if text.isascii() else len(text) + sum(one > "\uffff" for one in text)


def fold(text: str) -> str:
    """NFKC_Casefold, with runs of white space as one space, for texts of Latin letters."""
    if not text.isascii():
        if max(text) > "\u024f":
            raise NotCovered("`ignoring case`, `fold` or `mentions` of letters that are not Latin")
        decomposed = unicodedata.normalize("NFKD", text.replace("\u00ad", ""))
        text = unicodedata.normalize("NFC", decomposed.casefold())
    else:
        text = text.lower()
    spaced = re.sub(r"[\t-\r \x85]+", " ", text)
    return spaced[1 if spaced.startswith(" ") else 0 : -1 if spaced.endswith(" ") and len(spaced) > 1 else None].strip(
        " "
    )


_TOKEN = re.compile(r"\w+|\W", re.DOTALL)


def mentions(text: str, words: Iterable[str]) -> bool:
    """Whether one of the words occurs, folded, with no letter, number or underscore beside it."""
    tokens = _TOKEN.findall(fold(text))
    for word in words:
        parts = _TOKEN.findall(fold(word))
        if parts and any(_occurs(tokens, parts, at) for at in range(len(tokens) - len(parts) + 1)):
            return True
    return False


def _occurs(tokens: List[str], parts: List[str], at: int) -> bool:
    end = at + len(parts)
    if tokens[at:end] != parts:
        return False
    return not (at > 0 and _is_word(tokens[at - 1])) and not (end < len(tokens) and _is_word(tokens[end]))


def _is_word(token: str) -> bool:
    return re.match(r"\w", token) is not None


def like(pattern: str, text: str) -> bool:
    parts = [""]
    at = 0
    while at < len(pattern):
        if pattern[at] == "*":
            parts.append("")
        elif pattern[at] == "\\" and pattern[at + 1 : at + 2] in ("*", "\\") and at + 1 < len(pattern):
            at += 1
            parts[-1] += pattern[at]
        else:
            parts[-1] += pattern[at]
        at += 1
    if len(parts) == 1:
        return text == parts[0]
    first, last = parts[0], parts[-1]
    if len(text) < len(first) + len(last) or not text.startswith(first) or not text.endswith(last):
        return False
    place, end = len(first), len(text) - len(last)
    for part in parts[1:-1]:
        found = text.find(part, place, end)
        if found < 0:
            return False
        place = found + len(part)
    return True


# Latin by Unicode 17, as ranges of code points in hexadecimal.
_LATIN = """41-5a 61-7a aa ba c0-d6 d8-f6 f8-2b8 2e0-2e4 1d00-1d25 1d2c-1d5c 1d62-1d65 1d6b-1d77 1d79-1dbe 1e00-1eff 2071
207f 2090-209c 212a-212b 2132 214e 2160-2188 2c60-2c7f a722-a787 a78b-a7dc a7f1-a7ff ab30-ab5a ab5c-ab64 ab66-ab69
fb00-fb06 ff21-ff3a ff41-ff5a 10780-10785 10787-107b0 107b2-107ba 1df00-1df1e 1df25-1df2a"""
_LATIN_RANGES = [tuple(int(end, 16) for end in (one.split("-") * 2)[:2]) for one in _LATIN.split()]


def _is_latin(char: str) -> bool:
    return any(low <= ord(char) <= high for low, high in _LATIN_RANGES)


_Test = Callable[[str], bool]
_END = ""


class Pattern:
    """A pattern of `matches`: RE2 without the rare parts, run as a set of states, in linear time."""

    def __init__(self, source: str) -> None:
        self.source, self.at = source, 0
        self.flags = ""
        # A node is a test with the node behind it, a choice of nodes, or a condition on the neighbours.
        self.nodes: List[Tuple[str, Any, Any]] = [("accept", None, None)]
        tree = self._choice()
        if self.at < len(source):
            raise NotCovered(f"the pattern '{source}'")
        self.start = self._build(tree, 0)
        self.steps: Dict[Tuple[frozenset, str, str], frozenset] = {}  # type: ignore[type-arg]

    def matches(self, text: str) -> bool:
        states, before = frozenset([self.start]), _END
        for char in text:
            kind = _END if before == _END else "w" if _is_ascii_word(before) else "n"
            key = (states, kind, char)
            known = self.steps.get(key)
            if known is None:
                if len(self.steps) > 20_000:
                    self.steps.clear()
                known = self.steps[key] = self._step(states, before, char)
            states, before = known, char
            if not states:
                return False
        return 0 in self._closure(states, before, _END)

    def _step(self, states: "frozenset[int]", before: str, char: str) -> "frozenset[int]":
        found = set()
        for state in self._closure(states, before, char):
            kind, test, behind = self.nodes[state]
            if kind == "test" and test(char):
                found.add(behind)
        return frozenset(found)

    def _closure(self, states: Iterable[int], before: str, after: str) -> Set[int]:
        seen: Set[int] = set()
        left = list(states)
        while left:
            state = left.pop()
            if state in seen:
                continue
            seen.add(state)
            kind, what, behind = self.nodes[state]
            if kind == "choice":
                left.extend(what)
            elif kind == "between" and what(before, after):
                left.append(behind)
        return seen

    def _add(self, kind: str, what: Any, behind: Any = None) -> int:
        if len(self.nodes) > 100_000:
            raise NotCovered("a very long pattern")
        self.nodes.append((kind, what, behind))
        return len(self.nodes) - 1

    def _build(self, tree: Any, behind: int) -> int:
        kind, *parts = tree
        if kind == "row":
            for part in reversed(parts[0]):
                behind = self._build(part, behind)
            return behind
        if kind == "choice":
            return self._add("choice", [self._build(part, behind) for part in parts[0]])
        if kind == "repeat":
            return self._repeat(parts[0], parts[1], parts[2], behind)
        return self._add(kind, parts[0], behind)

    def _repeat(self, tree: Any, least: int, most: Optional[int], behind: int) -> int:
        now = behind
        if most is None:
            choices: List[int] = []
            now = self._add("choice", choices)
            choices.extend([self._build(tree, now), behind])
        else:
            for _ in range(most - least):
                now = self._add("choice", [self._build(tree, now), behind])
        for _ in range(least):
            now = self._build(tree, now)
        return now

    def _peek(self) -> str:
        return self.source[self.at : self.at + 1]

    def _take(self, text: str) -> bool:
        if self.source.startswith(text, self.at):
            self.at += len(text)
            return True
        return False

    def _choice(self) -> Any:
        flags = self.flags
        choices = [self._row()]
        while self._take("|"):
            choices.append(self._row())
        self.flags = flags
        return choices[0] if len(choices) == 1 else ("choice", choices)

    def _row(self) -> Any:
        row = []
        while self._peek() not in ("", "|", ")"):
            one = self._atom()
            if one is not None:
                row.append(self._repeated(one))
        return ("row", row)

    def _repeated(self, tree: Any) -> Any:
        while True:
            bounds = self._bounds()
            if bounds is None:
                return tree
            self._take("?")
            tree = ("repeat", tree, *bounds)

    def _bounds(self) -> Optional[Tuple[int, Optional[int]]]:
        for mark, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self._take(mark):
                return bounds
        match = re.compile(r"\{(\d+)(,(\d*))?\}").match(self.source, self.at)
        if match is None:
            return None
        self.at = match.end()
        least = int(match[1])
        most = least if match[2] is None else int(match[3]) if match[3] else None
        if max(least, most or 0) > 1000:
            raise NotCovered("a pattern with more than 1,000 repeats")
        return least, most

    def _atom(self) -> Any:
        if self._take("("):
            return self._group()
        if self._take("["):
            return ("test", self._class())
        if self._take("."):
            every = "s" in self.flags
            return ("test", lambda char: every or char != "\n")
        ends = (_END, "\n") if "m" in self.flags else (_END,)
        if self._take("^"):
            return ("between", lambda before, _: before in ends)
        if self._take("$"):
            return ("between", lambda _, after: after in ends)
        if self._take("\\"):
            return self._escape()
        char = self._peek()
        self.at += 1
        return ("test", self._folded(lambda one: one == char))

    def _group(self) -> Any:
        match = re.compile(r"\?(?:P?<\w+>|([ims]*)(-[ims]+)?([:)]))").match(self.source, self.at)
        if self._peek() == "?" and match is None:
            raise NotCovered(f"the pattern '{self.source}'")
        flags = self.flags
        if match is not None:
            self.at = match.end()
            if match[3] is not None:
                removed = match[2] or ""
                self.flags = "".join(one for one in sorted(set(flags + match[1])) if one not in removed)
            if match[3] == ")":
                return None
        tree = self._choice()
        self.flags = flags
        if not self._take(")"):
            raise NotCovered(f"the pattern '{self.source}'")
        return tree

    def _escape(self) -> Any:
        char = self._peek()
        if char in ("b", "B"):
            self.at += 1
            wanted = char == "b"
            return ("between", lambda before, after: (_is_ascii_word(before) != _is_ascii_word(after)) == wanted)
        if char in ("A", "z"):
            self.at += 1
            return ("between", (lambda before, _: before == _END) if char == "A" else (lambda _, after: after == _END))
        return ("test", self._folded(self._escaped_test()))

    def _escaped_test(self) -> _Test:
        """The test of what follows a backslash, in a class or outside of one."""
        char = self._peek()
        self.at += 1
        if char in ("p", "P"):
            return self._property(char == "P")
        named = {"d": "0123456789", "s": "\t\n\f\r "}.get(char.lower()) if char else None
        if named is not None or char in ("w", "W"):
            inside: _Test = _is_ascii_word if named is None else (lambda one: one in str(named))
            return inside if char.islower() else (lambda one: not inside(one))
        literal = self._escaped_literal(char)
        return lambda one: one == literal

    def _escaped_literal(self, char: str) -> str:
        plain = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "a": "\a"}.get(char)
        if plain is not None:
            return plain
        if char == "x":
            match = re.compile(r"\{([0-9A-Fa-f]{1,6})\}|([0-9A-Fa-f]{2})").match(self.source, self.at)
            if match is not None:
                self.at = match.end()
                return chr(int(match[1] or match[2], 16))
        if char == "" or char.isalnum():
            raise NotCovered(f"`\\{char}` in a pattern")
        return char

    def _property(self, is_negated: bool) -> _Test:
        match = re.compile(r"\{(\^?)(\w+)\}|(\w)").match(self.source, self.at)
        if match is None:
            raise NotCovered(f"the pattern '{self.source}'")
        self.at = match.end()
        name, negative = match[2] or match[3], is_negated != (match[1] == "^")
        if name == "Latin":
            test: _Test = _is_latin
        elif re.fullmatch(r"[LMNPSZC][a-z]?", name):
            test = lambda char: unicodedata.category(_assigned(char)).startswith(name)
        else:
            raise NotCovered(f"`\\p{{{name}}}` in a pattern")
        return (lambda char: not test(char)) if negative else test

    def _class(self) -> _Test:
        is_negated = self._take("^")
        tests: List[_Test] = []
        is_first = True
        while is_first or self._peek() != "]":
            is_first = False
            if self._peek() == "" or self.source.startswith("[:", self.at):
                raise NotCovered(f"the pattern '{self.source}'")
            tests.append(self._class_part())
        self.at += 1
        inside = self._folded(lambda char: any(test(char) for test in tests))
        return (lambda char: not inside(char)) if is_negated else inside

    def _class_part(self) -> _Test:
        low = self._class_char()
        if callable(low):
            return low
        if self._peek() != "-" or self.source[self.at + 1 : self.at + 2] in ("]", ""):
            return lambda char: char == low
        self.at += 1
        high = self._class_char()
        if callable(high):
            raise NotCovered(f"the pattern '{self.source}'")
        return lambda char: str(low) <= char <= str(high)

    def _class_char(self) -> Union[str, _Test]:
        if not self._take("\\"):
            self.at += 1
            return self.source[self.at - 1]
        char = self._peek()
        if char.lower() in ("p", "d", "s", "w"):
            return self._escaped_test()
        self.at += 1
        return self._escaped_literal(char)

    def _folded(self, test: _Test) -> _Test:
        if "i" not in self.flags:
            return test
        return lambda char: any(test(one) for one in _cases(char))


def _cases(char: str) -> Set[str]:
    """The characters that differ from one in case alone."""
    forms = {char, char.lower(), char.upper(), char.upper().lower()}
    extra = {"k": "\u212a", "s": "\u017f", "\u00e5": "\u212b"}.get(char.lower())
    return {one for one in forms if len(one) == 1} | ({extra} if extra else set())


def _is_ascii_word(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "_")


_PATTERNS: Dict[str, Pattern] = {}


def matches(pattern: str, text: str) -> bool:
    compiled = _PATTERNS.get(pattern)
    if compiled is None:
        compiled = _PATTERNS[pattern] = Pattern(pattern)
    return compiled.matches(text)


def has_no_links(text: str) -> bool:
    """Whether a text certainly has no link: it is plain, and nothing in it could be a host, an address or a scheme."""
    if not text.isascii() or re.search(r"[\\@&<\[]|//|:(?!\s|$)|localhost", text):
        return False
    return all("." not in run.strip(".-") for run in re.findall(r"[A-Za-z0-9.-]+", text))


# --- Paths, hosts, addresses and URLs ---------------------------------------------------------------------------------


def resolved_path(text: str) -> Optional[str]:
    is_absolute = text.startswith("/")
    segments: List[str] = []
    for segment in text.split("/"):
        if segment == "..":
            if segments:
                segments.pop()
            elif not is_absolute:
                return None
        elif segment not in ("", "."):
            segments.append(segment)
    steps = "/".join(segments)
    return f"/{steps}" if is_absolute else steps or "."


def canonical_path(text: str) -> Optional[str]:
    return None if "\0" in text or "\\" in text else resolved_path(text)


def is_inside(path: str, folder: str) -> bool:
    inner, outer = resolved_path(path), resolved_path(folder)
    if inner is None or outer is None:
        return False
    if outer == ".":
        return not inner.startswith("/")
    return inner == outer or inner.startswith(outer if outer == "/" else f"{outer}/")


def parse_ip(text: str) -> Optional[Ip]:
    if len(text) > 45:
        return None
    if ":" not in text:
        four = _four(text)
        return None if four is None else Ip(4, four)
    bits = _six(text)
    if bits is None:
        return None
    return Ip(4, bits & 0xFFFFFFFF) if bits >> 32 == 0xFFFF else Ip(6, bits)


def _four(text: str) -> Optional[int]:
    octets = text.split(".")
    if len(octets) != 4 or not all(re.fullmatch(r"0|[1-9][0-9]{0,2}", one) and int(one) < 256 for one in octets):
        return None
    return int.from_bytes(bytes(map(int, octets)), "big")


def _six(text: str) -> Optional[int]:
    halves = text.split("::")
    if len(halves) > 2:
        return None
    head, tail = _groups(halves[0], len(halves) == 1), _groups(halves[-1] if len(halves) == 2 else "", True)
    if head is None or tail is None:
        return None
    missing = 8 - len(head) - len(tail)
    if missing < 1 if len(halves) == 2 else missing != 0:
        return None
    bits = 0
    for group in [*head, *[0] * missing, *tail]:
        bits = bits << 16 | group
    return bits


def _groups(text: str, is_last: bool) -> Optional[List[int]]:
    if text == "":
        return []
    groups: List[int] = []
    parts = text.split(":")
    for at, part in enumerate(parts):
        four = _four(part) if is_last and at == len(parts) - 1 and "." in part else None
        if four is not None:
            groups += [four >> 16, four & 0xFFFF]
        elif re.fullmatch(r"[0-9A-Fa-f]{1,4}", part):
            groups.append(int(part, 16))
        else:
            return None
    return groups


def ip_text(ip: Ip) -> str:
    if ip.family == 4:
        return ".".join(map(str, ip.bits.to_bytes(4, "big")))
    groups = [ip.bits >> shift & 0xFFFF for shift in range(112, -1, -16)]
    best_start, best_length, length = 0, 0, 0
    for at, group in enumerate(groups):
        length = length + 1 if group == 0 else 0
        if length > best_length:
            best_start, best_length = at + 1 - length, length
    texts = [f"{group:x}" for group in groups]
    if best_length < 2:
        return ":".join(texts)
    return f"{':'.join(texts[:best_start])}::{':'.join(texts[best_start + best_length :])}"


def is_in_cidr(ip: Ip, cidr: Cidr) -> bool:
    shift = (32 if cidr.family == 4 else 128) - cidr.prefix
    return ip.family == cidr.family and ip.bits >> shift == cidr.bits >> shift


_LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")


def _host_name(name: str) -> Optional[str]:
    if not name.isascii():
        raise NotCovered("host names that are not ASCII")
    labels = name.split(".")
    is_name = len(name) <= 253 and all(_LABEL.fullmatch(label) for label in labels)
    return name.lower() if is_name and not re.fullmatch(r"\d+|0[xX][0-9A-Fa-f]*", labels[-1]) else None


def canonical_host(text: str) -> Optional[str]:
    if ":" in text:
        ip = parse_ip(text[1:-1] if text.startswith("[") and text.endswith("]") and len(text) > 1 else text)
        return None if ip is None else ip_text(ip) if ip.family == 4 else f"[{ip_text(ip)}]"
    name = text[:-1] if text.endswith(".") else text
    ip = parse_ip(name)
    return _host_name(name) if ip is None else ip_text(ip)


def canonical_email(text: str) -> Optional[str]:
    parts = text.split("@")
    if utf16_length(text) > 254 or len(parts) != 2:
        return None
    local, domain = parts
    atom = r"[A-Za-z0-9_!#$%&'*+/=?^`{|}~-]+"
    if len(local) > 64 or not re.fullmatch(rf"{atom}(?:\.{atom})*", local):
        return None
    name = _host_name(domain)
    return None if name is None or "." not in name else f"{local}@{name}"


class Url(NamedTuple):
    scheme: str
    host: str
    port: Optional[int]
    path: str
    query: str
    fragment: str


_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21}
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?", re.DOTALL)
_MISPLACED = re.compile(r"[^A-Za-z0-9\-._~!$&'()*+,;=:@/?%]|%(?![0-9A-Fa-f]{2})")


def _url(text: str) -> Optional[Url]:
    match = _URL.fullmatch(text)
    if match is None:
        return None
    path, query, fragment = match[3], match[4] or "", match[5] or ""
    if any(_MISPLACED.search(part) for part in (path, query, fragment[1:])):
        return None
    authority = re.fullmatch(r"(\[[^\]]*\]|[^:]*)(?::([0-9]*))?", match[2], re.DOTALL)
    host = canonical_host(authority[1]) if authority else None
    if authority is None or host is None or (host.startswith("[") and not authority[1].startswith("[")):
        return None
    scheme = match[1].lower()
    port = int(authority[2]) if authority[2] else _PORTS.get(scheme)
    if port is not None and port > 65_535:
        return None
    return Url(scheme, host, port, path, query if len(query) > 1 else "", fragment if len(fragment) > 1 else "")


def web_address(text: str) -> Optional[Url]:
    """Reads a URL whose scheme may be missing, and is then https."""
    if text.startswith("mailto:"):
        email = text[len("mailto:") :]
        return Url("mailto", email.rpartition("@")[2], None, "", "", "") if canonical_email(email) == email else None
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", text):
        return _url(text)
    url = _url(f"https://{text}")
    return url if url is not None and (re.search(r"[.:]", url.host) or url.host == "localhost") else None


def _decoded(text: str) -> str:
    def one(match: "re.Match[str]") -> str:
        char = chr(int(match[1], 16))
        return char if re.fullmatch(r"[A-Za-z0-9\-._~]", char) else match[0].upper()

    return re.sub(r"%([0-9A-Fa-f]{2})", one, text)


def _url_text(url: Optional[Url]) -> Optional[str]:
    if url is None:
        return None
    port = "" if url.port is None or _PORTS.get(url.scheme) == url.port else f":{url.port}"
    resolved: List[str] = []
    segments = _decoded(url.path)[1:].split("/")
    for at, segment in enumerate(segments):
        if segment == ".." and resolved:
            resolved.pop()
        if segment not in (".", ".."):
            resolved.append(segment)
        elif at == len(segments) - 1:
            resolved.append("")
    return f"{url.scheme}://{url.host}{port}/{'/'.join(resolved)}{_decoded(url.query)}{_decoded(url.fragment)}"


def _folded_path(text: str) -> Optional[str]:
    path = canonical_path(text)
    return None if path is None else _assigned(path).upper().lower()


def _web_text(text: str) -> Optional[str]:
    return None if text.startswith("mailto:") else _url_text(web_address(text))


CANONICAL: Dict[str, Callable[[str], Optional[str]]] = {
    "string": lambda text: text,
    "email": canonical_email,
    "url": lambda text: _url_text(_url(text)),
    "web_address": _web_text,
    "host": canonical_host,
    "path": canonical_path,
    "path ignoring case": _folded_path,
}

# --- Times ------------------------------------------------------------------------------------------------------------

DAY = 86_400
_FIRST_SECOND, _LAST_SECOND = -62_135_596_800, 253_402_300_799
_EPOCH = datetime.date(1970, 1, 1).toordinal()
_CLOCK = r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,20}))?)"
_DATE = r"(\d{4})-(\d\d)-(\d\d)"


def parse_date(text: str) -> Optional[Decimal]:
    match = re.fullmatch(_DATE, text, re.ASCII)
    day = _day_number(match) if match else None
    return None if day is None else Decimal(day)


def _day_number(match: "re.Match[str]") -> Optional[int]:
    try:
        return datetime.date(int(match[1]), int(match[2]), int(match[3])).toordinal() - _EPOCH
    except ValueError:
        return None


def parse_timestamp(text: str) -> Optional[Decimal]:
    match = re.fullmatch(rf"{_DATE}[Tt ]{_CLOCK}([Zz]|[+-]\d\d:\d\d)", text, re.ASCII)
    second = _second(match) if match else None
    if match is None or second is None:
        return None
    if match[8] not in ("Z", "z"):
        hour, minute = int(match[8][1:3]), int(match[8][4:6])
        if hour > 23 or minute > 59:
            return None
        second -= (1 if match[8][0] == "+" else -1) * (hour * 3600 + minute * 60)
    return _with_fraction(second, match[7]) if _FIRST_SECOND <= second <= _LAST_SECOND else None


def parse_datetime(text: str) -> Optional[Decimal]:
    match = re.fullmatch(rf"{_DATE}[T ]{_CLOCK}?", text, re.ASCII)
    if match is None:
        match = re.fullmatch(rf"{_DATE}[T ](\d\d):(\d\d)()()", text, re.ASCII)
    second = _second(match) if match else None
    return None if match is None or second is None else _with_fraction(second, match[7])


def _second(match: "re.Match[str]") -> Optional[int]:
    day = _day_number(match)
    hour, minute, second = int(match[4]), int(match[5]), int(match[6] or 0)
    if day is None or hour > 23 or minute > 59 or second > 59:
        return None
    return day * DAY + hour * 3600 + minute * 60 + second


def _with_fraction(second: int, digits: Optional[str]) -> Optional[Decimal]:
    if not digits:
        return Decimal(second)
    value = _calculate("+", Decimal(second), Decimal(f"0.{digits}"))
    return None if value is UNKNOWN else value


def _floor(value: Decimal) -> int:
    # Far outside of the calendar, the exact number does not matter.
    if _first_power(value) > 20:
        return 10**20 if value > 0 else -(10**20)
    return int(value.to_integral_value("ROUND_FLOOR"))


def local_second(instant: Decimal, zone: str) -> Optional[int]:
    """The wall time of an instant in a zone, in seconds since 1970-01-01T00:00."""
    second = _floor(instant)
    if not _FIRST_SECOND + 2 * DAY <= second <= _LAST_SECOND - 2 * DAY:
        if _FIRST_SECOND <= second <= _LAST_SECOND:
            raise NotCovered("the first and last days of the calendar in a time zone")
        return None
    offset = (_EPOCH_UTC + datetime.timedelta(seconds=second)).astimezone(_zone(zone)).utcoffset()
    return second + int(offset.total_seconds()) if offset is not None else None


_EPOCH_UTC = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def _zone(name: str) -> datetime.tzinfo:
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except Exception:
        raise NotCovered(f"the time zone {name}, which this machine does not have") from None


def is_within_hours(hours: Dict[str, Any], instant: Decimal) -> Value:
    local = local_second(instant, hours["zone"])
    if local is None:
        return UNKNOWN
    day, second = divmod(local, DAY)
    if day in hours["except"]:
        return False
    if any(one["firstDay"] <= day <= one["lastDay"] for one in hours["dates"]):
        return True
    return any(_is_in_week(one, day, second) for one in hours["weekly"]) or _is_on_year_day(hours["yearly"], day)


def _is_in_week(span_: Dict[str, Any], day: int, second: int) -> bool:
    start, end = span_["fromMinute"] * 60, span_["toMinute"] * 60
    today, yesterday = span_["days"][(day + 3) % 7], span_["days"][(day + 2) % 7]
    if start < end:
        return bool(today and start <= second < end)
    return bool(today and start <= second or yesterday and second < end)


def _is_on_year_day(spans: List[Dict[str, Any]], day: int) -> bool:
    date = datetime.date.fromordinal(day + _EPOCH)
    at = 100 * date.month + date.day
    return any(
        one["first"] <= at <= one["last"] if one["first"] <= one["last"] else at >= one["first"] or at <= one["last"]
        for one in spans
    )


def months_later(day: int, months: int) -> Value:
    if not 1 - _EPOCH <= day <= datetime.date.max.toordinal() - _EPOCH:
        return UNKNOWN
    date = datetime.date.fromordinal(day + _EPOCH)
    year, month = divmod(date.year * 12 + date.month - 1 + months, 12)
    if not 1 <= year <= 9_999:
        return UNKNOWN
    for last in (date.day, 30, 29, 28):
        try:
            return Decimal(datetime.date(year, month + 1, min(date.day, last)).toordinal() - _EPOCH)
        except ValueError:
            continue
    return UNKNOWN


def date_text(value: Decimal) -> str:
    if not 1 - _EPOCH <= value <= datetime.date.max.toordinal() - _EPOCH:
        return f"@{decimal_text(value)}"
    return datetime.date.fromordinal(int(value) + _EPOCH).isoformat()


def seconds_text(value: Decimal, separator: str) -> Optional[str]:
    second = _floor(value)
    if not _FIRST_SECOND <= second <= _LAST_SECOND:
        return None
    day, clock = divmod(second, DAY)
    fraction = _calculate("-", value, Decimal(second))
    digits = "" if fraction is UNKNOWN or not fraction else f"{fraction:.60f}"[2:22].rstrip("0")
    text = f"{date_text(Decimal(day))}{separator}{clock // 3600:02}:{clock // 60 % 60:02}:{clock % 60:02}"
    return f"{text}.{digits}" if digits else text


def duration_text(value: Decimal) -> str:
    length = value.copy_abs()
    for letter, seconds, least in (("d", DAY, 2 * DAY), ("h", 3600, 3600), ("m", 60, 60), ("s", 1, 0)):
        count = _calculate("/", length, Decimal(seconds))
        if count is UNKNOWN or _last_power(count) < 0 or length < least:
            continue
        if _calculate("*", count, Decimal(seconds)) == length:
            return f"{'-' if value < 0 else ''}{decimal_text(count)}{letter}"
    return f"{decimal_text(value)}s"


# --- Policy sets ------------------------------------------------------------------------------------------------------

SECTIONS = ("actions", "lists", "tables", "hours", "lets", "meters", "approvers", "policies", "guarantees")


class PolicySet:
    """A policy set read from the texts that its digest covers, so what is decided by is what the digest names."""

    def __init__(self, sections: Dict[str, Dict[str, Any]]) -> None:
        self.actions, self.lists, self.tables = sections["actions"], sections["lists"], sections["tables"]
        self.hours, self.lets, self.meters = sections["hours"], sections["lets"], sections["meters"]
        self.policies: List[Dict[str, Any]] = list(sections["policies"].values())
        self.rules_of: Dict[str, List[Dict[str, Any]]] = {}
        self.rules = {rule["id"]: rule for policy in self.policies for rule in policy["rules"]}
        self.rows: Dict[str, Dict[str, List[Value]]] = {}

    def rules_for(self, action: str) -> List[Dict[str, Any]]:
        found = self.rules_of.get(action)
        if found is None:
            found = [rule for policy in self.policies if action in policy["actions"] for rule in policy["rules"]]
            self.rules_of[action] = found
        return found


def read_policy_set(text: str, digest: str) -> PolicySet:
    """Reads an exported set. Raises ValueError when it is not the set with the digest."""
    sections_json = strict_json(text)["sections"]
    hasher = hashlib.sha256()
    sections: Dict[str, Dict[str, Any]] = {}
    for section in SECTIONS:
        declarations = sections_json[section]
        hasher.update(f"{section} {len(declarations)}\n".encode())
        sections[section] = {}
        for one in declarations:
            name, meaning = one["name"], one["meaning"]
            mark = base64.urlsafe_b64encode(hashlib.sha256(meaning.encode()).digest()).decode().rstrip("=")
            hasher.update(f"{utf16_length(name)} {name} {mark}\n".encode())
            sections[section][name] = MeaningReader(meaning).read()
    if hasher.hexdigest() != digest:
        raise ValueError(f"its contents have the digest {hasher.hexdigest()}")
    return PolicySet(sections)


class MeaningReader:
    """Reads the text of a declaration's meaning: every text and name in it has its length in front."""

    def __init__(self, text: str) -> None:
        # Lengths count UTF-16 code units.
        self.is_plain = max(text, default="") <= "\uffff"
        units = text if self.is_plain else "".join(map(chr, memoryview(text.encode("utf-16-le")).cast("H")))
        self.text, self.at = units, 0

    def read(self) -> Any:
        value = self._value()
        if self.at != len(self.text):
            raise ValueError("a meaning has something behind its end")
        return value

    _LEAF = re.compile(
        r'(-?\d+)(?:(n)|(")|(bytes))|(true|false|null|undefined)|(-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Infinity)|NaN)'
    )

    def _value(self) -> Any:
        first = self.text[self.at : self.at + 1]
        if first == "[":
            return self._list()
        if first == "{":
            return self._record()
        if self.text.startswith("map(", self.at):
            return self._map()
        match = self._LEAF.match(self.text, self.at)
        if match is None:
            raise ValueError("a meaning is malformed")
        self.at = match.end()
        if match[2]:
            return int(match[1])
        if match[3]:
            return self._text(int(match[1]))
        if match[4]:
            data = self.text[self.at : self.at + int(match[1])].encode("latin-1")
            self.at += int(match[1])
            return data
        if match[5]:
            return {"true": True, "false": False, "null": None, "undefined": None}[match[5]]
        return _float(match[6]) if "I" not in match[6] and "N" not in match[6] else float(match[6].lower())

    def _text(self, length: int) -> str:
        if length < 0 or self.at + length > len(self.text):
            raise ValueError("a text is cut off")
        units = self.text[self.at : self.at + length]
        self.at += length
        return units if self.is_plain else units.encode("utf-16-le", "surrogatepass").decode("utf-16-le")

    def _take(self, text: str) -> bool:
        if not self.text.startswith(text, self.at):
            return False
        self.at += len(text)
        return True

    def _expect(self, text: str) -> None:
        if not self._take(text):
            raise ValueError("a meaning is malformed")

    def _list(self) -> List[Any]:
        self.at += 1
        values = []
        while not self._take("]"):
            values.append(self._value())
            self._expect(",")
        return values

    def _map(self) -> Dict[Any, Any]:
        self.at += len("map(")
        values = {}
        while not self._take(")"):
            key = self._value()
            self._expect(":")
            values[key] = self._value()
            self._expect(",")
        return values

    def _record(self) -> Any:
        self.at += 1
        record: Dict[str, Any] = {}
        while not self._take("}"):
            match = re.compile(r'(\d+)"').match(self.text, self.at)
            if match is None:
                raise ValueError("a meaning is malformed")
            self.at = match.end()
            name = self._text(int(match[1]))
            self._expect(":")
            record[name] = self._value()
            self._expect(",")
        return _value_of(record)


def _value_of(record: Dict[str, Any]) -> Any:
    """A record of the model, or the value that it stands for."""
    names = frozenset(record)
    if names == {"coefficient", "exponent"}:
        coefficient = record["coefficient"]
        digits = tuple(map(int, str(abs(coefficient))))
        return Decimal((1 if coefficient < 0 else 0, digits, record["exponent"]))
    if names == {"amount", "currency"} and isinstance(record["amount"], Decimal):
        return Money(record["amount"], record["currency"])
    if names == {"low", "high"}:
        return Interval(record["low"], record["high"])
    if names == {"bits", "family"}:
        return Ip(record["family"], record["bits"])
    if names == {"bits", "family", "prefix"}:
        return Cidr(record["family"], record["bits"], record["prefix"])
    return record


class RowReader:
    """Reads the rows of a table: numbers as groups of seven bits, lowest first, texts as UTF-16 code units."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def rows(self) -> Dict[str, List[Value]]:
        rows: Dict[str, List[Value]] = {}
        while self.at < len(self.data):
            end = self.number() + self.at
            key, cells = self.text(), []
            while self.at < end:
                cells.append(self.cell())
            rows[key] = cells
        return rows

    def number(self) -> int:
        number = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return number
            shift += 7

    def signed(self) -> int:
        number = self.number()
        return -(number + 1) // 2 if number & 1 else number // 2

    def text(self) -> str:
        return _from_units([self.number() for _ in range(self.number())])

    def cell(self) -> Value:
        length = self.number()
        if length == 0:
            return ABSENT
        end = self.at + length
        value = self._content(end)
        self.at = end
        return value

    def _content(self, end: int) -> Value:
        tag = self.number()
        if tag in (0, 1):
            return tag == 1
        if tag == 2:
            units = []
            while self.at < end:
                units.append(self.number())
            return _from_units(units)
        if tag == 3:
            return self._decimal()
        if tag == 4:
            currency = self.text()
            return Money(self._decimal(), currency or None)
        if tag == 5:
            return Ip(self.number(), self.number())
        if tag == 6:
            return [self.cell() for _ in range(self.number())]
        raise NotCovered("a cell of an unknown kind")

    def _decimal(self) -> Decimal:
        exponent, coefficient = self.signed(), self.signed()
        return Decimal((1 if coefficient < 0 else 0, tuple(map(int, str(abs(coefficient)))), exponent))


def _from_units(units: List[int]) -> str:
    return struct.pack(f"<{len(units)}H", *units).decode("utf-16-le", "surrogatepass")


# --- The gate ---------------------------------------------------------------------------------------------------------

_CURRENCIES = {
    0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
    2: """AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY
    COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR
    IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD
    NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP
    SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG""",
    3: "BHD IQD JOD KWD LYD OMR TND",
    4: "CLF UYW",
    99: "XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX",
}
_DIGITS = {code: digits for digits, codes in _CURRENCIES.items() for code in codes.split()}
_KEPT = "hmac-sha256:"


def is_kept_secret(value: Json) -> bool:
    """Whether a keyed digest is recorded in place of a secret."""
    return isinstance(value, dict) and set(value) == {"secret"} and str(value["secret"]).startswith(_KEPT)


def holds_secrets(value: Json) -> bool:
    if is_kept_secret(value):
        return True
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(map(holds_secrets, inner))


Issue = Tuple[str, str]


def check_payload(shape: Dict[str, Any], payload: Json) -> List[Issue]:
    """The first ten places at which a payload does not have its declared shape."""
    if not isinstance(payload, dict):
        return [("", "must be a record")]
    return _record_issues(shape, payload, payload, "")[:10]


def _record_issues(shape: Dict[str, Any], record: Dict[str, Json], payload: Json, pointer: str) -> List[Issue]:
    issues: List[Issue] = []
    for field in shape["fields"]:
        place = f"{pointer}/{_segment(field['name'])}"
        if field["name"] in record:
            issues += _slot_issues(field, record[field["name"]], (payload, record), place)
        elif not field["isOptional"]:
            issues.append((place, "is required"))
    if not shape["isOpen"]:
        names = {field["name"] for field in shape["fields"]}
        for name in record:
            if name not in names:
                issues.append((f"{pointer}/{_segment(escaped(name)[:100])}", "is not declared"))
    return issues


def _segment(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _slot_issues(slot: Dict[str, Any], value: Json, around: Tuple[Json, Json], pointer: str) -> List[Issue]:
    if (value is None and slot["isNullable"]) or (slot["isSecret"] and is_kept_secret(value)):
        return []
    kind = slot["type"]["kind"]
    if kind == "any":
        return []
    if kind == "record" and isinstance(value, dict):
        return _record_issues(slot["type"]["shape"], value, around[0], pointer)
    if kind == "money":
        return _money_issues(slot, value, around, pointer)
    if kind == "list" and isinstance(value, list) and _in_range(slot["type"]["length"], Decimal(len(value))):
        element, issues = slot["type"]["element"], []
        for at, one in enumerate(value):
            issues += _slot_issues(element, one, (around[0], None), f"{pointer}/{at}")
        return issues
    return [] if _is_of_type(slot["type"], value) else [(pointer, _mistyped(slot))]


def _is_number(value: Json) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _in_range(range_: Interval, value: Decimal) -> bool:
    return (range_.low is None or range_.low <= value) and (range_.high is None or value <= range_.high)


_TIMES = {"date": parse_date, "timestamp": parse_timestamp, "datetime": parse_datetime}


def _is_of_type(type_: Dict[str, Any], value: Json) -> bool:
    kind = type_["kind"]
    if kind == "boolean":
        return isinstance(value, bool)
    if kind in ("number", "integer"):
        is_whole = kind == "number" or isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        return _is_number(value) and is_whole and _in_range(type_["range"], decimal_of(value))
    if not isinstance(value, str):
        return False
    if kind == "text":
        text = CANONICAL[type_["of"]](value)
        if text is None or (type_["values"] is not None and text not in type_["values"]):
            return False
        return all(matches(one, text) for one in type_["patterns"]) and _in_range(type_["length"], Decimal(len(text)))
    if kind in _TIMES:
        moment = _TIMES[kind](value)
        return moment is not None and _in_range(type_["range"], moment)
    return kind == "ip" and parse_ip(value) is not None


def _money_issues(slot: Dict[str, Any], value: Json, around: Tuple[Json, Json], pointer: str) -> List[Issue]:
    type_ = slot["type"]
    if not _is_number(value) or not _in_range(type_["range"], decimal_of(value)):
        return [(pointer, _mistyped(slot))]
    currency = currency_of(type_, around[1], around[0])
    if not isinstance(currency, str):
        return []
    digits = _DIGITS.get(currency)
    if digits is None:
        return [(pointer, _mistyped(slot))]
    if -_last_power(decimal_of(value)) <= digits:
        return []
    fewer = f"have at most {digits} decimal places, as its currency has"
    return [(pointer, f"must {fewer if digits else 'be whole, since its currency has no smaller unit'}")]


def currency_of(type_: Dict[str, Any], record: Json, payload: Json) -> Json:
    """The currency of an amount: in a field beside it, or in a record around it."""
    if type_["currencyField"] is None:
        return ABSENT
    steps, value = type_.get("currencyRecord"), record
    if steps is not None:
        value = payload
    for step in [*(steps or []), type_["currencyField"]]:
        value = value.get(step, ABSENT) if isinstance(value, dict) else ABSENT
    return value


def resolved(type_: Dict[str, Any], value: Json) -> Json:
    """A value as rules see it: every path, URL, host and address in canonical form."""
    kind = type_["kind"]
    if kind == "text" and isinstance(value, str):
        text = CANONICAL[type_["of"]](value)
        return value if text is None else text
    if kind == "record" and isinstance(value, dict):
        return resolved_record(type_["shape"], value)
    if kind == "list" and isinstance(value, list):
        return [resolved(type_["element"]["type"], one) for one in value]
    return value


def resolved_record(shape: Dict[str, Any], record: Dict[str, Json]) -> Dict[str, Json]:
    types = {field["name"]: field["type"] for field in shape["fields"]}
    return {name: resolved(types[name], value) if name in types else value for name, value in record.items()}


# --- Types and values as people read them -----------------------------------------------------------------------------

_CONTROLS = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_BIDI = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def escaped(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped_char(char) for char in text)


def _escaped_char(char: str) -> str:
    if unicodedata.category(char) not in ("Cc", "Cs", "Zl", "Zp") and char not in _BIDI:
        return char
    code = f"{ord(char):x}"
    return _CONTROLS.get(char) or "\\u" + (f"{{{code}}}" if len(code) > 4 else code.rjust(4, "0"))


def shown(type_: Any, value: Value) -> str:
    return escaped(_plain(type_, value))[:200]


def _plain(type_: Any, value: Value) -> str:
    if value is UNKNOWN:
        return "unknown"
    if value is None:
        return "nothing"
    if isinstance(value, Interval):
        return _plain(type_, value.high)
    # Of the type of a constant, its kind alone is part of a meaning.
    kind = type_ if isinstance(type_, str) else type_["kind"]
    if kind in ("boolean", "text"):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if kind in ("number", "integer"):
        return decimal_text(value)
    if kind == "money":
        return f"{decimal_text(value.amount)}{'' if value.currency is None else ' ' + value.currency}"
    if kind == "duration":
        return duration_text(value)
    if kind == "date":
        return date_text(value)
    if kind == "timestamp":
        text = seconds_text(value, "T")
        return f"@{decimal_text(value)}" if text is None else f"{text}Z"
    if kind == "datetime":
        return seconds_text(value, " ") or f"@{decimal_text(value)}"
    if kind == "ip":
        return ip_text(value)
    if kind == "list":
        return ", ".join(_plain(type_["element"]["type"], one) for one in value)
    return "a record" if kind == "record" else "a value"


_FORMATS: Dict[str, Callable[[Decimal], str]] = {
    "number": decimal_text,
    "integer": decimal_text,
    "duration": duration_text,
    "date": date_text,
    "timestamp": lambda value: shown("timestamp", value),
    "datetime": lambda value: shown("datetime", value),
}


def _range_text(range_: Interval, text: Callable[[Decimal], str]) -> str:
    if range_.low is None and range_.high is None:
        return ""
    low, high = ("" if one is None else text(one) for one in range_)
    return f" {low}..{high}"


def describe_type(type_: Dict[str, Any]) -> str:
    kind = type_["kind"]
    if kind in ("boolean", "ip", "any"):
        return str(kind)
    if kind == "text":
        if type_["values"] is not None:
            return " | ".join(json.dumps(one, ensure_ascii=False) for one in type_["values"])
        patterns = "".join(f" matches '{one}'" for one in type_["patterns"])
        return f"{type_['of']}{patterns}{_range_text(type_['length'], decimal_text)}"
    if kind == "money":
        return f"money({type_['currencyField'] or ''}){_range_text(type_['range'], decimal_text)}"
    if kind == "list":
        return f"[{describe_slot(type_['element'])}]{_range_text(type_['length'], decimal_text)}"
    if kind == "record":
        shape = type_["shape"]
        fields = [f"{one['name']}{'?' if one['isOptional'] else ''}: {describe_slot(one)}" for one in shape["fields"]]
        return "{ " + ", ".join([*fields, *(["..."] if shape["isOpen"] else [])]) + " }"
    return f"{kind}{_range_text(type_['range'], _FORMATS[kind])}"


def describe_slot(slot: Dict[str, Any]) -> str:
    signers = slot.get("signers", [""]) if slot["isSigned"] else []
    words = ["secret"] if slot["isSecret"] else []
    words += ["signed"] if "" in signers else []
    words += [f"signed by {json.dumps(one, ensure_ascii=False)}" for one in signers if one != ""]
    return " ".join([*words, describe_type(slot["type"])]) + (" | null" if slot["isNullable"] else "")


_PATH_NOTE = ", without a backslash and without `..` above where it starts"
_NOTES = {
    "path": _PATH_NOTE,
    "path ignoring case": _PATH_NOTE,
    "date": ", such as 2026-03-02",
    "timestamp": ", such as 2026-03-02T10:00:00Z",
    "datetime": ", such as 2026-03-02T10:00, without an offset",
    "url": ", such as https://example.com/a",
    "web_address": ", such as www.example.com/a",
}


def _mistyped(slot: Dict[str, Any]) -> str:
    type_ = slot["type"]
    if type_["kind"] == "money":
        field = type_["currencyField"] or ""
        note = f': a number, with a currency code of ISO 4217 such as "USD" in `{field}`'
    elif type_["kind"] == "text":
        note = "" if type_["values"] is not None else _NOTES.get(type_["of"], "")
    else:
        note = _NOTES.get(type_["kind"], "")
    return f"must be {describe_slot(slot)}{note}"


# --- Decisions --------------------------------------------------------------------------------------------------------

ELEMENT_ROUNDS, TEXT_ROUNDS = 100_000, 4_000_000


class Facts(NamedTuple):
    """Everything that a decision depends on besides the policy set."""

    action: str
    payload: Dict[str, Json]
    agent: Dict[str, Json]
    request: Dict[str, Json]
    now_ms: int
    meters: Dict[str, Interval]
    rows: Dict[str, Dict[str, Json]]
    satisfied: Dict[str, Json]
    # Whether rows that are not given do not exist; otherwise they are unknown.
    has_all_rows: bool = False


class Scope(NamedTuple):
    """Where an expression is evaluated: the variables of quantifiers around it, and their rounds."""

    variables: Dict[str, Value]
    rounds: int


NO_SCOPE = Scope({}, 1)


class Evaluator:
    """Evaluates the expressions of a set for one request, as the language defines them."""

    def __init__(self, policy_set: PolicySet, facts: Facts) -> None:
        self.set, self.facts = policy_set, facts
        self.risk = Interval(0, 100)
        self.known_lets: Dict[str, Value] = {}

    def truth(self, expression: Dict[str, Any], scope: Scope = NO_SCOPE) -> Value:
        return _truth(self.value(expression, scope))

    def value(self, expression: Dict[str, Any], scope: Scope = NO_SCOPE) -> Value:
        method = _METHODS.get(expression["kind"])
        if method is None:
            raise NotCovered(f"expressions of the kind {expression['kind']}")
        return method(self, expression, scope)

    def _literal(self, expression: Dict[str, Any], _: Scope) -> Value:
        return expression["value"]

    def _field(self, expression: Dict[str, Any], scope: Scope) -> Value:
        value = self.field_value(expression, scope)
        return UNKNOWN if value is None or value is ABSENT else value

    def field_value(self, field: Dict[str, Any], scope: Scope) -> Value:
        value = self.read(field, scope)
        if is_kept_secret(value):
            raise NotCovered("a condition over a secret, whose value is not recorded")
        if field["type"]["kind"] != "money" or value is UNKNOWN or value is None or value is ABSENT:
            return self._bounded_text(value, scope)
        return value if isinstance(value.currency, str) else UNKNOWN

    def read(self, field: Dict[str, Any], scope: Scope) -> Value:
        """The value of a field: None when it is null, ABSENT when it or a step before it is absent."""
        root, steps = field["root"], field["steps"]
        if root == "result" and root not in scope.variables:
            return UNKNOWN
        if field["isSigned"] and not self._is_vouched(field):
            return UNKNOWN
        action = self.set.actions.get(self.facts.action)
        shape = action["shape"] if root == "payload" and action else None
        value: Value = self.facts.payload if root == "payload" else scope.variables.get(root, ABSENT)
        parent: Json = None
        if not steps:
            return value
        for step in steps:
            declared = None if shape is None else next((one for one in shape["fields"] if one["name"] == step), None)
            if not isinstance(value, dict) or step not in value or (shape is not None and declared is None):
                return ABSENT
            shape = declared["type"].get("shape") if declared else None
            parent, value = value, value[step]
        if value is None or is_kept_secret(value):
            return value
        return self._of_json(field["type"], value, parent)

    def _is_vouched(self, field: Dict[str, Any]) -> bool:
        request = self.facts.request
        return all(
            request.get("signed") is True if one == "" else request.get("point") == one
            for one in field.get("signers", [""])
        )

    def _of_json(self, type_: Dict[str, Any], value: Json, parent: Json) -> Value:
        kind = type_["kind"]
        if kind in ("number", "integer"):
            return decimal_of(value)
        if kind == "money":
            currency = currency_of(type_, parent, self.facts.payload)
            return Money(decimal_of(value), currency if isinstance(currency, str) else None)
        if kind in _TIMES:
            moment = _TIMES[kind](value)
            return UNKNOWN if moment is None else moment
        if kind == "ip":
            return parse_ip(value) or UNKNOWN
        if kind == "list":
            element = type_["element"]["type"]
            return [None if one is None else self._of_json(element, one, None) for one in value]
        return UNKNOWN if kind == "duration" else value

    def _bounded_text(self, value: Value, scope: Scope) -> Value:
        if scope.variables and isinstance(value, str) and scope.rounds * utf16_length(value) > TEXT_ROUNDS:
            return UNKNOWN
        return value

    def _bounded_list(self, source: Dict[str, Any], value: Value, scope: Scope) -> Value:
        if not scope.variables or not isinstance(value, list) or self._is_written_out(source):
            return value
        return UNKNOWN if scope.rounds * len(value) > ELEMENT_ROUNDS else value

    def _is_written_out(self, expression: Dict[str, Any]) -> bool:
        kind = expression["kind"]
        if kind == "list":
            return all(map(self._is_written_out, expression["elements"]))
        if kind == "let":
            declared = self.set.lets.get(expression["id"])
            return declared is not None and self._is_written_out(declared["expression"])
        return kind in ("literal", "text-list")

    def _fact(self, expression: Dict[str, Any], _: Scope) -> Value:
        fact = expression["fact"]
        agent, request = self.facts.agent, self.facts.request
        chain = request.get("chain") or []
        if fact == "request.ip":
            return parse_ip(request["ip"]) or UNKNOWN if "ip" in request else UNKNOWN
        if fact == "request.delegated":
            return len(chain) > 0
        if fact == "request.delegate":
            return chain[-1] if chain else UNKNOWN
        if fact == "request.chain":
            return chain
        area, _dot, verb = self.facts.action.rpartition(".")
        if fact.startswith("action."):
            return {"action.key": self.facts.action, "action.area": area, "action.verb": verb}[fact]
        root, *steps = fact.split(".")
        value: Json = agent if root == "agent" else request
        for step in steps:
            value = value.get(step, UNKNOWN) if isinstance(value, dict) else UNKNOWN
        return UNKNOWN if value is None else value

    def _meter(self, expression: Dict[str, Any], scope: Scope) -> Value:
        reading = self.facts.meters.get(expression["meter"])
        meter = self.set.meters.get(expression["meter"])
        if reading is None or meter is None:
            return UNKNOWN
        currency = meter["currency"]
        if isinstance(currency, dict):
            currency = self.read(currency, scope)
            if not isinstance(currency, str):
                return UNKNOWN
        if currency is None:
            return span(reading.low, reading.high)
        return span(Money(reading.low, currency), Money(reading.high, currency))

    def _key_text(self, key: Value) -> Value:
        if isinstance(key, str):
            return key
        return decimal_text(key) if isinstance(key, Decimal) else UNKNOWN

    def _row(self, name: str, key: Value) -> Value:
        """The row of a table: its cells in a list or a record, None when there is none, or unknown."""
        table, text = self.set.tables.get(name), self._key_text(key)
        if table is None or text is UNKNOWN:
            return UNKNOWN
        if table["rows"] is not None:
            rows = self.set.rows.get(name)
            if rows is None:
                rows = self.set.rows[name] = RowReader(table["rows"]["bytes"]).rows()
            return rows.get(text)
        given = self.facts.rows.get(name, {})
        if text not in given:
            return None if self.facts.has_all_rows else UNKNOWN
        if given[text] is None:
            return None
        shape = table["pushed"]["shape"]
        return resolved_record(shape, given[text]) if not check_payload(shape, given[text]) else UNKNOWN

    def _cell(self, expression: Dict[str, Any], scope: Scope) -> Value:
        """The value of a cell; ABSENT when the row or the cell is."""
        row = self._row(expression["table"], self.value(expression["key"], scope))
        if row is UNKNOWN:
            return UNKNOWN
        if row is None:
            return ABSENT
        table, column = self.set.tables[expression["table"]], expression["column"]
        if isinstance(row, dict):
            value = row.get(column)
            field = next(one for one in table["pushed"]["shape"]["fields"] if one["name"] == column)
            return ABSENT if value is None else self._of_json(field["type"], value, row)
        at = next(at for at, one in enumerate(table["columns"]) if one["name"] == column)
        return row[at] if at < len(row) else ABSENT

    def _column(self, expression: Dict[str, Any], scope: Scope) -> Value:
        value = self._cell(expression, scope)
        return UNKNOWN if value is ABSENT else self._bounded_text(value, scope)

    def _has_cell(self, expression: Dict[str, Any], scope: Scope) -> Value:
        value = self._cell(expression["cell"], scope)
        return UNKNOWN if value is UNKNOWN else value is not ABSENT

    def _in_table(self, expression: Dict[str, Any], scope: Scope) -> Value:
        row = self._row(expression["table"], self.value(expression["subject"], scope))
        return UNKNOWN if row is UNKNOWN else row is not None

    def _let(self, expression: Dict[str, Any], scope: Scope) -> Value:
        name = expression["id"]
        if name not in self.known_lets:
            declared = self.set.lets.get(name)
            value = UNKNOWN if declared is None else self.value(declared["expression"])
            # A value that was found while risk is being added up may not be kept: it may read the risk.
            if self.risk != Interval(0, 100):
                self.known_lets[name] = value
            return self._bounded_text(value, scope)
        return self._bounded_text(self.known_lets[name], scope)

    def _now(self, _: Dict[str, Any], __: Scope) -> Value:
        return _calculate("*", Decimal(self.facts.now_ms), Decimal("0.001"))

    def _risk(self, _: Dict[str, Any], __: Scope) -> Value:
        return span(Decimal(self.risk.low), Decimal(self.risk.high))

    def _not(self, expression: Dict[str, Any], scope: Scope) -> Value:
        return negated(self.truth(expression["operand"], scope))

    def _and(self, expression: Dict[str, Any], scope: Scope) -> Value:
        return all_of(functools.partial(self.truth, one, scope) for one in expression["operands"])

    def _or(self, expression: Dict[str, Any], scope: Scope) -> Value:
        return any_of(functools.partial(self.truth, one, scope) for one in expression["operands"])

    def _compare(self, expression: Dict[str, Any], scope: Scope) -> Value:
        left, right = self.value(expression["left"], scope), self.value(expression["right"], scope)
        if any(one is UNKNOWN or one is None for one in (left, right)):
            return UNKNOWN
        operator = expression["operator"]
        if operator in ("==", "!="):
            equal = equals(left, right)
            return equal if operator == "==" else negated(equal)
        return compare_quantities(operator, left, right)

    def _is_null(self, expression: Dict[str, Any], scope: Scope) -> Value:
        value = self.read(expression["subject"], scope)
        return UNKNOWN if value is UNKNOWN else value is None

    def _has(self, expression: Dict[str, Any], scope: Scope) -> Value:
        value = self.read(expression["subject"], scope)
        return UNKNOWN if value is UNKNOWN else value is not None and value is not ABSENT

    def _else(self, expression: Dict[str, Any], scope: Scope) -> Value:
        value = self.field_value(expression["subject"], scope)
        return self.value(expression["fallback"], scope) if value is None or value is ABSENT else value

    def _if(self, expression: Dict[str, Any], scope: Scope) -> Value:
        truth = self.truth(expression["condition"], scope)
        if truth is UNKNOWN:
            return UNKNOWN
        return self.value(expression["whenTrue" if truth else "otherwise"], scope)

    def _known(self, expressions: List[Dict[str, Any]], scope: Scope) -> Optional[List[Value]]:
        values = [self.value(one, scope) for one in expressions]
        return None if any(one is UNKNOWN or one is None for one in values) else values

    def _list_prefix(self, expression: Dict[str, Any], scope: Scope) -> Value:
        known = self._known([expression["subject"]], scope)
        texts = expression["texts"]
        return UNKNOWN if known is None else known[0][: len(texts)] == texts

    def _in_list(self, expression: Dict[str, Any], scope: Scope) -> Value:
        declared = self.set.lists.get(expression["list"])
        if declared is None:
            return UNKNOWN
        subject, entries = self.value(expression["subject"], scope), declared["entries"]
        if not declared["ignoringCase"]:
            return _is_among(subject, entries)
        if not entries or subject is UNKNOWN:
            return _is_among(subject, entries)
        if "folded" not in declared:
            declared["folded"] = frozenset(fold(one) for one in entries)
        return fold(subject) in declared["folded"]

    def _in_elements(self, expression: Dict[str, Any], scope: Scope) -> Value:
        source = expression["elements"]
        elements = self._bounded_list(source, self.value(source, scope), scope)
        return UNKNOWN if elements is UNKNOWN else _is_among(self.value(expression["subject"], scope), elements)

    def _in_range(self, expression: Dict[str, Any], scope: Scope) -> Value:
        subject = self.value(expression["subject"], scope)

        def end(operator: str, side: str) -> Value:
            value = self.value(expression[side], scope)
            return UNKNOWN if subject is UNKNOWN or value is UNKNOWN else compare_quantities(operator, subject, value)

        return all_of([lambda: end(">=", "low"), lambda: end("<=", "high")])

    def _in_hours(self, expression: Dict[str, Any], scope: Scope) -> Value:
        hours = self.set.hours.get(expression["hours"])
        known = self._known([expression["subject"]], scope)
        if hours is None or known is None or isinstance(known[0], Interval):
            return UNKNOWN
        return is_within_hours(hours, known[0])

    def _in_cidr(self, expression: Dict[str, Any], scope: Scope) -> Value:
        known = self._known([expression["subject"]], scope)
        return UNKNOWN if known is None else is_in_cidr(known[0], expression["cidr"])

    def _pattern(self, expression: Dict[str, Any], scope: Scope) -> Value:
        known = self._known([expression["subject"]], scope)
        test = like if expression["kind"] == "like" else matches
        return UNKNOWN if known is None else test(expression["pattern"], known[0])

    def _single_script(self, expression: Dict[str, Any], scope: Scope) -> Value:
        known = self._known([expression["subject"]], scope)
        if known is not None and not known[0].isascii():
            raise NotCovered("`single_script` of a text that is not ASCII")
        return UNKNOWN if known is None else True

    def _text_test(self, expression: Dict[str, Any], scope: Scope) -> Value:
        known = self._known([expression["left"], expression["right"]], scope)
        if known is None:
            return UNKNOWN
        left, right = known
        operator = expression["operator"]
        if operator == "inside":
            return is_inside(left, right)
        if operator == "contains":
            return right in left
        return left.startswith(right) if operator == "starts with" else left.endswith(right)

    def _mentions(self, expression: Dict[str, Any], scope: Scope) -> Value:
        words = expression["words"]
        if words["kind"] == "list":
            entries = self.set.lists.get(words["list"], {}).get("entries", [])
        else:
            entries = words["words"]
        known = self._known([expression["subject"]], scope)
        return UNKNOWN if known is None else mentions(known[0], entries)

    def _arithmetic(self, expression: Dict[str, Any], scope: Scope) -> Value:
        known = self._known([expression["left"], expression["right"]], scope)
        if known is None:
            return UNKNOWN
        result = calculate(expression["operator"], *known)
        left = expression["left"]["type"]
        is_date = (left if isinstance(left, str) else left["kind"]) == "date"
        # Dates count days, but the difference of two dates counts seconds.
        return calculate("*", result, Decimal(DAY)) if is_date and result is not UNKNOWN else result

    def _negate(self, expression: Dict[str, Any], scope: Scope) -> Value:
        known = self._known([expression["operand"]], scope)
        return UNKNOWN if known is None else negation_of(known[0])

    def _list(self, expression: Dict[str, Any], scope: Scope) -> Value:
        return [self.value(one, scope) for one in expression["elements"]]

    def _text_list(self, expression: Dict[str, Any], _: Scope) -> Value:
        return expression["texts"]

    def _quantify(self, expression: Dict[str, Any], scope: Scope) -> Value:
        elements: List[Value] = []
        is_unknown = False
        for source in expression["sources"]:
            value = self.read(source, scope) if source["kind"] == "field" else self.value(source, scope)
            value = self._bounded_list(source, [] if value is None or value is ABSENT else value, scope)
            is_unknown = is_unknown or value is UNKNOWN
            elements += [] if value is UNKNOWN else value
        if is_unknown:
            return UNKNOWN
        body, name, rounds = expression["body"], expression["variable"], scope.rounds * len(elements)
        scopes = [Scope({**scope.variables, name: one}, rounds) for one in elements]
        quantifier = expression["quantifier"]
        if quantifier in ("some", "every"):
            combine = any_of if quantifier == "some" else all_of
            return combine(functools.partial(self.truth, body, one) for one in scopes)
        results = [self.value(body, one) for one in scopes]
        if any(one is UNKNOWN or (one is None and quantifier == "sum") for one in results):
            return UNKNOWN
        if quantifier == "count":
            return Decimal(sum(one is True for one in results))
        total: Value = Money(ZERO, None) if expression["type"]["kind"] == "money" else ZERO
        for one in results:
            total = UNKNOWN if total is UNKNOWN else calculate("+", total, one)
        return total

    def _call(self, expression: Dict[str, Any], scope: Scope) -> Value:
        known = self._known(expression["args"], scope)
        builtin = expression["builtin"]
        if known is None:
            return UNKNOWN
        function = _BUILTINS.get(builtin)
        if function is None:
            raise NotCovered(f"`{builtin}`")
        result = function(self, known)
        return self._bounded_text(result, scope) if builtin in ("first", "join") else result


def equals(a: Value, b: Value) -> Value:
    if a is None or b is None:
        return False
    if isinstance(a, (str, bool, Ip)):
        return type(a) is type(b) and a == b
    return compare_quantities("==", a, b)


def _is_among(subject: Value, elements: List[Value]) -> Value:
    return any_of(functools.partial(_is_equal, subject, one) for one in elements)


def _is_equal(subject: Value, element: Value) -> Value:
    return UNKNOWN if subject is UNKNOWN or element is UNKNOWN else equals(subject, element)


_METHODS: Dict[str, Callable[[Evaluator, Dict[str, Any], Scope], Value]] = {
    "literal": Evaluator._literal,
    "field": Evaluator._field,
    "fact": Evaluator._fact,
    "meter": Evaluator._meter,
    "column": Evaluator._column,
    "let": Evaluator._let,
    "now": Evaluator._now,
    "risk": Evaluator._risk,
    "not": Evaluator._not,
    "and": Evaluator._and,
    "or": Evaluator._or,
    "compare": Evaluator._compare,
    "is-null": Evaluator._is_null,
    "has": Evaluator._has,
    "else": Evaluator._else,
    "has-cell": Evaluator._has_cell,
    "if": Evaluator._if,
    "list-prefix": Evaluator._list_prefix,
    "in-list": Evaluator._in_list,
    "in-table": Evaluator._in_table,
    "in-elements": Evaluator._in_elements,
    "in-range": Evaluator._in_range,
    "in-hours": Evaluator._in_hours,
    "in-cidr": Evaluator._in_cidr,
    "like": Evaluator._pattern,
    "matches": Evaluator._pattern,
    "single-script": Evaluator._single_script,
    "text-test": Evaluator._text_test,
    "mentions": Evaluator._mentions,
    "arithmetic": Evaluator._arithmetic,
    "negate": Evaluator._negate,
    "list": Evaluator._list,
    "text-list": Evaluator._text_list,
    "quantify": Evaluator._quantify,
    "call": Evaluator._call,
}


def _links(_: Evaluator, args: List[Value]) -> Value:
    if not has_no_links(args[0]):
        raise NotCovered("`links` of a text that may have links")
    return []


def _of_address(part: str) -> Callable[[Evaluator, List[Value]], Value]:
    def read(_: Evaluator, args: List[Value]) -> Value:
        url = web_address(args[0])
        value = None if url is None else getattr(url, part)
        return UNKNOWN if value is None else Decimal(value) if isinstance(value, int) else value

    return read


def _quantity(_: Evaluator, args: List[Value]) -> Value:
    match = re.fullmatch(r"(\d{1,34}(?:\.\d{1,34})?) ?([kKMGTPE]i?B?|B|m)?", args[0], re.ASCII)
    if match is None:
        return UNKNOWN
    number, unit = Decimal(match[1]), re.sub("B$", "", match[2] or "")
    if len(number.as_tuple().digits) > 34 and len(str(match[1]).replace(".", "").strip("0")) > 34:
        return UNKNOWN
    powers = {"k": 3, "K": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
    if unit.endswith("i"):
        binary = {"K": 10, "M": 20, "G": 30, "T": 40, "P": 50, "E": 60}.get(unit[0])
        return UNKNOWN if binary is None else _calculate("*", number, Decimal(2**binary))
    if unit == "m":
        return _calculate("*", number, Decimal("0.001"))
    return _calculate("*", number, Decimal(10 ** powers[unit])) if unit else _calculate("+", number, ZERO)


def _local_date(instant: Value, zone: str) -> Value:
    if isinstance(instant, Interval) or instant is UNKNOWN:
        return UNKNOWN
    local = local_second(instant, zone)
    return UNKNOWN if local is None else Decimal(local // DAY)


_BUILTINS: Dict[str, Callable[[Evaluator, List[Value]], Value]] = {
    "length": lambda _, args: Decimal(len(args[0])),
    "lower": lambda _, args: _assigned(args[0]).lower(),
    "trim": lambda _, args: args[0].strip(
        "\t\n\v\f\r \u00a0\ufeff\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
    ),
    "fold": lambda _, args: fold(args[0]),
    "links": _links,
    "domain": lambda _, args: args[0].rpartition("@")[2],
    "host": _of_address("host"),
    "scheme": _of_address("scheme"),
    "port": _of_address("port"),
    "ip": lambda _, args: parse_ip(re.sub(r"^\[|\]$", "", args[0])) or UNKNOWN,
    "first": lambda _, args: args[0][0] if args[0] else UNKNOWN,
    "join": lambda _, args: "".join(args),
    "quantity": _quantity,
    "date": lambda _, args: _local_date(args[0], args[1]),
    "today": lambda one, args: _local_date(one._now({}, NO_SCOPE), args[0]),
    "months_later": lambda _, args: months_later(int(args[0]), int(args[1])),
    "min": lambda _, args: extreme(min, args),
    "max": lambda _, args: extreme(max, args),
    "abs": lambda _, args: absolute_of(args[0]),
}

OUTCOMES = ("ALLOW", "ESCALATE", "REAUTH_REQUIRED", "DENY")
GUARDS = ("deny", "escalate", "reauth")


class Decided(NamedTuple):
    """A decision made again."""

    decision: Dict[str, Json]
    truths: Dict[str, Value]
    # Rules whose condition is not covered, so that their recorded truth was taken; each with the reason.
    taken: Dict[str, str]


def decide(
    policy_set: PolicySet, facts: Facts, recorded: Optional[Dict[str, Value]] = None, chain: Json = None
) -> Decided:
    """Decides a request. `recorded` has the recorded truths of rules, for conditions that are not covered."""
    action = policy_set.actions.get(facts.action)
    if action is None:
        return Decided(_refusal("undeclared_action", f"Action {escaped(facts.action)[:100]} is not declared"), {}, {})
    issues = check_payload(action["shape"], facts.payload)
    if issues:
        places = "; ".join(f"{pointer or 'it'} {message}" for pointer, message in issues)
        return Decided(_refusal("invalid_payload", f"The payload does not match the declared shape: {places}"), {}, {})
    facts = facts._replace(payload=resolved_record(action["shape"], facts.payload))
    rules = policy_set.rules_for(facts.action) + _link_rules(chain or [], facts.action)
    enforced = _Judgement(policy_set, facts, [rule for rule in rules if not rule["isShadow"]], recorded)
    verdict = enforced.combine()
    every = enforced if len(enforced.rules) == len(rules) else _Judgement(policy_set, facts, rules, recorded)
    with_shadow = verdict if every is enforced else every.combine()
    return Decided(enforced.describe(verdict, with_shadow[0]), every.truths, {**every.taken, **enforced.taken})


def _refusal(gate: str, reason: str) -> Dict[str, Json]:
    return {
        "outcome": "DENY",
        "by": gate,
        "matchedPolicy": gate,
        "reason": reason,
        "risk": {"low": 100, "high": 100},
        "validForSeconds": None,
        "requires": None,
        "rules": [],
        "withShadow": "DENY",
    }


def _link_rules(chain: List[Json], action: str) -> List[Dict[str, Any]]:
    """The guards of a chain of delegations. A condition of a link is text, which is not covered."""
    rules = []
    for at, link in enumerate(chain):
        is_inside_ = any(_names(pattern, action) for pattern in link["actions"])
        condition = {"kind": "literal", "value": not is_inside_}
        if is_inside_ and link.get("when") is not None:
            condition = {"kind": "condition of a delegation", "value": None}
        name = f"link_{at + 1}"
        rules.append({
            "id": f"outside_delegation/{name}", "policy": "outside_delegation", "name": name, "effect": "deny",
            "isShadow": False, "condition": condition, "points": 0, "requirement": None, "validForSeconds": None,
            "reason": [f"Outside the delegation `{link['name']}`"],
        })  # fmt: skip
    return rules


def _names(pattern: str, action: str) -> bool:
    if pattern == "*":
        return True
    if pattern.endswith(".*"):
        return action.startswith(pattern[:-1]) and len(action) > len(pattern) - 1
    if pattern.startswith("*."):
        return action.endswith(pattern[1:]) and len(action) > len(pattern) - 1
    return pattern == action


_Verdict = Tuple[str, Optional[Dict[str, Any]], List[Dict[str, Any]]]


class _Judgement:
    """The truths of some rules for one request, and what follows from them."""

    def __init__(
        self, policy_set: PolicySet, facts: Facts, rules: List[Dict[str, Any]], recorded: Optional[Dict[str, Value]]
    ) -> None:
        self.rules, self.recorded, self.satisfied = rules, recorded, facts.satisfied
        self.taken: Dict[str, str] = {}
        self.evaluator = Evaluator(policy_set, facts)
        added = [self._contribution(rule) for rule in rules if rule["points"] != 0]
        low, high = (min(100, max(0, sum(one[end] for one in added))) for end in (0, 1))
        self.evaluator = Evaluator(policy_set, facts)
        self.evaluator.risk = Interval(low, high)
        self.truths = {rule["id"]: self._truth(rule) for rule in rules}

    def _truth(self, rule: Dict[str, Any]) -> Value:
        try:
            return self.evaluator.truth(rule["condition"])
        except NotCovered as reason:
            if self.recorded is None:
                raise
            self.taken[rule["id"]] = str(reason)
            return self.recorded.get(rule["id"], False)

    def _contribution(self, rule: Dict[str, Any]) -> Tuple[int, int]:
        truth, points = self._truth(rule), rule["points"]
        if truth is UNKNOWN:
            return min(0, points), max(0, points)
        return (points, points) if truth else (0, 0)

    def demand(self, rule: Dict[str, Any]) -> str:
        if rule["effect"] == "deny":
            return "DENY"
        requirement = rule["requirement"]
        if requirement is None:
            return "ALLOW"
        is_approval = requirement["kind"] == "approval"
        met = self.satisfied["escalate" if is_approval else "reauth"]
        return "ALLOW" if rule["id"] in met else "ESCALATE" if is_approval else "REAUTH_REQUIRED"

    def combine(self) -> _Verdict:
        allows = [rule for rule in self.rules if rule["effect"] == "allow" and self.truths[rule["id"]] is True]
        if not allows:
            denies = [rule for rule in self.rules if rule["effect"] == "deny" and self.truths[rule["id"]] is True]
            return "DENY", self._first(denies), []
        grant = min(allows, key=lambda rule: (OUTCOMES.index(self.demand(rule)), _people(rule), rule["id"]))
        guards = [
            rule
            for rule in self.rules
            if rule["effect"] in GUARDS and self.truths[rule["id"]] is not False and self.demand(rule) != "ALLOW"
        ]
        demanding = [grant, *guards]
        outcome = max(map(self.demand, demanding), key=OUTCOMES.index)
        return outcome, self._first([rule for rule in demanding if self.demand(rule) == outcome]), demanding

    def _first(self, rules: List[Dict[str, Any]]) -> Optional[Dict[str, Any]]:
        def order(rule: Dict[str, Any]) -> Tuple[bool, int, str]:
            return self.truths[rule["id"]] is UNKNOWN, -rule["points"], rule["id"]

        return min(rules, key=order) if rules else None

    def describe(self, verdict: _Verdict, with_shadow: str) -> Dict[str, Json]:
        outcome, decider, demanding = verdict
        is_pending = outcome in ("ESCALATE", "REAUTH_REQUIRED")
        unmet = [rule["requirement"] for rule in demanding if self.demand(rule) != "ALLOW"]
        return {
            "outcome": outcome,
            "by": "default_deny" if decider is None else decider["id"],
            "matchedPolicy": "default_deny" if decider is None else decider["policy"],
            "reason": "No policy allows this" if decider is None else self._reason(decider),
            "risk": {"low": self.evaluator.risk.low, "high": self.evaluator.risk.high},
            "validForSeconds": self._valid_for() if outcome == "ALLOW" else None,
            "requires": self._requires([one for one in unmet if one is not None]) if is_pending else None,
            "rules": sorted(rule["id"] for rule in self.rules if self._took_part(rule)),
            "withShadow": with_shadow,
        }

    def _took_part(self, rule: Dict[str, Any]) -> bool:
        truth = self.truths[rule["id"]]
        return truth is not False if rule["effect"] in GUARDS else truth is True

    def _valid_for(self) -> int:
        times = [
            rule["validForSeconds"]
            for rule in self.rules
            if rule["effect"] == "allow" and self.truths[rule["id"]] is True and rule["validForSeconds"] is not None
        ]
        return min(times, default=300)

    def _reason(self, rule: Dict[str, Any]) -> str:
        if rule["reason"] is None:
            words: str = rule["name"].replace("_", " ")
            return words[:1].upper() + words[1:]
        return self._fill(rule["reason"])

    def _fill(self, template: List[Any]) -> str:
        parts = (one if isinstance(one, str) else shown(one["type"], self.evaluator.value(one)) for one in template)
        return "".join(parts)

    def _requires(self, requirements: List[Dict[str, Any]]) -> Dict[str, Json]:
        groups: Dict[str, Dict[str, Any]] = {}
        for one in requirements:
            if one["kind"] == "approval":
                for group in one["groups"]:
                    self._merge(groups, one, group)
        times = [one["withinSeconds"] for one in requirements if one["kind"] == "reauth"]
        reauth = {"withinSeconds": None if None in times else min(times)} if times else None
        return {"approvals": [self._approval(groups[group]) for group in sorted(groups)], "reauth": reauth}

    def _merge(self, groups: Dict[str, Dict[str, Any]], one: Dict[str, Any], group: str) -> None:
        choice = next((each for each in one.get("choices") or [] if each["text"] == group), None)
        seconds = [each["afterSeconds"] for each in (choice or {}).get("fallbacks") or []]
        first = {"group": group, "choice": choice, "seconds": seconds, "needs": one["needs"]}
        merged = groups.setdefault(group, {**first, "withinSeconds": one["withinSeconds"], "except": []})
        merged["seconds"] = [max(pair) for pair in zip(seconds, merged["seconds"])]
        merged["needs"] = max(merged["needs"], one["needs"])
        merged["withinSeconds"] = min(merged["withinSeconds"], one["withinSeconds"])
        merged["except"] = sorted({*merged["except"], *one["except"]})

    def _approval(self, merged: Dict[str, Any]) -> Dict[str, Json]:
        approval = {name: merged[name] for name in ("group", "needs", "withinSeconds")}
        if merged["except"]:
            approval["except"] = merged["except"]
        choice = merged["choice"]
        if choice is not None:
            approval["anyOf"] = [self._approver(one) for one in choice["anyOf"]]
            if choice.get("fallbacks"):
                pairs = zip(merged["seconds"], choice["fallbacks"])
                approval["fallbacks"] = [
                    {"afterSeconds": after, "anyOf": [self._approver(each) for each in one["anyOf"]]}
                    for after, one in pairs
                ]
        return approval

    def _approver(self, approver: Dict[str, Any]) -> Dict[str, Json]:
        if approver["kind"] == "group":
            return {"group": approver["group"]}
        value = self.evaluator.value(approver["value"])
        name = value.strip() if isinstance(value, str) else ""
        if name == "":
            return {"unknown": self._fill(approver["missing"]), "from": approver["text"]}
        return {"person" if approver["groups"] is None else "group": name, "from": approver["text"]}


def _people(rule: Dict[str, Any]) -> int:
    requirement = rule["requirement"]
    is_approval = requirement is not None and requirement["kind"] == "approval"
    return int(requirement["needs"]) * len(requirement["groups"]) if is_approval else 0


# --- Evidence from elsewhere ------------------------------------------------------------------------------------------

ZEROS = "0" * 64
_HASH = re.compile(r"[0-9a-f]{64}")


class Checkpoint(NamedTuple):
    """A signed place of the record chain."""

    sequence: int
    hash: str
    purpose: str
    at_ms: int
    # The end of each lane, by lane; of lane 0 alone when the checkpoint names no lanes.
    ends: Dict[int, Tuple[int, str]]


RECEIPT, STATEMENT = "writ-receipt+jwt", "writ-statement+jwt"


class Keys:
    """The public keys that the auditor got by another way."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.checkpoints: List[bytes] = []
        self.notes: List[NoteKey] = []
        # The keys of each type of token, by id; no key is of two types.
        self.tokens: Dict[str, Dict[str, bytes]] = {RECEIPT: {}, STATEMENT: {}}
        for text in texts:
            self._take(text)

    def _take(self, text: str) -> None:
        note = note_key(text)
        plain = url_bytes(text) if len(text) == 43 else None
        if note is not None:
            self.notes.append(note)
        elif plain is not None:
            self.checkpoints.append(plain)
        else:
            self._take_set(text)

    def _take_set(self, path: str) -> None:
        """Reads the keys of receipts, or the log's own keys; witnesses are named by the auditor alone."""
        try:
            value = strict_json(Path(path).read_text("utf-8"))
            if "keys" in value:
                for key in value["keys"]:
                    self._take_token_key(RECEIPT, key)
                return
            log = note_key(value["verifier_key"])
            if log is not None:
                self.notes.append(log)
            if value.get("statement_key") is not None:
                self._take_token_key(STATEMENT, value["statement_key"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            raise UsageError(f"{path} is no public key, and no file with a set of keys") from None

    def _take_token_key(self, type_: str, key: Dict[str, Json]) -> None:
        public = url_bytes(key["x"]) if key.get("crv") == "Ed25519" else None
        if public is not None:
            self.tokens[type_][key["kid"]] = public

    @property
    def witnesses(self) -> List[NoteKey]:
        return [key for key in self.notes if key.kind == WITNESS_KEY]


class Evidence:
    """What was kept outside of the service, each piece checked for itself."""

    def __init__(self, keys: Keys, threshold: Optional[int], report: Report) -> None:
        self.keys, self.report = keys, report
        self.threshold = len(keys.witnesses) if threshold is None else threshold
        self.checkpoints: List[Checkpoint] = []
        self.notes: List[Note] = []
        # The canonical entry that each proof is for, by sequence.
        self.entries: Dict[int, List[str]] = {}
        # The records with which a log is shown to begin.
        self.first_leaves: Set[int] = set()
        # Proofs without an entry: leaf index, path and note.
        self.paths: List[Tuple[int, List[bytes], Note]] = []
        self.consistent: List[Tuple[int, int]] = []
        self._pending_consistency: List[Tuple[Json, Note]] = []
        # The claims of receipts and statements, by request.
        self.tokens: Dict[str, List[Json]] = {}

    def read(self, path: str) -> None:
        try:
            text = Path(path).read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            raise UsageError(f"{path} cannot be read") from None
        if text.startswith("c2sp.org/tlog-proof@v1\n"):
            self._log_proof(text, path)
        elif re.fullmatch(r"\s*[\w-]+\.[\w-]+\.[\w-]+\s*", text, re.ASCII):
            self._token(text.strip(), path)
        elif "\n\n\u2014 " in text and not text.startswith("{"):
            self._note(text, path)
        else:
            self._json(text, path)

    def _json(self, text: str, path: str) -> None:
        for part in [text] if _is_one_json(text) else text.splitlines():
            try:
                value = strict_json(part)
            except ValueError:
                raise UsageError(f"{path} is no evidence that this program knows") from None
            if isinstance(value, dict) and isinstance(value.get("items"), list):
                for item in value["items"]:
                    self._inclusion(item, path)
            elif isinstance(value, dict) and "inclusion" in value:
                self._inclusion(value, path)
            elif isinstance(value, dict) and "consistency" in value:
                self._consistency(value, path)
            elif isinstance(value, dict) and "purpose" in value:
                self._checkpoint(value, path)
            else:
                raise UsageError(f"{path} is no evidence that this program knows")

    def _checkpoint(self, value: Dict[str, Json], path: str) -> None:
        if not self.keys.checkpoints:
            self.report.leave("checkpoints, since no key of the service was given")
            return
        signed = {name: value[name] for name in ("sequence", "hash", "purpose", "at_ms", "lanes") if name in value}
        message = canonical_json({"type": "writ checkpoint", **signed}).encode()
        signature = url_bytes(value["signature"]) if isinstance(value.get("signature"), str) else None
        is_genuine = signature is not None and any(is_signed(key, message, signature) for key in self.keys.checkpoints)
        checkpoint = _checkpoint_of(value) if is_genuine else None
        if checkpoint is None:
            self.report.find("checkpoint", f"{path}: the checkpoint is not signed by the key of the service")
            return
        self.report.check("checkpoints are genuine")
        self.checkpoints.append(checkpoint)

    def _note(self, text: str, path: str) -> Optional[Note]:
        if not any(key.kind == LOG_KEY for key in self.keys.notes):
            self.report.leave("signed checkpoints of the log, since no key of the log was given")
            return None
        try:
            note = open_note(text, self.keys.notes)
        except BadNote as reason:
            self.report.find("note", f"{path}: {reason}")
            return None
        missing = self.threshold - len(note.witnesses)
        if missing > 0:
            self.report.find(
                "witness", f"{path}: {len(note.witnesses)} of {self.threshold} witnesses have signed size {note.size}"
            )
        elif self.threshold > 0:
            self.report.check("signed checkpoints have their witnesses")
        self.report.check("signed checkpoints are genuine")
        self.notes.append(note)
        return note

    def _inclusion(self, value: Dict[str, Json], path: str) -> None:
        try:
            entry = canonical_json(value["entry"])
            hashes = [plain_bytes(one) or b"" for one in value["inclusion"]]
            text, origin = value["checkpoint"], value["log"]
            index, size, sequence = value["leaf_index"], value["tree_size"], value["sequence"]
            is_entry = value["entry"]["sequence"] == sequence and all(isinstance(one, int) for one in (index, size))
        except (KeyError, TypeError, AttributeError):
            self.report.find("inclusion", f"{path}: the proof is malformed")
            return
        note = self._note(text, path)
        if note is None:
            return
        root = root_of_inclusion(index, size, leaf_hash(entry.encode()), hashes) if is_entry else None
        if root != note.root or size != note.size or origin != note.origin:
            self.report.find("inclusion", f"{path}: record {sequence} is not shown to be in the log", sequence)
            return
        self.report.check("records are shown to be in the log")
        self.entries.setdefault(sequence, []).append(entry)
        if index == 0:
            self.first_leaves.add(sequence)

    def _log_proof(self, text: str, path: str) -> None:
        head, _, note_text = text.partition("\n\n")
        lines = head.split("\n")[1:]
        lines = lines[1:] if lines and lines[0].startswith("extra ") else lines
        match = re.fullmatch(r"index (0|[1-9][0-9]{0,18})", lines[0]) if lines else None
        hashes = [plain_bytes(one) for one in lines[1:]]
        if match is None or any(one is None or len(one) != 32 for one in hashes):
            self.report.find("inclusion", f"{path}: the proof is malformed")
            return
        note = self._note(note_text, path)
        if note is not None:
            self.paths.append((int(match[1]), [one for one in hashes if one is not None], note))

    def _consistency(self, value: Dict[str, Json], path: str) -> None:
        note = self._note(str(value.get("checkpoint")), path)
        if value.get("old_checkpoint") is not None:
            self._note(str(value["old_checkpoint"]), path)
        if note is not None:
            self._pending_consistency.append((value, note))

    def check_together(self) -> None:
        """Compares the pieces with each other, after all have been read."""
        roots: Dict[Tuple[str, int], Set[bytes]] = {}
        for note in self.notes:
            roots.setdefault((note.origin, note.size), set()).add(note.root)
        for (_, size), found in roots.items():
            if len(found) > 1:
                self.report.find("split-view", f"two signed checkpoints of size {size} have different roots")
        for value, note in self._pending_consistency:
            self._check_consistency(value, note, roots)
        for name in {name for note in self.notes for name in note.witnesses}:
            self._check_growth([(note.witnesses[name], note.size) for note in self.notes if name in note.witnesses])
        self._check_growth([(one.at_ms, one.sequence) for one in self.checkpoints if one.purpose == "end"])

    def _check_growth(self, sizes: List[Tuple[int, int]]) -> None:
        ordered = sorted(sizes)
        for (_, earlier), (_, later) in zip(ordered, ordered[1:]):
            if later < earlier:
                self.report.find("shrunk", f"a checkpoint covers {later}, an earlier one {earlier}")

    def _check_consistency(self, value: Json, note: Note, roots: Dict[Tuple[str, int], Set[bytes]]) -> None:
        old, new = value.get("old_size"), value.get("new_size")
        path = [plain_bytes(one) or b"" for one in value["consistency"] if isinstance(one, str)]
        known = roots.get((note.origin, old), set()) if isinstance(old, int) else set()
        if not known:
            self.report.leave("proofs of consistency, since no signed checkpoint of the earlier size was given")
        elif new != note.size or not all(is_consistent((old, new), (one, note.root), path) for one in known):
            self.report.find("consistency", f"the log of size {new} is not shown to continue that of size {old}")
        else:
            self.report.check("signed checkpoints continue earlier ones")
            self.consistent.append((old, new))

    def _token(self, text: str, path: str) -> None:
        """Reads a receipt or a statement; each type has keys of its own."""
        head, body, mark = text.split(".")
        header, claims, signature = _jwt_part(head), _jwt_part(body), url_bytes(mark)
        keys = self.keys.tokens.get(str(header.get("typ")))
        if keys is None or header.get("alg") != "EdDSA" or not isinstance(claims.get("txn"), str):
            self.report.find("receipt", f"{path}: it is no receipt and no statement")
        elif not keys:
            self.report.leave("receipts or statements, since their keys were not given")
        elif not is_signed(keys.get(str(header.get("kid")), b""), f"{head}.{body}".encode(), signature or b""):
            self.report.find("receipt", f"{path}: it is not signed by a key of the service")
        else:
            self.report.check("receipts and statements are genuine")
            self.tokens.setdefault(claims["txn"], []).append({**claims, "typ": header["typ"], "path": path})


def _is_one_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _jwt_part(text: str) -> Dict[str, Json]:
    try:
        value = strict_json((url_bytes(text) or b"").decode())
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _checkpoint_of(value: Dict[str, Json]) -> Optional[Checkpoint]:
    sequence, hash_, purpose, at_ms = (value.get(name) for name in ("sequence", "hash", "purpose", "at_ms"))
    ends = _ends_of(value.get("lanes", [[0, sequence, hash_]]))
    if not isinstance(sequence, int) or not isinstance(at_ms, int) or ends is None or purpose not in ("end", "pruned"):
        return None
    return Checkpoint(sequence, str(hash_), purpose, at_ms, ends)


def _ends_of(value: Json) -> Optional[Dict[int, Tuple[int, str]]]:
    """Reads `[[lane, sequence, hash], ...]`."""
    try:
        ends = {lane: (sequence, hash_) for lane, sequence, hash_ in value}
    except (TypeError, ValueError):
        return None
    is_form = all(type(a) is int and type(b) is int and isinstance(c, str) for a, (b, c) in ends.items())
    return ends if is_form and len(ends) == len(value) else None


# --- The records ------------------------------------------------------------------------------------------------------

KINDS = ("request", "refusal", "change", "event", "knot")
FIRST_STATUS = {"ALLOW": "auto_approved", "DENY": "rejected", "ESCALATE": "pending", "REAUTH_REQUIRED": "pending"}
NEXT_STATUS = {"ALLOW": "approved", "DENY": "rejected", "ESCALATE": "pending", "REAUTH_REQUIRED": "pending"}
# What may follow a status, and by which event.
SUCCESSORS: Dict[str, Dict[str, Tuple[str, ...]]] = {
    "pending": {
        "pending": ("approved", "stepped-up", "commented", "taken-back", "decided", "fallback-asked"),
        "approved": ("decided",),
        "rejected": ("rejected", "decided"),
        "expired": ("expired",),
        "withdrawn": ("withdrawn",),
    },
    "auto_approved": {
        "auto_approved": ("released", "commented"),
        "consumed": ("consumed",),
        "expired": ("expired", "released"),
    },
    "approved": {
        "approved": ("released", "commented"),
        "consumed": ("consumed", "taken"),
        "expired": ("expired", "released"),
    },
    "consumed": {"consumed": ("consumed", "released", "commented", "taken")},
    "rejected": {"rejected": ("commented",)},
    "expired": {"expired": ("commented", "released")},
    "withdrawn": {"withdrawn": ("commented",)},
}
ENDED_KEPT = 100_000
STANDING = "standing approvals, which were given for an earlier request"


class Open:
    """A request that may still change, with what later records are compared with."""

    def __init__(self, sequence: int, entry: Dict[str, Json], record: Dict[str, Json], digest: Optional[str]) -> None:
        self.sequence, self.entry, self.record, self.digest = sequence, entry, record, digest
        self.status = str(entry["status"])
        # The vote of each person that counts.
        self.votes: Dict[str, Json] = {}
        self.has_step_up = self.has_fallback = False


class Verifier:
    """Reads the records in order, and keeps only what later records are compared with."""

    def __init__(self, evidence: Evidence, options: argparse.Namespace, report: Report) -> None:
        self.evidence, self.options, self.report = evidence, options, report
        self.sets = PolicySets(options.policies, report)
        self.lanes: Dict[int, Tuple[int, str]] = {}
        self.tree: Optional[Tree] = None
        # Whether the export begins with the first record, or where a checkpoint or the report before ends.
        self.is_whole = self.is_anchored = self.has_begun = False
        self.first = self.last = self.count = 0
        self.first_at = self.latest_ms = -(2**62)
        self.open: Dict[str, Open] = {}
        self.ended: "OrderedDict[str, str]" = OrderedDict()
        self.has_forgotten = False
        self.agents: Dict[str, Dict[str, Json]] = {}
        self.changed_agents: Dict[str, int] = {}
        self.stepped_up: Set[str] = set()
        self.receipted: Dict[str, Dict[str, Json]] = {}
        self.proved: Set[int] = set()
        self.checkpoints: Dict[int, List[Checkpoint]] = {}
        for checkpoint in evidence.checkpoints:
            self.checkpoints.setdefault(checkpoint.sequence, []).append(checkpoint)
        self.sizes: Dict[int, List[Note]] = {}
        for note in evidence.notes:
            self.sizes.setdefault(note.size, []).append(note)
        self.leaves: Dict[int, bytes] = {index: b"" for index, _, _ in evidence.paths}
        if options.after is not None:
            self._continue(options.after)

    # -- Lines

    def read(self, stream: BinaryIO, progress: "Progress") -> None:
        for line in iter(lambda: stream.readline(LINE_MAX), b""):
            self.count += 1
            progress.show(self.count)
            try:
                self._line(line)
            except (KeyError, TypeError, ValueError, AttributeError, RecursionError, OverflowError) as reason:
                self.report.find("line", f"line {self.count} is malformed: {type(reason).__name__} {reason}")
        self._finish()

    def _line(self, line: bytes) -> None:
        text = line.decode("utf-8")
        value = strict_json(text)
        entry = value["entry"]
        sequence, previous, hash_ = value["sequence"], value["previous"], value["hash"]
        entry_text = flat_json(entry)
        expected = f'{{"sequence":{sequence},"at":"{value["at"]}","previous":"{previous}","hash":"{hash_}","entry":{entry_text}}}\n'
        lane = entry.get("lane", 0)
        is_form = type(sequence) is int and type(lane) is int and _HASH.fullmatch(previous) and _HASH.fullmatch(hash_)
        if text != expected or not is_form or entry.get("kind") not in KINDS or value["at"] != _iso(_time_of(entry)):
            self.report.find("line", f"line {self.count} is not in its canonical form", sequence)
        if not is_form:
            return
        self._begin(sequence, lane, (entry.get("follows", sequence - 1), previous))
        self._place(sequence, entry, previous, hash_)
        self._compare(sequence, hash_, entry_text)
        self._time(sequence, _time_of(entry))
        self._content(sequence, entry)

    def _begin(self, sequence: int, lane: int, end: Tuple[int, str]) -> None:
        """Finds out where the export begins: `end` is what its first record follows."""
        if self.has_begun:
            return
        self.has_begun, self.first = True, sequence
        if self.options.after is not None:
            return
        self.is_whole = end == (0, ZEROS) and self.last == 0 and sequence == 1
        self.tree = Tree() if self.is_whole or sequence in self.evidence.first_leaves else None
        before = [one for one in self.evidence.checkpoints if one.sequence < sequence]
        mark = next((one for one in before if one.ends.get(lane, (0, ZEROS)) == end), None)
        if mark is not None:
            self.lanes, self.is_anchored = dict(mark.ends), True
            self.report.check("beginnings are at a checkpoint")
        is_permitted = mark is not None and mark.purpose == "pruned"
        if not self.is_whole and self.options.whole and not is_permitted:
            self.report.find("begin", f"the export begins with record {sequence}, and no prune mark permits that")

    def _continue(self, path: str) -> None:
        """Begins where the report of an earlier verification ended."""
        try:
            earlier = strict_json(Path(path).read_text("utf-8"))
            ends = _ends_of(earlier["end"]["lanes"])
            tree = earlier["end"]["tree"]
            if earlier["ok"] is not True or ends is None:
                raise UsageError(f"{path} is no report of records without problems")
            self.lanes, self.last, self.is_anchored = ends, earlier["last"], True
            if tree is not None:
                self.tree = Tree(tree["size"], map(bytes.fromhex, tree["peaks"]))
        except (OSError, ValueError, KeyError, TypeError):
            raise UsageError(f"{path} is no report of this program") from None

    # -- The chain

    def _place(self, sequence: int, entry: Dict[str, Json], previous: str, hash_: str) -> None:
        lane, problems = entry.get("lane", 0), self.report.total
        if entry["sequence"] != sequence:
            self.report.find("columns", "the record has another number than its line", sequence)
        if sequence <= self.last:
            self.report.find("order", f"record {sequence} comes after record {self.last}", sequence)
        follows = entry.get("follows", sequence - 1)
        end = self.lanes.get(lane)
        if end is None and (self.is_whole or self.is_anchored):
            end = (0, ZEROS)
        if end is None:
            self._check_start(lane, follows, previous, sequence)
        elif follows > end[0]:
            several = len(self.lanes) > 1 or "follows" in entry
            self.report.find("missing", f"record {follows if several else end[0] + 1} is missing", sequence)
        elif follows < end[0]:
            self.report.find("inserted", f"record {end[0]} is not the one before it in lane {lane}", sequence)
        elif previous != end[1]:
            self.report.find("inserted", f"it follows another record than record {end[0]}", sequence)
        if _link_hash(previous, entry) != hash_:
            self.report.find("hash", "its content does not have its hash", sequence)
        self.report.check("records have their hash and their place", problems)
        self.lanes[lane] = (sequence, hash_)
        self.last = max(self.last, sequence)
        if entry["kind"] == "knot":
            self._knot(sequence, entry)

    def _check_start(self, lane: int, follows: int, previous: str, sequence: int) -> None:
        """Compares the first record of a lane with the checkpoints from before the export."""
        for checkpoint in self.evidence.checkpoints:
            at, hash_ = checkpoint.ends.get(lane, (0, ZEROS))
            if checkpoint.sequence >= self.first or at != follows:
                continue
            if hash_ != previous:
                self.report.find("rewritten", f"it does not follow record {at}, which a checkpoint names", sequence)
            else:
                self.report.check("beginnings are at a checkpoint")

    def _knot(self, sequence: int, entry: Dict[str, Json]) -> None:
        tied = _ends_of(strict_json(entry["ends_json"]))
        if tied is None:
            self.report.find("line", "the knot is malformed", sequence)
            return
        problems = self.report.total
        for lane, (at, hash_) in tied.items():
            end = self.lanes.get(lane, (0, ZEROS))
            is_before = at < self.first and lane not in self.lanes and not self.is_anchored
            if at > end[0] and not is_before:
                self.report.find("missing", f"record {at} of lane {lane}, which the knot names, is missing", sequence)
            elif at == end[0] and hash_ != end[1]:
                self.report.find("rewritten", f"record {at} is not the one that the knot names", sequence)
        for lane, (at, _) in self.lanes.items():
            if lane > 0 and at > tied.get(lane, (0, ZEROS))[0]:
                self.report.find("inserted", f"record {at} of lane {lane} is later than the knot says", sequence)
        self.report.check("knots agree with the lanes", problems)

    def _compare(self, sequence: int, hash_: str, entry_text: str) -> None:
        """Compares a record with the evidence about it."""
        for checkpoint in self.checkpoints.get(sequence, []):
            names_lanes = len(checkpoint.ends) > 1 or 0 not in checkpoint.ends
            is_same = not names_lanes or not self.is_whole or self.lanes == checkpoint.ends
            if checkpoint.hash != hash_ or not is_same:
                self.report.find("rewritten", "it is not the record that a checkpoint names", sequence)
            else:
                self.report.check("checkpoints agree with the records")
        for entry in self.evidence.entries.get(sequence, []):
            self.proved.add(sequence)
            if entry != entry_text:
                self.report.find("rewritten", "it is not the record that a proof is for", sequence)
        if self.tree is None:
            return
        leaf = leaf_hash(entry_text.encode())
        if self.tree.size in self.leaves:
            self.leaves[self.tree.size] = leaf
        self.tree.add(leaf)
        for note in self.sizes.get(self.tree.size, []):
            if note.root != self.tree.root():
                self.report.find("root", f"the first {note.size} records do not have the signed root", sequence)
            else:
                self.report.check("signed roots are those of the records")

    def _time(self, sequence: int, at_ms: int) -> None:
        if self.first_at == -(2**62):
            self.first_at = at_ms
        behind = self.latest_ms - at_ms
        if behind > self.options.tolerance * 1000:
            self.report.find("time", f"it is {behind // 1000} seconds older than records before it", sequence)
            self.latest_ms = at_ms
        self.latest_ms = max(self.latest_ms, at_ms)

    # -- What records say

    def _content(self, sequence: int, entry: Dict[str, Json]) -> None:
        kind = entry["kind"]
        if kind == "request":
            self._request(sequence, entry)
        elif kind == "event":
            self._event(sequence, entry)
        elif kind == "change":
            self._change(sequence, entry)

    def _change(self, sequence: int, entry: Dict[str, Json]) -> None:
        what, subject = entry["what"], entry["subject"]
        after = strict_json(entry["after_json"]) if entry.get("after_json") else {}
        if what == "agent-added":
            self.agents[subject] = after
        elif what in ("agent-changed", "agent-enabled", "agent-disabled", "agent-revoked", "key-rotated"):
            if subject in self.agents:
                self.agents[subject] = {**self.agents[subject], **after}
        elif what == "stepped-up":
            self.stepped_up.add(subject)
        if what.startswith("agent-"):
            self.changed_agents[subject] = sequence

    def _request(self, sequence: int, entry: Dict[str, Json]) -> None:
        record = strict_json(entry["record_json"])
        decision = record["decision"]
        status = FIRST_STATUS.get(decision["outcome"])
        evaluation = record.get("evaluation")
        if status == "pending" and evaluation is not None and evaluation["deniedId"] is None:
            # An AuthZEN evaluation is never pending.
            status = "rejected"
        if entry["outcome"] != decision["outcome"] or entry["status"] != status:
            self.report.find(
                "columns", f"its outcome is {decision['outcome']}, but {entry['outcome']} in its columns", sequence
            )
        if record["agent"].get("id") != entry["agent_id"]:
            self.report.find("columns", "its agent is another one in its columns", sequence)
        if decision["outcome"] == "ALLOW":
            self._check_key(sequence, entry, record)
        self._check_agent(sequence, entry, record)
        given = record["satisfied"]
        if any(rule not in given.get("standing", {}) for rule in given["escalate"]):
            self.report.find("approval", "an approval counts before anybody could give one", sequence)
        if given.get("standing"):
            self.report.leave(STANDING)
        if given["reauth"] and entry["agent_id"] not in self.stepped_up:
            self._miss_step_up(sequence)
        self._decide(sequence, Made(entry["action_key"], entry["created_ms"], record, record))
        self._follow(sequence, entry, record)

    def _check_key(self, sequence: int, entry: Dict[str, Json], record: Dict[str, Json]) -> None:
        agent, problems = self.agents.get(entry["agent_id"]), self.report.total
        if agent is None:
            if self.is_whole:
                self.report.find("key", "its agent was never added", sequence)
            return
        if agent.get("status") != "active":
            self.report.find("key", f"its agent is {agent.get('status')}", sequence)
        if any(name in record for name in ("point", "chain", "workload")):
            self.report.leave("the keys of enforcement points and sub-agents, and the tokens of workloads")
            return
        key = next((one for one in agent.get("keys", []) if one["id"] == record["key"]["id"]), None)
        end = None if key is None else key["notAfterMs"]
        if key is None or (end is not None and entry["created_ms"] > end + 1000):
            self.report.find("key", f"its key {record['key']['id']} is not a key of the agent at that time", sequence)
        self.report.check("grants used a key of their agent", problems)

    def _check_agent(self, sequence: int, entry: Dict[str, Json], record: Dict[str, Json]) -> None:
        agent = self.agents.get(entry["agent_id"])
        if agent is None:
            return
        names = (("name", "name"), ("risk_tier", "riskTier"), ("control_owner", "controlOwner"), ("tags", "tags"))
        differs = [name for name, own in names if record["agent"].get(name) != agent.get(own)]
        if differs:
            self.report.find("columns", f"`agent.{differs[0]}` is not what was recorded about the agent", sequence)

    def _follow(self, sequence: int, entry: Dict[str, Json], record: Dict[str, Json]) -> None:
        request = entry["id"]
        if request in self.open or request in self.ended:
            self.report.find("inserted", f"the request {request} is recorded twice", sequence)
        if request in self.evidence.tokens:
            self.receipted[request] = {
                "entry": entry,
                "record": record,
                "sets": {record["policySet"]["digest"]: {record["decision"]["by"]}},
                "statuses": {entry["status"]},
            }
        if entry["status"] == "pending":
            scope = {"agent": entry["agent_id"], "action": entry["action_key"], "payload": record["payload"]}
            user = record["request"].get("user")
            whole = scope if user is None else {**scope, "user": user.get("id", "")}
            digest = hashlib.sha256(canonical_json(whole).encode()).hexdigest()
            self.open[request] = Open(sequence, entry, record, digest)
        else:
            self._end(request, entry["status"])

    def _end(self, request: str, status: str) -> None:
        self.ended[request] = status
        self.ended.move_to_end(request)
        if len(self.ended) > ENDED_KEPT:
            self.ended.popitem(last=False)
            self.has_forgotten = True

    # -- Events

    def _event(self, sequence: int, entry: Dict[str, Json]) -> None:
        request, what, status = entry["request_id"], entry["what"], entry["status"]
        one = self.open.get(request)
        before = one.status if one is not None else self.ended.get(request)
        if before is None:
            if self.is_whole and not self.has_forgotten:
                self.report.find("state", f"the request {request} of this event is not in the records", sequence)
            else:
                self.report.leave("events of requests from before the export")
            return
        problems = self.report.total
        if what not in SUCCESSORS.get(before, {}).get(status, ()):
            self.report.find("state", f"`{what}` cannot make a request {status} that is {before}", sequence)
        self.report.check("events follow from the state of their request", problems)
        if request in self.receipted:
            self.receipted[request]["statuses"].add(status)
        if one is None:
            self._end(request, status)
            return
        detail_text = entry.get("detail_json")
        detail = strict_json(detail_text) if detail_text else {}
        self._detail(sequence, entry, detail, one)
        one.status = status
        if status not in ("pending", "approved"):
            del self.open[request]
            self._end(request, status)

    def _detail(self, sequence: int, entry: Dict[str, Json], detail: Dict[str, Json], one: Open) -> None:
        what = entry["what"]
        if what == "approved":
            self._vote(sequence, detail, one)
        elif what == "rejected" and detail.get("digest") != one.digest:
            self.report.find("vote", "the rejection was given for another request", sequence)
        elif what == "taken-back":
            one.votes.pop(detail["person"], None)
        elif what == "stepped-up":
            one.has_step_up = True
        elif what == "fallback-asked":
            one.has_fallback = True
        elif what == "decided":
            self._decided(sequence, entry, detail, one)
        elif what == "taken":
            self._taken(sequence, entry, detail["call"], one)

    def _vote(self, sequence: int, vote: Dict[str, Json], one: Open) -> None:
        if vote["digest"] != one.digest:
            self.report.find("vote", "the approval was given for another request", sequence)
        groups = {
            approval["group"] for approval in ((one.record["decision"].get("requires") or {}).get("approvals") or [])
        }
        if vote.get("group") not in groups and not one.has_fallback and not one.votes:
            self.report.leave("approvals for groups that the first decision did not ask")
        one.votes[vote["person"]] = vote

    def _decided(self, sequence: int, entry: Dict[str, Json], detail: Dict[str, Json], one: Open) -> None:
        if NEXT_STATUS.get(detail["decision"]["outcome"]) != entry["status"]:
            self.report.find(
                "columns", f"it was decided {detail['decision']['outcome']}, but is {entry['status']}", sequence
            )
        self._decide(sequence, Made(one.entry["action_key"], entry["at_ms"], one.record, detail), one)
        policy_set = self.sets.get(detail["policySet"]["digest"])
        if policy_set is not None and detail["decision"]["outcome"] == "ALLOW":
            self._check_approvals(sequence, detail["satisfied"], policy_set, one)
        request = entry["request_id"]
        if request in self.receipted:
            sets = self.receipted[request]["sets"]
            sets.setdefault(detail["policySet"]["digest"], set()).add(detail["decision"]["by"])

    def _taken(self, sequence: int, entry: Dict[str, Json], call: Dict[str, Json], one: Open) -> None:
        made = {**call, "policySet": {"digest": call["policySet"]}}
        record = {**one.record, "request": call["request"]}
        self._decide(sequence, Made(one.entry["action_key"], entry["at_ms"], record, made), one)

    def _check_approvals(self, sequence: int, given: Dict[str, Json], policy_set: PolicySet, one: Open) -> None:
        """Whether enough people have approved for each rule that counts as satisfied."""
        for rule_id in given["escalate"]:
            rule = policy_set.rules.get(rule_id)
            if rule_id in given.get("standing", {}):
                self.report.leave(STANDING)
            elif rule is None or rule["requirement"] is None or not self._is_approved(rule, one):
                self.report.find("approval", f"`{rule_id}` was not approved by as many people as it needs", sequence)
            else:
                self.report.check("approvals are by as many people as their rule needs")
        if given["reauth"] and not one.has_step_up and one.entry["agent_id"] not in self.stepped_up:
            self._miss_step_up(sequence)

    def _miss_step_up(self, sequence: int) -> None:
        if self.is_whole:
            self.report.find("approval", "nobody has stepped up for it", sequence)
        else:
            self.report.leave("whether somebody stepped up before the export began")

    def _is_approved(self, rule: Dict[str, Any], one: Open) -> bool:
        condition = hashlib.sha256(rule["conditionText"].encode()).hexdigest()
        requirement = rule["requirement"]
        everybody: Set[str] = set()
        for group in requirement["groups"]:
            wanted = {"id": rule["id"], "group": group, "condition": condition}
            people = {
                person for person, vote in one.votes.items() if wanted in vote["rules"] and vote["digest"] == one.digest
            }
            if len(people) < requirement["needs"]:
                return False
            everybody |= people
        return len(everybody) >= int(requirement["needs"]) * len(requirement["groups"])

    # -- Decisions

    def _decide(self, sequence: int, made: "Made", one: Optional[Open] = None) -> None:
        policy_set = self.sets.get(made.detail["policySet"]["digest"])
        if policy_set is None:
            self.report.leave(self.sets.why_missing(made.detail["policySet"]["digest"]))
            return
        why = self._why_not(made, one)
        if why is not None:
            self.report.leave(f"decisions: {why}")
            return
        recorded = _recorded_truths(made.detail.get("trace"))
        try:
            again = decide(policy_set, made.facts(), recorded, made.record.get("chain"))
        except NotCovered as reason:
            self.report.leave(f"decisions: {reason}")
            return
        self._compare_decisions(sequence, made, again, one)

    def _why_not(self, made: "Made", one: Optional[Open]) -> Optional[str]:
        if made.detail["decision"]["by"] == "invalid_payload" and holds_secrets(made.record["payload"]):
            return "the payload was refused for its shape, and its secrets are not recorded"
        if one is not None and self.changed_agents.get(one.entry["agent_id"], 0) > one.sequence:
            return "the agent was changed while the request was pending"
        return None

    def _compare_decisions(self, sequence: int, made: "Made", again: Decided, one: Optional[Open]) -> None:
        then, now = made.detail["decision"], again.decision
        ignored = ("requires",) if one is not None and one.has_fallback else ()
        differing = [name for name in now if name not in ignored and now[name] != then.get(name)]
        if differing:
            name = differing[0]
            self.report.find(
                "decision",
                f"`{name}` is recorded as {_short(then.get(name))}, but follows as {_short(now[name])}",
                sequence,
            )
            return
        recorded = _recorded_truths(made.detail.get("trace")) or {}
        wrong = [
            rule for rule, truth in recorded.items() if again.truths and again.truths.get(rule, truth) is not truth
        ]
        if wrong:
            self.report.find("decision", f"`{wrong[0]}` is recorded with another truth than follows", sequence)
        elif again.taken:
            for rule, reason in again.taken.items():
                self.report.leave(f"conditions of `{rule}`: {reason}")
            self.report.check("decisions follow, with the recorded truth of conditions that were not checked")
        else:
            self.report.check("decisions follow from their facts and policies")

    # -- The end

    def _finish(self) -> None:
        report = self.report
        if self.count == 0:
            report.find("empty", "the export has no records")
            return
        if not self.is_whole and not self.is_anchored:
            report.leave(f"what was recorded before record {self.first}")
        self._finish_checkpoints()
        self._finish_notes()
        self._finish_paths()
        for sequence in self.evidence.entries:
            if self.first <= sequence <= self.last and sequence not in self.proved:
                report.find("missing", "the record that a proof is for is missing", sequence)
        for request, receipts in self.evidence.tokens.items():
            for claims in receipts:
                self._finish_receipt(request, claims)
        if not self.evidence.checkpoints and not self.evidence.notes:
            report.leave(
                "whether somebody with the key of the service has rewritten everything, since no checkpoint was given"
            )

    def _finish_checkpoints(self) -> None:
        for checkpoint in self.evidence.checkpoints:
            if checkpoint.sequence > self.last and not self._is_later(checkpoint.at_ms):
                self.report.find(
                    "truncated",
                    f"the export ends with record {self.last}, but a checkpoint has record {checkpoint.sequence}",
                )

    def _is_later(self, at_ms: int) -> bool:
        return self.options.until is not None and at_ms >= self.options.until

    def _finish_notes(self) -> None:
        sizes = sorted({note.size for note in self.evidence.notes})
        for size in sizes:
            notes = self.sizes[size]
            if self.tree is None:
                self.report.leave(
                    "the roots of signed checkpoints, since the export does not begin with the first record: give `--after`"
                )
            elif size > self.tree.size and not all(
                note.witnesses and self._is_later(1000 * min(note.witnesses.values())) for note in notes
            ):
                self.report.find(
                    "truncated", f"the log has {self.tree.size} records, but a signed checkpoint has {size}"
                )
        if self.tree is None:
            for old, new in zip(sizes, sizes[1:]):
                if (old, new) not in self.evidence.consistent:
                    self.report.leave(f"whether the log of size {new} continues that of size {old}")

    def _finish_paths(self) -> None:
        for index, path, note in self.evidence.paths:
            leaf = self.leaves[index]
            if leaf == b"":
                self.report.leave("proofs of records that are not in the export")
            elif root_of_inclusion(index, note.size, leaf, path) != note.root:
                self.report.find("inclusion", f"the record at leaf {index} is not shown to be in the log")
            else:
                self.report.check("records are shown to be in the log")

    def _finish_receipt(self, request: str, claims: Dict[str, Json]) -> None:
        known = self.receipted.get(request)
        if known is None:
            if self.is_whole:
                self.report.find("receipt", f"{claims['path']}: the request {request} is not in the records")
            else:
                self.report.leave("receipts and statements of requests that are not in the export")
            return
        why = _why_no_receipt(claims, known)
        if why is not None:
            self.report.find("receipt", f"{claims['path']}: {why}", known["entry"]["sequence"])
        else:
            self.report.check("receipts and statements agree with the records")

    def result(self) -> Dict[str, Json]:
        report = self.report
        tree = None if self.tree is None else {"size": self.tree.size, "peaks": [one.hex() for one in self.tree.peaks]}
        return {
            "ok": not report.counts,
            "records": self.count,
            "first": self.first,
            "last": self.last,
            "from": _iso(self.first_at) if self.count else None,
            "to": _iso(self.latest_ms) if self.count else None,
            "end": {"lanes": [[lane, *end] for lane, end in sorted(self.lanes.items())], "tree": tree},
            "problems": {"counts": dict(report.counts), "first": report.problems},
            "checked": dict(report.checked),
            "not_checked": dict(report.not_checked),
        }


class Made(NamedTuple):
    """A recorded decision: `record` has the request, `detail` what the decision was made on."""

    action: str
    at_ms: int
    record: Dict[str, Json]
    detail: Dict[str, Json]

    def facts(self) -> Facts:
        readings = {
            name: Interval(Decimal(one["low"]), Decimal(one["high"]))
            for name, one in self.detail["meters"].items()
            if "low" in one
        }
        record = self.record
        rows = self.detail.get("rows") or {}
        return Facts(
            self.action,
            record["payload"],
            record["agent"],
            record["request"],
            self.at_ms,
            readings,
            rows,
            self.detail["satisfied"],
        )


class PolicySets:
    """The exported policy sets, each read when a record names it."""

    def __init__(self, directory: Optional[str], report: Report) -> None:
        self.directory, self.report = directory, report
        self.known: Dict[str, Optional[PolicySet]] = {}

    def get(self, digest: str) -> Optional[PolicySet]:
        if digest not in self.known:
            self.known[digest] = self._read(digest)
        return self.known[digest]

    def why_missing(self, digest: str) -> str:
        if self.directory is None:
            return "decisions: no policy sets were given"
        return f"decisions: the policy set {digest} was not given, or is not the one with its digest"

    def _read(self, digest: str) -> Optional[PolicySet]:
        if self.directory is None or not _HASH.fullmatch(digest):
            return None
        path = Path(self.directory, f"{digest}.json")
        if not path.exists():
            return None
        try:
            policy_set = read_policy_set(path.read_text("utf-8"), digest)
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as reason:
            self.report.find("policy-set", f"{path} is not the policy set {digest[:12]}…: {reason}")
            return None
        self.report.check("policy sets have their digest")
        return policy_set


def _link_hash(previous: str, entry: Dict[str, Json]) -> str:
    record = entry.get("record_json", "")
    columns = {name: value for name, value in entry.items() if name != "record_json"}
    return hashlib.sha256(f"{previous}{flat_json(columns)}{record}".encode()).hexdigest()


def _time_of(entry: Dict[str, Json]) -> int:
    return int(entry["created_ms" if entry.get("kind") == "request" else "at_ms"])


def _iso(at_ms: int) -> str:
    second, ms = divmod(at_ms, 1000)
    if not _FIRST_SECOND <= second <= _LAST_SECOND:
        return ""
    return f"{(_EPOCH_UTC + datetime.timedelta(seconds=second)).strftime('%Y-%m-%dT%H:%M:%S')}.{ms:03}Z"


_LETTERS = {"t": True, "f": False, "u": UNKNOWN}
_WORDS = {"true": True, "false": False, "unknown": UNKNOWN}


def _recorded_truths(trace: Json) -> Optional[Dict[str, Value]]:
    """The truth of each rule that a trace names; None without a trace."""
    if trace is None:
        return None
    if isinstance(trace, list):
        return {one["rule"]: _WORDS[one["truth"]] for one in trace}
    return {rule[0]: _LETTERS[letter.lower()] for rule, letter in zip(trace["rules"], trace["truths"])}


def _why_no_receipt(claims: Dict[str, Json], known: Dict[str, Json]) -> Optional[str]:
    """Why a receipt or a statement does not agree with the records of its request; None when it does."""
    entry, record, is_receipt = known["entry"], known["record"], claims["typ"] == RECEIPT
    if is_receipt and not known["statuses"] & {"auto_approved", "approved"}:
        return f"the request {entry['id']} was never granted"
    details = claims.get("authorization_details")
    only = details[0] if isinstance(details, list) and len(details) == 1 else None
    detail: Json = only if is_receipt else claims.get("statement")
    if not isinstance(detail, dict):
        return "it does not say what it is about"
    if detail.get("action_key") != entry["action_key"] or claims.get("sub") != f"agent:{entry['agent_id']}":
        return "it is for another agent or action than the request"
    stated = claims.get("policy") if is_receipt else detail.get("policy")
    policy = stated if isinstance(stated, dict) else {}
    digest = str(policy.get("set", "")).partition("sha256:")[2]
    if policy.get("rule") not in known["sets"].get(digest, set()):
        return "it names another policy set or rule than the records"
    mark = detail.get("payload_digest")
    if (is_receipt or mark is not None) and not holds_secrets(record["payload"]):
        own = base64.urlsafe_b64encode(hashlib.sha256(canonical_json(record["payload"]).encode()).digest())
        if mark != f"sha-256:{own.decode().rstrip('=')}":
            return "it is for another payload than the request"
    return None if is_receipt else _why_no_statement(detail, known)


def _why_no_statement(detail: Dict[str, Json], known: Dict[str, Json]) -> Optional[str]:
    if detail.get("first_decision") != known["entry"]["outcome"]:
        return f"it states {detail.get('first_decision')}, but the request was decided {known['entry']['outcome']}"
    # A wait and a grant end by themselves.
    ends = {"expired"} if known["statuses"] & {"pending", "auto_approved", "approved"} else set()
    if detail.get("status") not in known["statuses"] | ends:
        return f"it states that the request was {detail.get('status')}, which it never was"
    return None


def _short(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else f"{text[:120]}…"


# --- The command ------------------------------------------------------------------------------------------------------

LINE_MAX = 64 * 1024 * 1024


class Progress:
    """Tells on a terminal how far the records have been read."""

    def __init__(self) -> None:
        self.is_on = sys.stderr.isatty()
        self.begun = self.next = time.monotonic()

    def show(self, count: int) -> None:
        if not self.is_on or count % 100 != 0 or time.monotonic() < self.next:
            return
        self.next = time.monotonic() + 1
        rate = count / max(self.next - 1 - self.begun, 0.001)
        sys.stderr.write(f"\r{count:,} records ({rate:,.0f} per second)")
        sys.stderr.flush()

    def clear(self) -> None:
        if self.is_on:
            sys.stderr.write("\r\x1b[K")


EXAMPLES = """
exit status:
  0  no problem was found; what was not checked is listed
  1  a problem was found
  2  an option or a file cannot be used

examples:
  writ audit export --since 2026-03-01 --until 2026-04-01 --policies sets > march.jsonl
  writ-verify march.jsonl --policies sets --key KEY --evidence checkpoints/*.json
  writ-verify march.jsonl --policies sets --after february.json --json > march.json
  writ-verify march.jsonl --key example.com/writ+530d903a+AekyeR... --evidence checkpoint.txt proof.json
"""


def _arguments(arguments: List[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="writ-verify",
        description="Check an export of Writ's records without the service: every hash, signature and decision.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("export", help="the export, as JSON Lines; `.gz` is unpacked, `-` is standard input")
    parser.add_argument("--policies", metavar="DIR", help="the policy sets that `writ audit export --policies` wrote")
    parser.add_argument(
        "--evidence",
        metavar="FILE",
        nargs="+",
        default=[],
        help="checkpoints, proofs and receipts that were kept elsewhere",
    )
    parser.add_argument(
        "--key",
        metavar="KEY",
        nargs="+",
        default=[],
        help="public keys of the service, the log and witnesses, or a file with the keys of receipts",
    )
    parser.add_argument(
        "--witnesses",
        metavar="N",
        type=int,
        help="how many witnesses must have signed (default: all whose keys are given)",
    )
    parser.add_argument("--after", metavar="REPORT", help="the report (`--json`) of the export before this one")
    parser.add_argument(
        "--until", metavar="TIME", type=_moment, help="the end of the export: later checkpoints may cover more"
    )
    parser.add_argument(
        "--whole", action="store_true", help="the export must begin with the first record, or at a prune mark"
    )
    parser.add_argument(
        "--tolerance",
        metavar="SECONDS",
        type=float,
        default=60.0,
        help="how much older a record may be than one before it (default: 60)",
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    return parser.parse_args(arguments)


def _moment(text: str) -> int:
    """Reads a date or a timestamp, in milliseconds since 1970."""
    day = parse_date(text)
    second = parse_timestamp(text) if day is None else day * DAY
    if second is None:
        raise argparse.ArgumentTypeError("is not a date such as 2026-04-01, or a time such as 2026-04-01T00:00:00Z")
    return int(second * 1000)


def verify(options: argparse.Namespace) -> Dict[str, Json]:
    report = Report()
    evidence = Evidence(Keys(options.key), options.witnesses, report)
    for path in options.evidence:
        evidence.read(path)
    evidence.check_together()
    verifier = Verifier(evidence, options, report)
    progress = Progress()
    try:
        with _opened(options.export) as stream:
            verifier.read(stream, progress)
    except (OSError, EOFError) as reason:
        raise UsageError(f"{options.export} cannot be read: {reason}") from None
    finally:
        progress.clear()
    return verifier.result()


def _opened(path: str) -> Any:
    if path == "-":
        return sys.stdin.buffer
    return gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb")


def _print_report(result: Dict[str, Json]) -> None:
    problems = result["problems"]
    total = sum(problems["counts"].values())
    print(f"{result['records']:,} records, {result['first']} to {result['last']}, {result['from']} to {result['to']}")
    print("✓ no problems" if total == 0 else f"✗ {total:,} problem{'' if total == 1 else 's'}")
    for code, count in problems["counts"].items():
        print(f"  {code} ({count:,}): {MEANINGS[code]}")
    for one in problems["first"][:20]:
        where = f"record {one['sequence']}: " if "sequence" in one else ""
        # Who wrote the records chose the words, which must not steer a terminal.
        print(f"    {where}{escaped(one['message'])}")
    for title, counts in (("checked", result["checked"]), ("not checked", result["not_checked"])):
        if counts:
            print(f"{title}:")
        for what, count in counts.items():
            print(f"  {count:,} {what}" if title == "checked" else f"  {escaped(what)} ({count:,})")


def main(arguments: Optional[List[str]] = None) -> int:
    options = _arguments(sys.argv[1:] if arguments is None else arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    try:
        result = verify(options)
    except UsageError as reason:
        print(f"error: {reason}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        _print_report(result)
    return 0 if result["ok"] else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:
        os.close(2)
        sys.exit(1)
