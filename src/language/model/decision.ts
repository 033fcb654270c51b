// What a decision is, and the fixed parts of what it says.

export const outcomes = ['ALLOW', 'ESCALATE', 'REAUTH_REQUIRED', 'DENY'] as const;
/** What a decision may be, from the mildest to the strictest. */
export type Outcome = (typeof outcomes)[number];

export interface Decision {
  readonly outcome: Outcome;
  /** Id of the deciding rule, or one of the three gates. */
  readonly by: string;
  /** The deciding rule's policy, or the gate. */
  readonly matchedPolicy: string;
  readonly reason: string;
  /** Whole numbers from 0 to 100; equal unless a contribution is unknown. The upper end is what is reported. */
  readonly risk: { readonly low: number; readonly high: number };
  /** How long an ALLOW holds, in seconds; null for the others. */
  readonly validForSeconds: number | null;
  /** What is still asked for, merged; null for ALLOW and DENY. */
  readonly requires: Requirements | null;
  /** Ids of the true `allow` and `risk` rules and of the guards that are not false, satisfied ones too; sorted. */
  readonly rules: readonly string[];
  /** What would have come with every shadow rule enforced. */
  readonly withShadow: Outcome;
}

export interface Requirements {
  /** One entry a group, sorted by group: the most people, the shortest time. */
  readonly approvals: readonly ApprovalRequirement[];
  /** The shortest time; `withinSeconds` null is a step-up for this very request, the strictest. */
  readonly reauth: { readonly withinSeconds: number | null } | null;
}

export interface ApprovalRequirement {
  readonly group: string;
  readonly needs: number;
  readonly withinSeconds: number;
  /** Who may not approve: the fields that name them, sorted; absent where nobody is left out. */
  readonly except?: readonly string[];
}

/** A place in the payload that is not of the declared shape. */
export interface PayloadIssue {
  /** RFC 6901, from the payload's root. */
  readonly pointer: string;
  /** What should be there; never the value that is. */
  readonly message: string;
}

export const defaultValidForSeconds = 300;
export const payloadIssuesMax = 10;

export const gates = ['default_deny', 'invalid_payload', 'undeclared_action'] as const;
export type Gate = (typeof gates)[number];

/** Whether the request was refused before any rule was asked. */
export function isRefusedByGate({ by }: Pick<Decision, 'by'>): boolean {
  return by !== 'default_deny' && (gates as readonly string[]).includes(by);
}

export const defaultDenyReason = 'No policy allows this';
