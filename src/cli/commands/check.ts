// `writ check`: reads and compiles a policy set, shows every diagnostic, and proves the guarantees. With
// `--fix` it first applies the fixes that diagnostics offer.

import { type Command, Option } from 'commander';
import { displayPath } from '../../analysis/findings/display-path.ts';
import { findingsOf } from '../../analysis/findings/findings.ts';
import { clauseToJson } from '../../analysis/findings/guarantee-results.ts';
import { hasErrors, sortDiagnostics } from '../../language/diagnostic/diagnostic.ts';
import { diagnosticToJson, escapeForTerminal, renderDiagnostics } from '../../language/diagnostic/render.ts';
import { diagnosticPage } from '../../service/policies/diagnostic-page.ts';
import { digest } from '../../service/policies/digest.ts';
import {
  type ExitCode,
  exitCodes,
  print,
  printError,
  printJson,
  UsageError,
  useColor,
} from '../output/output.ts';
import { replaceFile } from '../output/replace-file.ts';
import { type FixResult, fixPolicies } from '../support/apply-fixes.ts';
import {
  type CheckedPath,
  type CheckJudgement,
  checkNotes,
  counts,
  judgeCheck,
  verdictLine,
} from '../support/check-verdict.ts';
import { renderClauses } from '../support/clauses-text.ts';
import { toGithub } from '../support/github.ts';
import { type CheckedPolicies, defaultPath, loadChecked } from '../support/load-policies.ts';
import { toSarif } from '../support/sarif.ts';

const formats = ['text', 'json', 'sarif', 'github'] as const;

export function defineCheck(command: Command, finish: (code: ExitCode) => void): void {
  command
    .argument('[path]', 'a policy directory, or one file (default: ./policies, else the current directory)')
    .option('--strict', 'treat warnings and undecided guarantees as errors')
    .option('--trials <n>', 'also try each guarantee on this number of requests', readCount)
    .option('--thorough', 'also look for needless rules in actions with many rules or long conditions')
    .addOption(new Option('--format <format>', 'output format').choices(formats).default('text'))
    .addOption(new Option('--json', 'short for --format json').conflicts('format'))
    .option('--fix', 'apply the suggested fixes, and check the result')
    .option('--dry-run', 'with --fix: write nothing, show a diff')
    .addHelpText(
      'after',
      '\nExamples:\n  writ check\n  writ check policies/payments --strict\n  writ check --json | jq .diagnostics\n  writ check --format sarif > writ.sarif\n  writ check --fix --dry-run',
    )
    .action(async (path: string | undefined, options: Options) => {
      finish(await check(path ?? defaultPath(), options));
    });
}

interface Options {
  readonly strict?: boolean;
  readonly thorough?: boolean;
  readonly json?: boolean;
  readonly format: (typeof formats)[number];
  readonly trials?: number;
  readonly fix?: boolean;
  readonly dryRun?: boolean;
}

async function check(path: string, options: Options): Promise<ExitCode> {
  if (options.dryRun === true && options.fix !== true) throw new UsageError('--dry-run needs --fix');
  const loaded = await loadChecked(path);
  const result = judgeCheck(
    options.fix === true ? await fix(loaded, options) : { loaded, applied: [] },
    options,
  );
  report(result, formatOf(options));
  return result.isGood ? exitCodes.ok : exitCodes.wrong;
}

function formatOf({ json, format }: Options): Options['format'] {
  return json === true ? 'json' : format;
}

function readCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new UsageError(`--trials must be a whole number of at least 1, not \`${text}\``);
  return Number(text);
}

// ---- fixes

/** Applies the fixes. Returns the fixed policies even with `--dry-run`, so the check continues with them. */
async function fix(loaded: CheckedPolicies, options: Options): Promise<CheckedPath> {
  const { root, sources } = loaded.read;
  if (root === null && sources.files.length > 0)
    throw new UsageError('a bundle cannot be fixed: use --fix on its policies and build it again');
  const fixed = fixPolicies(sources, loaded.compiled);
  // When a program reads the result, standard output must hold the result alone.
  const show = formatOf(options) === 'text' ? print : printError;
  const { showDiff } = await import('../output/show-diff.ts');
  for (const { path, before, after } of fixed.changes) {
    if (options.dryRun === true) show(showDiff(displayPath(root, path), before, after));
    else await replaceFile(displayPath(root, path), after);
  }
  show(describeFixes(fixed, options, root));
  return { loaded: withFixed(loaded, fixed), applied: fixed.applied };
}

function describeFixes({ applied }: FixResult, { dryRun }: Options, root: string | null): string {
  const verb = dryRun === true ? 'would fix' : 'fixed';
  const lines = applied.map(({ diagnostic, title, position }) => {
    const where = `${displayPath(root, diagnostic.span.file)}:${position.line}:${position.column}`;
    return `${verb} ${escapeForTerminal(where)} ${diagnostic.code}: ${escapeForTerminal(title)}\n`;
  });
  return lines.join('');
}

function withFixed(loaded: CheckedPolicies, { sources, compiled }: FixResult): CheckedPolicies {
  const texts = new Map(sources.files.map(({ path, text }) => [path, text]));
  return {
    ...loaded,
    read: { ...loaded.read, sources, sourceOf: (path) => texts.get(path) ?? null },
    compiled,
    diagnostics: sortDiagnostics([
      ...loaded.read.diagnostics,
      ...loaded.read.notRead,
      ...compiled.diagnostics,
    ]),
  };
}

// ---- the result

function report(result: CheckJudgement, format: Options['format']): void {
  const { loaded, diagnostics, claims, isStrict } = result;
  const { path, read, compiled } = loaded;
  const checkReport = { path, read, diagnostics, claims, isStrict };
  const notes = checkNotes(result);
  if (format === 'json') printJson(toJson(result));
  else if (format === 'sarif') printJson(toSarif(findingsOf(checkReport), diagnosticPage, notes));
  else {
    if (format === 'github') print(toGithub(findingsOf(checkReport), notes));
    else print(renderDiagnostics(diagnostics, read.sourceOf, { color: useColor() }));
    if (compiled.set !== null && !hasErrors(diagnostics)) print(`${verdictLine(result)}\n`);
    print(renderClauses(claims, read.sourceOf));
    if (format === 'text') print(notes.map((note) => `· ${note}\n`).join(''));
  }
}

function toJson({
  loaded: { read, compiled },
  diagnostics,
  claims,
  leftOut,
  isGood,
  applied,
}: CheckJudgement): object {
  const { set } = compiled;
  return {
    ok: isGood,
    digest: set === null ? null : digest(set),
    ...(set === null ? {} : counts(set)),
    files: read.sources.files.map(({ path }) => path),
    diagnostics: diagnostics.map((diagnostic) => diagnosticToJson(diagnostic, read.sourceOf)),
    guarantees: claims.map((claim) => clauseToJson(claim, read.sourceOf)),
    not_looked_for_needless_rules: leftOut,
    fixed: applied.map(({ diagnostic: { code, span }, title, position }) => ({
      code,
      file: span.file,
      start: position,
      title,
    })),
  };
}
