// What an enforced rule asks of people, apart from the rule itself: to whom an approval counts, and for what.

import type { JsonObject } from './json.ts';
import type { Requirement } from './policy.ts';
import type { RequestFacts } from './request.ts';

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

interface Asked {
  readonly payload: JsonObject;
  readonly request: RequestFacts;
}

/** Whether a person may not approve. INVARIANT: where one of the fields names nobody, it may be anybody. */
export function isExcepted(except: readonly string[], asked: Asked, person: KnownPerson): boolean {
  return except.some((path) => {
    const text = textAt(path, asked);
    return text === null || isNamedBy(person, text.trim());
  });
}

/** At a path such as `payload.asked_by.id`; null where there is no text. */
function textAt(path: string, asked: Asked): string | null {
  const found = path.split('.').reduce<unknown>(memberOf, asked);
  return typeof found === 'string' && found.trim() !== '' ? found : null;
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}
