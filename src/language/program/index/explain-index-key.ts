// Explains to authors of rules why the index of an action tries some rules for every request. INVARIANT:
// exactly the rules that the index itself always tries are explained.

import type { List } from '../../model/policy.ts';
import { printRead } from '../print.ts';
import type { PlannedRule, Term } from '../program.ts';
import { type IndexSubject, indexKeysOf } from './index-key.ts';
import { createIndex, keysBy } from './rule-index.ts';

export interface ExplainedIndexKey {
  /** The rule's id, `policy/rule`. */
  readonly rule: string;
  readonly why: string;
}

/**
 * Returns the rules of an action that are tried for every request, whatever its values are, each with the
 * reason.
 */
export function explainIndexKey(
  rules: readonly PlannedRule[],
  lists: ReadonlyMap<string, List>,
): readonly ExplainedIndexKey[] {
  const { postings } = createIndex(rules, keysBy(lists));
  return [...postings.always].map((index) => ({
    rule: rules[index]!.id,
    why: whyAlways(rules[index]!, lists),
  }));
}

function whyAlways({ condition }: PlannedRule, lists: ReadonlyMap<string, List>): string {
  if (condition.kind === 'constant') return 'no condition';
  const subjects = new Set(indexKeysOf(condition, lists).map(({ subject }) => name(subject)));
  if (subjects.size === 0) return 'no equality, range or literal condition that all must meet';
  return `the conditions on ${[...subjects].join(', ')} exclude too few requests, or too few rules have them`;
}

function name({ term }: IndexSubject): string {
  const source = firstRead(term);
  return source ?? 'a value';
}

/** Returns the value that a term reads, as a policy file writes it; null when the term reads none. */
function firstRead(term: Term): string | null {
  if (term.kind === 'read') return printRead(term.read);
  if (term.kind === 'fact') return term.fact;
  return term.kind === 'call' ? firstRead(term.args[0]!) : null;
}
