// Who is asked, as a gate over the truth of the rules, while nothing has been met: the guards that are not false, and the
// allow that the definition takes of those that are true, ask; a request that is refused asks nobody.

import { outcomes } from '../../language/model/decision.ts';
import { type AskClaim, isGuard, type Rule } from '../../language/model/policy.ts';
import { notLiteral, type SolverLiteral } from '../solver/literal.ts';
import type { ProofContext } from './context.ts';
import { type Judged, judgedRules, outcomesOf } from './outcomes.ts';

/** The decision asks the group for so many people or more. */
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

/** One allow at most grants: the first that is true. */
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

/** What asks for less, then for fewer people, then by name. */
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
