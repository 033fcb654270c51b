// What an expression of the language is in a decision under way: it is checked and evaluated like the condition of a rule for the
// action that is asked for, by the definition.

import { hasErrors } from '../../../language/diagnostic/diagnostic.ts';
import type { PolicySet } from '../../../language/model/policy.ts';
import { valueAt } from '../../../language/model/request.ts';
import type { Explanation } from '../../../language/model/trace.ts';
import { explain } from '../../../language/spec/explain.ts';
import { checkSources, createCompileCache, type PolicySources } from '../../../pipeline.ts';
import type { Launched } from './launch.ts';
import { type ShownValue, shownFacts } from './variables.ts';

const policy = 'watched_by_a_debugger';

/** The sets with what was asked last, of which most stays as it is. */
export type WatchCache = ReturnType<typeof createCompileCache>;
export const createWatchCache = createCompileCache;

/** Its value, or why it has none. */
export function evaluateInWalk(expression: string, launched: Launched, cache: WatchCache): ShownValue {
  const known = pathValue(expression.trim(), launched);
  if (known !== undefined) return known;
  // A value is compared with itself, so that it stands in a condition.
  const asCondition = evaluated(`(${expression}\n)`, launched, cache);
  if (typeof asCondition !== 'string') return plainValue(asCondition);
  const asValue = evaluated(`(${expression}\n) == (${expression}\n)`, launched, cache);
  return typeof asValue === 'string' ? asCondition : plainValue(asValue.parts[0] ?? asValue);
}

function plainValue({ truth, value }: Explanation): ShownValue {
  if (truth === 'true') return true;
  return truth === 'false' ? false : value;
}

/** A path through what is known, which needs no rule: lists and records have no value in conditions. */
function pathValue(path: string, launched: Launched): ShownValue | undefined {
  if (!/^(?:payload|agent|request|meters|now)(?:\.\w+)*$/.test(path)) return undefined;
  return valueAt(shownFacts(launched), path.split('.')) as ShownValue | undefined;
}

/** How the condition comes about, or what is wrong with it. */
function evaluated(
  condition: string,
  { walked: { facts }, read }: Launched,
  cache: WatchCache,
): Explanation | string {
  const key = JSON.stringify(facts.action);
  const text = `policy ${policy} on ${key} {\n  shadow deny watched when ${condition}\n}\n`;
  const file = `${policy}.policy`;
  const sources: PolicySources = { ...read.sources, files: [...read.sources.files, { path: file, text }] };
  const { set, diagnostics } = checkSources(sources, cache);
  const wrong = diagnostics.find((one) => hasErrors([one]) && one.span.file === file);
  if (wrong !== undefined || set === null)
    return [wrong?.message ?? 'it cannot be read', wrong?.help].filter((one) => one !== undefined).join(': ');
  return explanationIn(set, facts) ?? 'it cannot be evaluated for what the gate refuses';
}

function explanationIn(set: PolicySet, facts: Launched['walked']['facts']): Explanation | undefined {
  if (!set.actions.has(facts.action)) return undefined;
  return explain(set, facts).find(({ rule }) => rule === `${policy}/watched`)?.explanation;
}
