# SPDX-License-Identifier: Apache-2.0
"""What the clients say to the service, written once for threads and for asyncio.

Each function is a generator of steps: a client carries a step out in its own way and sends the answer back. A question
is decided once: while no answer comes, it is sent again under the same idempotency key. INVARIANT: no answer is made
up; when none comes in time, UnreachableError is raised.
"""

import dataclasses
import hashlib
import hmac
import logging
import math
import re
import time
import urllib.parse
import uuid
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Awaitable, Callable, Dict, Generator, Iterable, Mapping, Optional, Sequence, Tuple, TypeVar, Union

from .decisions import (
    Decision,
    DeniedError,
    PendingDecision,
    PossibleAction,
    RequestStatus,
    UnreachableError,
    read_actions,
    read_decision,
    read_status,
    refusal_of_problem,
)
from .payloads import json_text, plain
from .plans import Plan, PlannedCall, read_plan
from .transport import Reply, Request, TransportError

T = TypeVar("T")

#: A text, or a function that is called for each request and returns the present text.
Source = Union[str, Callable[[], Optional[str]], None]
#: The form of W3C Trace Context, version 00.
TRACEPARENT = re.compile("[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
#: As `Source`; the function can also be a coroutine function.
AsyncSource = Union[str, Callable[[], Union[Optional[str], Awaitable[Optional[str]]]], None]

TRIES_MAX = 4
PAUSE_SECONDS = 0.1
#: The longest pause that a reply can ask for before the next try.
PAUSE_SECONDS_MAX = 5.0
#: For how long the client lets the service hold an answer; the service holds none for longer than 55 seconds.
HELD_SECONDS_MAX = 50.0
#: Between two questions about a pending request. While the service stops, it holds no answer.
POLL_SECONDS = 0.2
RESULT_BYTES_MAX = 64 * 1024
#: Where an agent signs what it sends.
SIGNED_PATHS = ("/v1/authorize", "/v1/plans")

log = logging.getLogger("writ")


KeySource = Union[str, Callable[[], str]]


@dataclass(frozen=True)
class Connection:
    url: str
    #: A key, a token, or a function that returns the present one.
    key: KeySource
    agent: Optional[str]
    signing_secret: Optional[str]
    session: AsyncSource
    on_behalf_of: AsyncSource
    wait: float
    timeout: float
    #: False for none; a text names the tool that the receipts are for.
    receipts: Union[bool, str]
    #: The key of the agent, where `key` is a delegated one: outcomes are reported and requests looked up with it.
    agent_key: Optional[str] = None
    #: The `traceparent` of the span in which the agent calls the tool.
    traceparent: Source = None


@dataclass(frozen=True)
class Ask:
    """One question for a decision. None stands for the setting of the connection."""

    action: str
    payload: Mapping[str, Any]
    idempotency_key: Optional[str] = None
    wait: Optional[float] = None
    on_behalf_of: AsyncSource = None
    session: AsyncSource = None


@dataclass(frozen=True)
class Send:
    request: Request


@dataclass(frozen=True)
class Pause:
    seconds: float


@dataclass(frozen=True)
class Call:
    """Calls a function of the program, and awaits what it returns where that is needed."""

    function: Callable[[], Any]


Step = Union[Send, Pause, Call]
Steps = Generator[Step, Any, T]


def authorize(connection: Connection, ask: Ask) -> Steps[Decision]:
    """Asks until there is a decision or the time is over. Each question comes back to the same request."""
    keyed = dataclasses.replace(ask, idempotency_key=ask.idempotency_key or str(uuid.uuid4()))
    body = json_text({"action_key": ask.action, "payload": ask.payload}).encode()
    ends_at = time.monotonic() + (connection.wait if ask.wait is None else ask.wait)
    while True:
        held = _held_until(ends_at)
        wants = ["attach", f"wait={math.ceil(held)}"]
        if connection.receipts is not False:
            wants.append("receipt" if connection.receipts is True else f"receipt={connection.receipts}")
        headers = yield from _asking_headers(connection, keyed)
        headers["Prefer"] = ", ".join(wants)
        reply = yield from _exchange(connection, "POST", "/v1/authorize", headers, body, held)
        if reply.status != 200:
            return refusal_of_problem(reply.status, reply.body)
        decision = read_decision(
            reply.body,
            url=connection.url,
            receipt=reply.headers.get("writ-receipt"),
            change=reply.headers.get("writ-change"),
            needs_receipt=connection.receipts is not False,
        )
        if not isinstance(decision, PendingDecision) or time.monotonic() >= ends_at:
            return decision
        yield Pause(max(0.0, min(POLL_SECONDS, ends_at - time.monotonic())))


@dataclass(frozen=True)
class Planning:
    """The steps of a task. None stands for the setting of the connection."""

    steps: Sequence[PlannedCall]
    goal: Optional[str] = None
    submit: bool = False
    idempotency_key: Optional[str] = None
    on_behalf_of: AsyncSource = None
    session: AsyncSource = None


def plan(connection: Connection, planning: Planning) -> Steps[Plan]:
    """What would be decided for the steps, and requests for those that need people."""
    steps = [{"action_key": action, "payload": payload} for action, payload in planning.steps]
    body = json_text({"goal": planning.goal, "submit": planning.submit, "steps": steps}).encode()
    headers = yield from _asking_headers(connection, planning)
    reply = yield from _exchange(connection, "POST", "/v1/plans", headers, body, 0)
    return _plan_of(connection, reply)


def get_plan(connection: Connection, plan_id: str) -> Steps[Optional[Plan]]:
    path = f"/v1/plans/{urllib.parse.quote(plan_id, safe='')}"
    reply = yield from _simple(_of_agent(connection), "GET", path)
    return None if reply.status == 404 else _plan_of(connection, reply)


def _plan_of(connection: Connection, reply: Reply) -> Plan:
    plan = read_plan(reply.body, connection.url) if reply.status == 200 else None
    if plan is None:
        raise DeniedError(refusal_of_problem(reply.status, reply.body))
    return plan


def _asking_headers(connection: Connection, asking: Union[Ask, Planning]) -> Steps[Dict[str, str]]:
    headers = {**_headers(connection), "Idempotency-Key": asking.idempotency_key or str(uuid.uuid4())}
    session = yield from _text_of(connection.session if asking.session is None else asking.session)
    if session is not None:
        headers["X-Agent-Session"] = header_text("the session", session)
    token = yield from _text_of(connection.on_behalf_of if asking.on_behalf_of is None else asking.on_behalf_of)
    if token is not None:
        headers["X-On-Behalf-Of"] = header_text("the token of the person", token)
    trace = _trace_of(connection.traceparent)
    if trace is not None:
        headers["traceparent"] = trace
    return headers


def _trace_of(source: Source) -> Optional[str]:
    """The `traceparent` to send. It decides nothing, so what is none, or raises, is left out."""
    try:
        text = source() if callable(source) else source
    except Exception:
        return None
    return text if isinstance(text, str) and TRACEPARENT.fullmatch(text) else None


def get_request(connection: Connection, request_id: str, wait: float) -> Steps[Optional[RequestStatus]]:
    """The state of a request, once people have decided or the time is over; None when the agent has no such request."""
    ends_at = time.monotonic() + wait
    while True:
        held = _held_until(ends_at)
        headers = {**_headers(connection), "Prefer": f"wait={math.ceil(held)}"}
        reply = yield from _exchange(connection, "GET", _path(request_id), headers, None, held)
        if reply.status == 404:
            return None
        status = read_status(reply.body) if reply.status == 200 else None
        if status is None:
            raise DeniedError(refusal_of_problem(reply.status, reply.body))
        if status.status != "pending" or time.monotonic() >= ends_at:
            return status
        yield Pause(max(0.0, min(POLL_SECONDS, ends_at - time.monotonic())))


@dataclass(frozen=True)
class Terms:
    """What a delegation passes on."""

    name: str
    actions: Sequence[str]
    until: datetime
    when: Optional[str] = None
    uses: Optional[int] = None
    session: Optional[str] = None


def delegate(connection: Connection, terms: Terms) -> Steps[Tuple[str, Connection]]:
    """The id of a new delegation, and the connection of its sub-agent."""
    if terms.until.tzinfo is None:
        raise ValueError("until needs a time zone")
    body = {
        "name": terms.name,
        "actions": list(terms.actions),
        "until": terms.until.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "when": terms.when,
        "uses": terms.uses,
        "session": terms.session,
    }
    reply = yield from _simple(connection, "POST", "/v1/delegations", body)
    if reply.status != 201:
        raise DeniedError(refusal_of_problem(reply.status, reply.body))
    delegated = dataclasses.replace(
        connection,
        key=reply.body["api_key"],
        agent_key=connection.agent_key or connection.key,
        agent=None,
        signing_secret=None,
        session=connection.session if terms.session is None else terms.session,
    )
    return reply.body["delegation"]["id"], delegated


def revoke_delegation(connection: Connection, delegation_id: str) -> Steps[None]:
    path = f"/v1/delegations/{urllib.parse.quote(delegation_id, safe='')}"
    reply = yield from _simple(_of_agent(connection), "DELETE", path)
    if reply.status != 200:
        raise DeniedError(refusal_of_problem(reply.status, reply.body))


def _of_agent(connection: Connection) -> Connection:
    """The connection of the agent itself, which answers for its sub-agents."""
    if connection.agent_key is None:
        return connection
    return dataclasses.replace(connection, key=connection.agent_key)


def withdraw(connection: Connection, request_id: str) -> Steps[None]:
    reply = yield from _simple(_of_agent(connection), "POST", f"{_path(request_id)}/withdraw")
    if reply.status != 200:
        raise DeniedError(refusal_of_problem(reply.status, reply.body))


def actions(connection: Connection, prefix: str) -> Steps[Sequence[PossibleAction]]:
    path = f"/v1/actions?prefix={urllib.parse.quote(prefix, safe='')}"
    reply = yield from _simple(_of_agent(connection), "GET", path)
    if reply.status != 200:
        raise DeniedError(refusal_of_problem(reply.status, reply.body))
    try:
        return read_actions(reply.body)
    except ValueError as error:
        raise UnreachableError(str(error)) from None


def report(
    connection: Connection, request_id: str, is_executed: bool, result: Optional[Mapping[str, Any]]
) -> Steps[None]:
    """Reports an outcome. A result that the service does not take is left out; a report that does not arrive raises
    no error, since a grant without a report ends by itself.
    """
    try:
        body = _outcome(request_id, is_executed, result)
        path = f"{_path(request_id)}/outcome"
        reply = yield from _simple(_of_agent(connection), "POST", path, body)
        if reply.status == 400 and "result" in body:
            _warn_of_result(request_id, _problem_text(reply.body))
            reply = yield from _simple(_of_agent(connection), "POST", path, {"executed": is_executed})
        if reply.status != 200:
            log.warning("the outcome of %s was not taken: %s", request_id, _problem_text(reply.body))
    except UnreachableError as error:
        log.warning("the outcome of %s could not be reported: %s", request_id, error)


def report_all(
    connection: Connection, outcomes: Iterable[Tuple[str, bool, Optional[Mapping[str, Any]]]]
) -> Steps[None]:
    """Reports the outcomes of up to 100 grants together, as `report` does."""
    reports = [{"request_id": one, **_outcome(one, is_executed, result)} for one, is_executed, result in outcomes]
    try:
        reply = yield from _simple(_of_agent(connection), "POST", "/v1/outcomes", {"outcomes": reports})
        items = reply.body.get("items") if isinstance(reply.body, dict) else None
        if reply.status != 200 or not isinstance(items, list):
            log.warning("%d outcomes were not taken: %s", len(reports), _problem_text(reply.body))
            return
        unfit = [one for one, item in zip(reports, items) if item.get("result") == "invalid_result"]
        for one in unfit:
            _warn_of_result(one["request_id"], "it does not have the shape that the action declares")
            del one["result"]
        if unfit:
            yield from _simple(_of_agent(connection), "POST", "/v1/outcomes", {"outcomes": unfit})
    except UnreachableError as error:
        log.warning("%d outcomes could not be reported: %s", len(reports), error)


def _exchange(
    connection: Connection, method: str, path: str, headers: Dict[str, str], body: Optional[bytes], held: float
) -> Steps[Reply]:
    """One whole answer, asked for again while none comes. Raises UnreachableError."""
    last = ""
    for tries in range(1, TRIES_MAX + 1):
        signed = dict(headers)
        if connection.signing_secret is not None and path in SIGNED_PATHS:
            # A signature is good once.
            signed["X-Service-Signature"] = _signature(connection.signing_secret, path, body or b"")
        pause = PAUSE_SECONDS * 2 ** (tries - 1)
        try:
            reply: Reply = yield Send(Request(method, path, signed, body, held + connection.timeout))
        except TransportError as error:
            last = str(error)
        else:
            if reply.status < 500 and (reply.status != 429 or tries == TRIES_MAX):
                return reply
            last = f"status {reply.status}"
            pause = _pause_of(reply, pause)
        if tries < TRIES_MAX:
            yield Pause(pause)
    raise UnreachableError(f"the service at {connection.url} cannot be reached, or does not answer: {last}")


def _simple(connection: Connection, method: str, path: str, body: Any = None) -> Steps[Reply]:
    data = None if body is None else json_text(body).encode()
    return (yield from _exchange(connection, method, path, _headers(connection), data, 0))


def _headers(connection: Connection) -> Dict[str, str]:
    headers = {"Content-Type": "application/json", **_credential(connection.key)}
    if connection.agent is not None:
        headers["X-Writ-Agent"] = connection.agent
    return headers


def _credential(key: KeySource) -> Dict[str, str]:
    text = header_text("the token", key()) if callable(key) else key
    # A token is a JWT: three parts with dots in between. No key has a dot.
    return {"Authorization": f"Bearer {text}"} if text.count(".") == 2 else {"X-Agent-API-Key": text}


def _text_of(source: AsyncSource) -> Steps[Optional[str]]:
    if callable(source):
        text: Optional[str] = yield Call(source)
        return text
    return source


def header_text(what: str, text: str) -> str:
    """Returns a text for a header. Raises ValueError if a header cannot hold it."""
    if not isinstance(text, str) or not text or not all(" " <= letter <= "~" for letter in text):
        raise ValueError(f"{what} must be a text of ASCII letters, digits and signs: {text!r}")
    return text


def _held_until(ends_at: float) -> float:
    return max(0.0, min(ends_at - time.monotonic(), HELD_SECONDS_MAX))


def _pause_of(reply: Reply, usual: float) -> float:
    try:
        seconds = float(reply.headers.get("retry-after", ""))
    except ValueError:
        return usual
    return min(seconds, PAUSE_SECONDS_MAX) if seconds >= 0 else usual


def _signature(secret: str, path: str, body: bytes) -> str:
    """HMAC-SHA256 over time, nonce, path and body."""
    at, nonce = int(time.time()), str(uuid.uuid4())
    signed = f"v1:{at}:{nonce}:POST:{path}:".encode() + body
    return f"t={at},n={nonce},v1={hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()}"


def _path(request_id: str) -> str:
    return f"/v1/requests/{urllib.parse.quote(request_id, safe='')}"


def _outcome(request_id: str, is_executed: bool, result: Optional[Mapping[str, Any]]) -> Dict[str, Any]:
    """The body of a report. A result that JSON cannot hold, or that is too large, is left out."""
    body: Dict[str, Any] = {"executed": is_executed}
    if result is None:
        return body
    try:
        plain_result = plain(dict(result))
        size = len(json_text(plain_result))
    except (TypeError, ValueError) as error:
        _warn_of_result(request_id, str(error))
        return body
    if size > RESULT_BYTES_MAX:
        _warn_of_result(request_id, f"it has {size} bytes, and may have {RESULT_BYTES_MAX}")
        return body
    return {**body, "result": plain_result}


def _warn_of_result(request_id: str, why: str) -> None:
    log.warning("the result of %s was left out of its report: %s", request_id, why)


def _problem_text(body: Any) -> str:
    """The problem with the places that the service names."""
    if not isinstance(body, dict):
        return "the answer cannot be read"
    places = [
        f"{one.get('pointer')} {one.get('detail')}" for one in body.get("errors") or [] if isinstance(one, dict)
    ]
    return "; ".join(places) or str(body.get("detail", body.get("type", "")))
