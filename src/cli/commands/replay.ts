// `writ replay`: tries a policy set on recorded requests, and shows which decisions would have differed and
// what people would have been asked. The command reads the records and changes nothing.

import { closeSync, openSync, writeSync } from 'node:fs';
import type { Command } from 'commander';
import type { ReplayResult } from '../../analysis/replay/engine/replay-log.ts';
import type { ChangedRequest } from '../../analysis/replay/engine/tally.ts';
import type { VoteCounts } from '../../analysis/replay/engine/workload.ts';
import type { LogSource } from '../../analysis/replay/log-source.ts';
import { replayJson } from '../../analysis/replay/replay-json.ts';
import { replayLog, windowMsOf } from '../../analysis/replay/replay-log.ts';
import { renderReplay } from '../../analysis/replay/replay-text.ts';
import { csvCell } from '../../service/audit/export.ts';
import { createProgress } from '../bench/progress.ts';
import { fileError } from '../output/file-error.ts';
import {
  createMarks,
  type ExitCode,
  exitCodes,
  print,
  printError,
  printJson,
  UsageError,
} from '../output/output.ts';
import { showFailedSide } from '../support/load-diff-side.ts';
import { defaultPath, loadWorking } from '../support/load-policies.ts';
import { showFaults, withLog } from '../support/open-log.ts';
import { readSince } from '../support/parse-time.ts';
import { planReplay, type ReplayPlan } from '../support/plan-replay.ts';
import { filedComparison, findingsToFile } from '../support/replay-baseline.ts';

// Writes every changed request as a line of a CSV file, while the requests are found.

const cellsOf = {
  request_id: ({ id }) => id,
  at: ({ atMs }) => new Date(atMs).toISOString(),
  agent_id: ({ agentId }) => agentId ?? '',
  agent: ({ agent }) => agent,
  action: ({ action }) => action,
  before: ({ before }) => before.outcome,
  before_by: ({ before }) => before.by,
  before_asks: ({ votes: asked }) => askedText(asked.before),
  now: ({ now }) => now.outcome,
  now_by: ({ now }) => now.by,
  now_asks: ({ votes: asked }) => askedText(asked.now),
  finding: ({ finding }) => finding ?? '',
  incomplete_meters: ({ incompleteMeters }) => incompleteMeters.join('; '),
} as const satisfies Readonly<Record<string, (changed: ChangedRequest) => string>>;

export interface ChangedCsv {
  readonly write: (changed: ChangedRequest) => void;
  readonly close: () => void;
}

/** Lines in one write. */
const linesAtOnce = 500;

/** Opens the file, and replaces an existing one. Throws a UsageError when the file cannot be written. */
export function openChangedCsv(path: string): ChangedCsv {
  const file = tryOn(path, () => openSync(path, 'w'));
  let lines = [Object.keys(cellsOf).join(',')];
  const flush = (): void => {
    if (lines.length > 0) tryOn(path, () => writeSync(file, `${lines.join('\r\n')}\r\n`));
    lines = [];
  };
  return {
    write: (changed) => {
      lines.push(
        Object.values(cellsOf)
          .map((cellOf) => csvCell(cellOf(changed)))
          .join(','),
      );
      if (lines.length >= linesAtOnce) flush();
    },
    close: () => {
      flush();
      closeSync(file);
    },
  };
}

function tryOn<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new UsageError(`cannot write \`${path}\`: ${fileError(error)}`);
  }
}

function askedText(votes: VoteCounts): string {
  return [...votes].map(([group, needs]) => `${needs} ${group}`).join('; ');
}

export function defineReplayOfLog(command: Command, finish: (code: ExitCode) => void): void {
  command
    .argument('[file]', 'an export of requests (JSON Lines); without it, the records of --data')
    .option(
      '--policies <path>',
      'the policies to try: a directory, or one file (default: ./policies, else the current directory)',
    )
    .option('--data <directory>', 'the data directory of the service (default: ./var)')
    .option('--since <time>', 'requests since this time: 90d, 12h, 2w, a date or a time')
    .option('--as-recorded', 'decide each request separately, with its recorded facts')
    .option(
      '--against <policies>',
      'the policies to compare with: a directory, a file, or a revision (default: HEAD, if it decided some of the log)',
    )
    .option('--csv <file>', 'write every request with another decision or other approvers')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', examples)
    .action(async (file: string | undefined, options: Options) => {
      if (file !== undefined && options.data !== undefined)
        throw new UsageError('name a file of exported requests or a data directory with --data, not both');
      finish(await run(file ?? null, options));
    });
}

const examples = `
Examples:
  writ replay --policies policies-of-the-branch --since 90d
  writ replay --policies new.policy --data /var/lib/writ --csv changed.csv
  writ replay --policies policies --against v1.2 --since 7d
  writ audit export --since 2026-03-01 > log.jsonl && writ replay log.jsonl --policies new --json

If the policies have meters or approvals, requests are decided in their original order: meters count the grants of these
policies, and recorded votes count if the same group is asked, for no more people. With --as-recorded, meters have their
recorded readings. Changed requests are listed under the findings of \`writ diff\` between the policies that decided the log
and these. The service may be running; nothing is changed.

Exit codes: 0 even if decisions change, 1 the policies have errors, there is no store, or part of the log is unreadable,
2 wrong usage.`;

interface Options {
  readonly policies?: string;
  readonly data?: string;
  readonly since?: string;
  readonly asRecorded?: boolean;
  readonly against?: string;
  readonly csv?: string;
  readonly json?: boolean;
}

async function run(file: string | null, options: Options): Promise<ExitCode> {
  const sinceMs = options.since === undefined ? undefined : readSince(options.since, Date.now());
  const path = options.policies ?? defaultPath();
  const working = await loadWorking(path);
  if (working === null) return exitCodes.wrong;
  const tried = await planReplay(working, { ...options, sinceMs });
  if ('errors' in tried) {
    showFailedSide(tried);
    return exitCodes.wrong;
  }
  const { data = './var', json } = options;
  const windowMs = windowMsOf(tried.candidate);
  return await withLog({ file, data, json, sinceMs, windowMs }, (log) => replayFrom(log, tried, options));
}

async function replayFrom(log: LogSource, tried: ReplayPlan, { csv, json }: Options): Promise<ExitCode> {
  const result = await replayWithProgress(log, tried, csv ?? null);
  const { faults } = log;
  const { path, digest, sinceMs } = tried;
  const filed = filedComparison(tried.compared, result);
  if (json === true) printJson(replayJson(result, { path, digest, sinceMs, faults, filed }));
  else {
    print(renderReplay(result, { path, filed, marks: createMarks() }));
    if (faults.repeated > 0)
      print(`${faults.repeated.toLocaleString('en')} lines repeat a request and were not counted again\n`);
    showFaults(faults);
    if (csv !== undefined) printError(`changed requests are in ${csv}\n`);
  }
  return faults.count > 0 ? exitCodes.wrong : exitCodes.ok;
}

async function replayWithProgress(
  log: LogSource,
  { candidate, compared, reading, sinceMs }: ReplayPlan,
  csv: string | null,
): Promise<ReplayResult> {
  const progress = createProgress();
  const changed = csv === null ? null : openChangedCsv(csv);
  try {
    return await replayLog(log, {
      candidate,
      reading,
      sinceMs,
      findings: findingsToFile(compared),
      onProgress: (share) => progress.show(share, 'of the log'),
      ...(changed === null ? {} : { onChanged: changed.write }),
    });
  } finally {
    progress.end();
    changed?.close();
  }
}
