# SPDX-License-Identifier: Apache-2.0
"""Turns a reply of the service into what the asking program may do.

INVARIANT: a reply is an `AllowedDecision` only if every field is as the service sends it for a grant; any other reply
is a refusal.
"""

import urllib.parse
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Dict, Optional, Sequence, Tuple, Union


@dataclass(frozen=True)
class AllowedDecision:
    request_id: str
    #: The action must begin before this time.
    expires_at: datetime
    #: For the tool that carries the action out; None when receipts are not asked for.
    receipt: Optional[str] = None


@dataclass(frozen=True)
class DeniedDecision:
    #: None when nothing was decided.
    request_id: Optional[str]
    reason: str
    #: The policy that decided, or a code of the service or of this client.
    policy: str
    #: The refusal in words, for a model: what has refused the call, and whether the same call can help.
    message: str
    #: A change that would pass, such as `payload.amount <= 1000 USD`, if the service tells it to this agent.
    change: Optional[str] = None


@dataclass(frozen=True)
class PendingDecision:
    request_id: str
    #: `approval` or `reauthentication`.
    waits_for: str
    until: datetime
    #: The address where people see the request.
    url: str
    #: Text for a model: who has to decide, until when, and the address.
    message: str


Decision = Union[AllowedDecision, DeniedDecision, PendingDecision]


@dataclass(frozen=True)
class RequestStatus:
    request_id: str
    #: Such as `pending`, `approved`, `rejected`, `expired`, `withdrawn` or `consumed`.
    status: str
    reason: str
    policy: str
    #: What to do now.
    message: str
    until: datetime


@dataclass(frozen=True)
class PossibleAction:
    action: str
    #: `never`, `after_approval` or `possible`.
    grant: str
    #: The fields of the result that the action declares; None when it declares no result.
    result_fields: Optional[Tuple[str, ...]] = None


class WritError(Exception):
    """Nothing ran, because there is no grant."""

    @property
    def model_text(self) -> str:
        """What to tell a model in place of the result, so that it does not take the refusal for a fault."""
        return f"Not run: there is no decision about this call ({self})."


class DeniedError(WritError):
    """The service or a person has refused the call."""

    def __init__(self, decision: DeniedDecision):
        super().__init__(decision.message)
        self.decision = decision

    @property
    def model_text(self) -> str:
        if self.decision.request_id is not None:
            return self.decision.message
        return f"Not run: there is no decision about this call ({self.decision.policy}: {self.decision.reason})."


class PendingError(WritError):
    """People have not decided yet. The same call again goes on with the same request."""

    def __init__(self, decision: PendingDecision):
        super().__init__(f"waits for {decision.waits_for} until {decision.until.isoformat()}: {decision.url}")
        self.decision = decision

    @property
    def model_text(self) -> str:
        return f"{self.decision.message} Nothing was carried out. Make the same call again to go on."


class StepUpRequiredError(PendingError):
    """The agent's control owner has to confirm their presence."""


class UnreachableError(WritError):
    """No answer came, so there is no grant."""


def grant_of(decision: Decision) -> AllowedDecision:
    """Raises the error of a decision that is no grant."""
    if isinstance(decision, PendingDecision):
        is_step_up = decision.waits_for == "reauthentication"
        raise StepUpRequiredError(decision) if is_step_up else PendingError(decision)
    if not isinstance(decision, AllowedDecision):
        raise DeniedError(decision)
    return decision


def refusal(policy: str, reason: str, request_id: Optional[str] = None) -> DeniedDecision:
    """A refusal by this client itself."""
    return DeniedDecision(request_id, reason, policy, f"Nothing was granted: {reason} ({policy}).")


def refusal_of_problem(status: int, body: Any) -> DeniedDecision:
    """An error reply (RFC 9457): nothing was granted."""
    if not isinstance(body, dict) or not isinstance(body.get("type"), str):
        return refusal("unreadable", f"the service answered with status {status}")
    detail = body.get("detail")
    return refusal(body["type"].replace("urn:writ:error:", ""), detail if isinstance(detail, str) else "")


def read_decision(
    body: Any, *, url: str, receipt: Optional[str], change: Optional[str], needs_receipt: bool
) -> Decision:
    """Reads the body of a reply with status 200. `receipt` and `change` are headers of the reply."""
    if not _is_view(body):
        return _unreadable(None)
    request_id, reason, policy = body["request_id"], body["reason"], body["matched_policy"]
    at = read_time(body["expires_at"])
    if at is None:
        return _unreadable(request_id)
    outcome = (body["decision"], body["status"])
    if outcome == ("ALLOW", "auto_approved"):
        if needs_receipt and receipt is None:
            return refusal("no_receipt", "the service has granted this and sent no receipt", request_id)
        return AllowedDecision(request_id, at, receipt if needs_receipt else None)
    if outcome == ("DENY", "rejected"):
        would_pass = None if change is None else urllib.parse.unquote(change)
        return DeniedDecision(request_id, reason, policy, body["message"], would_pass)
    if outcome in (("ESCALATE", "pending"), ("REAUTH_REQUIRED", "pending")):
        waits_for = "approval" if outcome[0] == "ESCALATE" else "reauthentication"
        page = f"{url}/requests/{urllib.parse.quote(request_id, safe='')}"
        return PendingDecision(request_id, waits_for, at, page, body["message"])
    return _unreadable(request_id)


def read_status(body: Any) -> Optional[RequestStatus]:
    """Reads the body of a reply about a request; None when it is none."""
    if not _is_view(body):
        return None
    until = read_time(body["expires_at"])
    if until is None:
        return None
    texts = (body["request_id"], body["status"], body["reason"], body["matched_policy"], body["message"])
    return RequestStatus(*texts, until)


def read_actions(body: Any) -> Sequence[PossibleAction]:
    """Reads the body of a reply about actions; an unknown grant counts as `never`. Raises ValueError."""
    items = body.get("items") if isinstance(body, dict) else None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise ValueError("the reply of the service cannot be read as a list of actions")
    return [_action_of(item) for item in items]


def _action_of(item: Dict[str, Any]) -> PossibleAction:
    grant, fields = item.get("grant"), item.get("result_fields")
    return PossibleAction(
        str(item.get("action_key")),
        grant if grant in ("possible", "after_approval") else "never",
        tuple(str(name) for name in fields) if isinstance(fields, list) else None,
    )


def _is_view(body: Any) -> bool:
    texts = ("request_id", "decision", "reason", "matched_policy", "status", "message", "expires_at")
    if not isinstance(body, dict) or not all(isinstance(body.get(name), str) for name in texts):
        return False
    score = body.get("risk_score")
    return isinstance(score, (int, float)) and not isinstance(score, bool)


def read_time(text: str) -> Optional[datetime]:
    """A time with its offset, so that it can be compared with the present time."""
    try:
        at = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    return None if at.tzinfo is None else at


def _unreadable(request_id: Optional[str]) -> DeniedDecision:
    return refusal("unreadable", "the reply of the service cannot be read as a decision", request_id)
