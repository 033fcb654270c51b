// Judges a set's guarantees for people and programs: proved, refuted by a request that can be replayed, or
// undecided, with the conditions that were guessed and the results of trials.

import { escapeForTerminal, position, type SourceOf } from '../../language/diagnostic/render.ts';
import type { Span } from '../../language/diagnostic/span.ts';
import { descendants } from '../../language/model/children.ts';
import type { Decision } from '../../language/model/decision.ts';
import type { Expression } from '../../language/model/expression.ts';
import type { GuaranteeClause, PolicySet } from '../../language/model/policy.ts';
import type { Facts } from '../../language/model/request.ts';
import { evaluateCondition } from '../../language/spec/evaluate.ts';
import { resolveFacts } from '../../language/spec/payload.ts';
import { linkSet } from '../../pipeline.ts';
import { expressionText } from '../../reasoning/counterfactual/change-wording.ts';
import { type UnknownFact, unknownPartsOf } from '../../reasoning/counterfactual/unknown-facts.ts';
import {
  isBarelyTried,
  type Trial,
  trialRequestsDefault,
  tryGuarantees,
} from '../../reasoning/guarantees/try.ts';
import { type ClauseVerdict, proveGuarantees, type Verdict } from '../../reasoning/prove/prove.ts';
import { requestJson } from '../../reasoning/prove/report/request-json.ts';
import {
  clauseText,
  shortenCondition,
  textAt,
  undecidedHelps,
  undecidedReasons,
} from '../../reasoning/prove/report/wording.ts';

export interface ClauseResult extends ClauseVerdict {
  /** The trial of an undecided claim, or of every claim when trials are asked for; otherwise null. */
  readonly trial: Trial | null;
  readonly counterexample: Counterexample | null;
  /** What an author can do about an undecided claim; empty for other claims. */
  readonly undecidedHelp: string;
}

export interface Counterexample {
  readonly facts: Facts;
  readonly decision: Decision;
  /** The place of the rule that decided; null when no rule did. */
  readonly rule: Span | null;
  /** Whether the claim's condition is unknown for the request, and not true. */
  readonly isConditionUnknown: boolean;
  /** The parts of the claim's condition that leave it unknown. */
  readonly unknown: readonly UnknownFact[];
}

export interface ClauseOptions {
  readonly decide: (facts: Facts) => Decision;
  /** The number of requests on which each claim is tried, in addition to the proof. */
  readonly trials?: number | undefined;
}

/** Decides by the set's functions, which are made at the first call. */
export function deciderOf(set: PolicySet): ClauseOptions['decide'] {
  let linked: ReturnType<typeof linkSet> | null = null;
  return (facts) => {
    linked ??= linkSet(set);
    return linked.decide(facts);
  };
}

/** A verdict for each claim, in the order of the set. */
export function evaluateGuarantees(
  set: PolicySet,
  { decide, trials }: ClauseOptions,
): readonly ClauseResult[] {
  const verdicts = proveGuarantees(set);
  const isTried = ({ kind }: ClauseVerdict): boolean => trials !== undefined || kind === 'undecided';
  const tried = tryGuarantees(set, {
    decide,
    requests: trials ?? trialRequestsDefault,
    claims: new Set(verdicts.filter(isTried).map(({ claim }) => claim)),
  });
  const byClaim = new Map<GuaranteeClause, Trial>(tried.map((trial) => [trial.claim, trial]));
  return verdicts.map((verdict) => withTrial(set, verdict, byClaim.get(verdict.claim) ?? null));
}

/**
 * Adds a trial to a verdict. The language's definition decides the requests of a trial, so a counterexample
 * outweighs the proof.
 */
function withTrial(set: PolicySet, verdict: ClauseVerdict, trial: Trial | null): ClauseResult {
  const refuted = verdict.verdicts.find((one) => one.kind === 'refuted');
  const example = refuted?.kind === 'refuted' ? refuted : (trial?.counterexample ?? null);
  if (example === null)
    return { ...verdict, trial, counterexample: null, undecidedHelp: undecidedHelp(set, verdict) };
  const { facts, decision } = example;
  const scope = { set, facts: resolveFacts(set, facts), risk: decision.risk, variables: new Map() };
  const { when } = verdict.claim;
  const isConditionUnknown = when !== null && typeof evaluateCondition(when, scope) !== 'boolean';
  const counterexample = {
    facts,
    decision,
    rule: spanOfRule(set, decision.by),
    isConditionUnknown,
    unknown: isConditionUnknown ? unknownPartsOf([when], scope) : [],
  };
  return { ...verdict, kind: 'refuted', trial, counterexample, undecidedHelp: '' };
}

function spanOfRule({ policies }: PolicySet, id: string): Span | null {
  return policies.flatMap(({ rules }) => rules).find((rule) => rule.id === id)?.span ?? null;
}

export function isGoodClause({ kind }: ClauseResult, isStrict: boolean): boolean {
  return kind === 'proved' || (kind === 'undecided' && !isStrict);
}

/** The different reasons why a claim is undecided, with the conditions that were guessed. */
export function undecidedLines({ verdicts }: ClauseVerdict, sourceOf: SourceOf): readonly string[] {
  const lines = verdicts.flatMap((verdict) => {
    if (verdict.kind !== 'undecided') return [];
    const terms = termsOf(verdict, sourceOf).map((term) => `\`${escapeForTerminal(term)}\``);
    return [`${undecidedReasons[verdict.why]}${terms.length === 0 ? '' : `: ${terms.join(', ')}`}`];
  });
  return [...new Set(lines)];
}

/** What an author can do about a claim: one line for each different reason why it is undecided. */
function undecidedHelp(set: PolicySet, { claim, verdicts }: ClauseVerdict): string {
  const helps = verdicts.flatMap((verdict) => {
    if (verdict.kind !== 'undecided') return [];
    const folds = verdict.why === 'guessed conditions' ? foldHelps(set, claim, verdict.terms) : [];
    return [...folds, undecidedHelps[verdict.why]];
  });
  return [...new Set(helps)].join('; ');
}

/**
 * A help for each list that ignores case among the guessed conditions of a claim: such a list compares folded
 * texts, and only a claim about the folded text meets it.
 */
function foldHelps(set: PolicySet, { when }: GuaranteeClause, terms: readonly Span[]): readonly string[] {
  const isGuessed = ({ span }: Expression): boolean =>
    terms.some(({ file, start, end }) => file === span.file && start <= span.start && span.end <= end);
  const isFold = (part: Expression): boolean => part.kind === 'call' && part.builtin === 'fold';
  if (when === null || descendants(when).some(isFold)) return [];
  const conditions = [
    ...set.policies.flatMap(({ rules }) => rules.map(({ condition }) => condition)),
    ...[...set.lets.values()].map(({ expression }) => expression),
  ];
  return conditions.flatMap(descendants).flatMap((part) => {
    if (part.kind !== 'in-list' || set.lists.get(part.list)?.ignoringCase !== true || !isGuessed(part))
      return [];
    const subject = expressionText(set, part.subject);
    return [
      `\`${part.list}\` ignores case: compare \`fold(${subject})\` in the claim, with a text as \`fold\` gives it`,
    ];
  });
}

/** Why the condition of a refuted claim is unknown for the request, and what to do: a line each. */
export function unknownConditionLines({ isConditionUnknown, unknown }: Counterexample): readonly string[] {
  if (!isConditionUnknown) return [];
  const parts = unknown.map(({ name, why }) => escapeForTerminal(`\`${name}\`: ${why}`));
  const helps = new Set(unknown.flatMap(({ help }) => (help === null ? [] : [`help: ${help}`])));
  return [
    'the condition is unknown for this request; a claim covers all requests except those for which its condition is false',
    ...parts,
    ...helps,
  ];
}

function termsOf(verdict: Verdict, sourceOf: SourceOf): readonly string[] {
  if (verdict.kind !== 'undecided') return [];
  return [...new Set(verdict.terms.map((span) => shortenCondition(textAt(span, sourceOf))))];
}

export function clauseToJson(judged: ClauseResult, sourceOf: SourceOf): object {
  const { guarantee, claim, kind, verdicts, trial, counterexample } = judged;
  return {
    guarantee: guarantee.name,
    claim: {
      mode: claim.mode,
      effect: claim.effect,
      unapproved: claim.isUnapproved,
      ...(claim.effect === 'ask' ? { group: claim.group, needs: claim.needs } : {}),
      text: clauseText(claim, sourceOf),
    },
    result: kind,
    actions: verdicts.map((verdict) => ({
      action: verdict.action,
      result: verdict.kind,
      ...(verdict.kind === 'undecided' ? { why: verdict.why, terms: termsOf(verdict, sourceOf) } : {}),
    })),
    ...(trial === null ? {} : { trials: trialToJson(trial) }),
    ...(counterexample === null
      ? {}
      : {
          request: requestJson(counterexample.facts),
          decision: counterexample.decision.outcome,
          by: counterexample.decision.by,
          rule: counterexample.rule === null ? null : ruleToJson(counterexample.rule, sourceOf),
          ...(counterexample.isConditionUnknown
            ? { condition: 'unknown', unknown: counterexample.unknown }
            : {}),
        }),
  };
}

function ruleToJson({ file, start }: Span, sourceOf: SourceOf): object {
  return { file, start: position(sourceOf(file) ?? '', start) };
}

function trialToJson(trial: Trial): object {
  return { tried: trial.tried, granted: trial.granted, hardly_tried: isBarelyTried(trial) };
}
