// Warns of a guard that compares an amount with one currency although its field can have others. The
// comparison is unknown for the others, so the guard has its effect for every such amount.

import { elementsOf } from '../../../model/children.ts';
import { currencyHelp, currencyLocation } from '../../../model/currency.ts';
import type { Expression, FieldRead } from '../../../model/expression.ts';
import type { Environment } from '../../incremental/environment.ts';
import { constantText } from '../../logic/constants.ts';
import { fieldKey } from '../../logic/domains.ts';
import { declaredList } from '../../logic/list-forms.ts';
import { spelledPath } from '../../messages/path-errors.ts';
import { warning } from '../../messages/problem.ts';
import type { RuleInPolicy } from '../engine/rule-in-policy.ts';
import type { ConditionScope } from '../engine/rule-subjects.ts';
import { comparedMoney, currenciesOf, currencyOf } from './currency-never-equal.ts';

export function currencyUntested({ enforced, env, valueOfLet }: ConditionScope): void {
  for (const one of enforced) {
    if (one.rule.effect === 'allow' || one.rule.effect === 'risk') continue;
    for (const { node } of one.parts) reportComparison(node, one, { env, valueOfLet });
  }
}

type Scope = Pick<ConditionScope, 'env' | 'valueOfLet'>;

function reportComparison(node: Expression, { rule, actions }: RuleInPolicy, scope: Scope): void {
  const [field, constants] = comparedMoney(node);
  const place = field === null ? null : currencyLocation(field.type, field);
  const currencies = field === null ? null : currenciesOf(field, actions, scope.env);
  if (place === null || currencies === null || currencies.size < 2) return;
  for (const constant of constants) {
    const currency = currencyOf(constant, scope.valueOfLet);
    if (currency === null || !currencies.has(currency)) continue;
    const others = [...currencies].filter(
      (other) => other !== currency && truthsOf(rule.condition, { ...scope, node, place, other }).isUnknown,
    );
    if (others.length === 0) continue;
    const listed = others.map((other) => `\`${other}\``).join(', ');
    scope.env.report(
      warning(
        'currency-untested',
        node.span,
        `this is unknown in ${listed}: \`${rule.name}\` then always has its effect`,
        { help: currencyHelp(spelledPath(place), currency) },
      ),
    );
    return;
  }
}

/** A comparison of an amount, in a request whose amount is in another currency. */
interface OtherCurrency extends Scope {
  readonly node: Expression;
  /** The field with the currency. */
  readonly place: Pick<FieldRead, 'root'> & { readonly steps: readonly string[] };
  readonly other: string;
}

/** What a condition can be. */
interface Truths {
  readonly isTrue: boolean;
  readonly isFalse: boolean;
  readonly isUnknown: boolean;
}

const known: Truths = { isTrue: true, isFalse: true, isUnknown: false };
const unknownOnly: Truths = { isTrue: false, isFalse: false, isUnknown: true };

/** Returns what the condition can be; all other parts of it can be true or false. */
function truthsOf(condition: Expression, of: OtherCurrency): Truths {
  if (condition === of.node) return unknownOnly;
  switch (condition.kind) {
    case 'not':
      return opposite(truthsOf(condition.operand, of));
    case 'and':
      return conjunction(condition.operands.map((operand) => truthsOf(operand, of)));
    case 'or':
      return opposite(conjunction(condition.operands.map((operand) => opposite(truthsOf(operand, of)))));
    case 'if':
      return choice(condition, of);
    case 'let': {
      const value = of.valueOfLet(condition.id);
      return value === null || value === undefined ? known : truthsOf(value, of);
    }
    default:
      return ofTest(condition, of);
  }
}

function opposite({ isTrue, isFalse, isUnknown }: Truths): Truths {
  return { isTrue: isFalse, isFalse: isTrue, isUnknown };
}

function conjunction(operands: readonly Truths[]): Truths {
  return {
    isTrue: operands.every(({ isTrue }) => isTrue),
    isFalse: operands.some(({ isFalse }) => isFalse),
    isUnknown:
      operands.some(({ isUnknown }) => isUnknown) &&
      operands.every(({ isTrue, isUnknown }) => isTrue || isUnknown),
  };
}

function choice(
  { condition, whenTrue, otherwise }: Extract<Expression, { kind: 'if' }>,
  of: OtherCurrency,
): Truths {
  if (whenTrue.type.kind !== 'boolean') return known;
  const [test, first, second] = [condition, whenTrue, otherwise].map((part) => truthsOf(part, of)) as [
    Truths,
    Truths,
    Truths,
  ];
  const taken = [...(test.isTrue ? [first] : []), ...(test.isFalse ? [second] : [])];
  return {
    isTrue: taken.some(({ isTrue }) => isTrue),
    isFalse: taken.some(({ isFalse }) => isFalse),
    isUnknown: test.isUnknown || taken.some(({ isUnknown }) => isUnknown),
  };
}

/** A test of the currency is true or false; any other test can be both. */
function ofTest(test: Expression, of: OtherCurrency): Truths {
  const accepted = currenciesTested(test, of);
  if (accepted === null) return known;
  const isTrue = accepted.includes(of.other);
  const truths = { isTrue, isFalse: !isTrue, isUnknown: false };
  return test.kind === 'compare' && test.operator === '!=' ? opposite(truths) : truths;
}

/** Returns the currencies with which a test compares the currency; null for a test of something else. */
function currenciesTested(
  test: Expression,
  { place, env, valueOfLet }: OtherCurrency,
): readonly string[] | null {
  const isCurrency = (node: Expression): boolean => node.kind === 'field' && isSamePlace(node, place);
  switch (test.kind) {
    case 'compare': {
      const [field, constant] = isCurrency(test.left) ? [test.left, test.right] : [test.right, test.left];
      const text = isCurrency(field) ? constantText(constant, valueOfLet) : null;
      return text === null ? null : [text];
    }
    case 'in-elements': {
      const texts = elementsOf(test.elements)?.map((element) => constantText(element, valueOfLet));
      const constants = texts?.filter((text) => text !== null) ?? [];
      return isCurrency(test.subject) && constants.length === texts?.length ? constants : null;
    }
    case 'in-list':
      return isCurrency(test.subject) ? entriesOf(test.list, env) : null;
    default:
      return null;
  }
}

function isSamePlace(field: FieldRead, { root, steps }: OtherCurrency['place']): boolean {
  return field.root === root && fieldKey(field) === JSON.stringify([root, ...steps]);
}

function entriesOf(list: string, env: Environment): readonly string[] {
  return (env.query('list', declaredList(list))?.entries ?? []).map(String);
}
