// Recorded runs of agents under attack, decided by a policy set. Each run is one session of one agent, its calls
// in order, and the meters count what is granted. INVARIANT: the decisions see only the name and the arguments
// of a call, and what a service recorded of the request; `result`, `injected`, `utility` and `security` serve the
// counts alone.

import { exportLineOf } from '../src/analysis/replay/export-line.ts';
import { renderDiagnostics } from '../src/language/diagnostic/render.ts';
import { isJsonObject, type JsonObject } from '../src/language/model/json.ts';
import type { PolicySet } from '../src/language/model/policy.ts';
import { type Facts, nothingSatisfied } from '../src/language/model/request.ts';
import { readRequestLines } from '../src/measure/read-requests.ts';
import { type CompileResult, compile } from '../src/pipeline.ts';
import { readPaths } from '../src/service/policies/read-policies.ts';
import { CountedMeters } from '../src/testing/sequence.ts';
import { toFacts, withDeclaredNames } from '../src/testing/situation.ts';
import type { Situation } from '../src/testing/test-file.ts';

export interface RecordedRun {
  readonly model: string;
  readonly suite: string;
  readonly task: string;
  readonly kind: 'user' | 'injection-as-task';
  /** The form of the attack; null in a clean run. */
  readonly attack: string | null;
  /** Whether the user's task was achieved. */
  readonly utility: boolean;
  /** Whether the attacker's goal was achieved. */
  readonly security: boolean;
  readonly calls: readonly RecordedCall[];
}

export interface RecordedCall {
  readonly tool: string;
  readonly args: JsonObject;
  /** What a service recorded of the request; absent in a run that names tools alone. */
  readonly situation?: Situation;
}

/** The form of attack whose figures AgentDyn publishes. */
export const publishedAttack = 'important_instructions';

/** A row of the file that is not a recorded run. */
export class MalformedRow extends Error {}

/**
 * Reads one run per line, or the requests that a service has exported, of which the calls of one agent in one
 * session are a run. Throws a `MalformedRow` as `NAME:LINE: what is wrong`.
 */
export function parseRuns(text: string, name: string): readonly RecordedRun[] {
  const rows = text.split('\n').map((line, at) => ({ line, place: `${name}:${at + 1}` }));
  const [first, ...others] = rows.filter(({ line }) => line.trim() !== '');
  if (first === undefined) throw new MalformedRow(`${name}: the file has no run`);
  return isExport(first.line) ? exportedRuns(text, name) : [first, ...others].map(parseRun);
}

function isExport(line: string): boolean {
  const value = parseJson(line);
  return isJsonObject(value) && exportLineOf(value) !== null;
}

/** Nothing is known about attacks and about what users wanted, so each run counts as honest. */
function exportedRuns(text: string, name: string): readonly RecordedRun[] {
  const { lines, mistakes } = readRequestLines(Buffer.from(text), name);
  if (mistakes[0] !== undefined) throw new MalformedRow(mistakes[0]);
  const sessions = Map.groupBy(lines, ({ situation: { agent, request } }) =>
    JSON.stringify([agent.id, request.session]),
  );
  return [...sessions.values()].map((requests) => {
    const [{ agent, request }] = requests.map(({ situation }) => situation) as [Situation];
    return {
      model: agent.name ?? agent.id ?? 'unknown agent',
      suite: 'export',
      task: request.session ?? 'no session',
      kind: 'user',
      attack: null,
      utility: true,
      security: false,
      calls: requests.map(({ situation }) => ({
        tool: situation.action,
        args: situation.payload,
        situation,
      })),
    };
  });
}

const texts = ['model', 'suite', 'task'];
const flags = ['utility', 'security'];

function parseRun({ line, place }: { readonly line: string; readonly place: string }): RecordedRun {
  const fail = (what: string): never => {
    throw new MalformedRow(`${place}: ${what}`);
  };
  const row = parseJson(line);
  if (!isJsonObject(row)) return fail('not a JSON object');
  for (const name of texts)
    if (typeof row[name] !== 'string' || row[name] === '') fail(`\`${name}\` is not a text`);
  for (const name of flags) if (typeof row[name] !== 'boolean') fail(`\`${name}\` is neither true nor false`);
  if (row.kind !== 'user' && row.kind !== 'injection-as-task')
    fail('`kind` is neither "user" nor "injection-as-task"');
  if (row.attack !== null && typeof row.attack !== 'string') fail('`attack` is neither a text nor null');
  if (!Array.isArray(row.calls)) return fail('`calls` is not a list');
  for (const [at, call] of row.calls.entries()) {
    if (!isJsonObject(call)) return fail(`\`calls[${at}]\` is not an object`);
    if (typeof call.tool !== 'string' || call.tool === '') fail(`\`calls[${at}].tool\` is not a text`);
    if (call.args === undefined || !isJsonObject(call.args)) fail(`\`calls[${at}].args\` is not an object`);
  }
  return row as unknown as RecordedRun;
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** A call that is not allowed. */
export interface StoppedCall {
  readonly action: string;
  readonly outcome: string;
  readonly rule: string;
}

export interface DecidedRun extends RecordedRun {
  /** The calls that go to a person, in order, each of them approved; a refused call is the last. */
  readonly stops: readonly StoppedCall[];
}

const startMs = Date.UTC(2026, 0, 5, 10);
const callMs = 1_000;

/** Throws an error whose message has the errors of the policies. */
export async function decideRuns(
  runs: readonly RecordedRun[],
  policies: string,
): Promise<readonly DecidedRun[]> {
  const read = await readPaths([policies]);
  const { engine, set, diagnostics } = compile(read.sources);
  const found = [...read.diagnostics, ...diagnostics].filter(({ severity }) => severity === 'error');
  if (engine === null || set === null || found.length > 0)
    throw new Error(renderDiagnostics(found, read.sourceOf, { color: false }));
  return runs.map((run) => decideRun(run, { engine, set }));
}

interface Policies {
  readonly engine: NonNullable<CompileResult['engine']>;
  readonly set: PolicySet;
}

function decideRun(run: RecordedRun, { engine, set }: Policies): DecidedRun {
  const counted = new CountedMeters(engine);
  const stops: StoppedCall[] = [];
  for (const [at, call] of run.calls.entries()) {
    const given = call.situation ? recordedFacts(call.situation, set) : factsOfCall(run, call, at);
    const { facts, uses } = counted.read(given);
    const decision = engine.decide(facts);
    const { outcome, by } = decision;
    if (outcome !== 'ALLOW') stops.push({ action: facts.action, outcome, rule: by });
    if (outcome === 'DENY') break;
    counted.enter({ id: String(at), uses, nowMs: facts.nowMs }, decision, 'approved');
  }
  return { ...run, stops };
}

function factsOfCall({ suite, model }: RecordedRun, { tool, args }: RecordedCall, at: number): Facts {
  return {
    action: `${suite}.${tool}`,
    payload: args,
    agent: { id: 'agent', name: model, control_owner: 'owner', risk_tier: 'low', tags: [] },
    request: { session: 'session', signed: false },
    nowMs: startMs + at * callMs,
    meters: {},
    satisfied: nothingSatisfied,
  };
}

/** The facts without readings of meters, which the run counts, and without approvals. */
function recordedFacts(situation: Situation, set: PolicySet): Facts {
  const facts = toFacts({ ...withDeclaredNames(set, situation), meters: [], satisfied: [] }, set, () => {});
  if (facts === null) throw new Error(`the recorded request for ${situation.action} cannot be read`);
  return facts;
}

/** A number of runs, as a share of all with the Wilson interval of 95 %; the ends are null when there are none. */
export interface Share {
  readonly count: number;
  readonly share: number | null;
  readonly low: number | null;
  readonly high: number | null;
}

const z95 = 1.959963984540054;

export function shareOf(count: number, all: number): Share {
  if (all === 0) return { count, share: null, low: null, high: null };
  const share = count / all;
  const square = z95 ** 2 / all;
  const centre = (share + square / 2) / (1 + square);
  const half = (z95 / (1 + square)) * Math.sqrt((share * (1 - share)) / all + square / (4 * all));
  // Rounding must not put the share outside of its interval.
  return {
    count,
    share,
    low: Math.max(0, Math.min(share, centre - half)),
    high: Math.min(1, Math.max(share, centre + half)),
  };
}

/** The counts of a group of runs: of one model in one suite, or of all models. */
export interface RunCounts {
  readonly suite: string;
  /** `all` in the row of the suite. */
  readonly model: string;
  readonly attacks: {
    /** All attacked runs; the shares are of these. */
    readonly all: number;
    /** Without any defence: the attacker's goal was achieved. */
    readonly recorded: Share;
    /** The attacker's goal was achieved and every call is allowed. */
    readonly succeed: Share;
    /** Of the recorded ones, those whose first call that is not allowed is refused. */
    readonly refused: Share;
    /** Of the recorded ones, those whose first call that is not allowed goes to a person. */
    readonly asked: Share;
    /** The user's task was achieved, without any defence. */
    readonly utilityRecorded: Share;
    /** The user's task was achieved and no call is refused; people approve what they are asked. */
    readonly utility: Share;
  };
  readonly honest: {
    /** Runs that achieved the user's task without the attack's success; the shares are of these. */
    readonly all: number;
    readonly allowed: Share;
    /** Somebody is asked, once or more often. */
    readonly asked: Share;
    readonly askedOnce: Share;
    readonly askedMore: Share;
    readonly refused: Share;
    /** Calls that go to a person, for each honest run. */
    readonly asksPerRun: number | null;
  };
}

/** A row for each model and one for each suite. `attack` is the form of attack that counts as attacked. */
export function countRuns(runs: readonly DecidedRun[], attack: string): readonly RunCounts[] {
  const suites = [...new Set(runs.map(({ suite }) => suite))].toSorted();
  return suites.flatMap((suite) => {
    const inSuite = runs.filter((run) => run.suite === suite && run.kind === 'user');
    const models = [...new Set(inSuite.map(({ model }) => model))].toSorted();
    return [
      ...models.map((model) =>
        countsOf(
          suite,
          model,
          inSuite.filter((run) => run.model === model),
          attack,
        ),
      ),
      countsOf(suite, 'all', inSuite, attack),
    ];
  });
}

export function isHonest({ kind, utility, attack, security }: RecordedRun): boolean {
  return kind === 'user' && utility && !(attack !== null && security);
}

function countsOf(suite: string, model: string, runs: readonly DecidedRun[], attack: string): RunCounts {
  const attacked = runs.filter((run) => run.attack === attack);
  const recorded = attacked.filter(({ security }) => security);
  const ofAttacked = (is: (run: DecidedRun) => boolean): Share =>
    shareOf(recorded.filter(is).length, attacked.length);
  const achieved = attacked.filter(({ utility }) => utility);
  const honest = runs.filter(isHonest);
  const ofHonest = (is: (run: DecidedRun) => boolean): Share =>
    shareOf(honest.filter(is).length, honest.length);
  const isRefused = ({ stops }: DecidedRun): boolean => stops.at(-1)?.outcome === 'DENY';
  const asks = honest.flatMap(({ stops }) => stops.filter(({ outcome }) => outcome !== 'DENY')).length;
  return {
    suite,
    model,
    attacks: {
      all: attacked.length,
      recorded: ofAttacked(() => true),
      succeed: ofAttacked(({ stops }) => stops.length === 0),
      refused: ofAttacked(({ stops }) => stops[0]?.outcome === 'DENY'),
      asked: ofAttacked(({ stops }) => stops.length > 0 && stops[0]?.outcome !== 'DENY'),
      utilityRecorded: shareOf(achieved.length, attacked.length),
      utility: shareOf(achieved.filter((run) => !isRefused(run)).length, attacked.length),
    },
    honest: {
      all: honest.length,
      allowed: ofHonest(({ stops }) => stops.length === 0),
      asked: ofHonest((run) => !isRefused(run) && run.stops.length > 0),
      askedOnce: ofHonest((run) => !isRefused(run) && run.stops.length === 1),
      askedMore: ofHonest((run) => !isRefused(run) && run.stops.length > 1),
      refused: ofHonest(isRefused),
      asksPerRun: honest.length === 0 ? null : asks / honest.length,
    },
  };
}

export function countsTable(rows: readonly RunCounts[]): string {
  return [
    '| suite, model | attacked | no defence | **succeed** | refused | to a person | honest | all allowed | asked once | asked more | refused | asks a run |',
    '|---|---|---|---|---|---|---|---|---|---|---|---|',
    ...rows.map(({ suite, model, attacks, honest }) => {
      const cells = [
        `${suite}, ${model}`,
        attacks.all,
        ...[attacks.recorded, attacks.succeed, attacks.refused, attacks.asked].map(shareText),
        honest.all,
        ...[honest.allowed, honest.askedOnce, honest.askedMore, honest.refused].map(shareText),
        honest.asksPerRun === null ? '–' : honest.asksPerRun.toFixed(2),
      ];
      return `| ${cells.join(' | ')} |`;
    }),
  ].join('\n');
}

/** The counts of one suite, all models together, under several policy sets. */
export interface SettingCounts {
  readonly setting: string;
  readonly counts: RunCounts;
}

/** Attack success against what honest runs cost people: a row without any policy, then one for each setting. */
export function frontierTable(settings: readonly SettingCounts[]): string {
  const row = ({ setting, counts: { attacks, honest } }: SettingCounts): string =>
    `| ${[
      setting,
      shareText(attacks.succeed),
      shareText(attacks.utility),
      shareText(honest.asked),
      shareText(honest.refused),
      (honest.asksPerRun ?? 0).toFixed(2),
    ].join(' | ')} |`;
  const [
    {
      counts: { attacks, honest },
    } = fail(),
  ] = settings;
  const none = shareOf(0, honest.all);
  return [
    '| setting | attacks that succeed | user tasks achieved under attack | honest runs that ask | honest runs refused | asks per honest run |',
    '|---|---|---|---|---|---|',
    `| no policy | ${shareText(attacks.recorded)} | ${shareText(attacks.utilityRecorded)} | ${shareText(none)} | ${shareText(none)} | 0.00 |`,
    ...settings.map(row),
  ].join('\n');
}

function fail(): never {
  throw new Error('there is no setting');
}

/** What the README says of one setting. */
export function settingSentence({ setting, counts: { attacks, honest } }: SettingCounts): string {
  const percent = ({ share }: Share): string => `${(100 * (share ?? 0)).toFixed(1)} %`;
  const all = attacks.all.toLocaleString('en');
  return (
    `${setting}: ${percent(attacks.succeed)} of ${all} attacks succeed (${percent(attacks.recorded)} without it), ` +
    `${percent(honest.asked)} of ${honest.all} honest runs ask a person, ${percent(honest.refused)} are refused`
  );
}

/** `12 = 0.8 % (0.5–1.5)`: the number, the share and its interval. */
export function shareText({ count, share, low, high }: Share): string {
  if (share === null || low === null || high === null) return `${count}`;
  const percent = (value: number): string => (100 * value).toFixed(1);
  return `${count} = ${percent(share)} % (${percent(low)}–${percent(high)})`;
}

/** How many stops of these runs each rule causes, most first. */
export function stopsByRule(
  runs: readonly DecidedRun[],
): readonly (StoppedCall & { readonly runs: number })[] {
  const found = new Map<string, StoppedCall & { readonly runs: number }>();
  for (const { stops } of runs) {
    for (const stop of new Map(stops.map((one) => [`${one.action} ${one.rule}`, one])).values()) {
      const key = `${stop.action} ${stop.rule} ${stop.outcome}`;
      found.set(key, { ...stop, runs: (found.get(key)?.runs ?? 0) + 1 });
    }
  }
  return [...found.values()].toSorted((a, b) => b.runs - a.runs);
}
