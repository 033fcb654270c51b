// Silences: a comment `# writ: allow CODE because reason` removes warnings of one code from its line; on a
// line of its own, from the next line of code. A rule, claim, let or meter counts as one line, even if the
// formatter breaks it. INVARIANT: an error is never removed, and each silence removes something or is
// reported itself.

import { type DiagnosticsByFile, groupByFile, hasErrorsIn, inOneList } from '../diagnostic/by-file.ts';
import { checkWarnings } from '../diagnostic/check-codes.ts';
import { codes } from '../diagnostic/codes.ts';
import type { Diagnostic } from '../diagnostic/diagnostic.ts';
import type { SourceText, Span } from '../diagnostic/span.ts';
import { didYouMean } from '../diagnostic/suggest.ts';
import { syntaxWarnings } from '../diagnostic/syntax-codes.ts';
import { isSilence } from '../syntax/tree/silence.ts';
import type { Comment, PolicyFile } from '../syntax/tree/tree.ts';
import { error, warning } from './messages/problem.ts';

export interface SilenceResult {
  /** The diagnostics that remain, and those about silences themselves; sorted by file and position. */
  readonly diagnostics: readonly Diagnostic[];
  /** The removed diagnostics, each with the reason that the silence gives. */
  readonly silenced: readonly { readonly diagnostic: Diagnostic; readonly reason: string }[];
}

/**
 * Diagnostics after silencing, by file, and those that were removed. A file without silences keeps the list
 * that was passed in.
 */
export interface SilencedByFile extends Pick<SilenceResult, 'silenced'> {
  readonly byFile: DiagnosticsByFile;
}

/** As `silenceByFile`, but takes and returns diagnostics in one list. */
export function applySilences(
  files: readonly PolicyFile[],
  texts: readonly SourceText[],
  diagnostics: readonly Diagnostic[],
  isLookedFor?: (code: string) => boolean,
): SilenceResult {
  const { byFile, silenced } = silenceByFile(files, texts, groupByFile(diagnostics), isLookedFor);
  return { diagnostics: inOneList(byFile), silenced };
}

/**
 * Applies the silences of `files` to `said`, all diagnostics reported so far. `texts` holds the texts of the
 * files, found by path. A silence whose code `isLookedFor` denies is not reported as unused. Never throws.
 */
export function silenceByFile(
  files: readonly PolicyFile[],
  texts: readonly SourceText[],
  said: DiagnosticsByFile,
  isLookedFor: (code: string) => boolean = () => true,
): SilencedByFile {
  // Most files have no silences and are skipped.
  const marked = files.filter(({ comments }) => comments.some(isSilence));
  if (marked.length === 0) return { byFile: said, silenced: [] };
  const whole = new Map(marked.map((file) => [file.span.file, wholesIn(file)]));
  const starts = new Map(
    texts.filter(({ path }) => whole.has(path)).map(({ path, text }) => [path, lineStarts(text)]),
  );
  const textOf = new Map(texts.map(({ path, text }) => [path, text]));
  const read = marked.flatMap((file) =>
    silencesIn(file, starts.get(file.span.file) ?? [0], textOf.get(file.span.file) ?? ''),
  );
  const silences = read.filter((each) => 'reason' in each);
  const byFile = Map.groupBy(silences, ({ span }) => span.file);
  const problems = read.filter((each) => 'severity' in each);
  const used = new Set<Silence>();
  const left: Diagnostic[] = [];
  const diagnostics = marked.flatMap((file) => said.get(file.span.file) ?? []);
  const silenced: SilenceResult['silenced'][number][] = [];
  for (const diagnostic of diagnostics) {
    const { file, start } = diagnostic.span;
    const fileSilences = byFile.get(file) ?? [];
    const enclosing = fileSilences.length === 0 ? null : wholeAround(start, whole.get(file) ?? []);
    const lines = linesOf(enclosing ?? diagnostic.span, starts.get(file) ?? [0]);
    const silence = fileSilences.find((each) => silencesIt(each, diagnostic, lines));
    if (silence === undefined) left.push(diagnostic);
    else {
      used.add(silence);
      silenced.push({ diagnostic, reason: silence.reason });
    }
  }
  // Most warnings are looked for only in sets without errors, so an unused silence means nothing in a set
  // with errors.
  const isUnmet = (silence: Silence): boolean => !used.has(silence) && isLookedFor(silence.target);
  const unused = hasErrorsIn(said) ? [] : silences.filter(isUnmet).map(isUnused);
  const unmarked = [...said].filter(([file]) => !whole.has(file));
  return { byFile: new Map([...unmarked, ...groupByFile([...left, ...problems, ...unused])]), silenced };
}

interface Silence {
  readonly target: string;
  readonly reason: string;
  readonly span: Span;
  /** The line whose warnings the silence removes, counted from 0. */
  readonly line: number;
}

const silenceForm = /^#\s*writ:\s*allow\s+([a-z0-9-]+)(?:\s+because(?:\s+(\S.*?))?)?\s*$/;

/**
 * Codes that a silence may name. Warnings about silences are not among them: a wrong silence is corrected,
 * not silenced.
 */
const silenceable: ReadonlySet<string> = new Set(
  [...Object.keys(syntaxWarnings), ...Object.keys(checkWarnings)].filter(
    (code) => !code.startsWith('silence-'),
  ),
);

/** Returns the silences of a file, and a diagnostic for each comment that is a malformed silence. */
function silencesIn(
  file: PolicyFile,
  starts: readonly number[],
  text: string,
): readonly (Silence | Diagnostic)[] {
  const ownLines = new Set(
    file.comments.filter(({ ownLine }) => ownLine).map(({ span }) => lineAt(span.start, starts)),
  );
  const isBlankLine = (line: number): boolean =>
    text.slice(starts[line], starts[line + 1] ?? text.length).trim() === '';
  return file.comments.filter(isSilence).map((comment) => {
    let line = lineAt(comment.span.start, starts);
    while (line < starts.length && (ownLines.has(line) || isBlankLine(line))) line += 1;
    return readSilence(comment, line);
  });
}

function readSilence({ text, span }: Comment, line: number): Silence | Diagnostic {
  const match = silenceForm.exec(text);
  if (match === null) {
    return error('silence-malformed', span, 'this is no silence', {
      help: 'write `# writ: allow CODE because reason`',
    });
  }
  const [, target = '', reason] = match;
  if (!(target in codes)) return codeUnknown(target, text, span);
  if (!silenceable.has(target)) {
    return error('silence-of-error', span, `\`${target}\` cannot be silenced`, {
      help: 'fix what it reports: only warnings are silenced',
    });
  }
  if (reason === undefined) {
    return error('silence-without-reason', span, `the silence of \`${target}\` gives no reason`, {
      help: `say why it is right here: \`# writ: allow ${target} because ...\``,
    });
  }
  return { target, reason, span, line };
}

function codeUnknown(target: string, text: string, span: Span): Diagnostic {
  const start = span.start + text.indexOf(target, text.indexOf('allow') + 'allow'.length);
  const enclosing = { ...span, start, end: start + target.length };
  return warning('silence-code-unknown', enclosing, `no diagnostic has the code \`${target}\``, {
    help: 'write the code in brackets after `warning`',
    ...didYouMean({ text: target, span: enclosing }, silenceable),
  });
}

function isUnused({ target, span }: Silence): Diagnostic {
  return warning('silence-unused', span, `there is no \`${target}\` here to silence`, {
    help: 'remove the comment, or move it to the line where the warning begins',
  });
}

function silencesIt({ target, span, line }: Silence, diagnostic: Diagnostic, lines: Lines): boolean {
  if (diagnostic.severity === 'error' || diagnostic.code !== target) return false;
  return diagnostic.span.file === span.file && lines.first <= line && line <= lines.last;
}

/** Returns the spans that count as one line, because the formatter breaks long ones. */
function wholesIn({ declarations }: PolicyFile): readonly Span[] {
  return declarations.flatMap((declaration) => {
    switch (declaration.kind) {
      case 'policy':
        return declaration.rules.map(({ span }) => span);
      case 'guarantee':
        return declaration.claims.map(({ span }) => span);
      case 'let':
      case 'meter':
        return [declaration.span];
      default:
        return [];
    }
  });
}

/** Returns the span that holds the offset, or null. `wholes` is in the order of the text. */
function wholeAround(offset: number, wholes: readonly Span[]): Span | null {
  let [low, high] = [0, wholes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (wholes[middle]!.start <= offset) low = middle + 1;
    else high = middle;
  }
  const last = wholes[low - 1];
  return last !== undefined && offset < last.end ? last : null;
}

interface Lines {
  readonly first: number;
  readonly last: number;
}

function linesOf({ start, end }: Span, starts: readonly number[]): Lines {
  return { first: lineAt(start, starts), last: lineAt(Math.max(start, end - 1), starts) };
}

function lineStarts(text: string): readonly number[] {
  return [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
}

/** Returns the line of an offset, counted from 0, by binary search. */
function lineAt(offset: number, starts: readonly number[]): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (starts[middle]! <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}
