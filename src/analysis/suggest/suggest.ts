// Turns a request that was refused or has to wait into the smallest changes of the policies that would allow it, the one
// that allows the least else first. INVARIANT: each suggestion is compiled, decided, compared and proved (verify.ts);
// none touches a guarantee.

import { isDeepStrictEqual } from 'node:util';
import type { Edit } from '../../language/diagnostic/diagnostic.ts';
import { type Decision, isRefusedByGate } from '../../language/model/decision.ts';
import type { Facts } from '../../language/model/request.ts';
import { authorize } from '../../language/spec/authorize.ts';
import { type CompileCache, compile, createCompileCache, type PolicySources } from '../../pipeline.ts';
import type { PolicyDiff } from '../../reasoning/diff/diff.ts';
import { applyEdits } from '../../testing/mutation/edit.ts';
import { milderIn, type RequestSample, sampleAround } from './breadth.ts';
import { candidatesFor } from './candidates.ts';
import { claimsAgainst, type ForbiddingClaim, type SuggestGoal } from './obstacles.ts';
import { type PolicyChange, textOf } from './source-edits.ts';
import {
  type Baseline,
  type DecidingSet,
  decideBy,
  definitionFor,
  isDecidedAs,
  leavesGuarantees,
  verifiedDiff,
} from './verify.ts';

/** The texts of one file before and after a change. */
export interface ChangedFile {
  /** Relative to the policy directory. */
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

export interface Suggestion {
  readonly kind: PolicyChange['kind'];
  /** What the change does, in words, one part for each edit. */
  readonly text: string;
  readonly files: readonly ChangedFile[];
  /** The decision about the request after the change. */
  readonly decision: Decision;
  /** Every kind of request that is decided otherwise, proved to be all. */
  readonly diff: PolicyDiff;
  /** How many requests of a sample get a milder decision. */
  readonly milder: { readonly count: number; readonly of: number };
  readonly changed: DecidingSet;
}

export interface Suggestions {
  readonly decision: Decision;
  /** The claims of guarantees that forbid to allow the request at once. */
  readonly forbidding: readonly ForbiddingClaim[];
  /** What suggestions lead to, even if there are none; null when the guarantees leave nothing to suggest. */
  readonly goal: SuggestGoal | null;
  readonly suggestions: readonly Suggestion[];
}

export interface SuggestOptions {
  readonly suggestionsMax?: number;
  /** How many changes are compared and proved before the search ends. */
  readonly verifiedMax?: number;
  /** The decision to lead to (default: ALLOW, and ESCALATE where nothing leads to ALLOW). */
  readonly goal?: SuggestGoal;
  /** Leaves out changes that lead to the goal in another way than wanted. */
  readonly isWanted?: (changed: DecidingSet) => boolean;
}

/** Suggests changes of one set for any number of requests. */
export interface Suggester {
  readonly base: DecidingSet;
  suggest(facts: Facts, options?: SuggestOptions): Suggestions;
}

const suggestionsMaxDefault = 3;
const verifiedMaxDefault = 8;

/** Null when the set has errors. */
export function createSuggester(
  sources: PolicySources,
  cache: CompileCache = createCompileCache(),
): Suggester | null {
  const base = decidingSet(sources, cache);
  if (base === null) return null;
  const baseline: Baseline = { ...base, verdicts: new Map(), warnings: new Map() };
  return { base, suggest: (facts, options = {}) => suggest({ baseline, cache, facts }, options) };
}

function decidingSet(sources: PolicySources, cache: CompileCache): DecidingSet | null {
  const compiled = compile(sources, cache);
  const { set, engine } = compiled;
  return set === null || engine === null ? null : { sources, compiled, set, engine };
}

interface SuggestScope {
  readonly baseline: Baseline;
  readonly cache: CompileCache;
  readonly facts: Facts;
}

function suggest(scope: SuggestScope, options: SuggestOptions): Suggestions {
  const { baseline, facts } = scope;
  const set = definitionFor(baseline.set, facts);
  const decision = authorize(set, facts);
  const none: Suggestions = { decision, forbidding: [], goal: null, suggestions: [] };
  if (decision.outcome === 'ALLOW' || isRefusedByGate(decision)) return none;
  const sourceOf = (path: string): string => textOf(sourceSet(baseline), path);
  const against = (goal: SuggestGoal) => claimsAgainst(goal, { set, facts, decision, sourceOf });
  const forbidding = against('ALLOW');
  const open = goalsOf(decision, options).filter((goal) => against(goal).length === 0);
  for (const goal of open) {
    const suggestions = suggestionsFor(goal, scope, options);
    if (suggestions.length > 0) return { decision, forbidding, goal, suggestions };
  }
  return { ...none, forbidding, goal: open[0] ?? null };
}

function goalsOf({ outcome }: Decision, { goal }: SuggestOptions): readonly SuggestGoal[] {
  if (goal !== undefined) return [goal];
  return outcome === 'DENY' ? ['ALLOW', 'ESCALATE'] : ['ALLOW'];
}

function sourceSet({ sources, compiled }: DecidingSet) {
  return { sources, files: compiled.files };
}

interface TriedChange {
  readonly change: PolicyChange;
  readonly files: readonly ChangedFile[];
  readonly changed: DecidingSet;
  readonly milder: number;
}

function suggestionsFor(
  goal: SuggestGoal,
  scope: SuggestScope,
  options: SuggestOptions,
): readonly Suggestion[] {
  const { baseline, facts } = scope;
  const { suggestionsMax = suggestionsMaxDefault, verifiedMax = verifiedMaxDefault } = options;
  const sample = sampleAround(baseline.set, facts, baseline.engine.decide);
  const set = definitionFor(baseline.set, facts);
  const candidates = candidatesFor(goal, { source: sourceSet(baseline), set, facts });
  const { isWanted = () => true } = options;
  const tried = candidates.flatMap((change) => tryChange(goal, scope, { change, sample, isWanted }) ?? []);
  const suggestions: Suggestion[] = [];
  for (const one of inOrder(tried).slice(0, verifiedMax)) {
    if (suggestions.length >= suggestionsMax) break;
    const diff = verifiedDiff(baseline, one.changed, facts);
    const { kind } = one.change;
    if (diff === null || suggestions.some((other) => other.kind === kind && isSameChange(other.diff, diff)))
      continue;
    suggestions.push({
      kind,
      text: one.change.text,
      files: one.files,
      decision: decideBy(one.changed, facts),
      diff,
      milder: { count: one.milder, of: sample.requests.length },
      changed: one.changed,
    });
  }
  return suggestions.toSorted((a, b) => a.milder.count - b.milder.count);
}

/** Whether two changes let the same requests pass, such as two rules of which one repeats what guarantees say. */
function isSameChange(some: PolicyDiff, others: PolicyDiff): boolean {
  const regions = ({ findings }: PolicyDiff) =>
    findings.map(({ from, to, actions, when }) => ({ from, to, actions, when }));
  return isDeepStrictEqual(regions(some), regions(others));
}

/** The narrowest change of each kind first, then the others, from narrow to wide. */
function inOrder(tried: readonly TriedChange[]): readonly TriedChange[] {
  const size = ({ change }: TriedChange): number => change.edits.length;
  const sorted = tried.toSorted((a, b) => a.milder - b.milder || size(a) - size(b));
  const firsts = [...Map.groupBy(sorted, ({ change }) => change.kind).values()].map(([first]) => first!);
  return [...firsts, ...sorted.filter((one) => !firsts.includes(one))];
}

interface ChangeTrial {
  readonly change: PolicyChange;
  readonly sample: RequestSample;
  readonly isWanted: (changed: DecidingSet) => boolean;
}

/** Compiles the change and decides the request; null if that does not lead to the goal, or changes a guarantee. */
function tryChange(
  goal: SuggestGoal,
  { baseline, cache, facts }: SuggestScope,
  { change, sample, isWanted }: ChangeTrial,
): TriedChange | null {
  const files = changedFiles(baseline, change.edits);
  const changed = decidingSet(withFiles(baseline.sources, files), cache);
  if (changed === null || !isDecidedAs(goal, changed, facts)) return null;
  if (!leavesGuarantees(baseline, changed) || !isWanted(changed)) return null;
  return { change, files, changed, milder: milderIn(sample, changed.engine.decide) };
}

function changedFiles(base: DecidingSet, edits: readonly Edit[]): readonly ChangedFile[] {
  return [...Map.groupBy(edits, ({ span }) => span.file)].map(([path, own]) => {
    const before = textOf(sourceSet(base), path);
    return { path, before, after: applyEdits(before, own) };
  });
}

/** The sources with changed files in place of theirs. */
function withFiles({ files, readListFile }: PolicySources, changed: readonly ChangedFile[]): PolicySources {
  const after = new Map(changed.map((file) => [file.path, file.after]));
  return {
    files: files.map((file) => ({ ...file, text: after.get(file.path) ?? file.text })),
    readListFile: (path) => {
      const text = after.get(path);
      return text === undefined ? readListFile(path) : { text };
    },
  };
}
