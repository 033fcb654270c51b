# SPDX-License-Identifier: Apache-2.0
"""Asks the Writ service before a tool runs, on the standard library of Python 3.9 or later.

A tool runs under a grant and under nothing else: whatever is not in every field what the service says of a grant is a
refusal, and where no answer comes nothing runs. `verify_receipt` needs the package `cryptography`.
"""

from .client import AsyncWrit, Outcome, SubAgent, Writ
from .decisions import (
    AllowedDecision,
    Decision,
    DeniedDecision,
    DeniedError,
    PendingDecision,
    PendingError,
    PossibleAction,
    RequestStatus,
    StepUpRequiredError,
    UnreachableError,
    WritError,
)
from .payloads import canonical_json, payload_digest
from .plans import Plan, PlannedCall, PlanStep
from .receipts import ReceiptError, UsedReceiptFiles, UsedReceipts, verify_receipt
from .tokens import token_file
from .version import __version__

__all__ = [
    "AllowedDecision",
    "AsyncWrit",
    "Decision",
    "DeniedDecision",
    "DeniedError",
    "Outcome",
    "PendingDecision",
    "PendingError",
    "Plan",
    "PlanStep",
    "PlannedCall",
    "PossibleAction",
    "ReceiptError",
    "RequestStatus",
    "StepUpRequiredError",
    "SubAgent",
    "UnreachableError",
    "UsedReceiptFiles",
    "UsedReceipts",
    "Writ",
    "WritError",
    "__version__",
    "canonical_json",
    "payload_digest",
    "token_file",
    "verify_receipt",
]
