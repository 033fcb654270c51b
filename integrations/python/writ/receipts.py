# SPDX-License-Identifier: Apache-2.0
"""Checks receipts in the tool that carries an action out, before it acts. Needs the package `cryptography`.

INVARIANT: a receipt is good for one action with one payload, for one audience, for a minute, and once: a memory that
may have forgotten a receipt refuses it.
"""

import base64
import hashlib
import json
import os
import re
import threading
import time
from typing import Any, Dict, Optional

from .decisions import WritError
from .payloads import payload_digest

RECEIPT_SECONDS_MAX = 60


class ReceiptError(WritError):
    """The receipt is not good, so the action must not be carried out."""


class UsedReceipts:
    """Remembers the receipts that this process has taken. Tools of several processes share another one.

    `since` is when the memory began: receipts from before are refused, since they may have been used. A memory that
    outlives the process has none (None).
    """

    since: Optional[float] = None

    def __init__(self) -> None:
        self.since = time.time()
        self._used: Dict[str, float] = {}
        # Receipts that end before this may have been forgotten, even if the clock has been set back since.
        self._forgotten = 0.0
        self._lock = threading.Lock()

    def put_if_absent(self, receipt_id: str, expires_at: float) -> bool:
        """Adds a receipt. False when it is there already, or may have been there."""
        with self._lock:
            self._forgotten = max(self._forgotten, time.time())
            self._used = {one: end for one, end in self._used.items() if end >= self._forgotten}
            if receipt_id in self._used or expires_at < self._forgotten:
                return False
            self._used[receipt_id] = expires_at
            return True


class UsedReceiptFiles(UsedReceipts):
    """A memory in a folder of its own, one small file a receipt, for all processes of a tool on one machine. It
    outlives them. Raises OSError when the folder cannot be made or written.
    """

    # Much longer than any receipt holds, in case the clock is set back.
    KEPT_SECONDS = 24 * 60 * 60
    FILES_BETWEEN_SWEEPS = 1_000

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._until_sweep = 0
        os.makedirs(folder, mode=0o700, exist_ok=True)

    def put_if_absent(self, receipt_id: str, expires_at: float) -> bool:
        name = hashlib.sha256(receipt_id.encode()).hexdigest()
        try:
            self._create(os.path.join(self._folder, name))
        except FileExistsError:
            return False
        if self._until_sweep == 0:
            self._sweep()
        self._until_sweep = self.FILES_BETWEEN_SWEEPS if self._until_sweep == 0 else self._until_sweep - 1
        return True

    def _create(self, path: str) -> None:
        file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            os.fsync(file)
        finally:
            os.close(file)
        # The name is there after a power failure only once the folder is written, too.
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _sweep(self) -> None:
        for name in os.listdir(self._folder):
            path = os.path.join(self._folder, name)
            try:
                if re.fullmatch("[0-9a-f]{64}", name) and os.stat(path).st_mtime < time.time() - self.KEPT_SECONDS:
                    os.unlink(path)
            except FileNotFoundError:
                pass  # Another process has swept it.


TOO_EARLY = (
    "it may have been used before this tool started, whose memory began then: ask for the action again, "
    "or give the tool a memory that outlives it (`used`)"
)


def verify_receipt(
    receipt: Optional[str],
    keys: Dict[str, Any],
    *,
    issuer: str,
    audience: str,
    action: str,
    payload: Any,
    used: UsedReceipts,
    leeway: float = 5,
) -> Dict[str, Any]:
    """Returns the claims of a receipt for exactly this call, and uses it up. `keys` is the service's `jwks.json`.

    `leeway` is how many seconds the clocks may differ. Raises ReceiptError.
    """
    try:
        claims = _signed_claims(receipt, keys)
        now = time.time()
        _require(claims["iss"] == issuer, "it is of another service")
        _require(claims["aud"] == audience, "it is for another tool")
        _require(isinstance(claims["jti"], str) and claims["sub"].startswith("agent:"), "it names nobody")
        _require(claims["exp"] + leeway > now, "it has expired")
        _require(-leeway <= now - claims["iat"] <= RECEIPT_SECONDS_MAX + leeway, "it is too old, or of the future")
        (what,) = claims["authorization_details"]
        _require(what["type"] == "writ_action", "it is about something else")
        _require(what["action_key"] == action, "it is for another action")
        _require(what["payload_digest"] == payload_digest(payload), "it is for another payload")
        since = getattr(used, "since", None)
        _require(since is None or claims["iat"] >= since + leeway, TOO_EARLY)
        is_first = used.put_if_absent(claims["jti"], claims["exp"] + leeway)
    except ReceiptError:
        raise
    except Exception as error:
        raise ReceiptError(f"invalid receipt: {error}") from error
    _require(is_first is True, "it has been used")
    return claims


def _require(is_met: bool, reason: str) -> None:
    if not is_met:
        raise ReceiptError(f"invalid receipt: {reason}")


def _signed_claims(receipt: Optional[str], keys: Dict[str, Any]) -> Dict[str, Any]:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    parts = receipt.split(".") if isinstance(receipt, str) else []
    _require(len(parts) == 3, "none was sent")
    head, body, signature = parts
    header = json.loads(_bytes(head))
    _require(header["alg"] == "EdDSA" and header["typ"] == "writ-receipt+jwt", "it is of another kind")
    fitting = [key for key in keys["keys"] if key["kid"] == header["kid"] and key["crv"] == "Ed25519"]
    _require(len(fitting) == 1, "its key is not known")
    public = Ed25519PublicKey.from_public_bytes(_bytes(fitting[0]["x"]))
    public.verify(_bytes(signature), f"{head}.{body}".encode())
    claims: Dict[str, Any] = json.loads(_bytes(body))
    return claims


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
