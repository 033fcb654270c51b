// Turns rules into alerts. Judges all rules again and again, begins an alert when its rule is met, ends the
// alert when the rule is no longer met, and sends the messages of each change once. INVARIANT: an alert, its
// record and its messages are stored together or not at all, and of several processes that judge a rule only
// one stores them. A process may not see yet what another process counts, so an alert of counts is over only
// when no process has found its rule met for a while.

import { randomUUID } from 'node:crypto';
import type { ReadDocument } from '../store/contract/collection.ts';
import type { DocumentPut } from '../store/contract/documents.ts';
import { type Alert, alertsOf, alertsOn, alertText } from './alert.ts';
import { type AlertRule, alertKinds, allRules } from './alert-rule.ts';
import { type MeasureDeps, measureNow, type RuleReading } from './measure.ts';

export interface AlertMessages {
  /** Documents to be stored together with the alert. */
  readonly writes: readonly DocumentPut[];
  /** To be called when the alert is stored. */
  taken(): void;
}

export interface AlertWatchDeps extends MeasureDeps {
  /** Returns the messages about an alert that begins or is over. */
  readonly messagesOf: (alert: Alert) => Promise<AlertMessages>;
  /** Called when an alert has begun or is over. */
  readonly onChange: () => void;
  readonly onFailure: (error: unknown) => void;
  /** Time between two looks, in milliseconds; 10 seconds when absent. */
  readonly everyMs?: number;
}

export interface AlertWatch {
  /** Judges all rules once; runs again and again after `start`. */
  evaluate(): Promise<void>;
  start(): void;
  /** Waits for the look that is under way. */
  close(): Promise<void>;
}

const everyMsDefault = 10_000;
/** Longer than the counts of other processes take to be seen. */
const calmMs = 120_000;
const metEveryMs = 30_000;
const keptMs = 90 * 24 * 60 * 60_000;

export function watchAlerts(deps: AlertWatchDeps): AlertWatch {
  const { onFailure, everyMs = everyMsDefault } = deps;
  let timer: NodeJS.Timeout | null = null;
  let work: Promise<void> = Promise.resolve();
  let isClosed = false;

  const evaluate = (): Promise<void> => {
    work = work.then(async () => {
      if (!isClosed) await judgeAll(deps).catch(onFailure);
    });
    return work;
  };
  const schedule = (): void => {
    if (isClosed) return;
    timer = setTimeout(() => void evaluate().then(schedule), everyMs).unref();
  };
  return {
    evaluate,
    start: schedule,
    async close() {
      isClosed = true;
      clearTimeout(timer ?? undefined);
      await work;
    },
  };
}

async function judgeAll(deps: AlertWatchDeps): Promise<void> {
  const { directory } = deps;
  const rules = (await allRules(directory)).map(({ value }) => value).filter(({ isOn }) => isOn);
  const measure = await measureNow(deps, rules);
  const on = await alertsOn(directory);
  for (const rule of rules) {
    const alert = on.find(({ value }) => value.ruleId === rule.id);
    const measured = measure(rule);
    if (alert !== undefined) await goOn(deps, alert, measured);
    else if (measured.isMet) await begin(deps, rule, measured);
  }
  // Alerts of rules that are off or removed.
  const left = on.filter(({ value }) => !rules.some(({ id }) => id === value.ruleId));
  for (const alert of left) await end(deps, alert);
}

async function begin(deps: AlertWatchDeps, rule: AlertRule, { value }: RuleReading): Promise<void> {
  const nowMs = Math.trunc(deps.directory.clock());
  const { id: ruleId, isOn: _, ...asItIs } = rule;
  await change(deps, {
    version: 0,
    value: {
      ...asItIs,
      id: randomUUID(),
      ruleId,
      value,
      createdAtMs: nowMs,
      metAtMs: nowMs,
      overAtMs: null,
      endsAtMs: null,
    },
  });
}

async function goOn(deps: AlertWatchDeps, alert: ReadDocument<Alert>, { isMet }: RuleReading): Promise<void> {
  const { directory } = deps;
  const nowMs = Math.trunc(directory.clock());
  const isCounted = isLate(alert.value);
  const sinceMetMs = nowMs - alert.value.metAtMs;
  if (!isMet && sinceMetMs >= (isCounted ? calmMs : 0)) return await end(deps, alert);
  if (!isMet || !isCounted || sinceMetMs < metEveryMs) return;
  // Fails without harm when another process notes the same at the same time.
  await directory.documents.write(
    [alertsOf(directory).put({ ...alert.value, metAtMs: nowMs }, alert.version)],
    null,
  );
}

/**
 * Whether processes may see different states for a while: counts, and what each process has read from its
 * policy directory.
 */
function isLate({ kind }: Alert): boolean {
  return alertKinds[kind] === 'counted' || kind === 'policies_stale';
}

async function end(deps: AlertWatchDeps, { value, version }: ReadDocument<Alert>): Promise<void> {
  const overAtMs = Math.trunc(deps.directory.clock());
  await change(deps, { version, value: { ...value, overAtMs, endsAtMs: overAtMs + keptMs } });
}

/** Stores a change of an alert and the messages about it, unless another process has done so. */
async function change(deps: AlertWatchDeps, { value: alert, version }: ReadDocument<Alert>): Promise<void> {
  const { directory, messagesOf, onChange } = deps;
  const messages = await messagesOf(alert);
  const isOver = alert.overAtMs !== null;
  const { name, kind, value, threshold } = alert;
  const result = await directory.change([alertsOf(directory).put(alert, version), ...messages.writes], {
    who: 'system',
    what: isOver ? 'alert-over' : 'alert-began',
    subject: alert.id,
    before: null,
    after: isOver ? { name } : { name, kind, value, threshold, text: alertText(alert) },
  });
  if (result !== 'changed') return;
  messages.taken();
  onChange();
}
