// The search for changes of one decision: its start, its goal, and how many tries remain.

import type { Decision } from '../../language/model/decision.ts';
import type { Expression } from '../../language/model/expression.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import type { Facts } from '../../language/model/request.ts';
import { checkPayload } from '../../language/spec/payload.ts';
import { type Atom, atomsOf } from './atoms.ts';
import { expressionText } from './change-wording.ts';

/** A decided request, the atoms that it depends on, and the tries that remain. */
export interface Search {
  readonly set: PolicySet;
  readonly facts: Facts;
  readonly base: Decision;
  readonly atoms: readonly Atom[];
  /** Returns an expression as the language writes it. */
  readonly textOf: (expression: Expression) => string;
  readonly isWellShaped: (facts: Facts) => boolean;
  /**
   * Decides a changed request; null if its payload is not of the declared shape, or once `share` of all tries
   * is spent.
   */
  readonly decide: (facts: Facts, share: number) => Decision | null;
  readonly isSpent: () => boolean;
  /** -1 to search for a milder decision, 1 for a stricter one. */
  readonly direction: -1 | 1;
}

interface SearchStart extends Pick<Search, 'facts' | 'base'> {
  readonly decide: (facts: Facts) => Decision;
  readonly triesMax: number;
}

export function createSearch(set: PolicySet, { facts, base, decide, triesMax }: SearchStart): Search {
  let tries = 0;
  const texts = new Map<Expression, string>();
  return {
    set,
    facts,
    base,
    atoms: atomsOf(set, facts.action, [base.by, ...base.rules]),
    direction: base.outcome === 'ALLOW' ? 1 : -1,
    textOf(expression) {
      const text = texts.get(expression) ?? expressionText(set, expression);
      texts.set(expression, text);
      return text;
    },
    isWellShaped({ action, payload }) {
      const shape = set.actions.get(action)?.shape;
      return shape !== undefined && checkPayload(shape, payload).length === 0;
    },
    isSpent: () => tries >= triesMax,
    decide(changed, share) {
      if (tries >= triesMax * share) return null;
      tries++;
      const decision = decide(changed);
      return decision.by === 'invalid_payload' ? null : decision;
    },
  };
}
