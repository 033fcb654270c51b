// What an enforced rule asks of people, apart from the rule itself: to whom an approval counts, and for what.

import type { JsonObject } from './json.ts';
import type { Requirement } from './policy.ts';
import { type RequestFacts, valueAt } from './request.ts';

export type AskedRule = Requirement & {
  /** `policy/rule`. */
  readonly rule: string;
  /** SHA-256 of the condition's text, in hexadecimal: an approval is given for this condition and no other. */
  readonly conditionDigest: string;
};

export type ApprovalRule = Extract<AskedRule, { readonly kind: 'approval' }>;

/** Somebody who may approve, as the service knows them. */
export interface KnownPerson {
  readonly id: string;
  readonly email: string;
}

/** Whether a text is the person's id or address. */
export function isNamedBy({ id, email }: KnownPerson, text: string): boolean {
  return text === id || text.toLowerCase() === email.toLowerCase();
}

/** What a request says, where fields that name people stand. */
export interface NamingFields {
  readonly payload: JsonObject;
  readonly request: RequestFacts;
}

/** Whether a person may not approve. INVARIANT: where one of the fields names nobody, it may be anybody. */
export function isExcepted(except: readonly string[], asked: NamingFields, person: KnownPerson): boolean {
  return except.some((path) => {
    const text = textAt(path, asked);
    return text === null || isNamedBy(person, text.trim());
  });
}

/** At a path such as `payload.asked_by.id` or `payload."asked.by"`; null where there is no text. */
function textAt(path: string, asked: NamingFields): string | null {
  const steps = path.match(/"(?:[^"\\]|\\.)*"|[^."]+/g) ?? [];
  const found = valueAt(
    asked,
    steps.map((step) => (step.startsWith('"') ? (JSON.parse(step) as string) : step)),
  );
  return typeof found === 'string' && found.trim() !== '' ? found : null;
}
