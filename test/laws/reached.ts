// What a run of random policies has reached: a tally of the constructs written, of the value of every part of
// a condition by the definition, and of how decisions came about. The list of what must be reached names a
// construct that the generator forgets.

import { childrenOf } from '../../src/language/model/children.ts';
import { type Decision, gates } from '../../src/language/model/decision.ts';
import type { Expression } from '../../src/language/model/expression.ts';
import type { PolicySet, Rule } from '../../src/language/model/policy.ts';
import type { Facts } from '../../src/language/model/request.ts';
import type { Type } from '../../src/language/model/type.ts';
import { type UnknownValue, unknown, type Value } from '../../src/language/model/value.ts';
import { judge } from '../../src/language/spec/authorize.ts';
import { type EvaluationScope, evaluate } from '../../src/language/spec/evaluate.ts';
import { isInterval } from '../../src/language/spec/quantity.ts';
import { readField } from '../../src/language/spec/read-path.ts';
import type { PolicyFile } from '../../src/language/syntax/tree/tree.ts';
import { requiredFeatures } from './required.ts';
import { syntaxFeatures } from './syntax-features.ts';

export interface Reached {
  /** Counts the constructs in the files. */
  readonly countFiles: (files: readonly PolicyFile[]) => void;
  /** Counts how one request was decided. */
  readonly countDecision: (set: PolicySet, decision: Decision) => void;
  /** Counts the value of every part of every condition and reason, for payloads of the declared shape. */
  readonly countValues: (set: PolicySet, facts: Facts) => void;
  /** Counts by feature, sorted. */
  readonly counts: () => ReadonlyMap<string, number>;
  /** Features that must be reached and were not. */
  readonly missing: () => readonly string[];
}

export function createReached(): Reached {
  const counts = new Map<string, number>();
  const count = (feature: string): void => void counts.set(feature, (counts.get(feature) ?? 0) + 1);
  return {
    countFiles: (files) => {
      for (const feature of files.flatMap(syntaxFeatures)) count(feature);
    },
    countDecision: (set, decision) => {
      for (const feature of decisionFeatures(set, decision)) count(feature);
    },
    countValues: (set, facts) => {
      const { judged, scope } = judge(set, facts, () => true);
      for (const { rule } of judged) {
        countExpression(rule.condition, scope, count);
        for (const part of rule.reason ?? []) {
          if (typeof part !== 'string') countExpression(part, scope, count);
        }
      }
    },
    counts: () => new Map([...counts].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    missing: () => requiredFeatures.filter((feature) => !counts.has(feature)),
  };
}

const results = ['true', 'false', 'known', 'interval', 'unknown'] as const;

/**
 * The lines of a table: first the values in columns, then the constructs and decisions, each with its count.
 */
export function tableOf(counts: ReadonlyMap<string, number>): readonly string[] {
  const rows = new Map<string, Map<string, number>>();
  const others: string[] = [];
  for (const [feature, count] of counts) {
    const [, name, result] = /^value (.*) (\w+)$/.exec(feature) ?? [];
    if (name === undefined || result === undefined) others.push(`${String(count).padStart(10)}  ${feature}`);
    else rows.set(name, (rows.get(name) ?? new Map()).set(result, count));
  }
  const line = (name: string, cells: readonly string[]): string =>
    [name.padEnd(32), ...cells.map((cell) => cell.padStart(10))].join('');
  return [
    line('value', results),
    ...[...rows].map(([name, row]) =>
      line(
        name,
        results.map((result) => String(row.get(result) ?? '-')),
      ),
    ),
    ...others,
  ];
}

type Count = (feature: string) => void;
const elementsMax = 3;

/** Counts every part with its value; the body of a quantifier once for each of the first elements. */
function countExpression(expression: Expression, scope: EvaluationScope, count: Count): void {
  count(`value ${featureOf(expression, scope)} ${resultOf(evaluate(expression, scope))}`);
  switch (expression.kind) {
    case 'let': {
      const declared = scope.set.lets.get(expression.id);
      if (declared !== undefined)
        countExpression(declared.expression, { ...scope, variables: new Map() }, count);
      return;
    }
    case 'quantify': {
      for (const source of expression.sources) countExpression(source, scope, count);
      const { variable, body } = expression;
      for (const element of elementsOf(expression.sources, scope).slice(0, elementsMax)) {
        const variables = new Map(scope.variables).set(variable, element);
        countExpression(body, { ...scope, variables }, count);
      }
      return;
    }
    case 'has':
    case 'is-null':
      return;
    default:
      for (const child of childrenOf(expression)) countExpression(child, scope, count);
  }
}

function elementsOf(sources: readonly Expression[], scope: EvaluationScope): readonly Value[] {
  return sources.flatMap((source) => {
    const list = source.kind === 'field' ? readField(source, scope) : evaluate(source, scope);
    return Array.isArray(list) ? (list as readonly Value[]) : [];
  });
}

function resultOf(value: Value | UnknownValue): string {
  if (value === unknown) return 'unknown';
  if (typeof value === 'boolean') return String(value);
  return isInterval(value) ? 'interval' : 'known';
}

/** Numbers and integers are one family. */
function familyOf(type: Type): string {
  return type.kind === 'integer' ? 'number' : type.kind;
}

/** Whether the currency of an amount is in a record that encloses the amount's own record. */
function isOfRecordAround(type: Type): boolean {
  return type.kind === 'money' && type.currencyRecord !== undefined;
}

function featureOf(expression: Expression, scope: EvaluationScope): string {
  const { kind } = expression;
  switch (kind) {
    case 'field':
      return `${kind} ${familyOf(expression.type)}${isOfRecordAround(expression.type) ? ' of a record around' : ''}`;
    case 'literal':
    case 'meter':
    case 'let':
    case 'else':
    case 'if':
    case 'negate':
      return `${kind} ${familyOf(expression.type)}`;
    case 'list':
    case 'text-list':
    case 'now':
    case 'risk':
    case 'not':
    case 'and':
    case 'or':
    case 'is-null':
    case 'has':
    case 'in-elements':
    case 'in-hours':
    case 'in-cidr':
    case 'like':
    case 'matches':
    case 'single-script':
    case 'has-cell':
    case 'in-table':
      return kind;
    case 'list-prefix': {
      const { subject } = expression;
      return subject.kind === 'field' && subject.steps.at(-1) === 'words' ? `${kind} of words` : kind;
    }
    case 'column':
      return `${kind} ${familyOf(expression.type)}`;
    case 'fact':
      return `fact ${expression.fact}`;
    case 'compare': {
      const { left, right, operator } = expression;
      const isRisk = left.kind === 'risk' || right.kind === 'risk';
      return `compare ${isRisk ? 'risk' : familyOf(left.type)} ${operator}`;
    }
    case 'in-list': {
      const ignoring = scope.set.lists.get(expression.list)?.ignoringCase ? ' ignoring case' : '';
      return `in-list ${familyOf(expression.subject.type)}${ignoring}`;
    }
    case 'in-range':
      return `in-range ${familyOf(expression.subject.type)}`;
    case 'text-test':
      return `text-test ${expression.operator}`;
    case 'mentions':
      return `mentions ${expression.words.kind}`;
    case 'arithmetic': {
      const { left, right, operator } = expression;
      return `arithmetic ${familyOf(left.type)} ${operator} ${familyOf(right.type)}`;
    }
    case 'quantify':
      return expression.quantifier === 'sum'
        ? `quantify sum ${familyOf(expression.type)}`
        : `quantify ${expression.quantifier}`;
    case 'call': {
      const isZoneRead = expression.builtin === 'date' && expression.args.at(-1)?.kind !== 'literal';
      return `call ${expression.builtin}${isZoneRead ? ' in a zone that is read' : ''}`;
    }
  }
}

function decisionFeatures(set: PolicySet, decision: Decision): readonly string[] {
  const { outcome, by, requires, risk, validForSeconds, withShadow, reason } = decision;
  const rule = set.policies.flatMap(({ rules }) => rules).find(({ id }) => id === by);
  const isGate = (gates as readonly string[]).includes(by) && rule === undefined;
  return [
    `decision ${outcome}`,
    `decision by ${isGate ? by : decidedBy(rule)}`,
    ...(withShadow === outcome ? [] : ['decision with shadow differs']),
    ...(risk.low === risk.high ? [] : ['decision risk is an interval']),
    ...(isGate ? [] : [`decision risk ${risk.high === 0 ? 'none' : risk.high === 100 ? 'full' : 'some'}`]),
    ...(validForSeconds === null
      ? []
      : [`decision valid ${validForSeconds === 300 ? 'by default' : 'as said'}`]),
    ...(requires === null ? [] : [`decision asks ${Math.min(requires.approvals.length, 3)} groups`]),
    ...fallbackFeatures(requires),
    ...(requires?.reauth
      ? [`decision step-up ${requires.reauth.withinSeconds === null ? 'now' : 'in time'}`]
      : []),
    ...(reason.includes('unknown') ? ['decision reason shows unknown'] : []),
  ];
}

function fallbackFeatures(requires: Decision['requires']): readonly string[] {
  const counts = (requires?.approvals ?? []).map(({ fallbacks = [] }) => fallbacks.length);
  return [
    ...(counts.includes(1) ? ['decision asks a fallback'] : []),
    ...(counts.some((count) => count > 1) ? ['decision asks several fallbacks'] : []),
  ];
}

function decidedBy(rule: Rule | undefined): string {
  if (rule === undefined) return 'nothing';
  return rule.effect === 'allow' && rule.requirement !== null
    ? `allow after ${rule.requirement.kind}`
    : rule.effect;
}
