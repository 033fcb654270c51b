// Resolves patterns to the actions that they match. `*` stands for one or more whole segments, at one end; a
// name without a dot is a group. A pattern that matches nothing is an error; a pattern that another one
// contains is a warning.

import { isPattern } from '../../syntax/parse/keys.ts';
import type { Pattern } from '../../syntax/tree/tree.ts';
import type { Environment } from '../incremental/environment.ts';
import type { ActionSet } from '../incremental/resolved.ts';
import { nameOfOtherKind, patternContained, patternMatchesNothing } from '../messages/errors.ts';
import { isGroupKey, patternKey, patternsKey } from './action-sets.ts';
import { namesOf } from './declared-names.ts';

/** Returns the actions that at least one of the patterns matches and no exception matches. */
export function matchedActions(
  patterns: readonly Pattern[],
  except: readonly Pattern[],
  env: Environment,
): ActionSet {
  for (const some of [patterns, except]) {
    const matching = some.filter((pattern) => matchesSomething(pattern, env));
    if (matching.length > 1) reportContained(matching, env);
  }
  return env.query('actions', patternsKey(patterns, except));
}

/** Whether the pattern matches an action; reports a pattern that does not. */
function matchesSomething(pattern: Pattern, env: Environment): boolean {
  const { keys } = env.query('match', patternKey(pattern));
  if (isGroup(pattern)) return isGroupWithActions(pattern, keys, env);
  if (keys.length > 0) return true;
  // The parser has reported a `*` in a wrong place.
  if (!isPattern(pattern.text)) return false;
  env.recorder.readUntracked();
  env.report(patternMatchesNothing(pattern, [...env.actions.keys()]));
  return false;
}

function isGroup(pattern: Pattern): boolean {
  return isGroupKey(patternKey(pattern));
}

function isGroupWithActions(pattern: Pattern, keys: readonly string[], env: Environment): boolean {
  const kind = env.query('kind', pattern.text);
  if (kind === undefined) {
    env.report(patternMatchesNothing(pattern, [...env.actions.keys(), ...namesOf(env, 'group')]));
    return false;
  }
  env.use(pattern.text);
  if (kind !== 'group') {
    const name = { kind: 'name', text: pattern.text, isQuoted: false, span: pattern.span } as const;
    env.report(nameOfOtherKind(name, kind, 'group'));
    return false;
  }
  if (keys.length === 0) env.report(patternMatchesNothing(pattern, []));
  return keys.length > 0;
}

function reportContained(patterns: readonly Pattern[], env: Environment): void {
  // The key of an action contains no pattern but itself.
  const wide = patterns.flatMap((pattern, at) =>
    isGroup(pattern) || pattern.text.includes('*') ? [at] : [],
  );
  const byText = Map.groupBy(patterns.keys(), (at) => patterns[at]!.text);
  for (const [index, inner] of patterns.entries()) {
    const near = [...wide, ...(byText.get(inner.text) ?? [])].sort((a, b) => a - b);
    const outer = near.find((at) => {
      const candidate = patterns[at]!;
      if (at === index || !contains(candidate, inner, env)) return false;
      return at < index || !contains(inner, candidate, env);
    });
    if (outer !== undefined) env.report(patternContained(inner, patterns[outer]!));
  }
}

/** Whether `outer` matches everything that `inner` can match, whatever actions are declared later. */
function contains(outer: Pattern, inner: Pattern, env: Environment): boolean {
  if (outer.text === inner.text) return outer.isQuoted === inner.isQuoted || !isGroup(outer);
  if (outer.text === '*') return true;
  if (isGroup(inner)) return false;
  if (isGroup(outer)) return env.query('match', patternKey(outer)).keys.includes(inner.text);
  // An `inner` whose star is at the other end than the star of `outer` may match segments that `outer` does
  // not match.
  if (outer.text.endsWith('.*')) return !inner.text.startsWith('*') && patternMatches(outer.text, inner.text);
  if (outer.text.startsWith('*.')) return !inner.text.endsWith('*') && patternMatches(outer.text, inner.text);
  return false;
}

/** Whether a pattern with a star at one end matches the key of an action. */
function patternMatches(pattern: string, key: string): boolean {
  if (key.length < pattern.length) return false;
  return pattern.endsWith('.*') ? key.startsWith(pattern.slice(0, -1)) : key.endsWith(pattern.slice(1));
}
