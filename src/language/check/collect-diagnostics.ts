// Gathers what a check reports, part by part: used names, variants of lets, diagnostics by file. When every
// part of a file reports the same as before, the file keeps its list of diagnostics and nothing is sorted.

import { type DiagnosticsByFile, groupByFile, hasErrorsIn } from '../diagnostic/by-file.ts';
import { type Diagnostic, sortDiagnostics } from '../diagnostic/diagnostic.ts';
import type { LetVariant } from './expressions/lets.ts';
import type { CheckOutcome } from './incremental/recorder.ts';
import type { FileDiagnostics, FileDiagnosticsByPath } from './incremental/state.ts';
import { haveSameParts, sameOrNew } from './logic/same.ts';

export interface Collector {
  readonly used: Set<string>;
  /** Whether nothing is in error and nothing has been left out. */
  readonly isWhole: () => boolean;
  readonly variants: Map<string, LetVariant>;
  readonly outcomes: Map<string, CheckOutcome<LetVariant>>;
  readonly report: (diagnostics: readonly Diagnostic[]) => void;
  readonly gather: (outcome: CheckOutcome) => void;
  /** Returns the diagnostics of each file; a file whose diagnostics are those of `before` keeps its list. */
  readonly diagnosticsAfter: (before: FileDiagnosticsByPath) => FileDiagnosticsByPath;
}

export function createCollector(): Collector {
  const lists = new Map<string, (readonly Diagnostic[])[]>();
  const used = new Set<string>();
  const variants = new Map<string, LetVariant>();
  const outcomes = new Map<string, CheckOutcome<LetVariant>>();
  const walk = {};
  let isWhole = true;
  const add = (byFile: DiagnosticsByFile): void => {
    for (const [file, some] of byFile) {
      const cached = lists.get(file);
      if (cached === undefined) lists.set(file, [some]);
      else cached.push(some);
    }
    if (hasErrorsIn(byFile)) isWhole = false;
  };
  const gather = (outcome: CheckOutcome): void => {
    if (outcome.walk === walk) return;
    outcome.walk = walk;
    for (const name of outcome.used) used.add(name);
    if (outcome.leftOut.length > 0) isWhole = false;
    const { value } = outcome;
    if (isVariant(value)) {
      variants.set(value.id, value);
      outcomes.set(value.id, outcome as CheckOutcome<LetVariant>);
    }
    if (outcome.diagnostics.length === 0) return;
    const { said, parts } = outcomeParts(outcome);
    add(said);
    parts.forEach(gather);
  };
  return {
    used,
    isWhole: () => isWhole,
    variants,
    outcomes,
    report: (diagnostics) => add(groupByFile(diagnostics)),
    gather,
    diagnosticsAfter: (before) =>
      new Map([...lists].map(([file, some]) => [file, diagnosticsOfFile(some, before.get(file))] as const)),
  };
}

function isVariant(value: unknown): value is LetVariant {
  return typeof value === 'object' && value !== null && 'inferred' in value;
}

interface OutcomeParts {
  readonly said: DiagnosticsByFile;
  readonly parts: readonly CheckOutcome[];
}

const cache = new WeakMap<CheckOutcome, OutcomeParts>();
const nothing: DiagnosticsByFile = new Map();

function isOutcome(part: Diagnostic | CheckOutcome): part is CheckOutcome {
  return !('code' in part);
}

/**
 * Splits an outcome into its own diagnostics by file and its parts. Computed once for each outcome, when all
 * of its checks are done.
 */
function outcomeParts(outcome: CheckOutcome): OutcomeParts {
  const before = cache.get(outcome);
  if (before !== undefined) return before;
  const fileDiagnostics = outcome.diagnostics.filter((one) => 'code' in one);
  const byFile = fileDiagnostics.length === 0 ? nothing : groupByFile(fileDiagnostics);
  const split = { said: byFile, parts: outcome.diagnostics.filter(isOutcome) };
  cache.set(outcome, split);
  return split;
}

function diagnosticsOfFile(
  lists: FileDiagnostics['lists'],
  before: FileDiagnostics | undefined,
): FileDiagnostics {
  if (before !== undefined && haveSameParts(lists, before.lists)) return before;
  const all = eachOnce(sortDiagnostics(lists.flat()));
  const then = before?.diagnostics ?? [];
  const made = all.map((one, at) => sameOrNew(then[at], one));
  return { lists, diagnostics: before !== undefined && haveSameParts(made, then) ? then : made };
}

/** Removes diagnostics with the place, code and message of an earlier one; the list is sorted. */
function eachOnce(sorted: readonly Diagnostic[]): readonly Diagnostic[] {
  const remaining: Diagnostic[] = [];
  for (const one of sorted) {
    let at = remaining.length - 1;
    while (at >= 0 && isAtSamePlace(remaining[at]!, one) && !saysSame(remaining[at]!, one)) at -= 1;
    if (at < 0 || !isAtSamePlace(remaining[at]!, one)) remaining.push(one);
  }
  return remaining;
}

/** Compares what diagnostics are sorted by: file, start and code. */
function isAtSamePlace(a: Diagnostic, b: Diagnostic): boolean {
  return a.span.start === b.span.start && a.code === b.code && a.span.file === b.span.file;
}

function saysSame(a: Diagnostic, b: Diagnostic): boolean {
  return a.span.end === b.span.end && a.message === b.message;
}
