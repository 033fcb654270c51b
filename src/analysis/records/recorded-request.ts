// Turns a recorded request into what is needed to decide it again: the facts of its record, and a policy set
// that accepts digests in place of secrets.

import type { Decision } from '../../language/model/decision.ts';
import type { JsonObject } from '../../language/model/json.ts';
import { withoutSecretTypes as openSecrets } from '../../language/model/open-secrets.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import type { Facts } from '../../language/model/request.ts';
import { authorize } from '../../language/spec/authorize.ts';
import { parseDecimal, zero } from '../../language/value/decimal.ts';
import type { RequestRecord } from '../../service/requests/record/record.ts';

/** The parts of a record that its decision depends on. */
export type RecordedRequest = Pick<
  RequestRecord,
  'actionKey' | 'payload' | 'agent' | 'request' | 'createdAtMs' | 'meters' | 'rows' | 'satisfied' | 'chain'
>;

/** Whether a digest replaces a secret anywhere in the payload. */
export function holdsDigests(payload: JsonObject): boolean {
  return JSON.stringify(payload).includes('{"secret":"hmac-sha256:');
}

/** The facts that the decision was made on, except that digests replace secrets. */
export function factsOfRecord(record: RecordedRequest): Facts {
  const meters = Object.entries(record.meters).flatMap(([name, reading]) => {
    if ('unknown' in reading) return [];
    const { low, high } = reading;
    return [[name, { low: parseDecimal(low) ?? zero, high: parseDecimal(high) ?? zero }]];
  });
  return {
    action: record.actionKey,
    payload: record.payload,
    agent: record.agent,
    request: record.request,
    nowMs: record.createdAtMs,
    meters: Object.fromEntries(meters),
    satisfied: record.satisfied,
    ...rowsOfRecord(record),
  };
}

/** The recorded rows of pushed tables; other rows are unknown. */
export function rowsOfRecord({
  rows,
}: {
  readonly rows?: RecordedRequest['rows'] | undefined;
}): Pick<Facts, 'rows'> {
  return rows === undefined ? {} : { rows: { given: rows, areAll: false } };
}

/**
 * The same set in which secret fields have any type, so that a digest fits in place of each secret. Only the
 * definition decides by this set.
 */
export function recordedShape(
  set: PolicySet,
  action: string,
): { readonly set: PolicySet; readonly decide: (facts: Facts) => Decision } {
  const actions = new Map(set.actions);
  const declared = actions.get(action);
  if (declared !== undefined) actions.set(action, { ...declared, shape: openSecrets(declared.shape) });
  const opened = { ...set, actions };
  return { set: opened, decide: (facts) => authorize(opened, facts) };
}
