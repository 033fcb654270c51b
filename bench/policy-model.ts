// Turns a workload into the model that the checker would make of its policy text, for sizes at which parsing
// and checking would be most of what is measured. A test of the benchmarks makes sure that model and text
// lead to the same decisions.

import type { Expression } from '../src/language/model/expression.ts';
import type { Action, Policy, PolicySet } from '../src/language/model/policy.ts';
import {
  anyText,
  booleanType,
  enumeration,
  listOf,
  quantity,
  type Shape,
  type Type,
} from '../src/language/model/type.ts';
import type { Value } from '../src/language/model/value.ts';
import { fromNumber } from '../src/language/value/decimal.ts';
import { type BenchRule, type BenchTest, currencies, tiers } from './workloads.ts';

const span = { file: 'bench.policy', start: 0, end: 0 };
const number = quantity('number');
const length = (low: number | null, high: number) => ({
  low: low === null ? null : fromNumber(low),
  high: fromNumber(high),
});

const plain = { isOptional: false, isNullable: false, isSecret: false, isSigned: false };
const shape: Shape = {
  isOpen: false,
  fields: [
    { ...plain, name: 'amount', type: { kind: 'number', range: { low: fromNumber(0), high: null } } },
    { ...plain, name: 'vendor', type: { ...anyText, length: length(1, 100) } },
    { ...plain, name: 'currency', type: enumeration(currencies) },
    { ...plain, name: 'description', type: { ...anyText, length: length(null, 500) } },
  ],
};

/** A workload whose rules may name the agent, which the peers do not know. */
export interface ModelWorkload {
  readonly actions: readonly string[];
  readonly rules: readonly ModelRule[];
}

export type ModelTest = BenchTest | { readonly kind: 'agent-is'; readonly agent: string };
type ModelRule = Omit<BenchRule, 'tests'> & { readonly tests: readonly ModelTest[] };

export function policySet({ rules, actions }: ModelWorkload): PolicySet {
  const policies = rules.map(toPolicy).sort((a, b) => (a.name < b.name ? -1 : 1));
  const none = new Map<string, never>();
  return {
    actions: new Map(
      actions.map((key): [string, Action] => [
        key,
        { key, groups: [], title: null, result: null, shape, doc: null, span },
      ]),
    ),
    lists: none,
    tables: none,
    hours: none,
    lets: none,
    meters: none,
    approvers: none,
    policies,
    guarantees: [],
  };
}

function toPolicy({ name, action, effect, tests }: ModelRule): Policy {
  const operands = tests.flatMap(toExpressions);
  const condition: Expression =
    operands.length === 1 ? operands[0]! : { kind: 'and', operands, type: booleanType, span };
  return {
    name,
    actions: [action],
    owner: null,
    tags: [],
    links: [],
    doc: null,
    span,
    rules: [
      {
        id: `${name}/r`,
        policy: name,
        name: 'r',
        effect,
        isShadow: false,
        condition,
        conditionText: '',
        points: 0,
        readsRisk: false,
        reason: null,
        validForSeconds: null,
        requirement: null,
        doc: null,
        span,
      },
    ],
  };
}

function toExpressions(test: ModelTest): readonly Expression[] {
  switch (test.kind) {
    case 'amount-between':
      return [compare('>=', amount, numeral(test.low)), compare('<=', amount, numeral(test.high))];
    case 'amount-from':
      return [compare('>=', amount, numeral(test.low))];
    case 'agent-is':
      return [compare('==', { kind: 'fact', fact: 'agent.name', type: anyText, span }, text(test.agent))];
    case 'vendor-in':
      return [oneOf(vendor, test.vendors)];
    case 'vendor-is':
      return [compare('==', vendor, text(test.vendor))];
    case 'currency-is':
      return [compare('==', field('currency', enumeration(currencies)), text(test.currency))];
    case 'tier-in':
      return [oneOf({ kind: 'fact', fact: 'agent.risk_tier', type: enumeration(tiers), span }, test.tiers)];
    case 'description-contains':
      return [textTest('contains', test.text)];
    case 'description-starts':
      return [textTest('starts with', test.text)];
  }
}

function field(name: string, type: Type): Expression {
  return { kind: 'field', root: 'payload', steps: [name], isSigned: false, isSecret: false, type, span };
}

const amount = field('amount', number);
const vendor = field('vendor', anyText);

function numeral(value: number): Expression {
  return literal(fromNumber(value), number);
}

function text(value: string): Expression {
  return literal(value, anyText);
}

function literal(value: Value, type: Type): Expression {
  return { kind: 'literal', value, type, span };
}

function compare(operator: '==' | '>=' | '<=', left: Expression, right: Expression): Expression {
  return { kind: 'compare', operator, left, right, type: booleanType, span };
}

function oneOf(subject: Expression, texts: readonly string[]): Expression {
  const elements: Expression = { kind: 'list', elements: texts.map(text), type: listOf(anyText), span };
  return { kind: 'in-elements', subject, elements, type: booleanType, span };
}

function textTest(operator: 'contains' | 'starts with', constant: string): Expression {
  const left = field('description', anyText);
  return { kind: 'text-test', operator, left, right: text(constant), type: booleanType, span };
}
