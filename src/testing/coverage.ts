// Counts how often each rule's condition was true, false and unknown during tests, by the definition. If no
// test makes a rule false, the rule's condition could be deleted unnoticed.

import type { PolicySet, Rule } from '../language/model/policy.ts';
import type { Truth } from '../language/model/trace.ts';
import type { ExplainedRule } from '../language/spec/explain-rule.ts';
import { memo } from '../language/value/memo.ts';

export interface RuleCoverage {
  /** Path of the policy file, by which tests reach it. */
  readonly file: string;
  readonly rule: string;
  readonly isUnconditional: boolean;
  readonly counts: Readonly<Record<Truth, number>>;
  /** The truths that tests should produce at least once and never did. */
  readonly lacks: readonly Truth[];
}

export interface Coverage {
  /** Sorted by file, then by rule. */
  readonly rules: readonly RuleCoverage[];
  /**
   * The part, from 0 to 100, of the demanded truths that tests produced: true and false for each rule.
   * Unknown is counted but not demanded.
   */
  readonly percent: number | null;
}

/** Adds the truths of one case's rules to the counts. */
export type CountTruths = (explained: readonly ExplainedRule[]) => void;

interface RuleCounts {
  readonly file: string;
  readonly rule: Rule;
  readonly counts: Record<Truth, number>;
}

/** Gathers counts over many sets and cases; a class, because gathering changes its state. */
export class CoverageCounter {
  readonly #rules = new Map<string, RuleCounts>();

  /**
   * Registers the rules of a set, so that rules without any case show, too. Returns the function that counts
   * the set's cases. `fileOf` tells policy files apart: a rule that two test files reach counts as one rule.
   */
  addSet(set: PolicySet, fileOf: (path: string) => string): CountTruths {
    const ofSet = new Map<string, RuleCounts>();
    for (const rule of set.policies.flatMap((policy) => policy.rules)) {
      const file = fileOf(rule.span.file);
      const key = `${file}\n${rule.id}`;
      const counted = memo(this.#rules, key, () => ({
        file,
        rule,
        counts: { true: 0, false: 0, unknown: 0 },
      }));
      ofSet.set(rule.id, counted);
    }
    return (explained) => {
      for (const { rule, truth } of explained) ofSet.get(rule)!.counts[truth] += 1;
    };
  }

  result(): Coverage {
    const rules = [...this.#rules.values()]
      .map(coverageOf)
      .toSorted((a, b) => compareText(a.file, b.file) || compareText(a.rule, b.rule));
    const demanded = rules.reduce((sum, rule) => sum + demandedOf(rule).length, 0);
    const lacking = rules.reduce((sum, { lacks }) => sum + lacks.length, 0);
    const percent = demanded === 0 ? null : Math.floor((100 * (demanded - lacking)) / demanded);
    return { rules, percent };
  }
}

function coverageOf({ file, rule, counts }: RuleCounts): RuleCoverage {
  const base = { file, rule: rule.id, isUnconditional: isUnconditional(rule), counts };
  return { ...base, lacks: demandedOf(base).filter((truth) => counts[truth] === 0) };
}

/** A rule without a condition can only be true. */
function demandedOf({ isUnconditional }: Pick<RuleCoverage, 'isUnconditional'>): readonly Truth[] {
  return isUnconditional ? ['true'] : ['true', 'false'];
}

function isUnconditional({ condition }: Rule): boolean {
  return condition.kind === 'literal' && condition.value === true;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
