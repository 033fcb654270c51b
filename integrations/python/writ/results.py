# SPDX-License-Identifier: Apache-2.0
"""Takes from what a call returned the fields that its action declares as `result`.

A field is taken by its name from a mapping, a dataclass or an object. Three names are computed: `is_error`, `bytes`
and, for a list, `items`. What is not there is left out, and the service refuses a result that lacks a required field.
"""

import dataclasses
import json
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

from .payloads import plain

#: Makes the result to report from what the call returned; from the list of what it yielded, for a generator.
ResultFunction = Callable[[Any], Optional[Mapping[str, Any]]]

_absent = object()


@dataclasses.dataclass(frozen=True)
class Failed:
    """In place of what a call returned: it raised an exception."""


class Yielded:
    """In place of what a call returned: what a generator yielded. Keeps the values only where they are asked for."""

    def __init__(self, keeps_values: bool) -> None:
        self.values: Optional[List[Any]] = [] if keeps_values else None
        self.count = 0
        self.bytes = 0

    def add(self, value: Any) -> None:
        self.count += 1
        self.bytes += _bytes_of(value) or 0
        if self.values is not None:
            self.values.append(value)


def result_of(returned: Any, fields: Sequence[str]) -> Dict[str, Any]:
    """The declared fields that there are."""
    values = {name: _field_of(returned, name) for name in fields}
    return {name: value for name, value in values.items() if value is not _absent}


def _field_of(returned: Any, name: str) -> Any:
    if name == "is_error":
        return isinstance(returned, Failed)
    if isinstance(returned, Failed):
        return _absent
    if isinstance(returned, Yielded):
        return {"items": returned.count, "bytes": returned.bytes}.get(name, _absent)
    if name == "bytes":
        size = _bytes_of(returned)
        return _absent if size is None else size
    if name == "items" and isinstance(returned, (list, tuple, set, frozenset)) and not hasattr(returned, "_fields"):
        return len(returned)
    if isinstance(returned, Mapping):
        return returned.get(name, _absent)
    value = getattr(returned, name, _absent)
    return _absent if callable(value) else value


def _bytes_of(value: Any) -> Optional[int]:
    """The size of a text in UTF-8, of bytes, and of other values as JSON; None for what JSON cannot hold."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return len(value)
    try:
        if isinstance(value, str):
            return len(value.encode())
        return len(json.dumps(plain(value), ensure_ascii=False, separators=(",", ":")).encode())
    except (TypeError, ValueError):
        return None
