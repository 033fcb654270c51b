// Measures what alert rules watch: counts of the last minutes, from the statistics, and how long lasting
// states have lasted.

import type { Directory } from '../people/directory.ts';
import type { KillSwitchBoard } from '../people/kill-switches.ts';
import type { Application } from '../people/person.ts';
import type { ReadSiemStatus } from '../siem/status.ts';
import { addCell, type CellCounts, createCell, refusalsByCode } from '../statistics/cell.ts';
import type { Statistics } from '../statistics/statistics.ts';
import { floorTo, minuteMs } from '../statistics/times.ts';
import type { TransparencyLog } from '../transparency-log/transparency-log.ts';
import { allWebhooks } from '../webhooks/webhook.ts';
import { type AlertRule, alertKinds, windowMinutesMax } from './alert-rule.ts';
import type { PolicyGaps } from './policy-gaps.ts';

export interface MeasureDeps {
  readonly directory: Directory;
  readonly statistics: Pick<Statistics, 'read'>;
  readonly switches: Pick<KillSwitchBoard, 'list'>;
  /**
   * Since when the policies of the directory have not been active, in milliseconds since 1970; null when they
   * are active.
   */
  readonly staleSinceMs: () => number | null;
  readonly policyGaps: Pick<PolicyGaps, 'update'>;
  readonly logFaults: TransparencyLog['faults'];
  /** How the stream of records to a SIEM stands; null when there is none. */
  readonly siem: ReadSiemStatus | null;
}

export interface RuleReading {
  /** What was measured, in the unit of the threshold. */
  readonly value: number;
  readonly isMet: boolean;
}

export type Measure = (rule: AlertRule) => RuleReading;

/** A share of fewer decisions means nothing. */
const decisionsMin = 20;
const applicationsAtOnce = 200;

/** Measures once; the returned function then judges any number of rules. */
export async function measureNow(deps: MeasureDeps, rules: readonly AlertRule[]): Promise<Measure> {
  const nowMs = deps.directory.clock();
  const minutes = rules.some(({ kind }) => alertKinds[kind] === 'counted')
    ? await minutesOf(deps.statistics, nowMs)
    : [];
  const since = await standingSince(deps);
  return (rule) => {
    const { kind, threshold, windowMinutes } = rule;
    const fromMs = nowMs - windowMinutes * minuteMs;
    if (
      kind === 'policies_stale' ||
      kind === 'policy_gaps' ||
      kind === 'kill_switch' ||
      kind === 'applications' ||
      kind === 'webhooks_failing' ||
      kind === 'log_faults' ||
      kind === 'siem_behind' ||
      kind === 'siem_faults'
    ) {
      const value = since[kind].filter((sinceMs) => sinceMs <= fromMs).length;
      return { value, isMet: value >= threshold };
    }
    const counts = createCell(0);
    for (const { atMs, cell } of minutes) if (atMs + minuteMs > fromMs) addCell(counts, cell);
    return countedIn(counts, rule);
  };
}

function countedIn(counts: CellCounts, { kind, threshold, code }: AlertRule): RuleReading {
  if (kind === 'denials') {
    const [allow = 0, deny = 0, ...rest] = counts.decisions;
    const total = sum([allow, deny, ...rest]);
    const value = total === 0 ? 0 : Math.floor((100 * deny) / total);
    return { value, isMet: total >= decisionsMin && 100 * deny >= threshold * total };
  }
  const value = countOf(counts, kind, code);
  return { value, isMet: value >= threshold };
}

function countOf(counts: CellCounts, kind: AlertRule['kind'], code: string | null): number {
  if (kind === 'refusals') {
    const byCode = refusalsByCode(counts);
    return code === null ? sum([...byCode.values()]) : (byCode.get(code) ?? 0);
  }
  const { expiredStepUps, ended } = counts;
  return kind === 'step_ups_expired' ? expiredStepUps : ended.expired - expiredStepUps;
}

interface Minute {
  readonly atMs: number;
  readonly cell: CellCounts;
}

/** Returns the counts of all minutes that any window may reach. */
async function minutesOf(statistics: MeasureDeps['statistics'], nowMs: number): Promise<readonly Minute[]> {
  const minutes: Minute[] = [];
  const fromMs = floorTo(nowMs - windowMinutesMax.counted * minuteMs, minuteMs);
  await statistics.read({ fromMs, untilMs: nowMs + 1 }, ({ atMs, addTo }) => {
    const cell = createCell(0);
    addTo(cell);
    minutes.push({ atMs, cell });
  });
  return minutes;
}

/** Returns, by kind, since when each lasting state has lasted. */
async function standingSince(deps: MeasureDeps) {
  const { directory, switches, staleSinceMs, policyGaps, logFaults, siem } = deps;
  const stale = staleSinceMs();
  const on = await switches.list();
  const webhooks = await allWebhooks(directory);
  return {
    policies_stale: stale === null ? [] : [stale],
    policy_gaps: await policyGaps.update(),
    kill_switch: on.map(({ createdAtMs }) => createdAtMs),
    applications: (await openApplications(directory)).map(({ createdAtMs }) => createdAtMs),
    // What contradicts is not waited for.
    log_faults: (await logFaults()).map(({ sinceMs, isContradiction }) => (isContradiction ? 0 : sinceMs)),
    webhooks_failing: webhooks
      .filter(({ value }) => value.status === 'active')
      .flatMap(({ value }) => value.failingSinceMs ?? []),
    ...(await siemSince(siem, directory.clock())),
  };
}

/** How long a gap in the records of a SIEM is announced: it never closes. */
const gapShownMs = 24 * 60 * minuteMs;

/** Since when a SIEM lacks records, and since when it refuses one or has a gap. */
async function siemSince(read: MeasureDeps['siem'], nowMs: number) {
  const siem = read === null ? null : await read();
  const { lackingSinceMs = null, refused = null, gap = null } = siem ?? {};
  const gapAtMs = gap !== null && nowMs - gap.atMs < gapShownMs ? [gap.atMs] : [];
  return {
    siem_behind: lackingSinceMs === null ? [] : [lackingSinceMs],
    siem_faults: [...(refused === null ? [] : [refused.sinceMs]), ...gapAtMs],
  };
}

/** Returns the applications that wait. Reading only the latest is enough, since each is due within a day. */
async function openApplications({ applications }: Directory): Promise<readonly Application[]> {
  const latest = await applications.list({ countMax: applicationsAtOnce });
  return latest.map(({ value }) => value).filter(({ status }) => status === 'open');
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
