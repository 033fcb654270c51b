// The facts about agent, request and action, and the type of each fact.

import type { FactName } from '../../model/expression.ts';
import { riskTiers } from '../../model/request.ts';
import { anyText, booleanType, enumeration, listOf, type Type } from '../../model/type.ts';
import type { Environment } from '../incremental/environment.ts';
import type { ActionFact, FactTypes } from '../incremental/resolved.ts';

/** Types that are the same in every policy set; null for the facts about the action. */
const fixedTypes = {
  'agent.id': anyText,
  'agent.name': anyText,
  'agent.risk_tier': enumeration(riskTiers),
  'agent.control_owner': anyText,
  'agent.tags': listOf(anyText),
  'request.ip': { kind: 'ip' },
  'request.signed': booleanType,
  'request.session': anyText,
  'request.point': anyText,
  'request.delegated': booleanType,
  'request.delegate': anyText,
  'request.chain': listOf(anyText),
  'request.user.id': anyText,
  'request.user.email': { ...anyText, of: 'email' },
  'request.user.roles': listOf(anyText),
  'request.user.groups': listOf(anyText),
  'action.key': null,
  'action.area': null,
  'action.verb': null,
} satisfies Record<FactName, Type | null>;

export const factNames = Object.keys(fixedTypes) as readonly FactName[];

export function isFact(name: string): name is FactName {
  return Object.hasOwn(fixedTypes, name);
}

export function typeOfFact(fact: FactName, env: Environment): Type {
  // Only the facts about the action have no fixed type.
  return fixedTypes[fact] ?? env.query('facts', '')[fact as ActionFact];
}

/** Returns the type of a fact; null when the type depends on the declared actions. */
export function typeOfFixedFact(fact: FactName): Type | null {
  return fixedTypes[fact];
}

const typesByActions = new WeakMap<Environment['actions'], FactTypes>();

/**
 * Returns the types of the facts about the action: enumerations, so that a misspelt key is found. Kept while
 * the keys are the same.
 */
export function factTypes({ actions, checkState }: Environment): FactTypes {
  const made = typesByActions.get(actions) ?? sameOrNew([...actions.keys()].sort(), checkState.facts);
  typesByActions.set(actions, made);
  checkState.facts = made;
  return made;
}

function sameOrNew(keys: readonly string[], before: FactTypes | null): FactTypes {
  const type = before?.['action.key'];
  const held = type?.kind === 'text' ? (type.values ?? []) : [];
  if (before !== null && held.length === keys.length && keys.every((key, at) => key === held[at]))
    return before;
  const parts = (part: (key: string) => string): Type => enumeration([...new Set(keys.map(part))].sort());
  return {
    'action.key': enumeration(keys),
    'action.area': parts((key) => key.slice(0, key.lastIndexOf('.'))),
    'action.verb': parts((key) => key.slice(key.lastIndexOf('.') + 1)),
  };
}
