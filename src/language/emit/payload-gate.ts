// The gate of a shape. Facts with a valid payload pass, with the payload as rules see it; other requests are
// refused with a reason.

import type { Decision, PayloadIssue } from '../model/decision.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { withoutSecretTypes } from '../model/open-secrets.ts';
import type { Facts } from '../model/request.ts';
import type { Shape } from '../model/type.ts';
import { payloadIssues } from './code/payload-issues.ts';
import { resolvePayload } from './code/payload-resolve.ts';
import { invalidPayload } from './decide/gate.ts';

/** Returns the payload as rules see it; null when it does not have the shape. */
export type PayloadCheck = (payload: Json) => JsonObject | null;

/** The check of a shape, shared by all actions with that shape. */
export interface PayloadGate {
  readonly shape: Shape;
  readonly check: PayloadCheck;
}

/** Returns the facts as rules see them; null when the payload does not have the shape. */
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

/** Returns the gate for payloads from records, in which digests replace secret values. */
export function recordedGate(gate: PayloadGate): PayloadGate {
  const shape = withoutSecretTypes(gate.shape);
  const check: PayloadCheck = (payload) =>
    payloadIssues(shape, payload).length > 0 ? null : resolvePayload(shape, payload as JsonObject);
  return { shape, check };
}
