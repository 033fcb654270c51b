// Defines what meters mean: what one request adds to each, and a reading as a walk over all entries. Written
// without regard to speed; the generated functions and the meter totals must agree with this definition.

import { type Contribution, isMeterRestart, meterRestart } from '../model/metering.ts';
import type { Meter, MeterKey, PolicySet } from '../model/policy.ts';
import { chainOf, type Facts, type MeterReading } from '../model/request.ts';
import { type UnknownValue, unknown, type Value } from '../model/value.ts';
import { add, type Decimal, fromNumber, zero } from '../value/decimal.ts';
import { type DistinctValue, distinctText, distinctTexts } from '../value/distinct-text.ts';
import { grantCountsAt } from '../value/meter-window.ts';
import { type EvaluationScope, evaluate, evaluateCondition } from './evaluate.ts';
import { resolveFacts } from './payload.ts';
import { isInterval, isMoney } from './quantity.ts';
import { readField } from './read-path.ts';

/** What a request adds to one meter, and for which key. */
export interface MeterShare {
  /** The agent, owner, session, user or value for which the request counts; null when unknown. */
  readonly key: string | null;
  /** What the request adds; null when the meter does not count it. */
  readonly contribution: Contribution | null;
}

/** Returns what a request adds to a meter; the payload must have the shape of its action. */
export function meterShare(set: PolicySet, meter: Meter, request: Facts): MeterShare {
  const facts = resolveFacts(set, request);
  const scope: EvaluationScope = { set, facts, risk: { low: 0, high: 0 }, variables: new Map() };
  const key = distinctTexts(meter.per.map((one) => valueText(keyValue(one, scope))));
  if (meter.since.includes(facts.action)) return { key, contribution: meterRestart };
  if (!meter.actions.includes(facts.action)) return { key, contribution: null };
  const counts = meter.when === null ? true : evaluateCondition(meter.when, scope);
  if (counts === false) return { key, contribution: null };
  return { key, contribution: { isCertain: counts === true, value: addedValue(meter, scope) } };
}

function keyValue(key: MeterKey, scope: EvaluationScope): Value | UnknownValue {
  const { agent, request } = scope.facts;
  switch (key.kind) {
    case 'agent':
      return agent.id ?? unknown;
    case 'owner':
      return agent.control_owner ?? unknown;
    case 'session':
      return request.session ?? unknown;
    case 'user':
      return request.user?.id ?? unknown;
    case 'delegate':
      return chainOf(request)[0] ?? '';
    case 'payload':
      return readField(key.read, scope) ?? unknown;
  }
}

function addedValue({ aggregate, argument, currency }: Meter, scope: EvaluationScope): Contribution['value'] {
  if (argument === null) return fromNumber(1);
  const value = evaluate(argument, scope);
  if (aggregate === 'distinct') return valueText(value);
  if (value === unknown || value === null || typeof value !== 'object' || isInterval(value)) return null;
  if (!isMoney(value)) return value as Decimal;
  // A meter that is kept for each currency is read and entered under the currency of the request.
  const isOfMeter = value.currency === null || typeof currency !== 'string' || value.currency === currency;
  return isOfMeter ? value.amount : null;
}

function valueText(value: Value | UnknownValue): string | null {
  if (value === unknown || value === null || Array.isArray(value)) return null;
  return distinctText(value as DistinctValue);
}

/** A granted or pending request, as far as it concerns one meter and one key. */
export interface MeteredRequest {
  /** When the request was granted, in milliseconds since 1970; null while it is pending. */
  readonly grantedAtMs: number | null;
  readonly contribution: Contribution;
}

export interface ReadingMoment {
  readonly nowMs: number;
  /** What the request being decided would add. */
  readonly current: Contribution | null;
}

type MeterTotal = Pick<Meter, 'aggregate' | 'over'> & Partial<Pick<Meter, 'readsResult'>>;

/** Returns the reading of a meter, with the request being decided; null when the reading is unknown. */
export function meterReading(
  { aggregate, over, readsResult = false }: MeterTotal,
  requests: readonly MeteredRequest[],
  { nowMs, current }: ReadingMoment,
): MeterReading | null {
  const isCounted = grantCountsAt(over, nowMs);
  const inWindow = requests.filter(({ grantedAtMs }) => grantedAtMs === null || isCounted(grantedAtMs));
  const counted = sinceRestart(inWindow);
  // It is not known what the call of the request being decided will return.
  const all = current === null || isMeterRestart(current) || readsResult ? counted : [...counted, current];
  if (all.some(({ value }) => value === null)) return null;
  if (aggregate === 'distinct') {
    const certain = new Set(all.filter(({ isCertain }) => isCertain).map(({ value }) => value));
    return { low: fromNumber(certain.size), high: fromNumber(new Set(all.map(({ value }) => value)).size) };
  }
  let low: Decimal | null = zero;
  let high: Decimal | null = zero;
  for (const { isCertain, value } of all) {
    const amount = value as Decimal;
    if (low !== null && (isCertain || amount.coefficient < 0n)) low = add(low, amount);
    if (high !== null && (isCertain || amount.coefficient > 0n)) high = add(high, amount);
  }
  return low === null || high === null ? null : { low, high };
}

/**
 * Returns what counts of the requests in the window. Grants before the last restart do not count. Grants at
 * the very moment of the restart may count, and so may all grants while a restart is pending. Pending
 * requests may count, because they are granted later.
 */
function sinceRestart(requests: readonly MeteredRequest[]): readonly Contribution[] {
  const restarts = requests.filter(({ contribution }) => isMeterRestart(contribution));
  const restartMs = Math.max(...restarts.map(({ grantedAtMs }) => grantedAtMs ?? Number.NEGATIVE_INFINITY));
  const isPending = restarts.some(({ grantedAtMs }) => grantedAtMs === null);
  return requests
    .filter(({ contribution }) => !isMeterRestart(contribution))
    .filter(({ grantedAtMs }) => grantedAtMs === null || grantedAtMs >= restartMs)
    .map(({ grantedAtMs, contribution }) => {
      const isSure = grantedAtMs !== null && grantedAtMs > restartMs && !isPending;
      return isSure ? contribution : { ...contribution, isCertain: false };
    });
}
