// Makes the warnings for what is proved to be needless.

import type { Diagnostic } from '../../language/diagnostic/diagnostic.ts';
import type { Span } from '../../language/diagnostic/span.ts';
import type { Rule } from '../../language/model/policy.ts';
import { requestJson } from '../prove/report/request-json.ts';
import type { ConstantTruth } from './conditions.ts';
import type { ShownFinding } from './findings.ts';
import type { RuleFinding } from './rules.ts';

const texts = {
  'never-true': () => ({
    message: 'is true of no request',
    help: 'its conditions exclude each other, or what the payload may hold: remove it or fix it',
  }),
  'guard-without-allow': () => ({
    message: 'guards nothing: no `allow` grants a request that it is about',
    help: 'such requests are refused by default: fix its condition, add an `allow`, or remove it',
  }),
  'rule-never-decides': (names) => ({
    message: `never decides: every request that it is about is denied by ${names}`,
    help: 'remove it, or fix the conditions that overlap',
  }),
  'rule-duplicated': (names) => ({
    message: `says the same as ${names}`,
    help: 'remove one of them',
  }),
  'rule-implied': (names) => ({
    message: `adds nothing: of every request that it is about, ${names} says as much`,
    help: 'remove it, or fix the condition by which they should differ',
  }),
} satisfies Readonly<
  Record<RuleFinding['kind'], (names: string) => { readonly message: string; readonly help: string }>
>;

const namesMax = 5;

export function ruleWarning(
  { kind, rule, by, example }: ShownFinding,
  nameOf: (rule: Rule) => Span,
): Diagnostic {
  const { message, help } = texts[kind](namesText(by));
  return {
    code: kind,
    severity: 'warning',
    span: nameOf(rule),
    message: `\`${rule.name}\` ${message}`,
    help,
    related: [
      ...by.slice(0, namesMax).map((other) => ({ span: nameOf(other), message: `\`${other.id}\`` })),
      ...(example === null ? [] : [{ span: nameOf(rule), message: exampleText(example) }]),
    ],
  };
}

function namesText(rules: readonly Rule[]): string {
  const names = rules.slice(0, namesMax).map(({ id }) => `\`${id}\``);
  const more = rules.length > namesMax ? [`${rules.length - namesMax} more`] : [];
  const all = [...names, ...more];
  return all.length < 2 ? all.join('') : `${all.slice(0, -1).join(', ')} or ${all.at(-1)}`;
}

function exampleText({ facts, decision }: NonNullable<ShownFinding['example']>): string {
  return `for example ${JSON.stringify(requestJson(facts))}, which is ${decision.outcome} by \`${decision.by}\``;
}

export function constantWarning(constant: ConstantTruth, span: Span): Diagnostic {
  const isNever = constant === 'never-true';
  return {
    code: constant,
    severity: 'warning',
    span,
    message: isNever ? 'this is true of no request' : 'this is true of every request',
    help: isNever
      ? 'its parts exclude each other, or what the request may hold: remove it or fix it'
      : 'what the request may hold, or a part of it, makes it so: remove it or fix it',
  };
}
