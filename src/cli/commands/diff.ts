// `writ diff`: shows which requests get another decision from one revision or folder of policies than from
// another, the loosest change first, with the proof that nothing else changes.

import { statSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { diffFindings } from '../../analysis/diff/diff-findings.ts';
import { remarkLines, remarksToMarkdown } from '../../analysis/diff/diff-remarks.ts';
import { type DiffReport, reportOf } from '../../analysis/diff/diff-report.ts';
import { changedSentences, sentencesToMarkdown } from '../../analysis/diff/diff-sentences.ts';
import { isOnlyPath, type SideSource } from '../../analysis/diff/diff-side.ts';
import { diffToMarkdown, diffToText } from '../../analysis/diff/diff-text.ts';
import type { TallyResult } from '../../analysis/replay/engine/tally.ts';
import { createCompileCache } from '../../pipeline.ts';
import { diagnosticPage } from '../../service/policies/diagnostic-page.ts';
import { type ExitCode, exitCodes, print, printJson, UsageError } from '../output/output.ts';
import {
  changedActions,
  compareSides,
  type DiffSides,
  sidesOfRevisions,
} from '../support/compare-revisions.ts';
import { toGithub } from '../support/github.ts';
import { loadSide } from '../support/load-diff-side.ts';
import { defaultPath } from '../support/load-policies.ts';
import { readSince } from '../support/parse-time.ts';
import { toSarif } from '../support/sarif.ts';

const formats = ['text', 'markdown', 'json', 'sarif', 'github'] as const;

export function defineDiff(command: Command, finish: (code: ExitCode) => void): void {
  command
    .argument(
      '[revisions]',
      'OLD, OLD..NEW, or OLD...NEW for what NEW changed since it left OLD (default: HEAD)',
    )
    .argument('[path]', 'a policy directory, or one file (default: ./policies, else the current directory)')
    .option('--old <dir>', 'the old policies: a directory instead of a revision; needs --new')
    .option('--new <dir>', 'the new policies: a directory; needs --old')
    .addOption(new Option('--format <format>', 'output format').choices(formats).default('text'))
    .addOption(new Option('--json', 'short for --format json').conflicts('format'))
    .addOption(
      new Option(
        '--fail-on <kinds>',
        'end with 1 if something is loosened, stricter or undecided, or if any decision changes',
      ).argParser(readKinds),
    )
    .option(
      '--log <path>',
      'count the affected requests of this log: a data directory of the service, or an export of requests',
    )
    .option('--since <time>', 'with --log: requests of the last 90d, 12h or 2w, or from a date or time on')
    .option('--max <n>', 'maximum number of findings per action and pair of decisions', readCount)
    .addHelpText(
      'after',
      '\nWithout NEW the files as they are now are compared.\n\nExamples:\n  writ diff\n  writ diff main\n  writ diff v1.2..v1.3 policies/payments\n  writ diff origin/main...HEAD --format markdown --fail-on loosened,undecided\n  writ diff main --log /var/lib/writ --since 30d\n  writ diff --old /tmp/before --new policies --json | jq .findings',
    )
    .action(async (first: string | undefined, second: string | undefined, options: Options) => {
      finish(await diff(first, second, options));
    });
}

interface Options {
  readonly old?: string;
  readonly new?: string;
  readonly format: (typeof formats)[number];
  readonly json?: boolean;
  readonly failOn?: readonly FailureKind[];
  readonly max?: number;
  readonly log?: string;
  readonly since?: string;
}

const failureKinds = ['loosened', 'stricter', 'undecided'] as const;
type FailureKind = (typeof failureKinds)[number];

function readKinds(text: string): readonly FailureKind[] {
  if (text === 'any') return failureKinds;
  return text.split(',').map((name) => {
    const kind = failureKinds.find((one) => one === name.trim());
    if (kind !== undefined) return kind;
    throw new UsageError(`--fail-on takes any, or ${failureKinds.join(', ')} with commas, not \`${text}\``);
  });
}

function readCount(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text))
    throw new UsageError(`--max takes a whole number from 1, not \`${text}\``);
  return Number(text);
}

async function diff(
  first: string | undefined,
  second: string | undefined,
  options: Options,
): Promise<ExitCode> {
  const sinceMs = sinceOf(options);
  const diffInput = await diffSides(first, second, options);
  const cache = createCompileCache();
  const before = await loadSide(diffInput.old, cache);
  const after = await loadSide(diffInput.new, cache);
  if (before === null || after === null) return exitCodes.wrong;
  const comparison = await compareSides({ before, after }, diffInput.new.path, options.max);
  const { sides, diff: compared } = comparison;
  const finish = (log: TallyResult | null): ExitCode => {
    const report = reportOf({ ...comparison, log });
    show(report, { options, path: diffInput.new.path, sides });
    return isGood(report, options.failOn) ? exitCodes.ok : exitCodes.wrong;
  };
  if (options.log === undefined) return finish(null);
  // Most comparisons read no log, and the modules that read one load the stores, so they are imported only
  // when needed.
  const { showFaults, withLog } = await import('../support/open-log.ts');
  const { countFindings } = await import('../../analysis/replay/finding-counts.ts');
  return await withLog({ ...namedLog(options.log), sinceMs, windowMs: 0 }, async (log) => {
    const code = finish(await countFindings(log, { sides, diff: compared, sinceMs }));
    showFaults(log.faults);
    return log.faults.count > 0 ? exitCodes.wrong : code;
  });
}

function sinceOf({ log, since }: Options): number {
  if (since !== undefined && log === undefined) throw new UsageError('--since needs --log');
  return readSince(since ?? '90d', Date.now());
}

function namedLog(path: string): { readonly file: string | null; readonly data: string } {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  return { file: isFolder ? null : path, data: path };
}

interface DiffView {
  readonly options: Options;
  readonly path: string;
  readonly sides: Parameters<typeof changedSentences>[0];
}

function show(report: DiffReport, { options: { format, json }, path, sides }: DiffView): void {
  const lines = remarkLines(report.remarks);
  const texts = {
    text: () => diffToText(report) + lines.map((line) => `${line}\n`).join(''),
    markdown: () =>
      diffToMarkdown(report) +
      sentencesToMarkdown(changedSentences(sides, changedActions(report))) +
      remarksToMarkdown(report.remarks),
    github: () => toGithub(diffFindings(report, path)),
  };
  const outputFormat = json === true ? 'json' : format;
  if (outputFormat === 'json') printJson(report);
  else if (outputFormat === 'sarif') printJson(toSarif(diffFindings(report, path), diagnosticPage));
  else print(texts[outputFormat]());
}

/** A claim that is no longer proved counts as loosened, or as undecided if the new verdict is undecided. */
function isGood({ guarantees, ...report }: DiffReport, kinds: readonly FailureKind[] = []): boolean {
  const lost = guarantees.filter((one) => one.old === 'proved' && one.new !== 'proved');
  const undecided = lost.filter((one) => one.new === 'undecided').length;
  const counts = {
    loosened: report.loosened + lost.length - undecided,
    stricter: report.stricter,
    undecided: report.undecided + undecided,
  };
  return kinds.every((kind) => counts[kind] === 0);
}

// ---- the two sides

async function diffSides(
  first: string | undefined,
  second: string | undefined,
  options: Options,
): Promise<DiffSides> {
  if (options.old !== undefined || options.new !== undefined) return folders(first, options);
  const isPath = first !== undefined && second === undefined && (await isOnlyPath(first));
  const path = (isPath ? first : second) ?? defaultPath();
  return await sidesOfRevisions(isPath ? 'HEAD' : (first ?? 'HEAD'), path);
}

function folders(first: string | undefined, { old, new: now }: Options): DiffSides {
  if (old === undefined || now === undefined) throw new UsageError('give --old and --new together');
  if (first !== undefined) throw new UsageError('--old and --new cannot be combined with revisions or paths');
  const side = (path: string): SideSource => ({ revision: null, name: path, path });
  return { old: side(old), new: side(now) };
}
