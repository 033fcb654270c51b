// Turns the rules of an action into a function that says whether an agent can get anything but a refusal.
// Like decisions, it uses generated code, but with conditions in which payload and time are unknown.

import type { Possibility } from '../model/possibility.ts';
import { unknownRequest } from '../model/possibility.ts';
import type { AgentFacts } from '../model/request.ts';
import type { OpenAction } from '../program/packed/unpack.ts';
import type { RuleHead } from '../program/program.ts';
import { conditionOfUnknown, letsOfUnknown } from '../program/unknown-payload.ts';
import { type IndexedCode, IndexedDecider } from './decide/indexed.ts';
import type { Kleene } from './runtime/quantity.ts';
import { SharedRules, type SharedSource } from './shared.ts';

export type PossibilityOf = (agent: AgentFacts) => Possibility;

export function createPossibility(action: OpenAction, source: SharedSource): PossibilityOf {
  const { ruleCount, hasShadow } = action;
  const heads = Array.from({ length: ruleCount }, (_, index) => action.head(index));
  const lets = letsOfUnknown(action.lets);
  const rules = { length: ruleCount, at: (place: number) => heads[place]! };
  const afterRisk = action.hasAfterRisk ? Uint8Array.from(heads, ({ readsRisk }) => Number(readsRisk)) : null;
  const code = placeAll(action, new SharedRules(lets, source));
  const decider = new IndexedDecider({ rules, lets, hasShadow, afterRisk }, code);
  return (agent) => weigh(heads, decider.decideAll(unknownRequest(action.action, agent)).truths);
}

function placeAll(action: OpenAction, shared: SharedRules): IndexedCode {
  const placeRule = (index: number): number => shared.placeRule(conditionOfUnknown(action.condition(index)));
  return {
    find: () => action.ruleCount,
    layout: shared.layout,
    bases: Int32Array.from({ length: action.ruleCount }, (_, place) => placeRule(place)),
    placeRule,
    // A possibility shows no reason.
    approver: () => () => [null, ''],
    reason: () => () => '',
  };
}

const isTrue: Kleene = 2;

function weigh(heads: readonly RuleHead[], truths: ArrayLike<Kleene>): Possibility {
  let isGranted = false;
  let isGrantedAtOnce = false;
  let isAsked = false;
  for (const [index, { effect, isShadow, requirement }] of heads.entries()) {
    const truth = truths[index]!;
    if (isShadow || truth === 0) continue;
    if (effect === 'deny' && truth === isTrue) return 'never';
    if (effect === 'allow') {
      isGranted = true;
      isGrantedAtOnce ||= requirement === null;
    }
    isAsked ||= (effect === 'escalate' || effect === 'reauth') && truth === isTrue;
  }
  if (!isGranted) return 'never';
  return isAsked || !isGrantedAtOnce ? 'after_approval' : 'possible';
}
