// The numbers of an overview and the hits, counted one by one from the chain of records.

import type { Decision, Outcome } from '../../../src/language/model/decision.ts';
import { type TracedRule, tracedRules } from '../../../src/language/model/trace.ts';
import { decisionRecord } from '../../../src/service/requests/record/record.ts';
import { type Overview, type OverviewRange, readOverview } from '../../../src/service/statistics/overview.ts';
import type { Hits, Statistics } from '../../../src/service/statistics/statistics.ts';
import type { ChainEntry } from '../../../src/service/store/contract/chain.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';

export async function recordsOf({ chain }: Store): Promise<readonly ChainEntry[]> {
  const entries: ChainEntry[] = [];
  for (let after = 0; ; ) {
    const { records, lastSequence } = await chain.segment(after, 500);
    entries.push(...records.map(({ entry }) => entry));
    after += 500;
    if (after >= lastSequence) return entries;
  }
}

interface Recorded {
  readonly atMs: number;
  readonly decision: Decision;
  readonly trace: readonly TracedRule[];
  readonly decideMicroseconds: number;
}

function requestsOf(entries: readonly ChainEntry[]): readonly Recorded[] {
  return entries
    .filter(({ kind }) => kind === 'request')
    .map((entry) => {
      const { decision, trace, timing } = decisionRecord(String(entry.record_json));
      return { atMs: Number(entry.created_ms), decision, trace: tracedRules(trace), ...timing };
    });
}

const names = [
  ['allow', 'ALLOW'],
  ['deny', 'DENY'],
  ['escalate', 'ESCALATE'],
  ['reauth', 'REAUTH_REQUIRED'],
] as const;

function outcomesOf(requests: readonly Recorded[]) {
  const count = (outcome: Outcome) => requests.filter(({ decision }) => decision.outcome === outcome).length;
  return Object.fromEntries(names.map(([name, outcome]) => [name, count(outcome)]));
}

/** The overview without quantiles, which `isNear` compares with the exact ones. */
function naiveOverview(entries: readonly ChainEntry[], { fromMs, untilMs, bucketMs }: OverviewRange) {
  const isIn = (atMs: number, from = fromMs, until = untilMs) => atMs >= from && atMs < until;
  const all = requestsOf(entries);
  const requests = all.filter(({ atMs }) => isIn(atMs));
  const refusals = entries.filter(({ kind, at_ms }) => kind === 'refusal' && isIn(Number(at_ms)));
  const ends = entries.filter(
    ({ kind, at_ms, what, status }) =>
      kind === 'event' &&
      isIn(Number(at_ms)) &&
      (what === 'expired' || ((what === 'decided' || what === 'rejected') && status !== 'pending')),
  );
  const became = (status: string) => ends.filter((end) => end.status === status);
  const bucketOf = (at: number) => {
    const end = Math.min(at + bucketMs, untilMs);
    const refused = refusals.filter(({ at_ms }) => isIn(Number(at_ms), at, end)).length;
    return { atMs: at, ...outcomesOf(requests.filter(({ atMs }) => isIn(atMs, at, end))), refused };
  };
  const places: number[] = [];
  for (let at = fromMs; at < untilMs; at += bucketMs) places.push(at);
  const createdOf = new Map(
    entries.filter(({ kind }) => kind === 'request').map(({ id, created_ms }) => [id, Number(created_ms)]),
  );
  const stepUps = new Set(
    entries
      .filter(({ kind, outcome }) => kind === 'request' && outcome === 'REAUTH_REQUIRED')
      .map(({ id }) => String(id)),
  );
  const policies = Map.groupBy(requests, ({ decision }) =>
    decision.by.includes('/') ? decision.matchedPolicy : null,
  );
  return {
    total: requests.length + refusals.length,
    buckets: places.map(bucketOf),
    latency: places.map((at) =>
      requests
        .filter(({ atMs }) => isIn(atMs, at, at + bucketMs))
        .map(({ decideMicroseconds }) => decideMicroseconds)
        .toSorted((a, b) => a - b),
    ),
    policies: new Map([...policies].map(([name, own]) => [name, outcomesOf(own)])),
    risk: Array.from({ length: 10 }, (_, step) => ({
      from: step * 10,
      to: step === 9 ? 100 : step * 10 + 9,
      count: requests.filter(({ decision }) => Math.min(9, Math.floor(decision.risk.high / 10)) === step)
        .length,
    })),
    opened: requests.filter(({ decision }) => /^(ESC|REA)/.test(decision.outcome)).length,
    approved: became('approved').length,
    rejected: became('rejected').length,
    expired: became('expired').length,
    expiredStepUps: became('expired').filter(({ request_id }) => stepUps.has(String(request_id))).length,
    refusals: [...Map.groupBy(refusals, ({ code }) => String(code))]
      .map(([code, all]) => [code, all.length])
      .toSorted(),
    waits: became('approved')
      .map(({ at_ms, request_id }) => Number(at_ms) - (createdOf.get(String(request_id)) ?? Number.NaN))
      .toSorted((a, b) => a - b),
  };
}

/** Whether a quantile is within 1/32 of the exact one. */
function isNear(told: number | null, sorted: readonly number[], share: number): boolean {
  if (sorted.length === 0) return told === null;
  const exact = sorted[Math.max(1, Math.ceil(sorted.length * share)) - 1] ?? Number.NaN;
  return told !== null && Math.abs(told - exact) <= exact / 32;
}

/** The differences between the overview and the records, in words. */
export async function overviewFaults(
  statistics: Statistics,
  store: Store,
  range: OverviewRange,
): Promise<readonly string[]> {
  const told: Overview = await readOverview(statistics, range);
  const right = naiveOverview(await recordsOf(store), range);
  const { timeToApprove, ...counts } = told.escalations;
  const same = (name: string, a: unknown, b: unknown) =>
    JSON.stringify(a) === JSON.stringify(b)
      ? []
      : [`${name}: told ${JSON.stringify(a)}, counted ${JSON.stringify(b)}`];
  const near = (name: string, a: number | null, sorted: readonly number[], share: number) =>
    isNear(a, sorted, share) ? [] : [`${name}: told ${a} of ${sorted}`];
  return [
    ...same('total', told.total, right.total),
    ...same('buckets', told.buckets, right.buckets),
    ...same('refusals', [...told.refusals].toSorted(), right.refusals),
    ...same('risk', told.risk, right.risk),
    ...same('policies', told.policies.length, Math.min(20, right.policies.size)),
    ...told.policies.flatMap(({ name, ...outcomes }) =>
      same(String(name), outcomes, right.policies.get(name)),
    ),
    ...same('escalations', counts, {
      opened: right.opened,
      approved: right.approved,
      rejected: right.rejected,
      expired: right.expired,
      expiredStepUps: right.expiredStepUps,
    }),
    ...near('wait p50', timeToApprove.p50, right.waits, 0.5),
    ...near('wait p90', timeToApprove.p90, right.waits, 0.9),
    ...told.latency.flatMap(({ p50, p90, p99 }, at) => [
      ...near(`p50 of ${at}`, p50, right.latency[at] ?? [], 0.5),
      ...near(`p90 of ${at}`, p90, right.latency[at] ?? [], 0.9),
      ...near(`p99 of ${at}`, p99, right.latency[at] ?? [], 0.99),
    ]),
  ];
}

/** The hits in the form that `hits` returns, sorted. */
export function shownHits({ rules }: Pick<Hits, 'rules'>) {
  return [...rules]
    .map(([rule, { changes, ...hit }]) => {
      const summed = new Map<string, number>();
      for (const { from, to, count } of changes)
        summed.set(`${from} ${to}`, (summed.get(`${from} ${to}`) ?? 0) + count);
      return { rule, ...hit, changes: [...summed].toSorted() };
    })
    .toSorted((a, b) => (a.rule < b.rule ? -1 : 1));
}

export async function naiveHits(store: Store) {
  const requests = requestsOf(await recordsOf(store));
  const rules = new Set(
    requests.flatMap(({ decision, trace }) => [...decision.rules, ...trace.map(({ rule }) => rule)]),
  );
  return [...rules]
    .toSorted()
    .map((rule) => {
      const shadow = (one: Recorded) =>
        one.trace.find(
          (traced) =>
            traced.rule === rule &&
            traced.isShadow &&
            (traced.truth === 'true' ||
              (traced.truth === 'unknown' && !['allow', 'risk'].includes(traced.effect))),
        );
      const met = requests.filter((one) => one.decision.rules.includes(rule) || shadow(one) !== undefined);
      const changed = met.flatMap((one) => {
        const traced = shadow(one);
        const { outcome, withShadow } = one.decision;
        if (traced === undefined || outcome === withShadow) return [];
        const order = ['ALLOW', 'ESCALATE', 'REAUTH_REQUIRED', 'DENY'];
        const isStricter = order.indexOf(withShadow) > order.indexOf(outcome);
        const pulls = traced.points !== 0 || (traced.effect === 'allow') !== isStricter;
        return pulls ? [`${outcome} ${withShadow}`] : [];
      });
      return {
        rule,
        decided: requests.filter(({ decision }) => decision.by === rule).length,
        met: met.length,
        lastAtMs: met.length === 0 ? null : Math.max(...met.map(({ atMs }) => atMs)),
        changes: [...Map.groupBy(changed, (change) => change)]
          .map(([change, all]) => [change, all.length])
          .toSorted(),
      };
    })
    .filter(({ met }) => met > 0);
}
