# SPDX-License-Identifier: Apache-2.0
"""Writes payloads as JSON, exactly or not at all: policies never see another value than the tool."""

import base64
import dataclasses
import decimal
import enum
import hashlib
import json
import math
import uuid
from datetime import date, datetime
from typing import Any, List, Union

DEPTH_MAX = 100
#: Up to here each whole number is a double.
WHOLE_MAX = 2**53


def json_text(value: Any) -> str:
    """The value as JSON. Raises TypeError for a type that JSON cannot hold, ValueError for such a value."""
    return json.dumps(plain(value), allow_nan=False)


def plain(value: Any, path: str = "", depth: int = 0) -> Any:
    """The value in the types of JSON.

    A Decimal becomes a number, a date, a datetime (ISO 8601) and a UUID a text, an Enum its value, a dataclass an
    object. Raises as `json_text`.
    """
    if depth > DEPTH_MAX:
        raise ValueError("the payload is nested too deeply, or contains itself")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, enum.Enum):
        return plain(value.value, path, depth + 1)
    if isinstance(value, str):
        return _whole_text(value, path)
    if isinstance(value, (int, float, decimal.Decimal)):
        return _number(value, path)
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, uuid.UUID):
        return str(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {_name(name, path): plain(one, f"{path}/{name}", depth + 1) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one, f"{path}/{index}", depth + 1) for index, one in enumerate(value)]
    raise TypeError(f"{_place(path)} has the type {type(value).__name__}, which JSON does not have")


def payload_digest(payload: Any) -> str:
    """`sha-256:` and base64url of SHA-256 over the canonical JSON (RFC 8785). Raises as `json_text`."""
    digest = hashlib.sha256(canonical_json(payload).encode()).digest()
    return "sha-256:" + base64.urlsafe_b64encode(digest).decode().rstrip("=")


def canonical_json(value: Any) -> str:
    """The value as RFC 8785 writes it. Raises as `json_text`."""
    return _canonical(plain(value))


def _canonical(value: Any) -> str:
    if isinstance(value, dict):
        names: List[str] = sorted(value, key=_utf16)
        return "{" + ",".join(f"{_canonical(name)}:{_canonical(value[name])}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_canonical(one) for one in value) + "]"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _ecmascript(float(value))
    # For texts, json.dumps writes the short escapes that the standard asks for, and DEL as it is.
    return json.dumps(value, ensure_ascii=False)


def _utf16(name: str) -> bytes:
    return name.encode("utf-16-be")


def _place(path: str) -> str:
    return path or "the payload"


def _name(name: Any, path: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"{_place(path)} has a key that is no str: {name!r}")
    return _whole_text(name, path)


def _whole_text(text: str, path: str) -> str:
    """Raises ValueError where a surrogate stands alone, which UTF-8 cannot hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{_place(path)} is no Unicode text: {text!r}") from None
    return text


def _number(value: Union[int, float, decimal.Decimal], path: str) -> Union[int, float]:
    """The number of JSON, which the service reads as a double."""
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{_place(path)} is {value}, which JSON has no number for")
    if not isinstance(value, float) and decimal.Decimal(repr(number)) != value:
        raise ValueError(f"{_place(path)} is {value}, whose digits a double cannot hold: send a text")
    is_whole = number.is_integer() and abs(number) <= WHOLE_MAX
    return int(number) if is_whole and not isinstance(value, float) else number


def _ecmascript(number: float) -> str:
    """The number as ECMAScript writes it."""
    if number == 0:
        return "0"
    sign = "-" if number < 0 else ""
    digits, _, exponent = repr(abs(number)).partition("e")
    whole, _, fraction = digits.partition(".")
    fraction = "" if fraction == "0" else fraction
    all_digits = (whole + fraction).lstrip("0")
    # The value is 0.all_digits times ten to this power.
    point = int(exponent or 0) + len(whole) - (len(whole + fraction) - len(all_digits) if whole == "0" else 0)
    all_digits = all_digits.rstrip("0")
    count = len(all_digits)
    if count <= point <= 21:
        return sign + all_digits + "0" * (point - count)
    if 0 < point <= 21:
        return sign + all_digits[:point] + "." + all_digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + all_digits
    power = point - 1
    mantissa = all_digits[0] + ("." + all_digits[1:] if count > 1 else "")
    return f"{sign}{mantissa}e{'+' if power > 0 else '-'}{abs(power)}"
