// A rule taken apart once, for all the rules of the checker that look at it.

import type { Span } from '../../../diagnostic/span.ts';
import { childrenOf } from '../../../model/children.ts';
import type { Compare, Expression, FieldRead, MeterRead } from '../../../model/expression.ts';
import type { Policy, Rule } from '../../../model/policy.ts';
import type { Environment } from '../../incremental/environment.ts';
import type { ValueOfLet } from '../../logic/constants.ts';
import { domainAtomsOf } from '../../logic/domains.ts';
import { type Statement, statementOf } from '../../logic/implication.ts';
import { type Part, partsWithPolarity } from '../../logic/polarity.ts';
import { structureOf } from '../../logic/structure.ts';
import { trimmedList } from '../../logic/trimmed-list.ts';
import type { DomainAtom } from '../../logic/value-sets.ts';
import { hashOf } from './hash.ts';

export interface RuleInPolicy {
  readonly rule: Rule;
  /** The name of its policy. */
  readonly policy: string;
  /** Keys of the actions that it speaks of; the same array for rules that speak of the same. */
  readonly actions: readonly string[];
  /** Place of its name. */
  readonly name: Span;
  /** All parts of its condition but literals, lets followed. */
  readonly parts: readonly Part[];
  /** Literals that stand in its parts. */
  readonly literals: readonly Expression[];
  /** What its condition says of single values. */
  readonly atoms: readonly DomainAtom[];
  /** Its condition taken apart, to ask what follows from it. */
  readonly statement: Statement;
  /** Of parts that read meters, risk and enumerations of the payload, the reads. */
  readonly meterReads: readonly MeterReading[];
  readonly riskTests: readonly Compare[];
  readonly enumerations: readonly FieldRead[];
  /** The same for rules that say the same, and seldom for others. */
  readonly hash: number;
  /** The same for rules of one effect that ask for the same and grant for as long. */
  readonly asks: string;
}

/** A meter that is read, and whether it counts per session. */
export interface MeterReading {
  readonly read: MeterRead;
  readonly isPerSession: boolean;
}

interface Around {
  readonly env: Environment;
  readonly valueOfLet: ValueOfLet;
}

export function ruleInPolicy(
  rule: Rule,
  { name: policy, actions }: Pick<Policy, 'name' | 'actions'>,
  name: Span,
  { env, valueOfLet }: Around,
): RuleInPolicy {
  const parts = partsWithPolarity(rule.condition, valueOfLet);
  const literals: Expression[] = [];
  const meterReads: MeterReading[] = [];
  const riskTests: Compare[] = [];
  const enumerations: FieldRead[] = [];
  for (const { node } of parts) {
    if (node.kind === 'field') {
      if (isEnumeration(node)) enumerations.push(node);
      continue;
    }
    for (const inner of childrenOf(node)) if (inner.kind === 'literal') literals.push(inner);
    if (node.kind === 'meter') {
      meterReads.push({ read: node, isPerSession: env.ask('isPerSession', node.meter) });
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
    hash: hashOf(rule, parts, literals),
    asks: structureOf([rule.effect, rule.requirement, rule.validForSeconds]),
  };
}

function isEnumeration({ root, isSigned, type }: FieldRead): boolean {
  return root === 'payload' && !isSigned && type.kind === 'text' && type.values !== null;
}
