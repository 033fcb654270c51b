// From the text of a policy set to the function that decides. The command line, tests, the service and the
// playground all use this file. Every stage takes the value of the stage before it and knows nothing of the
// other stages; read the folders in this order:
//
//   text --syntax--> tree --check--> model --program--> program --emit--> function
//
// Two more parts start from the model: `spec`, which defines its meaning, and `reasoning`, which answers
// questions about it.

import { hash } from 'node:crypto';
import { check, checkErrors, checkErrorsIn, listFilesOf } from './language/check/check.ts';
import { type CheckState, createCheckState } from './language/check/incremental/state.ts';
import type { ListFile } from './language/check/messages/list-files.ts';
import { checkOwners } from './language/check/owners/check-owners.ts';
import { ownersFile } from './language/check/owners/owners-file.ts';
import { silenceByFile } from './language/check/silences.ts';
import {
  type DiagnosticsByFile,
  groupByFile,
  hasErrorsIn,
  inOneList,
  joinByFile,
} from './language/diagnostic/by-file.ts';
import { alsoProved } from './language/diagnostic/check-codes.ts';
import type { Code } from './language/diagnostic/codes.ts';
import { type Diagnostic, hasErrors } from './language/diagnostic/diagnostic.ts';
import type { SourceText } from './language/diagnostic/span.ts';
import { createFunctionCache, type FunctionCache } from './language/emit/cache.ts';
import { type LinkedFunctions, link } from './language/emit/link.ts';
import type { Run } from './language/emit/run.ts';
import type { PolicySet } from './language/model/policy.ts';
import type { PackedProgram } from './language/program/packed/packed.ts';
import { type OpenProgram, unpack } from './language/program/packed/unpack.ts';
import { createPlanCache, type PlanCache, planPacked } from './language/program/plan/incremental.ts';
import { type ParsedFile, parse } from './language/syntax/parse.ts';
import { isOnLine } from './language/syntax/repair/broken-rules.ts';
import type { PolicyFile } from './language/syntax/tree/tree.ts';

/** A policy set as text: its files, and the list files that they may name; `owners.yaml` is read like one. */
export interface PolicySources {
  readonly files: readonly SourceText[];
  /** Reads a list file by its path relative to the policy directory. */
  readonly readListFile: (path: string) => ListFile;
}

/** What the texts mean and what is wrong with them; `set` is null exactly when a diagnostic is an error. */
export interface CheckResult {
  readonly files: readonly PolicyFile[];
  readonly byFile: DiagnosticsByFile;
  /** All diagnostics in one list, sorted by place. */
  readonly diagnostics: readonly Diagnostic[];
  /** Diagnostics that comments in the policies have silenced. */
  readonly silenced: readonly Diagnostic[];
  readonly set: PolicySet | null;
  /** Paths of the list files that the set names, and of `owners.yaml`, whether the files exist or not. */
  readonly listFiles: readonly string[];
}

/**
 * A checked set with its program as bytes, which can be sent to another thread; `packed` is null exactly when
 * `set` is.
 */
export interface CompiledProgram extends CheckResult {
  readonly packed: PackedProgram | null;
}

/**
 * The results of all stages; `set`, `program` and `engine` are null exactly when a diagnostic is an error.
 */
export interface CompileResult extends CheckResult {
  readonly program: OpenProgram | null;
  readonly engine: LinkedFunctions | null;
}

/**
 * What one compilation leaves for the next, so that only changed parts go through the stages again. A cache
 * serves one policy directory and one compilation at a time.
 */
export interface CompileCache {
  /** The text of each file and its parsed form, by path. */
  readonly parsed: Map<string, ParsedText>;
  readonly checked: CheckState;
  readonly planned: PlanCache;
  readonly functions: FunctionCache;
}

interface ParsedText {
  readonly text: string;
  readonly parsed: ParsedFile;
}

/** `run` runs generated code; the default runs it as functions. */
export function createCompileCache(run?: Run): CompileCache {
  return {
    parsed: new Map(),
    checked: createCheckState(),
    planned: createPlanCache(sha256),
    functions: createFunctionCache(run),
  };
}

/** Returns the SHA-256 digest by which the stages compare contents; passed to the stages, which are pure. */
export function sha256(bytes: Uint8Array): Uint8Array {
  return hash('sha256', bytes, 'buffer');
}

/**
 * Compiles a policy set. Never throws because of what a policy contains. The cache changes only how fast the
 * result comes. Callers that show no warnings pass `findErrors` as `checkBy`, because warnings take most of
 * the time of a check.
 */
export function compile(
  sources: PolicySources,
  cache: CompileCache = createCompileCache(),
  checkBy: typeof checkSources = checkSources,
): CompileResult {
  const { packed, ...checked } = compileToProgram(sources, cache, checkBy);
  if (packed === null) return { ...checked, program: null, engine: null };
  const program = unpack(packed);
  return { ...checked, program, engine: link(program, cache.functions) };
}

/** Like `compile`, for callers whose program is linked in another thread. */
export function compileToProgram(
  sources: PolicySources,
  cache: CompileCache = createCompileCache(),
  checkBy: typeof checkSources = checkSources,
): CompiledProgram {
  const checked = checkBy(sources, cache);
  return { ...checked, packed: checked.set === null ? null : planPacked(checked.set, cache.planned) };
}

/** Links a set without errors to the functions that decide by it. */
export function linkSet(set: PolicySet): LinkedFunctions {
  return link(unpack(planPacked(set, createPlanCache(sha256))), createFunctionCache());
}

/** Checks the texts without making a program: their meaning, and what is wrong with them. */
export function checkSources(
  sources: PolicySources,
  cache: CompileCache = createCompileCache(),
): CheckResult {
  return checkedBy(check, sources, cache);
}

/**
 * Like `checkSources`, for callers that show no warnings, which take long to find, are not looked
 * for.
 */
export function findErrors(sources: PolicySources, cache: CompileCache = createCompileCache()): CheckResult {
  return errorsOf(checkedBy(checkErrors, sources, cache));
}

/**
 * Like `findErrors`, for the files at `paths` of a set that has not been checked yet, since an editor shows
 * open files first. A check of the whole set reports the same errors.
 */
export function findErrorsIn(
  paths: ReadonlySet<string>,
  sources: PolicySources,
  cache: CompileCache,
): CheckResult {
  const result = checkedBy(
    (files, readListFile) => checkErrorsIn(paths, files, readListFile),
    sources,
    cache,
  );
  return errorsOf({ ...result, diagnostics: result.diagnostics.filter(({ span }) => paths.has(span.file)) });
}

function errorsOf(result: CheckResult): CheckResult {
  const diagnostics = result.diagnostics.filter((one) => hasErrors([one]));
  return { ...result, byFile: groupByFile(diagnostics), diagnostics, silenced: [] };
}

function checkedBy(run: typeof check, sources: PolicySources, cache: CompileCache): CheckResult {
  const parsed = parseFiles(sources.files, cache).map(withEmpty);
  const files = parsed.map(({ file }) => file);
  const checked = run(files, sources.readListFile, cache.checked);
  const syntax = new Map(
    parsed
      .filter((one) => one.diagnostics.length > 0)
      .map(({ file, diagnostics }) => [
        file.span.file,
        diagnostics.filter((slip) => !isUnfitAnyway(slip, checked.diagnostics)),
      ]),
  );
  // Text that the parser had to skip makes the rest look unused, unconditional and the like; such findings
  // are worth reporting only once the text can be read.
  const broken = parsed.filter((one) => hasErrors(one.diagnostics));
  const meaning =
    broken.length > 0
      ? groupByFile(
          checked.diagnostics.filter(
            (one) => hasErrors([one]) && !followsFromBroken(one, broken, sources.files),
          ),
        )
      : checked.byFile;
  // Unused silences of codes that a later proof reports more often are not reported yet.
  const { byFile, silenced } = silenceByFile(
    files,
    sources.files,
    joinByFile(meaning, syntax),
    (code) => !alsoProved.has(code),
  );
  const whole = hasErrorsIn(byFile) ? null : checked.set;
  const owned = whole === null ? [] : checkOwners({ files, set: whole }, sources.readListFile);
  const off = silenced.map(({ diagnostic }) => diagnostic);
  const all = owned.length === 0 ? byFile : joinByFile(byFile, groupByFile(owned));
  return {
    files,
    byFile: all,
    diagnostics: inOneList(all),
    silenced: off,
    set: owned.length === 0 ? whole : null,
    listFiles: [...listFilesOf(files), ownersFile].sort(),
  };
}

/**
 * Adds an error to a file that declares nothing. A full disk or an editor that ends while it writes leaves such
 * a file, and the guards that it held must not be lost without a word.
 */
function withEmpty(one: ParsedFile): ParsedFile {
  const { file, diagnostics } = one;
  if (file.declarations.length > 0 || hasErrors(diagnostics)) return one;
  const span = { file: file.span.file, start: 0, end: 0 };
  const message = `\`${span.file}\` declares nothing`;
  const help = 'write its declarations, or delete the file';
  return {
    ...one,
    diagnostics: [{ code: 'file-empty', severity: 'error', span, message, help }, ...diagnostics],
  };
}

const unknown: ReadonlySet<Code> = new Set([
  'unknown-name',
  'unknown-type',
  'unknown-function',
  'pattern-matches-nothing',
]);

/**
 * Whether an error follows from text that could not be read: it is where the parser gave up, or in something
 * with a slip that was read as what was probably meant, or it is about a name whose declaration could not be
 * read.
 */
function followsFromBroken(
  diagnostic: Diagnostic,
  broken: readonly ParsedFile[],
  files: readonly SourceText[],
): boolean {
  const { code, span } = diagnostic;
  const { brokenLines = [], diagnostics = [] } =
    broken.find(({ file }) => file.span.file === span.file) ?? {};
  if (isOnLine(diagnostic, brokenLines)) return true;
  const isAround = diagnostics.some(
    (slip) =>
      span.start <= slip.span.start && slip.span.end <= span.end && !isUnfitAnyway(slip, [diagnostic]),
  );
  if (isAround) return true;
  if (!unknown.has(code)) return false;
  const name = files.find(({ path }) => path === span.file)?.text.slice(span.start, span.end) ?? '';
  return broken.some(({ declaredByBroken }) => declaredByBroken.has(name));
}

/**
 * Whether a literal is misspelt where no such value may be, such as `60 days` behind a date and `+`. To spell it
 * right would only lead to the next error.
 */
function isUnfitAnyway(slip: Diagnostic, checkResult: readonly Diagnostic[]): boolean {
  return literalSlips.has(slip.code) && checkResult.some((one) => isUnfitOperand(slip, one));
}

const literalSlips: ReadonlySet<Code> = new Set([
  'duration-spelling',
  'money-spelling',
  'instant-without-offset',
]);

function isUnfitOperand({ span: slip }: Diagnostic, { code, span }: Diagnostic): boolean {
  if (span.file !== slip.file || (code !== 'arithmetic-unfit' && code !== 'type-mismatch')) return false;
  return (
    (span.start <= slip.start && slip.end === span.end) || (span.start === slip.start && slip.end <= span.end)
  );
}

/** Returns the parsed files; a file with an unchanged text keeps its tree. */
function parseFiles(files: readonly SourceText[], { parsed }: CompileCache): readonly ParsedFile[] {
  const parsedTexts = new Map(parsed);
  parsed.clear();
  return files.map((source) => {
    const before = parsedTexts.get(source.path);
    const one = before?.text === source.text ? before.parsed : parse(source);
    parsed.set(source.path, { text: source.text, parsed: one });
    return one;
  });
}
