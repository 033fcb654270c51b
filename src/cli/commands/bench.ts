// `writ bench`: measures the cost of decisions on a user's own policies and requests, and shows where the
// time goes. With `--compare` it measures two sets side by side. Measuring starts only after the language's
// definition has made the same decisions.

import { readFile, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { holdsDigests } from '../../analysis/records/recorded-request.ts';
import { otherFileText } from '../../analysis/replay/unsupported-file.ts';
import { hasErrors } from '../../language/diagnostic/diagnostic.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import type { Facts } from '../../language/model/request.ts';
import { drawDistribution } from '../../measure/distribution.ts';
import { type Measurement, measure } from '../../measure/measure.ts';
import { factsOf, type RequestLine, readRequestLines } from '../../measure/read-requests.ts';
import { createProgress } from '../bench/progress.ts';
import { renderResult } from '../bench/render.ts';
import { compareSides, type Result, renderComparison, resultOf, type Side } from '../bench/result.ts';
import { fileError } from '../output/file-error.ts';
import { type ExitCode, exitCodes, print, printError, printJson, UsageError } from '../output/output.ts';
import { defaultPath, type LoadedPolicies, loadCompiled, showErrors } from '../support/load-policies.ts';

export function defineBench(command: Command, finish: (code: ExitCode) => void): void {
  command
    .option(
      '--policies <path>',
      'a policy directory, or one file (default: ./policies, else the current directory)',
    )
    .requiredOption('--requests <file>', 'the requests: one JSON object per line')
    .option('--compare <path>', 'other policies to measure with the same requests, in alternating rounds')
    .option('--plot <file>', 'write the distribution of latencies as SVG')
    .option('--rounds <n>', 'rounds; the output shows their median', readWhole('--rounds'), 5)
    .option('--duration <seconds>', 'total time of the rounds', readSeconds, 3)
    .option('--json', 'print all results as JSON')
    .addHelpText('after', examples)
    .action(async (options: Options) => {
      finish(await bench(options));
    });
}

const examples = `
Examples:
  writ bench --policies policies/payments --requests policies/payments/requests.jsonl
  writ bench --requests recorded.jsonl --duration 10 --plot latency.svg
  writ bench --policies policies --compare policies-of-the-branch --requests recorded.jsonl

The file is an export of \`writ audit export\` or of the request list. Otherwise each line is the body of
POST /v1/authorize, with agent, request, now, meters and satisfied as for \`writ decide\`:
  {"action_key": "repo.read", "payload": {"name": "web"}, "agent": {"risk_tier": "low"}}

Missing facts are unknown; the default of \`now\` is the start of 2026.`;

interface Options {
  readonly policies?: string;
  readonly requests: string;
  readonly compare?: string;
  readonly plot?: string;
  readonly rounds: number;
  /** How long to measure, in seconds. */
  readonly duration: number;
  readonly json?: boolean;
}

async function bench(options: Options): Promise<ExitCode> {
  const lines = await readLines(options.requests);
  const paths = [
    options.policies ?? defaultPath(),
    ...(options.compare === undefined ? [] : [options.compare]),
  ];
  const loaded = await Promise.all(paths.map(loadCompiled));
  const sets = loaded.map(({ compiled, diagnostics }) => (hasErrors(diagnostics) ? null : compiled.set));
  if (!sets.every((set) => set !== null)) {
    for (const one of loaded) showErrors(one);
    return exitCodes.wrong;
  }
  const requests = readAllFacts(lines, { sets, paths, name: options.requests });
  const sides = measureSides(loaded, requests, options);
  if (options.plot !== undefined) await writePlot(options.plot, sides);
  report(sides, { lines, requests: requests[0]!, options });
  noteDigests(lines);
  return exitCodes.ok;
}

async function readLines(file: string): Promise<readonly RequestLine[]> {
  const bytes = await readFile(file).catch((error: unknown) => {
    throw new UsageError(`cannot read \`${file}\`: ${fileError(error)}`);
  });
  const other = otherFileText(bytes);
  if (other !== null) throw new UsageError(`cannot read \`${file}\`: ${other}`);
  const { lines, mistakes } = readRequestLines(bytes, file);
  if (mistakes.length > 0) throw new UsageError(mistakes.join('\n       '));
  if (lines.length === 0) throw new UsageError(`\`${file}\` has no requests`);
  return lines;
}

/**
 * Notes how many recorded requests hold digests of secrets. The payload gate refuses these requests, because
 * a digest has another shape than the value that it replaces.
 */
function noteDigests(lines: readonly RequestLine[]): void {
  const count = lines.filter(
    ({ isRecorded, situation }) => isRecorded && holdsDigests(situation.payload),
  ).length;
  if (count > 0)
    printError(
      `note: ${count.toLocaleString('en')} recorded requests contain digests instead of secrets, and are measured as refused\n`,
    );
}

interface RequestsOfSets {
  readonly sets: readonly PolicySet[];
  readonly paths: readonly string[];
  readonly name: string;
}

/** The facts of all requests, for each set. Throws a UsageError that lists every mistake. */
function readAllFacts(
  lines: readonly RequestLine[],
  { sets, paths, name }: RequestsOfSets,
): readonly (readonly Facts[])[] {
  const read = sets.map((set) =>
    factsOf(
      lines,
      set,
      sets.filter((other) => other !== set),
    ),
  );
  const mistakes = read.flatMap((one, at) =>
    one.mistakes.map(({ line, message }) => `${name}:${line}: ${message}, in \`${paths[at]}\``),
  );
  if (mistakes.length > 0) throw new UsageError(mistakes.join('\n       '));
  return read.map(({ facts }) => facts);
}

/** The time for measuring the costs of single rules, as a share of the time for the rounds. */
const rulesShare = 0.5;

function measureSides(
  loaded: readonly LoadedPolicies[],
  requests: readonly (readonly Facts[])[],
  { rounds, duration }: Options,
): readonly Side[] {
  const progress = createProgress();
  try {
    progress.show(0, 'comparing with the definition');
    const subjects = loaded.map(({ read }, at) => ({ sources: read.sources, requests: requests[at]! }));
    const measured = measure(subjects, {
      rounds,
      ms: duration * 1_000,
      onProgress: (share) => progress.show(share * (1 - rulesShare / 2), 'measuring decisions'),
    });
    progress.show(1 - rulesShare / 2, 'measuring rules');
    return measured.map((one, at): Side => {
      const { path, read } = loaded[at]!;
      const textBytes = read.sources.files.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
      const rulesMs = rulesShare * duration * 1_000;
      return { measured: one, result: resultOf(one, { path, textBytes, requests: requests[at]!, rulesMs }) };
    });
  } finally {
    progress.end();
  }
}

async function writePlot(file: string, sides: readonly Side[]): Promise<void> {
  const lines = sides.map(({ measured, result }, at) => ({
    name: result.path,
    isOwn: at === sides.length - 1,
    nanoseconds: measured.byRequest,
  }));
  const picture = drawDistribution('Latency of a decision', lines);
  await writeFile(file, picture).catch((error: unknown) => {
    throw new UsageError(`cannot write \`${file}\`: ${fileError(error)}`);
  });
}

interface BenchReport {
  readonly lines: readonly RequestLine[];
  readonly requests: readonly Facts[];
  readonly options: Options;
}

function report(sides: readonly Side[], { lines, requests, options }: BenchReport): void {
  const { json, plot, requests: name } = options;
  const [first, second] = sides;
  if (second === undefined) {
    if (json === true) printJson(withCpu(first!.result, first!.measured));
    else print(renderResult(first!.result));
  } else {
    const places = lines.map(({ line }) => line);
    const comparison = compareSides([first!, second], requests, places);
    if (json === true) printJson(comparison);
    else print(renderComparison(comparison, name));
  }
  if (plot !== undefined && json !== true) printError(`latencies plotted in ${plot}\n`);
}

/** The result as JSON, with the time of every request. */
function withCpu(result: Result, { byRequest, decisions }: Measurement): object {
  const requests = decisions.map(({ outcome, by }, at) => ({
    outcome,
    by,
    nanoseconds: Math.round(byRequest[at]!),
  }));
  return { ...result, byRequest: requests };
}

function readWhole(option: string): (text: string) => number {
  return (text) => {
    if (!/^[1-9]\d{0,3}$/.test(text)) {
      throw new UsageError(`${option} must be a whole number of at least 1, not \`${text}\``);
    }
    return Number(text);
  };
}

const secondsMax = 3_600;

function readSeconds(text: string): number {
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (seconds <= 0 || seconds > secondsMax) {
    throw new UsageError(`--duration must be a number of seconds up to ${secondsMax}, not \`${text}\``);
  }
  return seconds;
}
