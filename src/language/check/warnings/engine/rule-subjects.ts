// What warning rules examine: the conditions of one part, the rules about one set of actions, or the whole
// policy set.

import type { Expression } from '../../../model/expression.ts';
import type { PolicySet } from '../../../model/policy.ts';
import type { PolicyDeclaration, PolicyFile } from '../../../syntax/tree/tree.ts';
import type { Environment } from '../../incremental/environment.ts';
import type { ValueOfLet } from '../../logic/constants.ts';
import type { RuleInPolicy } from './rule-in-policy.ts';
import type { RuleGroup, RulesByActions } from './rules-by-actions.ts';

/** A read of a declared list, with the value that is looked up; null when that may be any text. */
export interface ListRead {
  readonly list: string;
  readonly subject: Expression | null;
}

/** Conditions that are examined on their own: those of one policy, meter, guarantee or let. */
export interface ConditionScope {
  readonly env: Environment;
  readonly valueOfLet: ValueOfLet;
  /** All conditions, those of shadow rules included. */
  readonly conditions: readonly Expression[];
  /** The declaration of the policy; null for a meter, guarantee or let. */
  readonly declaration: PolicyDeclaration | null;
  /** The rules of the policy without shadow rules; empty for a meter, guarantee or let. */
  readonly enforced: readonly RuleInPolicy[];
}

/**
 * What a warning rule about the whole set examines: a policy set without errors, its trees, and the
 * environment to report to.
 */
export interface ExaminedRule {
  readonly set: PolicySet;
  readonly files: readonly PolicyFile[];
  readonly env: Environment;
  readonly valueOfLet: ValueOfLet;
  /** Rules of all policies, sorted by the name of the policy, without shadow rules. */
  readonly rules: () => readonly RuleInPolicy[];
  /** The rules that read risk. */
  readonly riskReaders: readonly RuleInPolicy[];
  readonly rulesByAction: RulesByActions<RuleInPolicy>;
  readonly listReads: readonly ListRead[];
  /** Names that something refers to. */
  readonly used: ReadonlySet<string>;
  /** Indices over these rules that are kept from one check to the next, by purpose. */
  readonly indices: Map<string, unknown>;
}

/** Examines the rules about one set of actions together with the rules that share some of these actions. */
export type GroupRule = (group: RuleGroup<RuleInPolicy>) => void;
