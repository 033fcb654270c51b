// Turns a Cedar policy, for one kind of request, into a condition of Writ: its scope and its clauses, joined. What the schema
// rules out is not read further, because it may have no meaning for these types.

import { entityIdOf, entityLiteral, isEqual, isIn, type Variables } from './cedar-value.ts';
import type { CedarEntityJson, CedarPolicyJson, CedarScope } from './cedar-wasm.ts';
import { always, and, type Condition, constant, never } from './condition.ts';
import type { Environment } from './environment.ts';
import { isActionIn, isSameId, type Scope, truthOf, variable } from './translate.ts';

export interface Translation {
  readonly condition: Condition;
  /** Why the condition is stricter than the policy; empty where it is not. */
  readonly reasons: readonly string[];
}

export function translatePolicy(env: Environment, policy: CedarPolicyJson): Translation {
  // What a policy opens becomes known as it is read, so it is read until nothing new is opened.
  for (;;) {
    const before = env.opened.size;
    const scope: Scope = {
      env,
      variables: createVariables(),
      effect: policy.effect,
      reasons: new Set(),
      tags: [],
    };
    const condition = conditionOf(scope, policy);
    if (env.opened.size === before) return { condition, reasons: [...scope.reasons] };
  }
}

function createVariables(): Variables {
  let count = 0;
  return {
    next: () => {
      count += 1;
      return `each_${count}`;
    },
  };
}

function conditionOf(scope: Scope, policy: CedarPolicyJson): Condition {
  const makers: readonly (() => Condition)[] = [
    () => isInAction(scope.env, policy.action),
    () => isInScope(scope, policy.principal, 'principal'),
    () => isInScope(scope, policy.resource, 'resource'),
    ...policy.conditions.map(({ kind, body }) => () => {
      const truth = truthOf(scope, body);
      return kind === 'when' ? truth.yes : truth.no;
    }),
  ];
  const parts: Condition[] = [];
  for (const make of makers) {
    const part = make();
    if (part === never) return never;
    parts.push(part);
  }
  return and(...parts);
}

function isInAction({ action }: Environment, { op, entity, entities }: CedarScope): Condition {
  if (op === 'All') return always;
  const named = [...(entities ?? []), ...(entity === undefined ? [] : [entity])].map(entityIdOf);
  return constant(named.some((one) => (op === '==' ? isSameId(action.uid, one) : isActionIn(action, one))));
}

function isInScope(
  scope: Scope,
  { op, entity, entity_type: type, in: group }: CedarScope,
  root: 'principal' | 'resource',
): Condition {
  const subject = variable(scope.env, root);
  const isMember = (one: CedarEntityJson | undefined): Condition =>
    one === undefined ? always : isIn(scope, subject, entityLiteral(entityIdOf(one)));
  switch (op) {
    case 'All':
      return always;
    case '==':
      return entity === undefined ? always : isEqual(scope, subject, entityLiteral(entityIdOf(entity)));
    case 'in':
      return isMember(entity);
    case 'is':
      return and(constant(subject.type === type), subject.type === type ? isMember(group?.entity) : always);
  }
}
