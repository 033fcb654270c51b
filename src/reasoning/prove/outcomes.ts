// The outcome of a decision as gates over the truth of the rules: the strictest demand among that of the
// mildest true allow and those of the guards that are not false. The gates do not tell which rule is named
// and who is asked.

import type { Outcome } from '../../language/model/decision.ts';
import { isGuard, type Rule } from '../../language/model/policy.ts';
import type { Circuit, Pair } from '../solver/circuit.ts';
import { notLiteral, type SolverLiteral } from '../solver/literal.ts';
import { noElements, type ProofContext } from './context.ts';

export type OutcomeLiterals = Readonly<Record<Outcome, SolverLiteral>>;

export interface RuleOutcome {
  readonly rule: Rule;
  readonly pair: Pair;
  /** Whether the rule's requirement has been met. */
  readonly isMet: SolverLiteral;
}

/** `isUnapproved`: no requirement of any rule has been met. */
export function ruleOutcomes(ctx: ProofContext, isUnapproved: boolean): readonly RuleOutcome[] {
  return ctx.rules.map((rule) => ({
    rule,
    pair: ctx.lower(rule.condition, noElements),
    isMet: isUnapproved ? ctx.circuit.no : metLiteral(ctx, rule),
  }));
}

export function outcomesOf(ctx: ProofContext, isUnapproved: boolean): OutcomeLiterals {
  const { circuit } = ctx;
  const judged = ruleOutcomes(ctx, isUnapproved);
  const allows = judged.filter(({ rule }) => rule.effect === 'allow');
  const guards = judged.filter(({ rule }) => isGuard(rule));
  const granted = circuit.or(allows.map(({ pair }) => pair.isTrue));
  const isDenied = circuit.or([notLiteral(granted), demanded(circuit, guards, 'deny')]);
  const isReauthOrMore = circuit.or([
    isDenied,
    demanded(circuit, guards, 'reauth'),
    notLiteral(grantedFor(circuit, allows, ['approval'])),
  ]);
  const isEscalateOrMore = circuit.or([
    isReauthOrMore,
    demanded(circuit, guards, 'approval'),
    notLiteral(grantedFor(circuit, allows, [])),
  ]);
  return {
    ALLOW: notLiteral(isEscalateOrMore),
    ESCALATE: circuit.and([isEscalateOrMore, notLiteral(isReauthOrMore)]),
    REAUTH_REQUIRED: circuit.and([isReauthOrMore, notLiteral(isDenied)]),
    DENY: isDenied,
  };
}

/** A free literal: any requirements may have been met together, which admits more than can really happen. */
function metLiteral(ctx: ProofContext, rule: Rule): SolverLiteral {
  if (rule.requirement === null) return ctx.circuit.no;
  const cached = ctx.satisfied.get(rule.id);
  if (cached !== undefined) return cached.literal;
  const literal = ctx.circuit.free();
  ctx.satisfied.set(rule.id, { rule, literal });
  return literal;
}

export type DemandKind = 'deny' | 'approval' | 'reauth' | 'nothing';

export function demandOf({ effect, requirement }: Rule): DemandKind {
  return effect === 'deny' ? 'deny' : (requirement?.kind ?? 'nothing');
}

/** A guard that is not false makes its demand until the demand is met; a deny cannot be met. */
function demanded(circuit: Circuit, guards: readonly RuleOutcome[], demand: DemandKind): SolverLiteral {
  return circuit.or(
    guards
      .filter(({ rule }) => demandOf(rule) === demand)
      .map(({ pair, isMet }) =>
        circuit.and([notLiteral(pair.isFalse), demand === 'deny' ? circuit.yes : notLiteral(isMet)]),
      ),
  );
}

/** Whether some true allow asks for nothing, has its requirement met, or asks only for one of `demands`. */
function grantedFor(
  circuit: Circuit,
  allows: readonly RuleOutcome[],
  demands: readonly DemandKind[],
): SolverLiteral {
  return circuit.or(
    allows.map(({ rule, pair, isMet }) => {
      const demand = demandOf(rule);
      const isOpen = demand === 'nothing' || demands.includes(demand);
      return isOpen ? pair.isTrue : circuit.and([pair.isTrue, isMet]);
    }),
  );
}
