// The request that a first start prints: one whose payload the active policies accept, if one can be made up.

import type { ActivePolicies } from '../../language/model/active-policies.ts';
import type { Json } from '../../language/model/json.ts';
import { sampleJson } from '../../reasoning/counterfactual/edit.ts';
import { type PrintedRequest, paymentRequest } from './welcome.ts';

/** Requests by the shipped policies, and by those that `writ init` makes. */
const known: readonly PrintedRequest[] = [
  paymentRequest,
  { action_key: 'refund.create', payload: { order: 'A-1001', amount: 20, currency: 'EUR' } },
];

/** An action whose fields have to match patterns may have none, so other actions are tried. */
export function firstRequestFor(
  policies: Pick<ActivePolicies, 'actions' | 'shapeOf' | 'checkPayload'>,
): PrintedRequest {
  const keys = [...policies.actions()];
  const made = keys.map((key) => ({ action_key: key, payload: payloadFor(policies, key) }));
  const fits = ({ action_key: key, payload }: PrintedRequest) =>
    policies.checkPayload(key, payload)?.length === 0;
  return [...known, ...made].find(fits) ?? { action_key: keys[0] ?? 'example.action', payload: {} };
}

function payloadFor({ shapeOf }: Pick<ActivePolicies, 'shapeOf'>, key: string): Json {
  const shape = shapeOf(key);
  return shape === null ? {} : sampleJson({ kind: 'record', shape });
}
