// Analyses a rule once, for all warning rules that examine it.

import type { Span } from '../../../diagnostic/span.ts';
import { childrenOf } from '../../../model/children.ts';
import type { Compare, Expression, FieldRead, MeterRead } from '../../../model/expression.ts';
import type { Policy, Rule } from '../../../model/policy.ts';
import type { Environment } from '../../incremental/environment.ts';
import type { ValueOfLet } from '../../logic/constants.ts';
import { domainAtomsOf } from '../../logic/domains.ts';
import { type Statement, statementOf } from '../../logic/implication.ts';
import { trimmedList } from '../../logic/list-forms.ts';
import { type Part, partsWithPolarity } from '../../logic/polarity.ts';
import { structureOf } from '../../logic/structure.ts';
import type { DomainAtom } from '../../logic/value-sets.ts';

export interface RuleInPolicy {
  readonly rule: Rule;
  /** The name of the rule's policy. */
  readonly policy: string;
  /** Keys of the actions of the policy; rules about the same actions share one array. */
  readonly actions: readonly string[];
  /** The place of the rule's name. */
  readonly name: Span;
  /** All parts of the condition except literals; lets are followed. */
  readonly parts: readonly Part[];
  /** Literals in the parts of the condition. */
  readonly literals: readonly Expression[];
  /** What the condition states about single values. */
  readonly atoms: readonly DomainAtom[];
  /** The condition as analysed for questions about what follows from it. */
  readonly statement: Statement;
  /**
   * Meters that the condition reads. `riskTests` holds its comparisons with risk, `enumerations` its reads of
   * enumerations of the payload, `amounts` its reads of amounts that have their currency in a field.
   */
  readonly meterReads: readonly MeterReading[];
  readonly riskTests: readonly Compare[];
  readonly enumerations: readonly FieldRead[];
  readonly amounts: readonly FieldRead[];
  /** Equal for rules of equal content, and rarely equal for others. */
  readonly hash: number;
  /** Equal for rules with the same effect, requirement and validity. */
  readonly asks: string;
}

/** A read of a meter, and whether the meter counts per session. */
export interface MeterReading {
  readonly read: MeterRead;
  readonly isPerSession: boolean;
}

interface RuleContext {
  readonly env: Environment;
  readonly valueOfLet: ValueOfLet;
}

export function ruleInPolicy(
  rule: Rule,
  { name: policy, actions }: Pick<Policy, 'name' | 'actions'>,
  name: Span,
  { env, valueOfLet }: RuleContext,
): RuleInPolicy {
  const parts = partsWithPolarity(rule.condition, valueOfLet);
  const literals: Expression[] = [];
  const meterReads: MeterReading[] = [];
  const riskTests: Compare[] = [];
  const enumerations: FieldRead[] = [];
  const amounts: FieldRead[] = [];
  for (const { node } of parts) {
    if (node.kind === 'field') {
      if (isEnumeration(node)) enumerations.push(node);
      else if (isAmount(node)) amounts.push(node);
      continue;
    }
    for (const inner of childrenOf(node)) if (inner.kind === 'literal') literals.push(inner);
    if (node.kind === 'meter') {
      meterReads.push({ read: node, isPerSession: env.query('isPerSession', node.meter) });
    } else if (node.kind === 'compare' && (node.left.kind === 'risk' || node.right.kind === 'risk'))
      riskTests.push(node);
  }
  const { condition } = rule;
  return {
    rule,
    policy,
    actions,
    name,
    parts,
    literals: trimmedList(literals),
    atoms: domainAtomsOf(condition, true, valueOfLet),
    statement: statementOf(condition, valueOfLet),
    meterReads,
    riskTests,
    enumerations,
    amounts,
    hash: hashOf(rule, parts, literals),
    asks: structureOf([rule.effect, rule.requirement, rule.validForSeconds]),
  };
}

function isEnumeration({ root, isSigned, type }: FieldRead): boolean {
  return root === 'payload' && !isSigned && type.kind === 'text' && type.values !== null;
}

function isAmount({ root, isSigned, type }: FieldRead): boolean {
  return root === 'payload' && !isSigned && type.kind === 'money' && type.currencyField !== null;
}

/** Returns a number that is equal for rules of equal content, and rarely equal for others. */
function hashOf({ effect, points }: Rule, parts: readonly Part[], literals: readonly Expression[]): number {
  let hash = mixed(points, effect);
  for (const { node } of parts) {
    hash = mixed(hash, node.kind);
    if (node.kind === 'field') for (const step of node.steps) hash = mixed(hash, step);
    else if (node.kind === 'compare') hash = mixed(hash, node.operator);
    else if (node.kind === 'in-list') hash = mixed(hash, node.list);
  }
  for (const node of literals) {
    if (node.kind !== 'literal') continue;
    const { value } = node;
    if (typeof value === 'string') hash = mixed(hash, value);
    else if (typeof value === 'object' && value !== null && 'coefficient' in value) {
      hash = (Math.imul(hash, 31) + Number(value.coefficient)) | 0;
    }
  }
  return hash;
}

function mixed(hash: number, text: string): number {
  const length = text.length;
  if (length === 0) return Math.imul(hash, 31) | 0;
  const some = text.charCodeAt(0) + text.charCodeAt(length >> 1) * 7 + text.charCodeAt(length - 1) * 61;
  return (Math.imul(hash, 31) + some + length) | 0;
}
