// The guards that a chain of delegations adds to a policy set: one policy with one `deny` for each link.

import { delegationPolicy, linkRule, linkRuleId, outsideReason, type ResolvedLink } from './delegation.ts';
import type { Expression } from './expression.ts';
import type { Action, Policy, Rule } from './policy.ts';
import { anyText, booleanType, type Shape } from './type.ts';

/** The guards of a chain as a policy on these actions. */
export function guardPolicy(chain: readonly ResolvedLink[], actions: readonly string[]): Policy {
  return {
    name: delegationPolicy,
    actions,
    owner: null,
    tags: [],
    links: [],
    doc: null,
    rules: chain.map(guardOf),
    span: nowhere,
  };
}

const nowhere = { file: '', start: 0, end: 0 };

function guardOf({ name, actions, when }: ResolvedLink, place: number): Rule {
  const isNamed = anyOf(actions.map(isAction));
  const inside = when === null ? isNamed : bothOf(isNamed, when);
  return {
    id: linkRuleId(place),
    policy: delegationPolicy,
    name: linkRule(place),
    effect: 'deny',
    isShadow: false,
    condition: { kind: 'not', operand: inside, type: booleanType, span: nowhere },
    conditionText: '',
    points: 0,
    readsRisk: false,
    reason: [outsideReason(name)],
    validForSeconds: null,
    requirement: null,
    doc: null,
    span: nowhere,
  };
}

function isAction(key: string): Expression {
  const left: Expression = { kind: 'fact', fact: 'action.key', type: anyText, span: nowhere };
  const right: Expression = { kind: 'literal', value: key, type: anyText, span: nowhere };
  return { kind: 'compare', operator: '==', left, right, type: booleanType, span: nowhere };
}

function anyOf(operands: readonly Expression[]): Expression {
  return operands.length === 0
    ? { kind: 'literal', value: false, type: booleanType, span: nowhere }
    : { kind: 'or', operands, type: booleanType, span: nowhere };
}

function bothOf(...operands: readonly Expression[]): Expression {
  return { kind: 'and', operands, type: booleanType, span: nowhere };
}

/** An action of which nothing but its payload is known. */
export function bareAction(key: string, shape: Shape): Action {
  return { key, groups: [], shape, result: null, title: null, doc: null, span: nowhere };
}
