// Judges a checked policy set: its diagnostics with those for needless rules, and the verdict on each guarantee.

import {
  type ClauseResult,
  deciderOf,
  evaluateGuarantees,
  isGoodClause,
} from '../../analysis/findings/guarantee-results.ts';
import { type Diagnostic, hasErrors } from '../../language/diagnostic/diagnostic.ts';
import { countRules } from '../../language/model/policy.ts';
import { type LintReport, withLints } from '../../reasoning/lints/lint.ts';
import { digest } from '../../service/policies/digest.ts';
import { many } from '../output/many.ts';
import { createMarks } from '../output/output.ts';
import type { AppliedFix } from './apply-fixes.ts';
import type { CheckedPolicies } from './load-policies.ts';

export interface CheckedPath {
  readonly loaded: CheckedPolicies;
  readonly applied: readonly AppliedFix[];
}

export interface CheckJudgement extends CheckedPath {
  readonly diagnostics: readonly Diagnostic[];
  readonly claims: readonly ClauseResult[];
  /** Actions in which the check did not look for needless rules. */
  readonly leftOut: readonly string[];
  readonly isStrict: boolean;
  readonly isGood: boolean;
}

interface CheckChoice {
  readonly strict?: boolean | undefined;
  readonly trials?: number | undefined;
  readonly thorough?: boolean | undefined;
}

export function judgeCheck(
  checked: CheckedPath,
  { strict = false, trials, thorough = false }: CheckChoice,
): CheckJudgement {
  const { compiled } = checked.loaded;
  const { diagnostics, leftOut } = withProved(checked.loaded, thorough);
  const { set } = compiled;
  const claims = set === null ? [] : evaluateGuarantees(set, { decide: deciderOf(set), trials });
  const isClean = strict ? diagnostics.length === 0 : !hasErrors(diagnostics);
  const isGood = isClean && claims.every((claim) => isGoodClause(claim, strict));
  return { ...checked, diagnostics, claims, leftOut, isStrict: strict, isGood };
}

/** The diagnostics, with those for rules that are proved to be needless. */
function withProved({ compiled, diagnostics, read }: CheckedPolicies, isThorough: boolean): LintReport {
  const { set, files, silenced } = compiled;
  if (set === null) return { diagnostics, leftOut: [] };
  return withLints({ set, files, silenced, diagnostics, texts: read.sources.files, isThorough });
}

/** What the check did not do, and what a strict check counts as an error: a line each. */
export function checkNotes(judged: CheckJudgement): readonly string[] {
  const { loaded, diagnostics, claims, isStrict, leftOut } = judged;
  const { read, compiled } = loaded;
  return [
    ...(compiled.set === null && read.sources.files.length > 0 ? [errorsFirst] : []),
    ...(isStrict && diagnostics.some(({ severity }) => severity === 'warning') ? [warningWrong] : []),
    ...(isStrict && claims.some(({ kind }) => kind === 'undecided') ? [undecidedWrong] : []),
    ...(leftOut.length === 0 ? [] : [leftOutText(leftOut)]),
  ];
}

const warningWrong = 'a strict check counts warnings as errors: mend each, or silence it with a reason';
const undecidedWrong = 'a strict check counts undecided guarantees as errors';

const errorsFirst = 'the other warnings and the guarantees are checked once the errors are fixed';

/**
 * Names the actions in which what is needless was not looked for to the end, because the absence of a warning would
 * otherwise read as "nothing is needless".
 */
function leftOutText(actions: readonly string[]): string {
  const shownMax = 3;
  const named = actions.slice(0, shownMax).join(', ');
  const more = actions.length > shownMax ? ` and ${actions.length - shownMax} more` : '';
  return `did not look for all needless rules and conditions, because there are many: ${named}${more} (\`writ check --thorough\` does)`;
}

type Set = NonNullable<CheckedPolicies['compiled']['set']>;

export function counts(set: Set): { actions: number; policies: number; rules: number } {
  return { actions: set.actions.size, policies: set.policies.length, rules: countRules(set.policies) };
}

/**
 * A line with what is wrong, or that nothing is; then the counts and the digest, if the set can be used.
 */
export function verdictLine(judged: CheckJudgement): string {
  const { path, compiled } = judged.loaded;
  const marks = createMarks();
  const about = compiled.set === null ? null : describeSet(compiled.set);
  const faults = judged.isGood ? [] : faultsOf(judged);
  const start =
    faults.length === 0
      ? `${marks.good('✓')} ${path}`
      : `${marks.bad('✗')} ${path}: ${marks.bad(faults.join(', '))}`;
  return about === null ? start : `${start}${faults.length === 0 ? ': ' : '; '}${about}`;
}

/** What a check found wrong, such as `2 of 12 claims refuted`. */
function faultsOf({ diagnostics, claims, isStrict }: CheckJudgement): readonly string[] {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  const warnings = diagnostics.length - errors;
  const [refuted, undecided] = (['refuted', 'undecided'] as const).map(
    (wanted) => claims.filter(({ kind }) => kind === wanted).length,
  ) as [number, number];
  const faults: readonly (readonly [number, string])[] = [
    [errors, many(errors, 'error')],
    [refuted, `${refuted} of ${many(claims.length, 'claim')} refuted`],
    [isStrict ? undecided : 0, `${many(undecided, 'claim')} undecided`],
    [isStrict ? warnings : 0, many(warnings, 'warning')],
  ];
  return faults.flatMap(([count, text]) => (count === 0 ? [] : [text]));
}

function describeSet(set: Set): string {
  const { actions, policies, rules } = counts(set);
  const what = [many(actions, 'action'), many(policies, 'policy', 'policies'), many(rules, 'rule')];
  return `${what.join(', ')} ${createMarks().faint(`digest ${digest(set).slice(0, 12)}`)}`;
}
