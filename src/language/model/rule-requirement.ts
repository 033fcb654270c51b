// What an enforced rule requires of people, apart from the rule itself: whose approval counts, and for what.

import type { JsonObject } from './json.ts';
import type { Requirement, StandingScope } from './policy.ts';
import { type RequestFacts, valueAt } from './request.ts';

export type RuleRequirement = Requirement<string> & {
  /** The id of the rule, `policy/rule`. */
  readonly rule: string;
  /** SHA-256 of the condition's text, in hexadecimal: an approval holds for this condition only. */
  readonly conditionDigest: string;
};

export type ApprovalRule = Extract<RuleRequirement, { readonly kind: 'approval' }>;

/** A person who may approve, as known to the service. */
export interface PersonIdentity {
  readonly id: string;
  readonly email: string;
}

/** Whether a text is the person's id or e-mail address. */
export function isNamedBy({ id, email }: PersonIdentity, text: string): boolean {
  return text === id || text.toLowerCase() === email.toLowerCase();
}

/** The parts of a request that hold fields which name people. */
export interface NamingFields {
  readonly payload: JsonObject;
  readonly request: RequestFacts;
}

/**
 * Whether a person may not approve. INVARIANT: a field that names nobody may mean anybody, so it excepts
 * everybody.
 */
export function isExcepted(
  except: readonly string[],
  request: NamingFields,
  person: PersonIdentity,
): boolean {
  return except.some((path) => {
    const text = textAt(path, request);
    return text === null || isNamedBy(person, text.trim());
  });
}

/**
 * Returns the text at a path such as `payload.asked_by.id` or `payload."asked.by"`; null when there is no
 * text.
 */
function textAt(path: string, request: NamingFields): string | null {
  const value = valueAtPath(path, request);
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}

/** Returns the value at such a path; undefined when there is none. */
function valueAtPath(path: string, request: NamingFields): unknown {
  const steps = path.match(/"(?:[^"\\]|\\.)*"|[^."]+/g) ?? [];
  return valueAt(
    request,
    steps.map((step) => (step.startsWith('"') ? (JSON.parse(step) as string) : step)),
  );
}

export type StandingValue = string | number | boolean;

/** Returns the values of a standing approval's keys, in their order; null when one of them is not known. */
export function standingValues(
  { per }: Pick<StandingScope, 'per'>,
  request: NamingFields,
): readonly StandingValue[] | null {
  const values = per.map((key) => {
    if (key === 'session') return request.request.session;
    return key === 'user' ? request.request.user?.id : valueAtPath(key, request);
  });
  return values.every((value) => isPlain(value)) ? values : null;
}

function isPlain(value: unknown): value is StandingValue {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
