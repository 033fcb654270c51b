// `writ diff`: which requests two revisions of policies, or two folders, decide otherwise, the loosest first, and the proof
// that nothing else changes.

import { existsSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { hasErrors, sortDiagnostics } from '../../../language/diagnostic/diagnostic.ts';
import { escapeForTerminal } from '../../../language/diagnostic/render.ts';
import { type CompileCache, checkSources, createCompileCache } from '../../../pipeline.ts';
import { diffPolicies } from '../../../reasoning/diff/diff.ts';
import { type ComparedSide, type DiffReport, reportOf } from '../../../reasoning/diff/report.ts';
import { digest } from '../../../service/policies/digest.ts';
import { diagnosticPage } from '../output/diagnostic-page.ts';
import { type ExitCode, exitCodes, print, printError, printJson, UsageError } from '../output/output.ts';
import { shownPath } from '../output/shown-path.ts';
import { diffFindings } from '../tasks/diff-findings.ts';
import { diffToMarkdown, diffToText } from '../tasks/diff-text.ts';
import { toGithub } from '../tasks/github.ts';
import { knownRequests } from '../tasks/known-requests.ts';
import { defaultPath, readSources, showDiagnostics } from '../tasks/policies.ts';
import { isRevision, layOut, mergeBase } from '../tasks/revision.ts';
import { toSarif } from '../tasks/sarif.ts';

const formats = ['text', 'markdown', 'json', 'sarif', 'github'] as const;

export function defineDiff(command: Command, finish: (code: ExitCode) => void): void {
  command
    .argument(
      '[revisions]',
      'OLD, OLD..NEW, or OLD...NEW for what NEW changed since it left OLD (default: HEAD)',
    )
    .argument('[path]', 'a policy directory, or one file (default: ./policies, else the current directory)')
    .option('--old <dir>', 'compare this folder instead of a revision; goes with --new')
    .option('--new <dir>', 'with this one')
    .addOption(new Option('--format <format>', 'how the result is printed').choices(formats).default('text'))
    .addOption(new Option('--json', 'short for --format json').conflicts('format'))
    .addOption(
      new Option(
        '--fail-on <what>',
        'end with 1 where something is loosened or undecided, or where any decision changes',
      ).choices(['loosened', 'any']),
    )
    .option('--max <n>', 'findings of one action and one pair of decisions', readCount)
    .addHelpText(
      'after',
      '\nWithout NEW the files as they are now are compared.\n\nExamples:\n  writ diff\n  writ diff main\n  writ diff v1.2..v1.3 policies/payments\n  writ diff origin/main...HEAD --format markdown --fail-on loosened\n  writ diff --old /tmp/before --new policies --json | jq .findings',
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
  readonly failOn?: 'loosened' | 'any';
  readonly max?: number;
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
  const asked = await askedSides(first, second, options);
  const memory = createCompileCache();
  const before = await loadSide(asked.old, memory);
  const after = await loadSide(asked.new, memory);
  if (before === null || after === null) return exitCodes.wrong;
  const known = await knownRequests(asked.new.path, after.set);
  const compared = diffPolicies(before.set, after.set, { known, findingsMax: options.max });
  const report = reportOf({ sides: { before, after }, diff: compared });
  show(report, options, asked.new.path);
  return isGood(report, options.failOn) ? exitCodes.ok : exitCodes.wrong;
}

function show(report: DiffReport, { format, json }: Options, path: string): void {
  const texts = {
    text: () => diffToText(report),
    markdown: () => diffToMarkdown(report),
    github: () => toGithub(diffFindings(report, path)),
  };
  const wanted = json === true ? 'json' : format;
  if (wanted === 'json') printJson(report);
  else if (wanted === 'sarif') printJson(toSarif(diffFindings(report, path), diagnosticPage));
  else print(texts[wanted]());
}

/** What is not decided might be loosened, and so might be what a guarantee does not forbid any more. */
function isGood(report: DiffReport, failOn: Options['failOn']): boolean {
  if (failOn === undefined) return true;
  const isLoosened = report.loosened + report.undecided > 0;
  const isBroken = report.guarantees.some((one) => one.old === 'proved' && one.new !== 'proved');
  return !isLoosened && !isBroken && (failOn === 'loosened' || report.stricter === 0);
}

// ---- the two sides

interface AskedSide {
  /** Null: the files as they are now. */
  readonly revision: string | null;
  readonly name: string;
  readonly path: string;
}

interface AskedSides {
  readonly old: AskedSide;
  readonly new: AskedSide;
}

async function askedSides(
  first: string | undefined,
  second: string | undefined,
  options: Options,
): Promise<AskedSides> {
  if (options.old !== undefined || options.new !== undefined) return folders(first, options);
  const isPath = first !== undefined && second === undefined && (await isPathAlone(first));
  const path = (isPath ? first : second) ?? defaultPath();
  const revisions = isPath ? 'HEAD' : (first ?? 'HEAD');
  const [, old = '', dots, now = ''] = /^(.*?)(\.{2,3})(.*)$/s.exec(revisions) ?? [null, revisions, '', ''];
  const from = old === '' ? 'HEAD' : old;
  const side = (revision: string | null, name: string): AskedSide => ({ revision, name, path });
  if (dots === '') return { old: side(from, from), new: side(null, 'files') };
  const to = now === '' ? 'HEAD' : now;
  const base = dots === '...' ? await mergeBase(from, to, path) : from;
  return { old: side(base, from), new: side(to, to) };
}

/** A single argument is a path where it is no revision and something stands there. */
async function isPathAlone(argument: string): Promise<boolean> {
  if (argument.includes('..') && !existsSync(argument)) return false;
  return existsSync(argument) && !(await isRevision(argument, '.').catch(() => false));
}

function folders(first: string | undefined, { old, new: now }: Options): AskedSides {
  if (old === undefined || now === undefined) throw new UsageError('--old goes with --new');
  if (first !== undefined) throw new UsageError('--old and --new go without revisions and paths');
  const side = (path: string): AskedSide => ({ revision: null, name: path, path });
  return { old: side(old), new: side(now) };
}

/** Null where it does not compile; what is wrong has been shown then. */
async function loadSide(
  { revision, name, path }: AskedSide,
  memory: CompileCache,
): Promise<ComparedSide | null> {
  const laidOut = revision === null ? null : await layOut(revision, path);
  try {
    const read = await readSources(laidOut?.path ?? path);
    const checked = checkSources(read.sources, memory);
    const errors = sortDiagnostics([...read.diagnostics, ...checked.diagnostics]).filter((one) =>
      hasErrors([one]),
    );
    if (errors.length > 0 || checked.set === null) {
      showDiagnostics(errors, read.sourceOf);
      printError(`${escapeForTerminal(name)}: the policies do not compile\n`);
      return null;
    }
    const root = laidOut === null ? read.root : null;
    const shown = (file: string): string => (root === null ? shownPath(path, file) : shownPath(root, file));
    return { name, digest: digest(checked.set), set: checked.set, sourceOf: read.sourceOf, shown };
  } finally {
    await laidOut?.remove();
  }
}
