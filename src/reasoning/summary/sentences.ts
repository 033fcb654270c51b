// What a policy set decides for each action, as sentences, each with the claims that must be proved for it.
// Actions with the same rules share their sentences.

import type { Span } from '../../language/diagnostic/span.ts';
import {
  approversFor,
  approverText,
  chatLimitOf,
  chatLimitsOf,
  laterText,
} from '../../language/model/approvers.ts';
import { servedText } from '../../language/model/describe.ts';
import type { Expression } from '../../language/model/expression.ts';
import type { Approver, GuaranteeClause, PolicySet, Rule } from '../../language/model/policy.ts';
import type { Clause, ExpressionNode, PolicyFile, RuleNode } from '../../language/syntax/tree/tree.ts';
import { fromNumber } from '../../language/value/decimal.ts';
import { formatDuration } from '../../language/value/time.ts';
import { textAt } from '../prove/report/wording.ts';
import { describeCondition, enumerated, spacedName, type WordingContext } from './condition-wording.ts';

export type SentenceKind = 'passes' | 'asks' | 'refuses' | 'rest' | 'risk';

export interface Sentence {
  readonly kind: SentenceKind;
  /** Readings of the sentence, the strongest first; the summary shows the first that is proved. */
  readonly readings: readonly SentenceReading[];
  /** The rule that the sentence comes from; null when it comes from no rule. */
  readonly rule: string | null;
  readonly span: Span;
}

export interface SentenceReading {
  readonly text: string;
  /** Empty for a sentence that only repeats what its rule states. */
  readonly claims: readonly GuaranteeClause[];
}

export interface ActionSentences {
  readonly actions: readonly string[];
  readonly sentences: readonly Sentence[];
  /** Declared names that the sentences mention. */
  readonly mentioned: readonly string[];
}

export interface SummarySource {
  readonly set: PolicySet;
  readonly files: readonly PolicyFile[];
  readonly sourceOf: (path: string) => string | null;
}

export function sentencesOf(source: SummarySource, only?: ReadonlySet<string>): readonly ActionSentences[] {
  const { set } = source;
  const keys = [...set.actions.keys()].filter((key) => only?.has(key) !== false);
  const rulesOf = new Map(keys.map((key) => [key, enforced(set, key)]));
  const groups = Map.groupBy(rulesOf.keys(), (key) =>
    rulesOf
      .get(key)!
      .map(({ id }) => id)
      .join(),
  );
  return [...groups.values()].map((actions) => {
    const mentioned = new Set<string>();
    const wording = wordingOf(source, mentioned);
    const rules = rulesOf.get(actions[0]!)!;
    const context: DescriptionContext = { set, wording, nodes: nodesOf(source.files), rules };
    const sentences = [
      ...rules.map((rule) => withNotes(rule, ruleSentence(rule, context))),
      restSentence(actions[0]!, context),
    ];
    return { actions, sentences: sentences.toSorted(byKind), mentioned: [...mentioned] };
  });
}

const kinds: readonly SentenceKind[] = ['passes', 'asks', 'refuses', 'rest', 'risk'];

function byKind(a: Sentence, b: Sentence): number {
  return kinds.indexOf(a.kind) - kinds.indexOf(b.kind);
}

/** The action's enforced rules. */
function enforced({ policies }: PolicySet, key: string): readonly Rule[] {
  return policies
    .filter(({ actions }) => actions.includes(key))
    .flatMap(({ rules }) => rules)
    .filter(({ isShadow }) => !isShadow);
}

interface SentenceContext {
  readonly rule: RuleNode;
  readonly policyWhen: ExpressionNode | null;
}

interface DescriptionContext {
  readonly set: PolicySet;
  readonly wording: WordingContext;
  readonly nodes: ReadonlyMap<string, SentenceContext>;
  readonly rules: readonly Rule[];
}

function nodesOf(files: readonly PolicyFile[]): ReadonlyMap<string, SentenceContext> {
  const contexts = new Map<string, SentenceContext>();
  for (const { declarations } of files)
    for (const one of declarations)
      if (one.kind === 'policy')
        for (const rule of one.rules)
          contexts.set(`${one.name.text}/${rule.name.text}`, { rule, policyWhen: one.when });
  return contexts;
}

export function wordingOf({ files, sourceOf }: SummarySource, mentioned: Set<string>): WordingContext {
  const lets = new Map<string, ExpressionNode>();
  for (const one of files.flatMap(({ declarations }) => declarations))
    if (one.kind === 'let') lets.set(one.name.text, one.value);
  return {
    textOf: ({ span }) => textAt(span, sourceOf),
    letOf: (name) => lets.get(name) ?? null,
    mention: (name) => void mentioned.add(name),
    variables: new Set(),
  };
}

function ruleSentence(rule: Rule, context: DescriptionContext): Sentence {
  const { id, span } = rule;
  const origin = { rule: id, span };
  const where = describeWhere(rule, context);
  switch (rule.effect) {
    case 'allow':
      return rule.requirement === null
        ? { kind: 'passes', readings: passing(rule, where, context), ...origin }
        : { kind: 'asks', readings: withScope(rule, asking(rule, where, context), context), ...origin };
    case 'deny':
      return {
        kind: 'refuses',
        readings: [
          { text: `Is refused${where}.`, claims: [outcomeClause(rule, { mode: 'always', effect: 'deny' })] },
        ],
        ...origin,
      };
    case 'risk':
      // What a rule adds to the risk is written in it, and needs no proof.
      return { kind: 'risk', readings: [{ text: `${pointsText(rule)}${where}.`, claims: [] }], ...origin };
    case 'escalate':
    case 'reauth':
      return { kind: 'asks', readings: withScope(rule, holding(rule, where, context), context), ...origin };
  }
}

/** Adds how long a grant is valid, and the risk that a rule with another effect adds. */
function withNotes({ effect, points, validForSeconds }: Rule, sentence: Sentence): Sentence {
  const notes = [
    ...(validForSeconds === null ? [] : [` The grant is valid for ${duration(validForSeconds)}.`]),
    ...(points === 0 || effect === 'risk' ? [] : [` It also ${lowerFirst(pointsText({ points }))}.`]),
  ].join('');
  if (notes === '') return sentence;
  return { ...sentence, readings: sentence.readings.map((one) => ({ ...one, text: `${one.text}${notes}` })) };
}

function pointsText({ points }: Pick<Rule, 'points'>): string {
  return points < 0 ? `Takes ${-points} from the risk` : `Adds ${points} to the risk`;
}

function lowerFirst(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}

function duration(seconds: number): string {
  return formatDuration(fromNumber(seconds));
}

/** Empty when the rule always applies. */
function describeWhere({ id }: Rule, { nodes, wording }: DescriptionContext): string {
  const written = nodes.get(id);
  if (written === undefined) return '';
  const { rule, policyWhen } = written;
  const whens = clausesOf(rule, 'when').map(({ condition }) => [condition, false] as const);
  const unlesses = clausesOf(rule, 'unless').map(({ condition }) => [condition, true] as const);
  const parts = [...(policyWhen === null ? [] : [[policyWhen, false] as const]), ...whens, ...unlesses];
  const words = parts.map(([condition, isNot]) => {
    const phrase = describeCondition(condition, wording, isNot);
    return parts.length > 1 && phrase.includes(' or ') ? `(${phrase})` : phrase;
  });
  const joined = words.join(' and ');
  if (joined.length > conditionLengthMax) return ' if a long condition is met';
  return joined === '' ? '' : ` if ${joined}`;
}

/** Characters; people read no longer condition in a sentence. */
const conditionLengthMax = 500;

function clausesOf<Kind extends 'when' | 'unless'>(
  { clauses }: RuleNode,
  kind: Kind,
): readonly Extract<Clause, { readonly kind: Kind }>[] {
  return clauses.filter((one): one is Extract<Clause, { readonly kind: Kind }> => one.kind === kind);
}

/**
 * The request passes at once whatever else is true; or unless a guard stops it, which later sentences
 * describe.
 */
function passing(rule: Rule, where: string, { rules }: DescriptionContext): readonly SentenceReading[] {
  const outcome = { mode: 'always', effect: 'allow', isUnapproved: true } as const;
  const guards = rules.filter(({ effect }) => effect !== 'allow' && effect !== 'risk');
  const free = all([rule.condition, ...guards.map(({ condition }) => not(condition))], rule);
  return [
    { text: `Passes at once${where}.`, claims: [definite(rule, rule.condition, outcome)] },
    {
      text: `Passes at once${where}, unless it waits or is refused by what follows.`,
      claims: [definite(rule, free, outcome)],
    },
  ];
}

/**
 * Readings for an allow that asks people: whatever else is true, or with the exceptions that the text names.
 */
function asking(rule: Rule, where: string, context: DescriptionContext): readonly SentenceReading[] {
  const waits = `${waitsFor(rule, context)}${where}`;
  const others = context.rules.filter((one) => one.effect === 'allow' && one.id !== rule.id);
  const open = others.filter(({ requirement }) => requirement === null);
  const without = (some: readonly Rule[]): Expression =>
    all([rule.condition, ...some.map(({ condition }) => not(condition))], rule);
  return [
    { text: `${waits}.`, claims: [...heldBy(rule, without([]), true), neverRefused(rule)] },
    { text: `${waits}, unless it is refused.`, claims: heldBy(rule, without([]), true) },
    { text: `${waits}, unless it passes at once or is refused.`, claims: heldBy(rule, without(open), true) },
    {
      text: `${waits}, unless it passes at once, is refused, or waits for others.`,
      claims: heldBy(rule, without(others), true),
    },
  ];
}

function neverRefused(rule: Rule): GuaranteeClause {
  return {
    mode: 'never',
    effect: 'deny',
    isUnapproved: true,
    when: rule.condition,
    isDefinite: true,
    span: rule.span,
  };
}

function holding(rule: Rule, where: string, context: DescriptionContext): readonly SentenceReading[] {
  const text = `${waitsFor(rule, context)}${where}, unless it is refused.`;
  return [{ text, claims: heldBy(rule, rule.condition, false) }];
}

/** Adds what later requests an approval for the rule may serve, and up to which risk it can be given by chat. */
function withScope(
  { requirement }: Rule,
  readings: readonly SentenceReading[],
  { set }: DescriptionContext,
): readonly SentenceReading[] {
  if (requirement?.kind !== 'approval') return readings;
  const { standing } = requirement;
  const chat = chatLimitOf(requirement, chatLimitsOf(set.approvers.values()));
  const notes = [
    ...(standing === undefined
      ? []
      : [` An approval may also serve later requests of the agent${servedText(standing)}.`]),
    ...(chat === null ? [] : [` It can be approved by chat up to risk ${chat.maxRisk} at most.`]),
  ].join('');
  return notes === '' ? readings : readings.map(({ text, claims }) => ({ text: `${text}${notes}`, claims }));
}

/** Claims that nothing is granted before these people have been asked. */
function heldBy(rule: Rule, when: Expression, isDefinite: boolean): readonly GuaranteeClause[] {
  const definitely: Pick<GuaranteeClause, 'isDefinite'> = isDefinite ? { isDefinite } : {};
  const base = {
    isUnapproved: true,
    when: isAlways(when) ? null : when,
    span: rule.span,
    ...definitely,
  } as const;
  const never = { mode: 'never', effect: 'allow', ...base } as const;
  if (rule.requirement?.kind !== 'approval') return [never, { mode: 'never', effect: 'escalate', ...base }];
  const { requirement } = rule;
  const { groups, needs, choices = [] } = requirement;
  return [
    never,
    ...groups.map((group): GuaranteeClause => {
      const isChoice = choices.some(({ text }) => text === group);
      const anyOf = approversFor(requirement, group).map(approverText);
      return { mode: 'always', effect: 'ask', group, ...(isChoice && { anyOf }), needs, ...base };
    }),
  ];
}

/** Who is asked, and for how long; of a step-up, how old it may be. */
function waitsFor({ requirement }: Rule, { set }: DescriptionContext): string {
  if (requirement?.kind !== 'approval') {
    const most = requirement?.withinSeconds ?? null;
    const age = most === null ? 'for this request' : `at most ${duration(most)} old`;
    return `Waits for a step-up of the agent's owner (${age})`;
  }
  const { groups, needs, except, withinSeconds } = requirement;
  const each = groups.map((group) => {
    const { anyOf, fallbacks = [] } = requirement.choices?.find(({ text }) => text === group) ?? {
      anyOf: approversFor(requirement, group),
    };
    const later = fallbacks.map(
      (one) => `, ${laterText(one.afterSeconds, describeApprovers(one.anyOf, needs, set))}`,
    );
    return `${describeApprovers(anyOf, needs, set)}${later.join('')}`;
  });
  const apart = except.map((field) => `\`${field}\``);
  const others = apart.length === 0 ? '' : ` (but not the person that ${enumerated(apart, 'or')} names)`;
  return `Waits up to ${duration(withinSeconds)} for ${enumerated(each, 'and')}${others}`;
}

/** Such as `one of Finance`, or the person that an expression names. */
function describeApprovers(anyOf: readonly Approver[], needs: number, set: PolicySet): string {
  const isOne = anyOf.length === 1;
  const words = anyOf.map((one) => {
    if (one.kind === 'named')
      return `the ${one.groups === null ? 'person' : 'group'} that \`${one.text}\` names`;
    if (one.group === 'owner') return "the agent's owner";
    const title = spacedName(set.approvers.get(one.group)?.title ?? one.group);
    return needs === 1 ? `one of ${title}` : title;
  });
  if (needs === 1) return enumerated(words, 'or');
  if (isOne && anyOf[0]?.kind === 'group' && anyOf[0].group === 'owner')
    return `${needs} owners of the agent`;
  return `${needs} of ${enumerated(words, 'or')}`;
}

/** The sentence for all requests that no allow grants. */
function restSentence(action: string, { set, rules }: DescriptionContext): Sentence {
  const allows = rules.filter(({ effect }) => effect === 'allow');
  const open = allows.filter(({ requirement }) => requirement === null);
  const { span } = set.actions.get(action)!;
  const never = (some: readonly Rule[], isUnapproved: boolean): GuaranteeClause => ({
    mode: 'never',
    effect: 'allow',
    isUnapproved,
    when:
      some.length === 0
        ? null
        : not(
            any(
              some.map(({ condition }) => condition),
              some[0]!,
            ),
          ),
    span,
  });
  const text =
    allows.length === 0
      ? 'Never passes.'
      : open.length === 0
        ? 'Nothing passes without people, and nothing else with them.'
        : allows.length === open.length
          ? 'Nothing else passes.'
          : 'Nothing else passes, neither without people nor with them.';
  const claims = allows.length === 0 ? [never([], false)] : [never(open, true), never(allows, false)];
  return { kind: 'rest', readings: [{ text, claims }], rule: null, span };
}

interface Outcome {
  readonly mode: 'never' | 'always';
  readonly effect: 'allow' | 'deny';
  readonly isUnapproved?: boolean;
}

function outcomeClause(
  { condition, span }: Rule,
  { mode, effect, isUnapproved = false }: Outcome,
): GuaranteeClause {
  return { mode, effect, isUnapproved, when: isAlways(condition) ? null : condition, span };
}

function definite(
  { span }: Rule,
  when: Expression,
  { mode, effect, isUnapproved = false }: Outcome,
): GuaranteeClause {
  return { mode, effect, isUnapproved, when, isDefinite: true, span };
}

function isAlways(condition: Expression): boolean {
  return condition.kind === 'literal' && condition.value === true;
}

const boolean = { kind: 'boolean' } as const;

function not(operand: Expression): Expression {
  return { kind: 'not', operand, type: boolean, span: operand.span };
}

function all(operands: readonly Expression[], { span }: Pick<Rule, 'span'>): Expression {
  return operands.length === 1 ? operands[0]! : { kind: 'and', operands, type: boolean, span };
}

function any(operands: readonly Expression[], { span }: Pick<Rule, 'span'>): Expression {
  return operands.length === 1 ? operands[0]! : { kind: 'or', operands, type: boolean, span };
}
