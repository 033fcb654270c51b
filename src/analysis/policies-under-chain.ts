// Policies as they decide what came by a chain of delegations, each link's guard written out as a rule in a text of
// its own, so that whatever explains rules explains links too. INVARIANT: the function and the set are the ones that
// decide a delegated request; only the places of texts are added.

import { checkLink } from '../language/check/delegation.ts';
import type { SourceOf } from '../language/diagnostic/render.ts';
import type { Span } from '../language/diagnostic/span.ts';
import { type DelegationLink, delegationPolicy, type ResolvedLink } from '../language/model/delegation.ts';
import type { Expression } from '../language/model/expression.ts';
import type { PolicySet, Rule } from '../language/model/policy.ts';
import { withGuards } from '../language/spec/delegation.ts';
import { underRecordedChain } from './replay/engine/recorded-chain.ts';
import type { EditedPolicies } from './workspace.ts';

type Policies = Pick<NonNullable<EditedPolicies['policies']>, 'set' | 'engine'>;

export interface ExplainablePolicies {
  readonly policies: Policies;
  readonly sourceOf: SourceOf;
}

/** Returns the same policies if there is no chain. */
export function underChain(
  given: ExplainablePolicies,
  chain: readonly DelegationLink[] | undefined,
): ExplainablePolicies {
  if (chain === undefined || chain.length === 0) return given;
  const { set, engine } = given.policies;
  const written = chain.map((link, place) => writtenLink(link, place, engine));
  const texts = new Map(written.map(({ file, text }) => [file, text]));
  const guarded = withGuards(
    set,
    written.map(({ resolved }) => resolved),
  );
  return {
    policies: { set: placed(guarded, written), engine: underRecordedChain(engine, chain) },
    sourceOf: (file) => texts.get(file) ?? given.sourceOf(file),
  };
}

/** A link as the rule that it is. */
interface WrittenLink {
  readonly resolved: ResolvedLink;
  readonly file: string;
  readonly text: string;
  readonly actions: Span;
  /** What the request has to be, with the actions and the condition; null for a link that does not fit the policies. */
  readonly inside: Span | null;
}

function writtenLink(link: DelegationLink, place: number, engine: Policies['engine']): WrittenLink {
  const { name, actions, when } = link;
  const file = `link_${place + 1} (${name})`;
  const before = `deny ${delegationPolicy} unless `;
  const named = `action in ${actions.join(', ')}`;
  const condition = when === null ? '' : ` and (${when})`;
  const text = `${before}${named}${condition}`;
  const start = before.length;
  const end = start + named.length;
  const declared = { keys: [...engine.actions()], shapeOf: engine.shapeOf };
  // Blanks before the condition give its parts the places that they have in the text of the link.
  const placedWhen = when === null ? null : `${' '.repeat(end + ' and ('.length)}${when}`;
  const { link: found } = checkLink({ ...link, when: placedWhen }, declared, file);
  const span = { file, actions: { file, start, end } };
  if (found !== null) return { ...span, resolved: found, text, inside: { file, start, end: text.length } };
  const unfit = { name, actions: [], when: null };
  return { ...span, resolved: unfit, text: `${text} # does not fit these policies`, inside: null };
}

function placed(set: PolicySet, written: readonly WrittenLink[]): PolicySet {
  const policies = set.policies.map((policy) =>
    policy.name === delegationPolicy
      ? { ...policy, rules: policy.rules.map((rule, place) => placedRule(rule, written[place]!)) }
      : policy,
  );
  return { ...set, policies };
}

function placedRule(rule: Rule, { file, text, actions, inside }: WrittenLink): Rule {
  const { condition } = rule;
  if (condition.kind !== 'not') throw new Error('the guard of a link is a negation');
  const span = { file, start: 0, end: text.length };
  if (inside === null) return { ...rule, span };
  const operand = placedOperand(condition.operand, { actions, inside });
  return { ...rule, span, condition: { ...condition, operand, span: inside } };
}

interface OperandSpans {
  readonly actions: Span;
  readonly inside: Span;
}

function placedOperand(operand: Expression, { actions, inside }: OperandSpans): Expression {
  if (operand.kind !== 'and') return { ...operand, span: inside };
  const [named, ...when] = operand.operands;
  return { ...operand, operands: [{ ...named!, span: actions }, ...when], span: inside };
}
