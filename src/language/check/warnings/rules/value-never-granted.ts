// Warns of a value of an enumeration for which no `allow` of the action can be true: a case that was
// forgotten, or a value that need not be declared. A value that a condition
// of a rule names, such as `payload.kind != "tool"`, is not forgotten. A comparison of an amount with
// `100 USD` is true only if its currency is USD.

import type { Diagnostic } from '../../../diagnostic/diagnostic.ts';
import { elementsOf } from '../../../model/children.ts';
import { currencyLocation } from '../../../model/currency.ts';
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

export function valueNeverGranted({ set, env, rulesByAction: grouped, valueOfLet }: ExaminedRule): void {
  const byType = new Map<string, readonly Enumeration[]>();
  for (const action of set.actions.values()) {
    const groups = grouped.about(action.key);
    if (groups.length === 0) continue;
    memoizedForRules(env, action, groups, () => {
      const name = groups.map(({ rules }) => rules[0]!.rule.id).join('\n');
      const enumerations = byType.get(name) ?? enumerationsIn(inOrder(groups), valueOfLet);
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
  /** The values that conditions compare the field with. */
  readonly named: () => ReadonlySet<string>;
}

type Test = (value: string) => boolean;

function enumerationsIn(rules: readonly RuleInPolicy[], valueOfLet: ValueOfLet): readonly Enumeration[] {
  const allows = rules.filter(isAllow);
  const fields = new Map<string, FieldRead>();
  for (const { enumerations } of allows) for (const field of enumerations) fields.set(fieldKey(field), field);
  const amounts = allows.flatMap((one) => one.amounts);
  for (const amount of amounts) {
    const currency = currencyFieldOf(amount);
    if (currency !== null && !fields.has(fieldKey(currency))) fields.set(fieldKey(currency), currency);
  }
  return [...fields.values()]
    .filter(({ steps }) => steps.length === 1)
    .map((field) => ({
      field,
      // Tests are made on demand: the first few of many rules grant most values.
      tests: allows.map(({ rule, atoms }) => {
        const subject = { field, amounts: amountKeys(amounts, field) };
        return lazily(() => testOf(rule.condition, atoms, subject, valueOfLet));
      }),
      named: lazily(() => new Set(rules.flatMap((rule) => valuesNamed(rule, field)))),
    }));
}

/** Returns the texts that a condition of the rule compares the field with. */
function valuesNamed({ parts }: RuleInPolicy, field: FieldRead): readonly string[] {
  const key = fieldKey(field);
  const isField = (node: Expression): boolean => node.kind === 'field' && fieldKey(node) === key;
  return parts.flatMap(({ node }) => {
    if (node.kind === 'in-elements') return isField(node.subject) ? textsIn(elementsOf(node.elements)) : [];
    if (node.kind !== 'compare' || !(isField(node.left) || isField(node.right))) return [];
    return textsIn([node.left, node.right]);
  });
}

function textsIn(elements: readonly Expression[] | null): readonly string[] {
  return (elements ?? []).flatMap((one) =>
    one.kind === 'literal' && typeof one.value === 'string' ? [one.value] : [],
  );
}

/** Returns a read of the field with the currency of an amount, in the place of the amount. */
function currencyFieldOf(amount: FieldRead): FieldRead | null {
  const place = currencyLocation(amount.type, amount);
  return place === null ? null : { ...amount, steps: place.steps };
}

/** The beginnings of the keys of what conditions state about amounts in the currency of the field. */
function amountKeys(amounts: readonly FieldRead[], field: FieldRead): readonly string[] {
  const key = fieldKey(field);
  const own = amounts.filter((amount) => {
    const currency = currencyFieldOf(amount);
    return currency !== null && fieldKey(currency) === key;
  });
  return [...new Set(own.map((amount) => `${fieldKey(amount)} `))];
}

/** An enumeration, and the keys of the amounts whose currency it is. */
interface Subject {
  readonly field: FieldRead;
  readonly amounts: readonly string[];
}

function reportField(
  action: Action,
  { field, tests, named }: Enumeration,
  report: (warning: Diagnostic) => void,
): void {
  const slot = payloadField(action.shape, field.steps[0] ?? '');
  if (slot?.type.kind !== 'text' || slot.isOptional || slot.isNullable) return;
  const values = slot.type.values ?? [];
  const ungranted = values.filter((value) => !tests.some((test) => test()(value)));
  const lost = ungranted.filter((value) => !named().has(value));
  if (lost.length === 0 || ungranted.length === values.length) return;
  const lostTexts = lost.map((value) => `\`${JSON.stringify(value)}\``).join(', ');
  const message = `nothing allows \`${action.key}\` with ${lostTexts} in \`payload.${field.steps[0]}\``;
  report(
    warning('value-never-granted', action.span, message, {
      help: 'add an `allow` for it, a `deny` with a reason, or take the value out of the enumeration',
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
  subject: Subject,
  valueOfLet: ValueOfLet,
): Test {
  const ownTest = testOfAtoms(atoms, subject);
  if (node.kind !== 'or' && node.kind !== 'and') return ownTest;
  // What one part of a conjunction excludes, the whole excludes.
  const apart = node.operands.filter(({ kind }) => node.kind === 'or' || kind === 'or' || kind === 'and');
  const parts = apart.map((part) => testOf(part, domainAtomsOf(part, true, valueOfLet), subject, valueOfLet));
  if (node.kind === 'or') return (value) => parts.some((part) => part(value));
  return (value) => ownTest(value) && parts.every((part) => part(value));
}

function testOfAtoms(atoms: readonly DomainAtom[], { field, amounts }: Subject): Test {
  const key = `${fieldKey(field)} `;
  if (isImpossible(atoms.filter((atom) => atom.key !== key))) return () => false;
  const subject = atoms.flatMap(({ key: of, values }) =>
    of === key && values.kind === 'texts' ? [values] : [],
  );
  const currencies = new Set(
    amounts.flatMap((amount) =>
      atoms.flatMap(({ key: of }) => (of.startsWith(amount) ? [of.slice(amount.length)] : [])),
    ),
  );
  return (value) =>
    subject.every(({ texts, isComplement }) => texts.has(value) !== isComplement) &&
    [...currencies].every((currency) => currency === '' || currency === value);
}
