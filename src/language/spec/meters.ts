// What meters mean: what one request adds to each, and a reading as a walk over all entries. Nothing here is fast; the
// generated functions and the book of running totals are held equal to it.

import { type Contribution, isAnew, startsAnew } from '../model/metering.ts';
import type { Meter, MeterKey, PolicySet } from '../model/policy.ts';
import type { Facts, Reading } from '../model/request.ts';
import { type Unknown, unknown, type Value } from '../model/value.ts';
import { add, type Decimal, fromNumber, zero } from '../value/decimal.ts';
import { type DistinctValue, distinctText, distinctTexts } from '../value/distinct-text.ts';
import { grantCountsAt } from '../value/meter-window.ts';
import { type EvaluationScope, evaluate, evaluateCondition } from './evaluate.ts';
import { resolveFacts } from './payload.ts';
import { isInterval, isMoney } from './quantity.ts';
import { readField } from './read.ts';

/** What a request is to one meter. */
export interface MeterShare {
  /** For which agent, owner, session, user or value it counts; null where that is not known. */
  readonly key: string | null;
  /** Null where the meter does not count the request. */
  readonly contribution: Contribution | null;
}

/** What a request adds to a meter; its payload has the shape of its action. */
export function meterShare(set: PolicySet, meter: Meter, asked: Facts): MeterShare {
  const facts = resolveFacts(set, asked);
  const scope: EvaluationScope = { set, facts, risk: { low: 0, high: 0 }, variables: new Map() };
  const key = distinctTexts(meter.per.map((one) => valueText(keyValue(one, scope))));
  if (meter.since.includes(facts.action)) return { key, contribution: startsAnew };
  if (!meter.actions.includes(facts.action)) return { key, contribution: null };
  const counts = meter.when === null ? true : evaluateCondition(meter.when, scope);
  if (counts === false) return { key, contribution: null };
  return { key, contribution: { isCertain: counts === true, value: addedValue(meter, scope) } };
}

function keyValue(key: MeterKey, scope: EvaluationScope): Value | Unknown {
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
  // One that is kept for each currency is read and entered under the currency of the request.
  const isOfMeter = value.currency === null || typeof currency !== 'string' || value.currency === currency;
  return isOfMeter ? value.amount : null;
}

function valueText(value: Value | Unknown): string | null {
  if (value === unknown || value === null || Array.isArray(value)) return null;
  return distinctText(value as DistinctValue);
}

/** A request that was granted or is pending, as far as one meter and one key go. */
export interface MeteredRequest {
  /** Null while pending. */
  readonly grantedAtMs: number | null;
  readonly contribution: Contribution;
}

export interface ReadingMoment {
  readonly nowMs: number;
  /** What the request that asks would add. */
  readonly current: Contribution | null;
}

type MeterTotal = Pick<Meter, 'aggregate' | 'over'> & Partial<Pick<Meter, 'readsResult'>>;

/** Where a meter stands with the request that asks; null where it is unknown. */
export function meterReading(
  { aggregate, over, readsResult = false }: MeterTotal,
  requests: readonly MeteredRequest[],
  { nowMs, current }: ReadingMoment,
): Reading | null {
  const isCounted = grantCountsAt(over, nowMs);
  const inWindow = requests.filter(({ grantedAtMs }) => grantedAtMs === null || isCounted(grantedAtMs));
  const counted = sinceRestart(inWindow);
  // What the call of the request that asks will return is not known.
  const all = current === null || isAnew(current) || readsResult ? counted : [...counted, current];
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
 * What counts of the requests in the window: what was granted before the last restart does not, what was granted in its very
 * moment may, and so may everything that was granted while a restart is pending. What is pending itself is granted later.
 */
function sinceRestart(requests: readonly MeteredRequest[]): readonly Contribution[] {
  const restarts = requests.filter(({ contribution }) => isAnew(contribution));
  const restartMs = Math.max(...restarts.map(({ grantedAtMs }) => grantedAtMs ?? Number.NEGATIVE_INFINITY));
  const isPending = restarts.some(({ grantedAtMs }) => grantedAtMs === null);
  return requests
    .filter(({ contribution }) => !isAnew(contribution))
    .filter(({ grantedAtMs }) => grantedAtMs === null || grantedAtMs >= restartMs)
    .map(({ grantedAtMs, contribution }) => {
      const isSure = grantedAtMs !== null && grantedAtMs > restartMs && !isPending;
      return isSure ? contribution : { ...contribution, isCertain: false };
    });
}
