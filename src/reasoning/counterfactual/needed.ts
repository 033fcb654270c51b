// Finds which of the conditions that a change turned are needed for its result. For example, a vendor that
// joins one list may also leave another list that makes no difference. The same rules are decided with each
// condition replaced by its truth.

import type { Outcome } from '../../language/model/decision.ts';
import type { Expression } from '../../language/model/expression.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import type { Facts } from '../../language/model/request.ts';
import { booleanType } from '../../language/model/type.ts';
import { unknown } from '../../language/model/value.ts';
import { authorize } from '../../language/spec/authorize.ts';
import type { SpecTruth } from '../../language/spec/truth.ts';
import { type Atom, atomTruth, isAtom } from './atoms.ts';
import type { Search } from './search.ts';

/** A smallest set of turned atoms that leads to the outcome while all other atoms keep their truth. */
export function neededTurns(
  search: Search,
  turned: readonly Atom[],
  change: { readonly facts: Facts; readonly outcome: Outcome },
): readonly Atom[] {
  if (turned.length < 2) return turned;
  const { set, facts: before, atoms, textOf } = search;
  const truths = new Map<string, SpecTruth>(
    atoms.map((atom) => [atom.text, atomTruth(atom, set, change.facts)]),
  );
  return turned.filter((atom) => {
    const needed = truths.get(atom.text) ?? unknown;
    truths.set(atom.text, atomTruth(atom, set, before));
    const assumed = withTruths(set, change.facts.action, (part) => truths.get(textOf(part)) ?? unknown);
    if (authorize(assumed, change.facts).outcome === change.outcome) return false;
    truths.set(atom.text, needed);
    return true;
  });
}

/** The enforced rules of the action, each atom replaced by its truth. */
function withTruths(set: PolicySet, action: string, truthOfAtom: (atom: Expression) => SpecTruth): PolicySet {
  const policies = set.policies
    .filter((policy) => policy.actions.includes(action))
    .map((policy) => ({
      ...policy,
      rules: policy.rules
        .filter((rule) => !rule.isShadow)
        .map((rule) => ({ ...rule, reason: null, condition: assume(set, rule.condition, truthOfAtom) })),
    }));
  return { ...set, policies };
}

function assume(
  set: PolicySet,
  condition: Expression,
  truthOfAtom: (atom: Expression) => SpecTruth,
): Expression {
  const inner = (operand: Expression): Expression => assume(set, operand, truthOfAtom);
  switch (condition.kind) {
    case 'not':
      return { ...condition, operand: inner(condition.operand) };
    case 'and':
    case 'or':
      return { ...condition, operands: condition.operands.map(inner) };
    case 'let': {
      const declared = set.lets.get(condition.id);
      return declared === undefined ? condition : inner(declared.expression);
    }
    default:
      return isAtom(set, condition) ? constant(condition, truthOfAtom(condition)) : condition;
  }
}

/** A condition with a fixed truth. Unknown is the reading of a meter that no policy declares. */
function constant({ span }: Expression, truth: SpecTruth): Expression {
  const node = { type: booleanType, span };
  return truth === unknown
    ? { ...node, kind: 'meter', meter: '' }
    : { ...node, kind: 'literal', value: truth };
}
