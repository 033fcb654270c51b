// Sets of actions: what each pattern matches, and what the payloads of a set have in common. A set keeps its
// identity from one policy set to the next while its keys and the shapes of its actions stay the same.

import type { Pattern } from '../../syntax/tree/tree.ts';
import type { Environment } from '../incremental/environment.ts';
import type { ActionSet, Match } from '../incremental/resolved.ts';
import { payloadNode } from '../logic/payload-paths.ts';
import { haveSameParts } from '../logic/same.ts';

/** Returns a pattern as a text in which the name of a group and a quoted key of the same letters differ. */
export function patternKey({ text, isQuoted }: Pattern): string {
  return isQuoted ? `"${text}` : text;
}

/**
 * Returns a text that stands for all actions that one of the patterns matches and no exception does; the key
 * of the question `actions`.
 */
export function patternsKey(patterns: readonly Pattern[], except: readonly Pattern[]): string {
  const [only, ...others] = patterns;
  if (only !== undefined && others.length === 0 && except.length === 0) return patternKey(only);
  return `[${JSON.stringify([patterns.map(patternKey), except.map(patternKey)])}`;
}

/** Whether a `patternKey` is a name without dot or star. */
export function isGroupKey(key: string): boolean {
  return !key.startsWith('"') && !key.includes('.') && !key.includes('*');
}

/** Returns the actions that a pattern matches, by its `patternKey`. */
export function matchOf(key: string, env: Environment): Match {
  const cached = env.matches.get(key);
  if (cached !== undefined) return cached;
  const keys = isGroupKey(key) ? groupKeys(key, env) : matchingKeys(key.replace(/^"/, ''), env);
  const before = env.checkState.matches.get(key);
  const match = before !== undefined && haveSameParts(before.keys, keys) ? before : { keys };
  env.matches.set(key, match);
  return match;
}

function groupKeys(name: string, env: Environment): readonly string[] {
  if (env.declarations.get(name)?.kind !== 'group') return [];
  return (env.groups.get(name) ?? []).toSorted();
}

/** Returns the keys that a pattern matches; a star at one end stands for whole segments. */
function matchingKeys(pattern: string, env: Environment): readonly string[] {
  const { actions } = env;
  if (!pattern.includes('*')) return actions.has(pattern) ? [pattern] : [];
  const sorted = sortedKeys(env);
  if (pattern === '*') return sorted.forward;
  if (pattern.endsWith('.*')) return withPrefix(sorted.forward, pattern.slice(0, -1));
  if (!pattern.startsWith('*.')) return actions.has(pattern) ? [pattern] : [];
  return withPrefix(sorted.backward, reversed(pattern.slice(1)))
    .map(reversed)
    .sort();
}

interface SortedKeys {
  readonly forward: readonly string[];
  /** Keys with their letters in reverse. */
  readonly backward: readonly string[];
}

const sortedKeysOf = new WeakMap<Environment['actions'], SortedKeys>();

/** Sorts the keys of all actions, once for a set; all actions must have been resolved. */
function sortedKeys({ actions }: Environment): SortedKeys {
  const cached = sortedKeysOf.get(actions);
  if (cached !== undefined) return cached;
  const forward = [...actions.keys()].sort();
  const made = { forward, backward: forward.map(reversed).sort() };
  sortedKeysOf.set(actions, made);
  return made;
}

function reversed(text: string): string {
  let turned = '';
  for (let at = text.length - 1; at >= 0; at--) turned += text[at];
  return turned;
}

/** Returns the texts that continue after the prefix; in a sorted list these are adjacent. */
function withPrefix(sorted: readonly string[], prefix: string): readonly string[] {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < prefix) low = middle + 1;
    else high = middle;
  }
  let end = low;
  while (end < sorted.length && sorted[end]!.startsWith(prefix)) end += 1;
  return sorted.slice(low, end).filter((text) => text.length > prefix.length);
}

/** Returns the set of actions behind a `patternsKey`. */
export function actionSetOf(key: string, env: Environment): ActionSet {
  const cached = env.actionSets.get(key);
  if (cached !== undefined) return cached;
  const set = actionSetOver(keysOf(key, env), env);
  env.actionSets.set(key, set);
  return set;
}

function keysOf(key: string, env: Environment): readonly string[] {
  if (!key.startsWith('[')) return matchOf(key, env).keys;
  const [patterns, except] = JSON.parse(key.slice(1)) as [string[], string[]];
  const excluded = new Set(except.flatMap((one) => matchOf(one, env).keys));
  const included = new Set(patterns.flatMap((one) => matchOf(one, env).keys));
  return [...included].filter((each) => !excluded.has(each)).sort();
}

/** Returns the set of these sorted keys; equal keys yield the same object. */
export function actionSetOver(keys: readonly string[], env: Environment): ActionSet {
  const { checkState } = env;
  // The key of no pattern begins with `]`.
  const text = `]${keys.length === 1 ? keys[0] : JSON.stringify(keys)}`;
  const cached = env.actionSets.get(text);
  if (cached !== undefined) return cached;
  const shapes = keys.flatMap((key) => env.actions.get(key)?.shape ?? []);
  const results = keys.map((key) => env.actions.get(key)?.result ?? null);
  const nodes = () => {
    const valid = results.filter((result) => result !== null);
    const result = valid.length === 0 || valid.length < keys.length ? null : payloadNode(valid);
    return { payload: payloadNode(shapes), result };
  };
  const before = checkState.actionSets.get(text);
  const set =
    before !== undefined && haveSameParts(before.shapes, shapes) && haveSameParts(before.results, results)
      ? before
      : { keys, shapes, results, ...nodes(), number: checkState.actionSetsMade++ };
  env.actionSets.set(text, set);
  return set;
}
