// The form of a decision, and the fixed texts and numbers in it.

import type { NamedApprover } from './policy.ts';

export const outcomes = ['ALLOW', 'ESCALATE', 'REAUTH_REQUIRED', 'DENY'] as const;
/** The outcomes of decisions, from the mildest to the strictest. */
export type Outcome = (typeof outcomes)[number];

export interface Decision {
  readonly outcome: Outcome;
  /** The id of the deciding rule, or one of the three gates. */
  readonly by: string;
  /** The policy of the deciding rule, or the gate. */
  readonly matchedPolicy: string;
  readonly reason: string;
  /**
   * Whole numbers from 0 to 100, equal unless a contribution is unknown. The upper end is the risk that is
   * reported.
   */
  readonly risk: { readonly low: number; readonly high: number };
  /** How long an ALLOW holds, in seconds; null for other outcomes. */
  readonly validForSeconds: number | null;
  /** What is still required, merged over all rules; null for ALLOW and DENY. */
  readonly requires: Requirements | null;
  /**
   * Sorted ids of the true `allow` and `risk` rules, and of the guards that are not false, satisfied guards
   * included.
   */
  readonly rules: readonly string[];
  /** The outcome if every shadow rule were enforced. */
  readonly withShadow: Outcome;
}

export interface Requirements {
  /**
   * One entry for each group, sorted by group: the largest number of people and the shortest time that any
   * rule requires.
   */
  readonly approvals: readonly ApprovalRequirement[];
  /**
   * The shortest time that any rule requires. When `withinSeconds` is null, the step-up is for this very
   * request, which is the strictest.
   */
  readonly reauth: { readonly withinSeconds: number | null } | null;
}

export interface ApprovalRequirement {
  /** A group, or the text of a choice. */
  readonly group: string;
  /** Who may approve, any of them, when it is not one declared group; absent for a group. */
  readonly anyOf?: readonly ResolvedApprover[];
  /** Who may approve as well once the request has been pending for so long, in order; absent when nobody. */
  readonly fallbacks?: readonly ResolvedFallback[];
  readonly needs: number;
  readonly withinSeconds: number;
  /** The fields that name people who may not approve, sorted; absent when nobody is excepted. */
  readonly except?: readonly string[];
}

export interface ResolvedFallback {
  readonly afterSeconds: number;
  readonly anyOf: readonly ResolvedApprover[];
}

/**
 * An approver of a choice; `from` is the expression that names it. INVARIANT: for an unknown approver nobody
 * can approve.
 */
export type ResolvedApprover =
  | { readonly group: string; readonly from?: string }
  /** The address or the id of a person. */
  | { readonly person: string; readonly from: string }
  /** Why the approver is not known, as words without a full stop. */
  | { readonly unknown: string; readonly from: string };

/** Returns the approver that a value names; `missing` says why there is none. */
export function resolvedApprover(
  { text: from, groups }: Pick<NamedApprover, 'text' | 'groups'>,
  value: unknown,
  missing: () => string,
): ResolvedApprover {
  const name = typeof value === 'string' ? value.trim() : '';
  if (name === '') return { unknown: missing(), from };
  return groups === null ? { person: name, from } : { group: name, from };
}

/** A place in the payload that does not have the declared shape. */
export interface PayloadIssue {
  /** RFC 6901 pointer from the root of the payload. */
  readonly pointer: string;
  /** What should be at the place; never contains the value that is. */
  readonly message: string;
}

export const defaultValidForSeconds = 300;
export const payloadIssuesMax = 10;

export const gates = ['default_deny', 'invalid_payload', 'undeclared_action'] as const;
export type Gate = (typeof gates)[number];

/** Whether the request was refused before any rule was evaluated. */
export function isRefusedByGate({ by }: Pick<Decision, 'by'>): boolean {
  return by !== 'default_deny' && (gates as readonly string[]).includes(by);
}

export const defaultDenyReason = 'No policy allows this';
