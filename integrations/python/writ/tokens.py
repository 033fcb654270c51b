"""Reads the token of a workload from a file that its platform renews.

Each request gets the token that is in the file at that moment. A file that cannot be read, or has no token, is an
error, and nothing is asked.
"""

import os
from typing import Callable, Optional, Tuple


def token_file(path: Optional[str] = None) -> Callable[[], str]:
    """Returns a function with the present token of the file, by default of the one in WRIT_TOKEN_FILE.

    The file is read again when it has changed. Give the function to the client as `key`.
    """
    file = os.environ.get("WRIT_TOKEN_FILE") if path is None else path
    if not file:
        raise ValueError("give token_file a path, or set WRIT_TOKEN_FILE")
    name: str = file
    seen: Tuple[Optional[Tuple[int, int, int]], str] = (None, "")

    def read() -> str:
        nonlocal seen
        state = os.stat(name)
        changed_at = (state.st_mtime_ns, state.st_ino, state.st_size)
        if seen[0] != changed_at:
            with open(name, encoding="ascii") as source:
                token = source.read().strip()
            if not token:
                raise ValueError(f"{name} has no token")
            seen = (changed_at, token)
        return seen[1]

    return read
