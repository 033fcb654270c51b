# SPDX-License-Identifier: Apache-2.0
"""A plan of steps, as a program reads it back from the service.

INVARIANT: a plan allows nothing: each step is asked for by itself when it is due.
"""

import urllib.parse
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Mapping, Optional, Sequence, Tuple

from .decisions import read_time

#: The key of an action, and its payload.
PlannedCall = Tuple[str, Mapping[str, Any]]


@dataclass(frozen=True)
class PlanStep:
    action: str
    #: What the step is about, in one line; empty when nothing short describes it.
    title: str
    #: What was decided when the plan was made: `ALLOW`, `DENY`, `ESCALATE` or `REAUTH_REQUIRED`.
    decision: str
    reason: str
    policy: str
    #: 0 to 100.
    risk: int
    #: None when nobody was asked for the step.
    request_id: Optional[str]
    #: The present status of the request; None without a request.
    status: Optional[str]


@dataclass(frozen=True)
class Plan:
    id: str
    #: The address where people see the plan.
    url: str
    #: The sum of all steps that are not denied, for each currency, such as `1,200.00 USD`.
    sums: Sequence[str]
    #: How many steps wait for people.
    pending: int
    #: When the last of its requests ends; None when nobody was asked.
    until: Optional[datetime]
    steps: Sequence[PlanStep]


def read_plan(body: Any, url: str) -> Optional[Plan]:
    """Reads the body of a reply about a plan; None when it is none."""
    try:
        until = body["expires_at"]
        return Plan(
            id=body["plan_id"],
            url=f"{url}/plans/{urllib.parse.quote(body['plan_id'], safe='')}",
            sums=tuple(body["sums"]),
            pending=body["pending"],
            until=None if until is None else read_time(until),
            steps=tuple(_step(one) for one in body["steps"]),
        )
    except (TypeError, KeyError, ValueError):
        return None


def _step(step: Mapping[str, Any]) -> PlanStep:
    return PlanStep(
        action=step["action_key"],
        title=step["title"],
        decision=step["decision"],
        reason=step["reason"],
        policy=step["matched_policy"],
        risk=step["risk_score"],
        request_id=step["request_id"],
        status=step["status"],
    )
