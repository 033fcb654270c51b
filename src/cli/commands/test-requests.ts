// `writ test --requests`: runs an export of requests as a test suite. Each recorded request is decided on the
// facts of its record; the decision and the people asked must be the same as then.

import type { ReplayResult } from '../../analysis/replay/engine/replay-log.ts';
import type { ChangedRequest } from '../../analysis/replay/engine/tally.ts';
import type { VoteCounts } from '../../analysis/replay/engine/workload.ts';
import type { LogFaults } from '../../analysis/replay/log-source.ts';
import { replayLog } from '../../analysis/replay/replay-log.ts';
import { candidateOf } from '../../analysis/replay/service-rules.ts';
import { escapeForTerminal } from '../../language/diagnostic/render.ts';
import { createMarks, type ExitCode, exitCodes, print, printJson } from '../output/output.ts';
import { loadWorking } from '../support/load-policies.ts';
import { showFaults, withLog } from '../support/open-log.ts';

interface RecordedTest {
  readonly file: string;
  /** The policies: a directory, or one file. */
  readonly path: string;
  readonly isJson: boolean;
}

/** Requests that are listed; of further differing requests, only the number is shown. */
const shownMax = 100;

export async function testRecorded({ file, path, isJson }: RecordedTest): Promise<ExitCode> {
  const working = await loadWorking(path);
  if (working === null) return exitCodes.wrong;
  const candidate = candidateOf(working.set, working.engine);
  return await withLog({ file, data: '', json: isJson, windowMs: 0 }, async (log) => {
    const differing: ChangedRequest[] = [];
    const result = await replayLog(log, {
      candidate,
      reading: 'as recorded',
      onChanged: (changed) => {
        if (differing.length < shownMax) differing.push(changed);
      },
    });
    const tested = { result, differing, faults: log.faults, path };
    if (isJson) printJson(toJson(tested));
    else print(toText(tested));
    if (!isJson) showFaults(log.faults);
    return isGood(tested) ? exitCodes.ok : exitCodes.wrong;
  });
}

interface TestResult {
  readonly result: ReplayResult;
  readonly differing: readonly ChangedRequest[];
  readonly faults: LogFaults;
  readonly path: string;
}

function isGood({ result, faults }: TestResult): boolean {
  return result.requests > result.withheld && differentOf(result) === 0 && faults.count === 0;
}

function differentOf({ changes }: ReplayResult): number {
  return changes.outcome + changes.asked;
}

function toText(tested: TestResult): string {
  const { result, differing, path } = tested;
  const marks = createMarks();
  const different = differentOf(result);
  const decided = result.requests - result.withheld;
  const rows = differing.map((one) => `${marks.bad('✗')} ${rowText(one)}\n`);
  const more = different - differing.length;
  const mark = isGood(tested) ? marks.good('✓') : marks.bad('✗');
  return [
    ...rows,
    more > 0 ? `  and ${more.toLocaleString('en')} more\n` : '',
    decided === 0
      ? `${mark} the file has no recorded request that can be decided again\n`
      : `${mark} ${escapeForTerminal(path)}: ${(decided - different).toLocaleString('en')} of ${decided.toLocaleString('en')} requests decided as recorded\n`,
    result.changes.rule > 0
      ? `  ${result.changes.rule.toLocaleString('en')} of these by a different rule\n`
      : '',
    result.withheld > 0
      ? `  ${result.withheld.toLocaleString('en')} cannot be repeated, because their records omit values that the payload check or rules read\n`
      : '',
  ].join('');
}

function rowText({ id, atMs, agent, action, before, now, votes: asked }: ChangedRequest): string {
  const asks = [asked.before, asked.now].map(asksText);
  const people = asks[0] === asks[1] ? '' : `, asked ${asks.map((one) => one || 'nobody').join(' → ')}`;
  const turn = `${before.outcome} by ${before.by} → ${now.outcome} by ${now.by}${people}`;
  return escapeForTerminal(`${id} ${new Date(atMs).toISOString()} ${agent} ${action}: ${turn}`);
}

function asksText(votes: VoteCounts): string {
  return [...votes]
    .map(([group, needs]) => `${needs} ${group}`)
    .toSorted()
    .join('; ');
}

function toJson(tested: TestResult): object {
  const { result, differing, faults } = tested;
  const decided = result.requests - result.withheld;
  return {
    ok: isGood(tested),
    requests: result.requests,
    same: decided - differentOf(result),
    different: differentOf(result),
    by_another_rule: result.changes.rule,
    withheld: result.withheld,
    unread: { count: faults.count, first: faults.named },
    differing: differing.map(({ id, atMs, agent, action, before, now, votes: asked }) => ({
      request_id: id,
      at: new Date(atMs).toISOString(),
      agent,
      action,
      before: { ...before, asks: Object.fromEntries(asked.before) },
      now: { ...now, asks: Object.fromEntries(asked.now) },
    })),
  };
}
