// The gate of a shape: facts pass it as rules see them, their texts resolved, or are refused with the reason why.

import type { Decision, PayloadIssue } from '../model/decision.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { withoutSecretTypes } from '../model/open-secrets.ts';
import type { Facts } from '../model/request.ts';
import type { Shape } from '../model/type.ts';
import { payloadIssues } from './code/payload-issues.ts';
import { resolvePayload } from './code/payload-resolve.ts';
import { invalidPayload } from './decide/gate.ts';

/** The payload as rules see it; null where it is not of the shape. */
export type PayloadCheck = (payload: Json) => JsonObject | null;

/** One for all actions of a shape. */
export interface PayloadGate {
  readonly shape: Shape;
  readonly check: PayloadCheck;
}

/** The facts as rules see them; null where the payload is not of the shape. */
export function pass({ check }: PayloadGate, facts: Facts): Facts | null {
  const payload = check(facts.payload);
  if (payload === facts.payload) return facts;
  return payload === null ? null : { ...facts, payload };
}

export function refusedBy({ shape }: PayloadGate, { payload }: Facts): Decision {
  return invalidPayload(payloadIssues(shape, payload));
}

export function issuesOf(gate: PayloadGate | undefined, payload: Json): readonly PayloadIssue[] | null {
  if (gate === undefined) return null;
  return gate.check(payload) === null ? payloadIssues(gate.shape, payload) : [];
}

/** The gate for payloads out of records. */
export function recordedGate(gate: PayloadGate): PayloadGate {
  const shape = withoutSecretTypes(gate.shape);
  const check: PayloadCheck = (payload) =>
    payloadIssues(shape, payload).length > 0 ? null : resolvePayload(shape, payload as JsonObject);
  return { shape, check };
}
