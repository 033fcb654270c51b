// Prints a program as text for people: each action with its lets and rules, and conditions in the words of
// the language where it has them. A `?` after a condition means that it may be unknown.

import { exceptText, pathText, standingText, stepText } from '../model/describe.ts';
import type { Value } from '../model/value.ts';
import { formatDecimal } from '../value/decimal.ts';
import { formatCidr, formatIp } from '../value/ip.ts';
import { formatDate, formatDatetime, formatDuration, formatTimestamp } from '../value/time.ts';
import { isDecimal, isMoneyTerm } from './condition.ts';
import type {
  ActionProgram,
  ColumnTerm,
  Condition,
  PlannedRule,
  Program,
  ReadFrom,
  Sort,
  Term,
} from './program.ts';

/** Prints the whole program, one block for each action. */
export function printProgram(program: Program): string {
  return [...program.actions.values()].map(printAction).join('\n');
}

function printAction(action: ActionProgram): string {
  const lets = action.lets.map(({ id, value }, index) => `  let ${index} ${id} = ${printTerm(value)}`);
  return [`action ${action.action}`, ...lets, ...action.rules.map(printRule)].join('\n').concat('\n');
}

function printRule(rule: PlannedRule): string {
  const marks = [
    rule.isShadow ? 'shadow ' : '',
    rule.effect,
    ` ${rule.id}`,
    rule.points === 0 ? '' : ` ${rule.points > 0 ? '+' : ''}${rule.points}`,
    rule.validForSeconds === null ? '' : ` for ${rule.validForSeconds}s`,
    printRequirement(rule.requirement),
    rule.readsRisk ? ' reads risk' : '',
  ];
  return `  ${marks.join('')}\n    ${printCondition(rule.condition)}${rule.condition.mayBeUnknown ? ' ?' : ''}`;
}

function printRequirement(requirement: PlannedRule['requirement']): string {
  if (requirement === null) return '';
  if (requirement.kind === 'approval') {
    const { needs, groups, except, withinSeconds, standing, choices = [] } = requirement;
    const fallbacks = choices.flatMap(({ fallbacks: own = [] }) =>
      own.map(({ afterSeconds }) => afterSeconds),
    );
    const after = fallbacks.length === 0 ? '' : ` then after ${fallbacks.map((one) => `${one}s`).join(', ')}`;
    const asked = ` needs ${needs} of ${groups.join(' and ')}${exceptText(except)}${after} within ${withinSeconds}s`;
    return standing === undefined ? asked : `${asked} ${standingText(standing)}`;
  }
  return requirement.withinSeconds === null ? ' reauth now' : ` reauth within ${requirement.withinSeconds}s`;
}

/** Prints a condition on one line, with every operation in parentheses. */
export function printCondition(condition: Condition): string {
  switch (condition.kind) {
    case 'constant':
      return condition.truth;
    case 'flag':
      return printTerm(condition.term);
    case 'not':
      return `not ${printCondition(condition.operand)}`;
    case 'and':
    case 'or':
      return `(${condition.operands.map(printCondition).join(` ${condition.kind} `)})`;
    case 'compare':
      return `(${printTerm(condition.left)} ${condition.operator} ${printTerm(condition.right)})`;
    case 'same':
      return `(${printCondition(condition.left)} == ${printCondition(condition.right)})`;
    case 'has':
      return `has ${printRead(condition.read)}`;
    case 'is-null':
      return `(${printRead(condition.read)} == null)`;
    case 'in-list':
      return `(${printTerm(condition.subject)} in ${condition.list})`;
    case 'in-table':
      return `(${printTerm(condition.subject)} in ${condition.table})`;
    case 'in-elements':
      return `(${printTerm(condition.subject)} in ${printTerm(condition.elements)})`;
    case 'in-hours':
      return `(${printTerm(condition.subject)} in ${condition.hours})`;
    case 'in-cidr':
      return `(${printTerm(condition.subject)} in ${formatCidr(condition.cidr)})`;
    case 'like':
    case 'matches':
      return `(${printTerm(condition.subject)} ${condition.kind} ${JSON.stringify(condition.pattern)})`;
    case 'has-cell':
      return `has ${printTerm(condition.cell)}`;
    case 'list-prefix':
      return `(${printTerm(condition.subject)} starts with ${JSON.stringify(condition.texts)})`;
    case 'single-script':
      return `(${printTerm(condition.subject)} is single_script)`;
    case 'text-test':
      return `(${printTerm(condition.left)} ${condition.operator} ${printTerm(condition.right)})`;
    case 'mentions-list':
      return `(${printTerm(condition.subject)} mentions any of ${condition.list})`;
    case 'mentions-words':
      return `(${printTerm(condition.subject)} mentions any of ${JSON.stringify(condition.words)})`;
    case 'some':
    case 'every':
      return printLoop(condition, printCondition(condition.body));
  }
}

/** Prints a term on one line. */
export function printTerm(term: Term): string {
  switch (term.kind) {
    case 'literal':
      return printValue(term.value, term.sort);
    case 'read':
      return printRead(term.read);
    case 'absent':
    case 'now':
    case 'risk':
      return term.kind;
    case 'truth':
      return printCondition(term.condition);
    case 'fact':
      return term.fact;
    case 'meter':
      return `meter ${term.meter}`;
    case 'column':
      return printColumn(term, printTerm(term.key));
    case 'let':
      return `let ${term.index}`;
    case 'else':
      return `(${printTerm(term.subject)} else ${printTerm(term.fallback)})`;
    case 'if':
      return `(if ${printCondition(term.condition)} then ${printTerm(term.whenTrue)} else ${printTerm(term.otherwise)})`;
    case 'arithmetic':
      return `(${printTerm(term.left)} ${term.operator} ${printTerm(term.right)})`;
    case 'negate':
      return `-${printTerm(term.operand)}`;
    case 'count':
      return printLoop(term, printCondition(term.body));
    case 'sum':
      return printLoop(term, printTerm(term.body));
    case 'list':
      return `[${term.elements.map(printTerm).join(', ')}]`;
    case 'text-list':
      return `[${term.texts.map((text) => JSON.stringify(text)).join(', ')}]`;
    case 'call':
      return `${term.builtin}(${term.args.map(printTerm).join(', ')})`;
  }
}

function printLoop(node: { kind: string; variable: string; sources: readonly Term[] }, body: string): string {
  return `${node.kind} ${node.variable} in ${node.sources.map(printTerm).join(', ')} (${body})`;
}

/** Prints a cell as a policy file writes it, with the given text as its key. */
export function printColumn({ table, column }: Pick<ColumnTerm, 'table' | 'column'>, key: string): string {
  return `${table}[${key}]${column === '' ? '' : `.${stepText(column)}`}`;
}

/** Prints the path as a policy file writes it. Unusual names are quoted. */
export function printRead({ root, steps }: Pick<ReadFrom, 'root' | 'steps'>): string {
  return pathText(root, steps);
}

function printValue(value: Value, sort: Sort): string {
  if (isDecimal(value)) return (decimalFormats[sort] ?? formatDecimal)(value);
  if (isMoneyTerm(value)) return `${formatDecimal(value.amount)} ${value.currency ?? ''}`;
  if (Array.isArray(value)) return `[${value.map((element) => printValue(element, sort)).join(', ')}]`;
  if (typeof value === 'object' && value !== null && 'family' in value) {
    return formatIp(value as Parameters<typeof formatIp>[0]);
  }
  return JSON.stringify(value);
}

const decimalFormats: Partial<Record<Sort, typeof formatDecimal>> = {
  date: formatDate,
  timestamp: formatTimestamp,
  datetime: formatDatetime,
  duration: formatDuration,
};
