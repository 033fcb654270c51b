// `writ infer`: writes policies from recorded requests, shows how they differ from the existing policies, and
// measures on requests that were held out how much they would stop. INVARIANT: the command changes no existing
// file, and without `--allow-denied` its files allow nothing that the existing policies deny.

import { existsSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { type LoadedSide, sideOf } from '../../analysis/diff/diff-side.ts';
import { compareInferred } from '../../analysis/infer/compare.ts';
import { evaluate } from '../../analysis/infer/evaluate.ts';
import {
  InferError,
  type Inference,
  type InferOptions,
  infer,
  PatternError,
} from '../../analysis/infer/infer.ts';
import { type InferReport, inferReport } from '../../analysis/infer/infer-report.ts';
import { inferToText } from '../../analysis/infer/infer-text.ts';
import type { InferredFile } from '../../analysis/infer/policy-text.ts';
import { deciderOf } from '../../analysis/infer/sample.ts';
import { nearestOf } from '../../language/diagnostic/suggest.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import { withLints } from '../../reasoning/lints/lint.ts';
import { fileError } from '../output/file-error.ts';
import { many } from '../output/many.ts';
import { type ExitCode, exitCodes, print, printError, printJson, UsageError } from '../output/output.ts';
import { loadWorking, type WorkingPolicies } from '../support/load-policies.ts';
import { showFaults } from '../support/open-log.ts';
import { type ReadSamples, readSamples } from '../support/read-samples.ts';

export function defineInfer(command: Command, finish: (code: ExitCode) => void): void {
  command
    .argument('[path]', 'the existing policies (default: ./policies, if it exists; otherwise there are none)')
    .requiredOption(
      '--from <path>',
      'an export of requests, a file with one request per line, or a data directory of the service',
    )
    .option(
      '--action <pattern>',
      'only these actions: a key, `area.*`, `*.verb` or a group; can be repeated',
      (pattern: string, others: readonly string[]) => [...others, pattern],
      [],
    )
    .option(
      '--hold-out <share>',
      'the share of requests that is held out to measure the result',
      readShare,
      0.3,
    )
    .option('--hold-out-latest', 'hold out the latest requests instead of random ones')
    .option('--seed <n>', 'another random choice of the requests that are held out', readSeed, 1)
    .option('--approvers <group>', 'the approval group that is asked about rare requests')
    .option('--allow-denied', 'also learn from denied requests, so the result may allow what is denied now')
    .option('--out <directory>', 'write the files into this new directory')
    .option('--json', 'print the result as JSON, with the texts of the files')
    .addHelpText('after', examples)
    .action(async (path: string | undefined, options: Options) => {
      finish(await run(path ?? (existsSync('policies') ? 'policies' : null), options));
    });
}

const examples = `
Examples:
  writ infer --from calls.jsonl --out policies
  writ infer policies --from log.jsonl --approvers finance --out policies/inferred
  writ infer --from /var/lib/writ --action 'payment.*' --hold-out-latest
  writ audit export > log.jsonl && writ infer --from log.jsonl --json | jq .total

Where the existing policies declare an action, the inferred files contain guards alone, which only narrow what is allowed.
Without --out, nothing is written.

Exit codes: 0 done, 1 nothing can be inferred, the policies have errors or part of the requests is unreadable, 2 wrong
usage.`;

interface Options {
  readonly from: string;
  readonly action: readonly string[];
  readonly holdOut: number;
  readonly holdOutLatest?: boolean;
  readonly seed: number;
  readonly approvers?: string;
  readonly allowDenied?: boolean;
  readonly out?: string;
  readonly json?: boolean;
}

function readShare(text: string): number {
  if (/^0?\.\d{1,6}$|^0$/.test(text) && Number(text) <= 0.9) return Number(text);
  throw new UsageError(`--hold-out takes a share from 0 to 0.9, not \`${text}\``);
}

function readSeed(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError(`--seed takes a whole number, not \`${text}\``);
}

async function run(path: string | null, options: Options): Promise<ExitCode> {
  const { out } = options;
  if (out !== undefined) checkOut(out);
  const working = path === null ? null : await loadWorking(path);
  if (path !== null && working === null) return exitCodes.wrong;
  checkApprovers(options.approvers, working?.set ?? null);
  const read = await readSamples(options.from, working?.set ?? null);
  if (read === null) return exitCodes.wrong;
  if (read.samples.length === 0 && read.faults.count === 0)
    throw new UsageError(`\`${options.from}\` has no requests`);
  const report = inferFrom(read, working, options);
  if (report !== null && options.json === true) printJson(report);
  else if (report !== null) print(`${inferToText(report)}\n${filesText(report, working)}`);
  showFaults(read.faults);
  return report === null || read.faults.count > 0 ? exitCodes.wrong : exitCodes.ok;
}

/** Null when nothing can be inferred, which has been printed then. */
function inferFrom(read: ReadSamples, working: WorkingPolicies | null, options: Options): InferReport | null {
  const inferOptions = inferOptionsOf(working, options);
  const inference = tryInfer(read, inferOptions);
  if (inference === null) return null;
  const { existing, split } = inferOptions;
  const { actions, combined } = inference;
  const written = new Set(combined.texts.actions.map(({ key }) => key));
  const evaluation = evaluate({
    actions: actions.filter(({ key }) => written.has(key)),
    now: deciderOf(combined.set),
    before: existing?.decide ?? null,
    isDeclared: (key) => existing?.set.actions.has(key) === true,
  });
  const before = working === null ? null : existingSide(working);
  const diff = compareInferred({
    before,
    combined,
    path: working?.read.root ?? options.out ?? '.',
    mayWiden: working === null || options.allowDenied === true,
  });
  if (options.out !== undefined) write(options.out, combined.files);
  const { name, isPlaceholder } = combined.texts.approvers;
  const asks = combined.texts.actions.some(({ guards }) =>
    guards.some(({ effect }) => effect === 'escalate'),
  );
  return inferReport({
    ...read,
    split,
    actions,
    evaluation,
    approvers: asks ? { name, is_placeholder: isPlaceholder } : null,
    files: combined.files,
    writtenTo: options.out ?? null,
    dropped: combined.dropped,
    diff,
  });
}

function tryInfer({ samples }: ReadSamples, options: InferOptions): Inference | null {
  try {
    return infer(samples, options);
  } catch (error) {
    if (error instanceof PatternError) throw new UsageError(error.message);
    if (!(error instanceof InferError)) throw error;
    printError(`error: ${error.message}\n`);
    return null;
  }
}

function inferOptionsOf(working: WorkingPolicies | null, options: Options): InferOptions {
  const { action, holdOut, holdOutLatest, seed, approvers, allowDenied, out } = options;
  return {
    existing: working === null ? null : existingOf(working),
    patterns: action,
    split: { share: holdOut, isLatest: holdOutLatest === true, seed },
    approvers: approvers ?? null,
    isDeniedLearned: allowDenied === true,
    prefix: working === null ? '' : prefixOf(working, out),
  };
}

function existingOf(working: WorkingPolicies): InferOptions['existing'] {
  const { set, read, compiled, diagnostics } = working;
  const { files, silenced } = compiled;
  const texts = read.sources.files;
  const all = withLints({ set, files, diagnostics, silenced, texts }).diagnostics;
  return { set, decide: deciderOf(set), sources: read.sources, diagnostics: all };
}

function existingSide({ path, set, read, compiled }: WorkingPolicies): LoadedSide {
  const { root, sourceOf } = read;
  return sideOf({ set, files: compiled.files }, { name: path, path: root ?? path, sourceOf });
}

/** Throws a UsageError for a group that the policies do not declare, or that cannot be declared. */
function checkApprovers(name: string | undefined, set: PolicySet | null): void {
  if (name === undefined || name === 'owner') return;
  if (set === null) {
    if (/^[a-z][a-z0-9_]*$/.test(name)) return;
    throw new UsageError(`--approvers takes the name of a group such as \`finance\`, not \`${name}\``);
  }
  if (set.approvers.has(name)) return;
  const known = [...set.approvers.keys()];
  const nearest = nearestOf(name, known);
  const hint =
    nearest === null
      ? `they declare ${known.length === 0 ? 'none' : known.join(', ')}`
      : `did you mean \`${nearest}\`?`;
  throw new UsageError(`the policies declare no approvers \`${name}\`: ${hint}`);
}

// ---- the written files

function checkOut(out: string): void {
  if (existsSync(out) && readdirOf(out).length > 0)
    throw new UsageError(`${out} is not empty; nothing was written`);
}

function readdirOf(out: string): readonly string[] {
  try {
    return readdirSync(out);
  } catch (error) {
    throw new UsageError(`cannot write ${out}: ${fileError(error)}`);
  }
}

/** Where the files lie from the folder of the existing policies; a folder outside of it counts as one in it. */
function prefixOf({ read }: WorkingPolicies, out: string | undefined): string {
  if (out === undefined || read.root === null) return 'inferred/';
  const inside = relative(read.root, realOf(out));
  return isInside(inside) ? `${inside.replaceAll('\\', '/')}/` : 'inferred/';
}

/** The path with links resolved, as far as it exists. */
function realOf(path: string): string {
  const own = resolve(path);
  if (existsSync(own)) return realpathSync(own);
  return own === dirname(own) ? own : join(realOf(dirname(own)), basename(own));
}

function isInside(path: string): boolean {
  return path !== '' && path.split(/[\\/]/)[0] !== '..' && !isAbsolute(path);
}

function write(out: string, files: readonly InferredFile[]): void {
  try {
    for (const { path, text } of files) {
      const target = join(out, path);
      mkdirSync(dirname(target), { recursive: true });
      // The flag fails on a file that somebody made in the meantime.
      writeFileSync(target, text, { flag: 'wx' });
    }
  } catch (error) {
    throw new UsageError(`cannot write ${out}: ${fileError(error)}`);
  }
}

function filesText({ files, written_to: out }: InferReport, working: WorkingPolicies | null): string {
  if (files.length === 0)
    return 'There is nothing to write: the existing policies allow no more than what was recorded.\n';
  const policies = files.filter(({ path }) => path.endsWith('.policy')).map(({ path }) => path);
  const lists = files.length - policies.length;
  const names = `${policies.join(', ')}${lists === 0 ? '' : ` and ${many(lists, 'list file')}`}`;
  if (out === null) return `Nothing was written. --out DIRECTORY writes ${names}\n`;
  const root = working?.read.root ?? null;
  const isOutside = root !== null && !isInside(relative(root, realOf(out)));
  const note = isOutside ? `They belong into \`${working!.path}\`, whose actions they name.\n` : '';
  return `Wrote ${names} into ${out}\n${note}`;
}
