// Warns of a value of an enumeration for which no `allow` of the action can be true: a case that was
// forgotten, or a value that need not be declared.

import type { Diagnostic } from '../../../diagnostic/diagnostic.ts';
import type { Expression, FieldRead } from '../../../model/expression.ts';
import type { Action } from '../../../model/policy.ts';
import type { ValueOfLet } from '../../logic/constants.ts';
import { domainAtomsOf, fieldKey, isImpossible } from '../../logic/domains.ts';
import { payloadField } from '../../logic/payload-paths.ts';
import type { DomainAtom } from '../../logic/value-sets.ts';
import { warning } from '../../messages/problem.ts';
import { lazily } from '../engine/lazily.ts';
import { memoizedForRules } from '../engine/memoized-for-rules.ts';
import type { RuleInPolicy } from '../engine/rule-in-policy.ts';
import type { ExaminedRule } from '../engine/rule-subjects.ts';
import { inOrder } from '../engine/rules-by-actions.ts';

export function valuesNeverGranted({ set, env, rulesByAction: around, valueOfLet }: ExaminedRule): void {
  const byType = new Map<string, readonly Enumeration[]>();
  for (const action of set.actions.values()) {
    const groups = around.speakingOf(action.key);
    if (groups.length === 0) continue;
    memoizedForRules(env, action, groups, () => {
      const name = groups.map(({ rules }) => rules[0]!.rule.id).join('\n');
      const enumerations = byType.get(name) ?? enumerationsIn(inOrder(groups).filter(isAllow), valueOfLet);
      byType.set(name, enumerations);
      for (const enumeration of enumerations) reportField(action, enumeration, env.report);
    });
  }
}

function isAllow({ rule }: RuleInPolicy): boolean {
  return rule.effect === 'allow';
}

/** A field of the payload with an enumeration as type that conditions of an action's `allow` rules read. */
interface Enumeration {
  readonly field: FieldRead;
  /** For each `allow`, a test of whether it can be true while the field has a value. */
  readonly tests: readonly (() => Test)[];
}

type Test = (value: string) => boolean;

function enumerationsIn(allows: readonly RuleInPolicy[], valueOfLet: ValueOfLet): readonly Enumeration[] {
  const fields = new Map<string, FieldRead>();
  for (const { enumerations } of allows) for (const field of enumerations) fields.set(fieldKey(field), field);
  return [...fields.values()]
    .filter(({ steps }) => steps.length === 1)
    .map((field) => ({
      field,
      // Tests are made on demand: the first few of many rules grant most values.
      tests: allows.map(({ rule, atoms }) => lazily(() => testOf(rule.condition, atoms, field, valueOfLet))),
    }));
}

function reportField(
  action: Action,
  { field, tests }: Enumeration,
  report: (warning: Diagnostic) => void,
): void {
  const slot = payloadField(action.shape, field.steps[0] ?? '');
  if (slot?.type.kind !== 'text' || slot.isOptional || slot.isNullable) return;
  const values = slot.type.values ?? [];
  const lost = values.filter((value) => !tests.some((test) => test()(value)));
  if (lost.length === 0 || lost.length === values.length) return;
  const lostTexts = lost.map((value) => `\`${JSON.stringify(value)}\``).join(', ');
  const message = `nothing allows \`${action.key}\` with ${lostTexts} in \`payload.${field.steps[0]}\``;
  report(
    warning('value-never-granted', action.span, message, {
      help: 'add an `allow` for it, or take the value out of the enumeration',
      related: [{ span: field.span, message: 'the conditions of all `allow` rules leave it out' }],
    }),
  );
}

/**
 * Returns a test of whether the condition can be true while the field has a value. An `or` can when at least
 * one of its parts can.
 */
function testOf(
  node: Expression,
  atoms: readonly DomainAtom[],
  field: FieldRead,
  valueOfLet: ValueOfLet,
): Test {
  const ownTest = testOfAtoms(atoms, field);
  if (node.kind !== 'or' && node.kind !== 'and') return ownTest;
  // What one part of a conjunction excludes, the whole excludes.
  const apart = node.operands.filter(({ kind }) => node.kind === 'or' || kind === 'or' || kind === 'and');
  const parts = apart.map((part) => testOf(part, domainAtomsOf(part, true, valueOfLet), field, valueOfLet));
  if (node.kind === 'or') return (value) => parts.some((part) => part(value));
  return (value) => ownTest(value) && parts.every((part) => part(value));
}

function testOfAtoms(atoms: readonly DomainAtom[], field: FieldRead): Test {
  const key = `${fieldKey(field)} `;
  if (isImpossible(atoms.filter((atom) => atom.key !== key))) return () => false;
  const subject = atoms.flatMap(({ key: of, values }) =>
    of === key && values.kind === 'texts' ? [values] : [],
  );
  return (value) => subject.every(({ texts, isComplement }) => texts.has(value) !== isComplement);
}
