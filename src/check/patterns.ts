// From patterns to the actions that they match. `*` stands for one or more whole segments, at one end; a name without
// dot is a group. A pattern that matches nothing is an error, one that another contains a warning.

import type { Action } from '../model/policy.ts';
import type { Pattern } from '../syntax/tree.ts';
import type { Environment } from './environment.ts';
import { namesOf } from './environment.ts';
import { nameOfOtherKind, patternContained, patternMatchesNothing } from './errors.ts';

/** Keys of the actions that one of the patterns matches; sorted. */
export function matchedActions(patterns: readonly Pattern[], env: Environment): readonly string[] {
  const matches = patterns.map((pattern) => ({ pattern, keys: resolvePattern(pattern, env) }));
  const matching = matches.filter(({ keys }) => keys.length > 0);
  reportContained(
    matching.map(({ pattern }) => pattern),
    env,
  );
  return [...new Set(matching.flatMap(({ keys }) => keys))].sort();
}

export function actionsOf(keys: readonly string[], env: Environment): readonly Action[] {
  return keys.flatMap((key) => env.actions.get(key) ?? []);
}

function resolvePattern(pattern: Pattern, env: Environment): readonly string[] {
  if (isGroupName(pattern)) return resolveGroup(pattern, env);
  const keys = [...env.actions.keys()].filter((key) => patternMatches(pattern.text, key));
  if (keys.length === 0) env.report(patternMatchesNothing(pattern, [...env.actions.keys()]));
  return keys;
}

function isGroupName(pattern: Pattern): boolean {
  return !pattern.isQuoted && !/[.*]/.test(pattern.text);
}

function resolveGroup(pattern: Pattern, env: Environment): readonly string[] {
  const declaration = env.declarations.get(pattern.text);
  if (declaration === undefined) {
    env.report(patternMatchesNothing(pattern, [...env.actions.keys(), ...namesOf(env, 'group')]));
    return [];
  }
  env.used.add(pattern.text);
  if (declaration.kind !== 'group') {
    const name = { kind: 'name', text: pattern.text, isQuoted: false, span: pattern.span } as const;
    env.report(nameOfOtherKind(name, declaration.kind, 'group'));
    return [];
  }
  const keys = env.groups.get(pattern.text) ?? [];
  if (keys.length === 0) env.report(patternMatchesNothing(pattern, []));
  return keys;
}

/** Whether a key or a wildcard matches the key of an action. */
function patternMatches(pattern: string, key: string): boolean {
  if (pattern === '*') return true;
  if (pattern.endsWith('.*')) return key.startsWith(pattern.slice(0, -1)) && key.length > pattern.length - 1;
  if (pattern.startsWith('*.')) return key.endsWith(pattern.slice(1)) && key.length > pattern.length - 1;
  return pattern === key;
}

function reportContained(patterns: readonly Pattern[], env: Environment): void {
  for (const [index, inner] of patterns.entries()) {
    const outer = patterns.find(
      (candidate, at) =>
        at !== index && contains(candidate, inner, env) && (at < index || !contains(inner, candidate, env)),
    );
    if (outer !== undefined) env.report(patternContained(inner, outer));
  }
}

/** Whether all that `inner` can match is matched by `outer`, whatever actions are declared later. */
function contains(outer: Pattern, inner: Pattern, env: Environment): boolean {
  if (outer.text === inner.text) return outer.isQuoted === inner.isQuoted || !isGroupName(outer);
  if (outer.text === '*') return true;
  if (isGroupName(inner)) return false;
  if (isGroupName(outer)) return (env.groups.get(outer.text) ?? []).includes(inner.text);
  // A star at the other end than the outer's may stand for segments that the outer does not match.
  if (outer.text.endsWith('.*')) return !inner.text.startsWith('*') && patternMatches(outer.text, inner.text);
  if (outer.text.startsWith('*.')) return !inner.text.endsWith('*') && patternMatches(outer.text, inner.text);
  return false;
}
