// Evaluates an expression of the language within a decision under way. The language's definition checks and
// evaluates the expression like the condition of a rule for the requested action.

import { hasErrors } from '../../language/diagnostic/diagnostic.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import { valueAt } from '../../language/model/request.ts';
import type { Explanation } from '../../language/model/trace.ts';
import { explain } from '../../language/spec/explain.ts';
import { checkSources, createCompileCache, type PolicySources } from '../../pipeline.ts';
import type { Launched } from './launch.ts';
import { type ShownValue, shownFacts } from './variables.ts';

const policy = 'watched_by_a_debugger';

/**
 * A compile cache for sets with a watched expression, of which most stays the same from one expression to the
 * next.
 */
export type WatchCache = ReturnType<typeof createCompileCache>;
export const createWatchCache = createCompileCache;

/** The value of the expression, or a text with the reason why it has none. */
export function evaluateInWalk(expression: string, launched: Launched, cache: WatchCache): ShownValue {
  const known = pathValue(expression.trim(), launched);
  if (known !== undefined) return known;
  // A value cannot be a condition, so it is compared with itself.
  const asCondition = evaluated(`(${expression}\n)`, launched, cache);
  if (typeof asCondition !== 'string') return plainValue(asCondition);
  const asValue = evaluated(`(${expression}\n) == (${expression}\n)`, launched, cache);
  return typeof asValue === 'string' ? asCondition : plainValue(asValue.parts[0] ?? asValue);
}

function plainValue({ truth, value }: Explanation): ShownValue {
  if (truth === 'true') return true;
  return truth === 'false' ? false : value;
}

/**
 * Follows a path through the shown facts without a rule, because lists and records have no value in
 * conditions. Undefined for any other text.
 */
function pathValue(path: string, launched: Launched): ShownValue | undefined {
  if (!/^(?:payload|agent|request|meters|now)(?:\.\w+)*$/.test(path)) return undefined;
  return valueAt(shownFacts(launched), path.split('.')) as ShownValue | undefined;
}

/** The explanation of the condition, or a text with what is wrong with the condition. */
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
