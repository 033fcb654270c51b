// What an agent passes on to a sub-agent: a chain of links, each of which names actions and may add a
// condition. INVARIANT: each link is one more guard over the policies, so a chain never decides milder than
// the policies alone.

import type { Expression } from './expression.ts';

/** A link as stated, in text. */
export interface DelegationLink {
  /** Chosen by whoever delegates; see `linkNameForm`. */
  readonly name: string;
  /** Patterns over action keys, such as `payment.*`. */
  readonly actions: readonly string[];
  /** A condition of the language over the request; null for every request of the actions. */
  readonly when: string | null;
}

/** A link whose patterns and condition are resolved against a policy set. */
export interface ResolvedLink {
  readonly name: string;
  /** Sorted keys of the actions that the link's patterns match. */
  readonly actions: readonly string[];
  readonly when: Expression | null;
}

/** The policy that the guards of a chain belong to. No declared policy may have this name. */
export const delegationPolicy = 'outside_delegation';

/** The longest that a delegation may last. */
export const delegationDaysMax = 30;
/** The most links of a chain. */
export const linksMax = 5;
/** The most patterns of a link. */
export const linkActionsMax = 50;
/** The most characters of a link's condition. */
export const linkConditionMax = 2_000;

export const linkNameForm = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$/;

/** The name of the guard of a link, by its place in the chain from 0 on. */
export function linkRule(place: number): string {
  return `link_${place + 1}`;
}

export function linkRuleId(place: number): string {
  return `${delegationPolicy}/${linkRule(place)}`;
}

/** Why the guard of a link refuses. */
export function outsideReason(name: string): string {
  return `Outside the delegation \`${name}\``;
}

/** The place in the chain of the link whose guard has this id; -1 for any other rule. */
export function linkIndexOf(ruleId: string): number {
  const [policy, rule = ''] = ruleId.split('/');
  return policy === delegationPolicy ? Number(rule.slice('link_'.length)) - 1 : -1;
}

/** Whether a pattern, `area.*`, `*.verb`, `*` or a key, matches an action. */
export function matchesAction(pattern: string, action: string): boolean {
  if (pattern === '*') return true;
  if (pattern.endsWith('.*'))
    return isLonger(action, pattern.length - 1) && action.startsWith(pattern.slice(0, -1));
  if (pattern.startsWith('*.'))
    return isLonger(action, pattern.length - 1) && action.endsWith(pattern.slice(1));
  return pattern === action;
}

function isLonger(text: string, length: number): boolean {
  return text.length > length;
}
