// Applies the fixes that diagnostics offer, round after round, until none is left to apply.
// INVARIANT: no fix that would add an error is applied, and no two that touch the same text in one round.

import type { Diagnostic, Edit, Fix } from '../../language/diagnostic/diagnostic.ts';
import { type Position, position } from '../../language/diagnostic/render.ts';
import {
  type CheckResult,
  type CompileCache,
  checkSources,
  createCompileCache,
  type PolicySources,
} from '../../pipeline.ts';
import { applyEdits } from '../../testing/mutation/edit.ts';

const roundsMax = 10;

export interface FixResult {
  readonly sources: PolicySources;
  readonly compiled: CheckResult;
  /** The applied fixes, in their order. */
  readonly applied: readonly AppliedFix[];
  /** The files whose text changed. */
  readonly changes: readonly FileChange[];
}

export interface AppliedFix {
  readonly diagnostic: Diagnostic;
  readonly title: string;
  /** The place in the text that the fix was applied to. */
  readonly position: Position;
}

export interface FileChange {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

/** Applies the fixes in memory and writes nothing. Never throws because of the text of a policy. */
export function fixPolicies(sources: PolicySources, compiled: CheckResult): FixResult {
  const cache = createCompileCache();
  const applied: AppliedFix[] = [];
  let now: State = { sources, compiled };
  for (let round = 0; round < roundsMax; round++) {
    const offered = offeredFixes(now);
    const { chosen, result } = chooseHarmless({ before: now, cache }, offered);
    if (chosen.length === 0) break;
    applied.push(...chosen.map((one) => describe(one, now.sources)));
    now = result;
  }
  return { ...now, applied, changes: changesBetween(sources, now.sources) };
}

interface State {
  readonly sources: PolicySources;
  readonly compiled: CheckResult;
}

interface OfferedFix {
  readonly diagnostic: Diagnostic;
  readonly fix: Fix;
}

/**
 * Fixes that edit policy files, in the order of the diagnostics. Of fixes that overlap, only the first
 * counts.
 */
function offeredFixes({ sources, compiled }: State): readonly OfferedFix[] {
  const paths = new Set(sources.files.map(({ path }) => path));
  const taken: Edit[] = [];
  return compiled.diagnostics.flatMap((diagnostic) => {
    const { fix } = diagnostic;
    if (fix === undefined || fix.edits.length === 0) return [];
    const isFree = fix.edits.every(
      (edit) => paths.has(edit.span.file) && !taken.some((other) => overlaps(edit, other)),
    );
    if (!isFree) return [];
    taken.push(...fix.edits);
    return [{ diagnostic, fix }];
  });
}

/** Two insertions at one place overlap, too: they are likely the same fix, offered twice. */
function overlaps({ span: a }: Edit, { span: b }: Edit): boolean {
  return a.file === b.file && (a.start === b.start || (a.start < b.end && b.start < a.end));
}

interface Choice {
  readonly chosen: readonly OfferedFix[];
  readonly result: State;
}

/**
 * Applies all fixes at once if that adds no error, otherwise each half alone: one harmful fix then costs few
 * compilations.
 */
function chooseHarmless(round: Round, offered: readonly OfferedFix[]): Choice {
  return extend(round, { chosen: [], result: round.before }, offered);
}

interface Round {
  readonly before: State;
  readonly cache: CompileCache;
}

function extend(round: Round, choice: Choice, offered: readonly OfferedFix[]): Choice {
  if (offered.length === 0) return choice;
  const chosen = [...choice.chosen, ...offered];
  const sources = applyFixes(round.before.sources, chosen);
  const result = { sources, compiled: checkSources(sources, round.cache) };
  if (!addsError(round.before.compiled, result.compiled)) return { chosen, result };
  if (offered.length === 1) return choice;
  const middle = offered.length >> 1;
  return extend(round, extend(round, choice, offered.slice(0, middle)), offered.slice(middle));
}

/**
 * Whether `after` has errors that `before` lacks. Errors are identified by their message, because their
 * places shift.
 */
function addsError(before: CheckResult, after: CheckResult): boolean {
  const allowed = countErrors(before);
  return [...countErrors(after)].some(([key, count]) => count > (allowed.get(key) ?? 0));
}

function countErrors({ diagnostics }: CheckResult): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { code, severity, span, message } of diagnostics) {
    const key = JSON.stringify([code, span.file, message]);
    if (severity === 'error') counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

function applyFixes(sources: PolicySources, fixes: readonly OfferedFix[]): PolicySources {
  const edits = fixes.flatMap(({ fix }) => fix.edits).toSorted((a, b) => b.span.start - a.span.start);
  const files = sources.files.map((file) => {
    const fileEdits = edits.filter(({ span }) => span.file === file.path);
    return fileEdits.length === 0 ? file : { ...file, text: applyEdits(file.text, fileEdits) };
  });
  return { ...sources, files };
}

function describe({ diagnostic, fix }: OfferedFix, { files }: PolicySources): AppliedFix {
  const text = files.find(({ path }) => path === diagnostic.span.file)?.text ?? '';
  return { diagnostic, title: fix.title, position: position(text, diagnostic.span.start) };
}

function changesBetween(before: PolicySources, after: PolicySources): readonly FileChange[] {
  const texts = new Map(after.files.map(({ path, text }) => [path, text]));
  return before.files.flatMap(({ path, text }) => {
    const changed = texts.get(path) ?? text;
    return changed === text ? [] : [{ path, before: text, after: changed }];
  });
}
