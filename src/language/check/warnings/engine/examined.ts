// What rules about policies are handed to look at: the conditions of one part, the rules of a set of actions, or the set.

import type { Expression } from '../../../model/expression.ts';
import type { PolicySet } from '../../../model/policy.ts';
import type { PolicyDeclaration, PolicyFile } from '../../../syntax/tree/tree.ts';
import type { Environment } from '../../incremental/environment.ts';
import type { ValueOfLet } from '../../logic/constants.ts';
import type { RuleInPolicy } from './rule-in-policy.ts';
import type { RuleGroup, RulesByActions } from './rules-by-actions.ts';

/** A declared list and what is looked up in it; null where that may be anything. */
export interface ListRead {
  readonly list: string;
  readonly subject: Expression | null;
}

/** Conditions that are looked at by themselves: those of a policy, or what a meter, guarantee or let says. */
export interface Examined {
  readonly env: Environment;
  readonly valueOfLet: ValueOfLet;
  /** All conditions, those that only shadow too. */
  readonly conditions: readonly Expression[];
  /** Null but for policies. */
  readonly declaration: PolicyDeclaration | null;
  /** Rules that count, those that only shadow left out. */
  readonly enforced: readonly RuleInPolicy[];
}

/** What a rule about the whole set looks at: a set without errors, the trees that it comes from, where to report to. */
export interface ExaminedRule {
  readonly set: PolicySet;
  readonly files: readonly PolicyFile[];
  readonly env: Environment;
  readonly valueOfLet: ValueOfLet;
  /** Rules that count, of all policies by name. */
  readonly rules: () => readonly RuleInPolicy[];
  /** Those of them that read the risk. */
  readonly riskReaders: readonly RuleInPolicy[];
  readonly around: RulesByActions<RuleInPolicy>;
  readonly listReads: readonly ListRead[];
  /** Names that something refers to. */
  readonly used: ReadonlySet<string>;
  /** What is remembered of indices over these rules, by purpose. */
  readonly indices: Map<string, unknown>;
}

/** Looks at the rules of one set of actions beside those that speak of some of the same. */
export type GroupRule = (group: RuleGroup<RuleInPolicy>) => void;
