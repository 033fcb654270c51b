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
  /** The diagnostics, with the severity that `--strict` gives them. */
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
  const { diagnostics: found, leftOut } = withProved(checked.loaded, thorough);
  const diagnostics = strict ? found.map(asError) : found;
  const { set } = compiled;
  const claims = set === null ? [] : evaluateGuarantees(set, { decide: deciderOf(set), trials });
  const isGood = !hasErrors(diagnostics) && claims.every((claim) => isGoodClause(claim, strict));
  return { ...checked, diagnostics, claims, leftOut, isStrict: strict, isGood };
}

/** The diagnostics, with those for rules that are proved to be needless. */
function withProved({ compiled, diagnostics, read }: CheckedPolicies, isThorough: boolean): LintReport {
  const { set, files, silenced } = compiled;
  if (set === null) return { diagnostics, leftOut: [] };
  return withLints({ set, files, silenced, diagnostics, texts: read.sources.files, isThorough });
}

function asError(diagnostic: Diagnostic): Diagnostic {
  return { ...diagnostic, severity: 'error' };
}

/** What the check did not do, and what a strict check counts as an error: a line each. */
export function checkNotes({ loaded, claims, isStrict, leftOut }: CheckJudgement): readonly string[] {
  const { read, compiled } = loaded;
  return [
    ...(compiled.set === null && read.sources.files.length > 0 ? [errorsFirst] : []),
    ...(isStrict && claims.some(({ kind }) => kind === 'undecided') ? [undecidedWrong] : []),
    ...(leftOut.length === 0 ? [] : [leftOutText(leftOut)]),
  ];
}

const undecidedWrong = 'an undecided guarantee counts as an error with --strict';

const errorsFirst = 'the other warnings and the guarantees are checked once the errors are fixed';

/**
 * Names the actions in which what is needless was not looked for to the end, because the absence of a warning would
 * otherwise read as "nothing is needless".
 */
function leftOutText(actions: readonly string[]): string {
  const shownMax = 3;
  const named = actions.slice(0, shownMax).join(', ');
  const more = actions.length > shownMax ? ` and ${actions.length - shownMax} more` : '';
  return `did not look for all needless rules and conditions, because there are many: ${named}${more} (use --thorough)`;
}

type Set = NonNullable<CheckedPolicies['compiled']['set']>;

export function counts(set: Set): { actions: number; policies: number; rules: number } {
  return { actions: set.actions.size, policies: set.policies.length, rules: countRules(set.policies) };
}

/** A line with the counts and the digest of a set without errors. */
export function describeChecked({ path, compiled: { set } }: CheckedPolicies): string {
  const { actions, policies, rules } = counts(set!);
  const marks = createMarks();
  const what = [many(actions, 'action'), many(policies, 'policy', 'policies'), many(rules, 'rule')];
  return `${marks.good('✓')} ${path}: ${what.join(', ')} ${marks.faint(`digest ${digest(set!).slice(0, 12)}`)}\n`;
}
