// Who is asked while no requirement has been met, as a gate over the truth of the rules. The guards that are
// not false ask, and so does the one true allow that the definition takes. A refused request asks nobody.

import { outcomes } from '../../language/model/decision.ts';
import { type AskClaim, isGuard, type Rule } from '../../language/model/policy.ts';
import { notLiteral, type SolverLiteral } from '../solver/literal.ts';
import type { ProofContext } from './context.ts';
import { type Judged, judgedRules, outcomesOf } from './outcomes.ts';

/** A literal that holds if the decision asks the group for at least `needs` people. */
export function asksOf(ctx: ProofContext, asked: Pick<AskClaim, 'group' | 'needs'>): SolverLiteral {
  const { circuit } = ctx;
  const judged = judgedRules(ctx, true);
  const guards = judged.filter(({ rule }) => isGuard(rule) && isAsking(rule, asked));
  const isAsked = circuit.or([
    ...guards.map(({ pair }) => notLiteral(pair.isFalse)),
    ...grantsAsking(ctx, judged, asked),
  ]);
  return circuit.and([isAsked, notLiteral(outcomesOf(ctx, true).DENY)]);
}

function isAsking({ requirement }: Rule, { group, needs }: Pick<AskClaim, 'group' | 'needs'>): boolean {
  return requirement?.kind === 'approval' && requirement.groups.includes(group) && requirement.needs >= needs;
}

/** At most one allow grants a request: the first that is true. */
function grantsAsking(
  { circuit }: ProofContext,
  judged: readonly Judged[],
  asked: Pick<AskClaim, 'group' | 'needs'>,
): readonly SolverLiteral[] {
  const asking: SolverLiteral[] = [];
  let isNoneBefore = circuit.yes;
  for (const { rule, pair } of judged.filter((one) => one.rule.effect === 'allow').toSorted(byPreference)) {
    if (isAsking(rule, asked)) asking.push(circuit.and([isNoneBefore, pair.isTrue]));
    isNoneBefore = circuit.and([isNoneBefore, notLiteral(pair.isTrue)]);
  }
  return asking;
}

/** Allows that ask for less come first, then those that ask fewer people, then by id. */
function byPreference({ rule: a }: Judged, { rule: b }: Judged): number {
  return strictness(a) - strictness(b) || peopleOf(a) - peopleOf(b) || (a.id < b.id ? -1 : 1);
}

function strictness({ requirement }: Rule): number {
  if (requirement === null) return outcomes.indexOf('ALLOW');
  return outcomes.indexOf(requirement.kind === 'approval' ? 'ESCALATE' : 'REAUTH_REQUIRED');
}

function peopleOf({ requirement }: Rule): number {
  return requirement?.kind === 'approval' ? requirement.needs * requirement.groups.length : 0;
}
