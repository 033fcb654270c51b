// What an enforced rule asks of people, apart from the rule itself: to whom an approval counts, and for what.

import type { Requirement } from './policy.ts';

export type AskedRule = Requirement & {
  /** `policy/rule`. */
  readonly rule: string;
  /** SHA-256 of the condition's text, in hexadecimal: an approval is given for this condition and no other. */
  readonly conditionDigest: string;
};

export type ApprovalRule = Extract<AskedRule, { readonly kind: 'approval' }>;
