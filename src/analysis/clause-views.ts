// Judges the guarantees of a set while it is being written: proved, refuted by a request that can be tried at
// once, or undecided. The results are kept with the set, because requests are tried more often than policies
// change.

import { position, type SourceOf } from '../language/diagnostic/render.ts';
import type { PolicySet } from '../language/model/policy.ts';
import { type ClauseVerdict, proveGuarantees, type Verdict } from '../reasoning/prove/prove.ts';
import { clauseText, shortenCondition, textAt, undecidedReasons } from '../reasoning/prove/report/wording.ts';
import { textRangeOf } from './located-diagnostics.ts';
import type { TriedClause } from './playground-questions.ts';
import { givenRequestOf } from './request-input.ts';
import type { EditedPolicies } from './workspace.ts';

/** About one second of proving; `writ check` proves larger sets. */
const rulesMax = 2_000;

const judged = new WeakMap<PolicySet, readonly TriedClause[]>();

/** Returns null when the set does not compile, or has too many rules to be proved while somebody types. */
export function clauseViews({ policies, sourceOf }: EditedPolicies): readonly TriedClause[] | null {
  if (policies === null || rulesCount(policies.set) > rulesMax) return null;
  const { set } = policies;
  const clauses = judged.get(set) ?? proveGuarantees(set).map((one) => viewOf(one, set, sourceOf));
  judged.set(set, clauses);
  return clauses;
}

/** Counts a rule once for each action with a guarantee, because each action is proved separately. */
function rulesCount({ guarantees, policies }: PolicySet): number {
  const actionKeys = new Set(guarantees.flatMap(({ actions }) => actions));
  return policies.reduce(
    (sum, { rules, actions }) => sum + rules.length * actions.filter((key) => actionKeys.has(key)).length,
    0,
  );
}

function viewOf(
  { guarantee, claim, kind, verdicts }: ClauseVerdict,
  set: PolicySet,
  sourceOf: SourceOf,
): TriedClause {
  const { file, start, end } = claim.span;
  const text = sourceOf(file) ?? '';
  const undecided = verdicts.find((one) => one.kind === 'undecided');
  const refuted = verdicts.find((one) => one.kind === 'refuted');
  return {
    guarantee: guarantee.name,
    clause: clauseText(claim, sourceOf),
    file,
    ...textRangeOf(position(text, start), position(text, end)),
    result: kind,
    reason: kind === 'undecided' && undecided?.kind === 'undecided' ? whyOf(undecided, sourceOf) : null,
    refuted_by: refuted?.kind === 'refuted' ? refutationOf(refuted, set) : null,
  };
}

function whyOf({ why, terms }: Extract<Verdict, { kind: 'undecided' }>, sourceOf: SourceOf): string {
  const texts = terms.map((term) => shortenCondition(textAt(term, sourceOf)));
  return [undecidedReasons[why], [...new Set(texts)].join(', ')].filter((part) => part !== '').join(': ');
}

function refutationOf(
  { facts, decision }: Extract<Verdict, { kind: 'refuted' }>,
  set: PolicySet,
): TriedClause['refuted_by'] {
  return {
    decision: decision.outcome,
    by: decision.by,
    satisfied: facts.satisfied,
    request: givenRequestOf(facts, set),
  };
}
