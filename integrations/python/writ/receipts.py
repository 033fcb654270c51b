# SPDX-License-Identifier: Apache-2.0
"""Asks the Writ service before a tool runs. One file, on the standard library of Python 3.9 or later.

A tool runs under a grant and under nothing else: whatever is not in every field what the service says of a grant is a
refusal, and where no answer comes nothing runs. `verify_receipt` needs the package `cryptography`.
"""

import asyncio
import base64
import decimal
import functools
import hashlib
import hmac
import http.client
import inspect
import json
import math
import os
import re
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Callable, Optional, Union

TRIES_MAX = 4
HELD_SECONDS_MAX = 50
RECEIPT_SECONDS_MAX = 60


@dataclass(frozen=True)
class AllowedDecision:
    request_id: str
    expires_at: datetime
    receipt: Optional[str] = None


@dataclass(frozen=True)
class DeniedDecision:
    request_id: Optional[str]
    reason: str
    policy: str


@dataclass(frozen=True)
class PendingDecision:
    request_id: str
    waits_for: str
    until: datetime
    url: str


Decision = Union[AllowedDecision, DeniedDecision, PendingDecision]

# An access or ID token that the service's `users.issuer` has signed, or what yields the present one.
UserToken = Union[str, Callable[[], Optional[str]], None]


class WritError(Exception):
    """Nothing ran."""


class DeniedError(WritError):
    def __init__(self, decision: DeniedDecision):
        super().__init__(f"not permitted by {decision.policy}: {decision.reason}")
        self.decision = decision


class PendingError(WritError):
    """People have not decided yet: the same call again goes on with the same request."""

    def __init__(self, decision: PendingDecision):
        super().__init__(f"waits for {decision.waits_for} until {decision.until.isoformat()}: {decision.url}")
        self.decision = decision


class UnreachableError(WritError):
    """No answer came."""


class ReceiptError(WritError):
    """The action must not be carried out."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """No other address is ever told the key."""

    def redirect_request(self, *_args: Any) -> None:
        return None


class Writ:
    """The service at `url`, for the agent with `key`. `wait` and `timeout` are in seconds.

    With the key of an enforcement point, `agent` is the agent that it asks for, by name or id. `on_behalf_of` is the
    token of the person for whom the agent asks, or a function that yields it for each call.
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        agent: Optional[str] = None,
        signing_secret: Optional[str] = None,
        session: Optional[str] = None,
        wait: float = 50,
        timeout: float = 10,
        receipts: Union[bool, str] = False,
        on_behalf_of: UserToken = None,
    ):
        self._url = url.rstrip("/")
        self._key = key
        self._agent = agent
        self._signing_secret = signing_secret
        self._session = session
        self._wait = wait
        self._timeout = timeout
        self._receipts = receipts
        self._on_behalf_of = on_behalf_of
        self._opener = urllib.request.build_opener(_NoRedirect)

    def authorize(
        self,
        action: str,
        payload: dict,
        *,
        idempotency_key: Optional[str] = None,
        wait: Optional[float] = None,
        on_behalf_of: UserToken = None,
    ) -> Decision:
        """Asks until it is decided or the time is over; each time it comes back for the request that it has."""
        key = idempotency_key or str(uuid.uuid4())
        ends_at = time.monotonic() + (self._wait if wait is None else wait)
        while True:
            held = max(0.0, min(ends_at - time.monotonic(), HELD_SECONDS_MAX))
            decision = self._ask(action, payload, key, held, on_behalf_of or self._on_behalf_of)
            if not isinstance(decision, PendingDecision) or time.monotonic() >= ends_at:
                return decision
            time.sleep(max(0.0, min(0.2, ends_at - time.monotonic())))

    def run(self, action: str, payload: dict, work: Callable[[AllowedDecision], Any], **options: Any) -> Any:
        """Decides, runs `work` with the grant, and reports that it ran.

        Where `work` returns an awaitable, so does this, and it reports after that was awaited.
        """
        decision = _grant(self.authorize(action, payload, **options))
        try:
            result = work(decision)
        except BaseException:
            # Work that failed half-way has used the grant, too.
            self._report(decision.request_id)
            raise
        if inspect.isawaitable(result):
            return self._awaited(result, decision.request_id)
        self._report(decision.request_id)
        return result

    async def run_async(self, action: str, payload: dict, work: Callable[[AllowedDecision], Any], **options: Any) -> Any:
        """As `run`, for work that returns an awaitable. Other tasks of the event loop go on during the wait."""
        decision = _grant(await asyncio.to_thread(self.authorize, action, payload, **options))
        return await self._awaited(work(decision), decision.request_id)

    def guard(self, action: str, payload: Optional[Callable[..., dict]] = None, **options: Any) -> Callable:
        """Decorates a tool, a function or a coroutine function.

        The payload is its keyword arguments unless `payload` makes another one. Raises TypeError for a generator,
        which would run after its grant was reported as used.
        """

        def decorate(tool: Callable) -> Callable:
            name = getattr(tool, "__name__", repr(tool))
            forms = [tool] if inspect.isclass(tool) else [tool, getattr(tool, "__call__", None)]
            if any(inspect.isgeneratorfunction(form) or inspect.isasyncgenfunction(form) for form in forms):
                raise TypeError(f"{name} is a generator: guard the function that consumes it")

            def payload_of(args: tuple, named: dict) -> dict:
                if payload is not None:
                    return payload(*args, **named)
                if args:
                    raise TypeError(f"call {name} with keyword arguments, or say how its payload is made")
                return named

            if any(inspect.iscoroutinefunction(form) for form in forms):

                @functools.wraps(tool)
                async def guarded_async(*args: Any, **named: Any) -> Any:
                    asked = payload_of(args, named)
                    return await self.run_async(action, asked, lambda _grant: tool(*args, **named), **options)

                return guarded_async

            @functools.wraps(tool)
            def guarded(*args: Any, **named: Any) -> Any:
                return self.run(action, payload_of(args, named), lambda _grant: tool(*args, **named), **options)

            return guarded

        return decorate

    def withdraw(self, request_id: str) -> None:
        """Gives up a wait."""
        path = f"/v1/requests/{urllib.parse.quote(request_id, safe='')}/withdraw"
        status, _headers, body = self._exchange("POST", path, None, {}, 0)
        if status != 200:
            raise DeniedError(_problem(status, body))

    def _ask(self, action: str, payload: dict, key: str, held: float, user: UserToken) -> Decision:
        wants = ["attach", f"wait={math.ceil(held)}"]
        if self._receipts is not False:
            wants.append("receipt" if self._receipts is True else f"receipt={self._receipts}")
        headers = {"Idempotency-Key": key, "Prefer": ", ".join(wants)}
        token = user() if callable(user) else user
        if token is not None:
            headers["X-On-Behalf-Of"] = token
        body = {"action_key": action, "payload": payload}
        status, sent, answer = self._exchange("POST", "/v1/authorize", body, headers, held)
        if status != 200:
            return _problem(status, answer)
        return self._read(answer, sent.get("Writ-Receipt"))

    def _read(self, body: Any, receipt: Optional[str]) -> Decision:
        texts = ("request_id", "decision", "reason", "matched_policy", "status", "message", "expires_at")
        if not isinstance(body, dict) or not all(isinstance(body.get(name), str) for name in texts):
            return _unreadable(None)
        request_id = body["request_id"]
        try:
            at = datetime.fromisoformat(body["expires_at"].replace("Z", "+00:00"))
        except ValueError:
            return _unreadable(request_id)
        said = (body["decision"], body["status"])
        if said == ("ALLOW", "auto_approved"):
            if self._receipts is not False and receipt is None:
                return DeniedDecision(request_id, "the service has granted this and sent no receipt", "no_receipt")
            return AllowedDecision(request_id, at, receipt if self._receipts is not False else None)
        if said == ("DENY", "rejected"):
            return DeniedDecision(request_id, body["reason"], body["matched_policy"])
        if said in (("ESCALATE", "pending"), ("REAUTH_REQUIRED", "pending")):
            what = "approval" if said[0] == "ESCALATE" else "reauthentication"
            url = f"{self._url}/requests/{urllib.parse.quote(request_id, safe='')}"
            return PendingDecision(request_id, what, at, url)
        return _unreadable(request_id)

    async def _awaited(self, result: Any, request_id: str) -> Any:
        try:
            return await result
        finally:
            # A task that is cancelled has used the grant, too.
            await asyncio.shield(asyncio.to_thread(self._report, request_id))

    def _report(self, request_id: str) -> None:
        path = f"/v1/requests/{urllib.parse.quote(request_id, safe='')}/outcome"
        try:
            self._exchange("POST", path, {"executed": True}, {}, 0)
        except WritError:
            pass  # What has run has run, and the grant ends by itself.

    def _exchange(self, method: str, path: str, body: Optional[dict], headers: dict, held: float) -> tuple:
        """One whole answer, asked for again while none comes. Raises UnreachableError."""
        data = None if body is None else json.dumps(body, allow_nan=False, default=_plain).encode()
        every = {"Content-Type": "application/json", "X-Agent-API-Key": self._key}
        if self._agent is not None:
            every["X-Writ-Agent"] = self._agent
        if self._session is not None:
            every["X-Agent-Session"] = self._session
        last: Any = None
        for tries in range(1, TRIES_MAX + 1):
            request = urllib.request.Request(
                self._url + path, data=data, method=method, headers={**every, **headers}
            )
            if self._signing_secret is not None and path == "/v1/authorize":
                # A signature is good once.
                request.add_header("X-Service-Signature", _signature(self._signing_secret, data or b""))
            pause = 0.1 * 2 ** (tries - 1)
            try:
                status, sent, answer = self._once(request, held)
                if status < 500 and (status != 429 or tries == TRIES_MAX):
                    return status, sent, answer
                last = status
                pause = min(float(sent.get("Retry-After") or pause), 5.0)
            except (OSError, http.client.HTTPException, ValueError) as error:
                last = error
            if tries < TRIES_MAX:
                time.sleep(pause)
        raise UnreachableError(f"the service at {self._url} cannot be reached, or does not answer: {last}")

    def _once(self, request: urllib.request.Request, held: float) -> tuple:
        try:
            with self._opener.open(request, timeout=held + self._timeout) as reply:
                return reply.status, reply.headers, _json(reply.read())
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers, _json(error.read())


def _grant(decision: Decision) -> AllowedDecision:
    if isinstance(decision, PendingDecision):
        raise PendingError(decision)
    if not isinstance(decision, AllowedDecision):
        raise DeniedError(decision)
    return decision


def _plain(value: Any) -> Union[int, float]:
    """A Decimal as the number that JSON has. Raises TypeError for other types, ValueError where digits are lost."""
    if not isinstance(value, decimal.Decimal):
        raise TypeError(f"JSON has no {type(value).__name__}")
    number = _double(value)
    return int(number) if number.is_integer() else number


def _double(value: Union[int, decimal.Decimal]) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError("JSON has no such number")
    if decimal.Decimal(repr(number)) != value:
        raise ValueError(f"a double would change the number {value}")
    return number


def _signature(secret: str, body: bytes) -> str:
    at, nonce = int(time.time()), str(uuid.uuid4())
    signed = f"v1:{at}:{nonce}:POST:/v1/authorize:".encode() + body
    return f"t={at},n={nonce},v1={hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()}"


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return None


def _unreadable(request_id: Optional[str]) -> DeniedDecision:
    return DeniedDecision(request_id, "the reply of the service cannot be read as a decision", "unreadable")


def _problem(status: int, body: Any) -> DeniedDecision:
    """An error reply: nothing was granted."""
    if not isinstance(body, dict) or not isinstance(body.get("type"), str):
        return DeniedDecision(None, f"the service answered with status {status}", "unreadable")
    return DeniedDecision(None, str(body.get("detail", "")), body["type"].replace("urn:writ:error:", ""))


class UsedReceipts:
    """Remembers the receipts that this process has taken. Tools of several processes share another one.

    `since` is when the memory began: receipts from before are refused, since they may have been used. A memory that
    outlives the process has none (None).
    """

    since: Optional[float] = None

    def __init__(self) -> None:
        self.since = time.time()
        self._used: dict = {}
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
    keys: dict,
    *,
    issuer: str,
    audience: str,
    action: str,
    payload: Any,
    used: UsedReceipts,
    leeway: float = 5,
) -> dict:
    """The claims of a receipt that is good for just this, which is used by that. `keys` is the service's `jwks.json`."""
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
        raise ReceiptError(f"no good receipt: {error}") from error
    _require(is_first is True, "it has been used")
    return claims


def _require(is_met: bool, reason: str) -> None:
    if not is_met:
        raise ReceiptError(f"no good receipt: {reason}")


def _signed_claims(receipt: Optional[str], keys: dict) -> dict:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    _require(isinstance(receipt, str) and receipt.count(".") == 2, "none was sent")
    head, body, signature = receipt.split(".")
    header = json.loads(_bytes(head))
    _require(header["alg"] == "EdDSA" and header["typ"] == "writ-receipt+jwt", "it is of another kind")
    fitting = [key for key in keys["keys"] if key["kid"] == header["kid"] and key["crv"] == "Ed25519"]
    _require(len(fitting) == 1, "its key is not known")
    public = Ed25519PublicKey.from_public_bytes(_bytes(fitting[0]["x"]))
    public.verify(_bytes(signature), f"{head}.{body}".encode())
    return json.loads(_bytes(body))


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def payload_digest(payload: Any) -> str:
    """`sha-256:` and base64url of SHA-256 over the canonical JSON (RFC 8785)."""
    digest = hashlib.sha256(canonical_json(payload).encode()).digest()
    return "sha-256:" + base64.urlsafe_b64encode(digest).decode().rstrip("=")


def canonical_json(value: Any) -> str:
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(f"{_text(name)}:{canonical_json(value[name])}" for name in names) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(canonical_json(one) for one in value) + "]"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, (int, decimal.Decimal)):
        return _number(_double(value))
    raise TypeError(f"JSON has no {type(value).__name__}")


def _text(text: str) -> str:
    text.encode()  # Raises where a surrogate stands alone.
    # json.dumps writes the short escapes that the standard asks for, and DEL as it is.
    return json.dumps(text, ensure_ascii=False)


def _number(number: float) -> str:
    """As ECMAScript writes it."""
    if not math.isfinite(number):
        raise ValueError("JSON has no such number")
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
