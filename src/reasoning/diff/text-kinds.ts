// Relates the two forms of a string that one side reads as sent and the other side in canonical form: what a
// condition on the sent string implies for the canonical string. INVARIANT: each clause is true of every
// string, by the definition.

import { descendants } from '../../language/model/children.ts';
import type { Expression } from '../../language/model/expression.ts';
import type { JsonObject } from '../../language/model/json.ts';
import { nothingSatisfied } from '../../language/model/request.ts';
import type { Shape, TextType } from '../../language/model/type.ts';
import { unknown } from '../../language/model/value.ts';
import { evaluateCondition } from '../../language/spec/evaluate.ts';
import { isOfTextType } from '../../language/spec/payload.ts';
import { type CanonicalKind, canonicalText } from '../../language/value/canonical-text.ts';
import { isTwoValued } from '../cells/two-valued.ts';
import type { ProofContext } from '../prove/context.ts';
import { readingKinds } from '../prove/lower.ts';
import type { Pair } from '../solver/circuit.ts';
import { notLiteral, type SolverLiteral } from '../solver/literal.ts';
import { type BothSides, type DiffSide, sides } from './joint-set.ts';
import type { FieldFits, Validity } from './validity.ts';

/** A field that is free text on one side and has a kind with a canonical form on the other side. */
interface OtherKind {
  readonly steps: readonly string[];
  readonly kind: CanonicalKind;
  readonly canonicalSide: DiffSide;
  readonly types: BothSides<TextType>;
  readonly fits: FieldFits['fits'];
}

interface Condition {
  readonly expression: Expression;
  readonly pair: Pair;
}

/** The most texts of a list that are examined. */
const textsMax = 1_000;

/** Adds the clauses; the rules of both sides must already be in the formula. */
export function tieTextKinds(
  ctx: ProofContext,
  { fields }: Pick<Validity, 'fields'>,
  shapes: BothSides<Shape | null>,
): void {
  for (const field of fields) {
    const other = otherKind(field);
    if (other === null) continue;
    const conditions = ctx.conditions.filter(({ expression }) => readsAlone(expression, other.steps));
    for (const condition of conditions) {
      tieTruths(ctx, other, { condition, shapes });
      if (kindRead(condition.expression) !== 'string') continue;
      tieNamedTexts(ctx, other, { condition, conditions });
      tieEnds(ctx, other, { condition, conditions });
    }
  }
}

function otherKind({ steps, field: { before, after }, fits }: FieldFits): OtherKind | null {
  if (before?.type.kind !== 'text' || after?.type.kind !== 'text') return null;
  const types = { before: before.type, after: after.type };
  const canonicalSide = sides.find((side) => types[side].of !== 'string');
  if (canonicalSide === undefined || sides.every((side) => types[side].of !== 'string')) return null;
  return { steps, kind: types[canonicalSide].of as CanonicalKind, canonicalSide, types, fits };
}

/** Whether the condition reads the field and nothing else of a request. */
function readsAlone(expression: Expression, steps: readonly string[]): boolean {
  const read = descendants(expression).filter(({ kind }) => reading.has(kind));
  return (
    read.length > 0 &&
    read.every(
      (part) => part.kind === 'field' && part.root === 'payload' && part.steps.join('.') === steps.join('.'),
    )
  );
}

const reading: ReadonlySet<Expression['kind']> = new Set([...readingKinds, 'column', 'in-table']);

/** Null when the field is not read as a text, or is read as several kinds. */
function kindRead(expression: Expression): TextType['of'] | null {
  const kinds = descendants(expression).flatMap((part) =>
    part.kind === 'field' ? [part.type.kind === 'text' ? part.type.of : null] : [],
  );
  return kinds.every((kind) => kind === kinds[0]) ? (kinds[0] ?? null) : null;
}

/**
 * If a text has the kind in which a condition reads it, most conditions are true or false of it, never
 * unknown.
 */
function tieTruths(
  ctx: ProofContext,
  { types, fits }: OtherKind,
  { condition, shapes }: { readonly condition: Condition; readonly shapes: BothSides<Shape | null> },
): void {
  const { expression, pair } = condition;
  const side = sides.find((one) => types[one].of === kindRead(expression));
  const [isOfKind, shape] = side === undefined ? [] : [fits.get(side), shapes[side]];
  if (isOfKind === undefined || shape == null) return;
  if (isTwoValued(expression, { set: ctx.set, shape, isRiskKnown: true }))
    ctx.circuit.require([notLiteral(isOfKind), pair.isTrue, pair.isFalse]);
}

interface TextGroup {
  readonly condition: Condition;
  /** All conditions that read only this field, as either kind. */
  readonly conditions: readonly Condition[];
}

/**
 * If the text is one of a few named texts, each condition has the truth that it has for all of these texts.
 */
function tieNamedTexts(ctx: ProofContext, other: OtherKind, { condition, conditions }: TextGroup): void {
  const named = namedTexts(ctx, condition);
  if (named === null) return;
  const { texts, holds } = named;
  const require = (literal: SolverLiteral): void => ctx.circuit.require([notLiteral(holds), literal]);
  for (const side of sides) {
    const fits = other.fits.get(side);
    const answers = new Set(texts.map((text) => isOfTextType(other.types[side], text)));
    if (fits !== undefined && answers.size === 1) require(answers.has(true) ? fits : notLiteral(fits));
  }
  const canonical = texts.map((text) => canonicalText(other.kind, text));
  for (const one of conditions) {
    const kind = kindRead(one.expression);
    if (one === condition || (kind !== 'string' && kind !== other.kind)) continue;
    const read = kind === 'string' ? texts : canonical;
    const truths = new Set(
      read.map((text) => (text === null ? unknown : truthOf(ctx, one.expression, { other, text }))),
    );
    if (truths.size !== 1 || truths.has(unknown)) continue;
    require(truths.has(true) ? one.pair.isTrue : one.pair.isFalse);
  }
}

/**
 * The texts of which the field holds one if the literal `holds` is true; null when the texts are unknown or
 * too many.
 */
function namedTexts(
  ctx: ProofContext,
  { expression, pair }: Condition,
): { readonly texts: readonly string[]; readonly holds: SolverLiteral } | null {
  const texts = textsOf(ctx, expression);
  if (texts === null || texts.length === 0 || texts.length > textsMax) return null;
  const isNegated = expression.kind === 'compare' && expression.operator === '!=';
  return { texts, holds: isNegated ? pair.isFalse : pair.isTrue };
}

function textsOf({ set }: ProofContext, expression: Expression): readonly string[] | null {
  if (expression.kind === 'compare') {
    const { operator, left, right } = expression;
    if (operator !== '==' && operator !== '!=') return null;
    const [field, literal] = left.kind === 'field' ? [left, right] : [right, left];
    // Only a comparison of the field itself counts: a function of the field may equal a text that the field
    // does not.
    const isText = field.kind === 'field' && literal.kind === 'literal' && typeof literal.value === 'string';
    return isText ? [literal.value as string] : null;
  }
  if (expression.kind === 'in-elements') {
    const { subject, elements } = expression;
    return subject.kind === 'field' && elements.kind === 'text-list' ? elements.texts : null;
  }
  if (expression.kind !== 'in-list' || expression.subject.kind !== 'field') return null;
  const list = set.lists.get(expression.list);
  if (list === undefined || list.ignoringCase || list.entries.length > textsMax) return null;
  return list.entries.every((entry) => typeof entry === 'string') ? list.entries : null;
}

/** The condition's truth for a text, given in the form in which the condition reads it. */
function truthOf(
  { set, action }: ProofContext,
  expression: Expression,
  { other, text }: { readonly other: OtherKind; readonly text: string },
) {
  const payload = other.steps.reduceRight<unknown>((inner, step) => ({ [step]: inner }), text) as JsonObject;
  const facts = {
    action: action.key,
    payload,
    agent: {},
    request: {},
    meters: {},
    nowMs: 0,
    satisfied: nothingSatisfied,
  };
  return evaluateCondition(expression, { set, facts, risk: { low: 0, high: 100 }, variables: new Map() });
}

/**
 * An end that starts with a separator and is canonical itself is also the end of the text's canonical form.
 */
function tieEnds(ctx: ProofContext, other: OtherKind, { condition, conditions }: TextGroup): void {
  const end = endOf(condition.expression);
  const fits = other.fits.get(other.canonicalSide);
  if (end === null || fits === undefined || !isWholeEnd(other.kind, end)) return;
  for (const { expression, pair } of conditions)
    if (kindRead(expression) === other.kind && endOf(expression) === end)
      ctx.circuit.require([notLiteral(condition.pair.isTrue), notLiteral(fits), pair.isTrue]);
}

function endOf(expression: Expression): string | null {
  if (expression.kind !== 'text-test' || expression.operator !== 'ends with') return null;
  const { left, right } = expression;
  const isText = left.kind === 'field' && right.kind === 'literal' && typeof right.value === 'string';
  return isText ? (right.value as string) : null;
}

/** Whether the end is the domain of an email address with its `@`, or whole labels of a host. */
function isWholeEnd(kind: CanonicalKind, end: string): boolean {
  const parting = kind === 'email' ? '@' : kind === 'host' ? '.' : null;
  return parting !== null && end.startsWith(parting) && canonicalText(kind, `any${end}`) === `any${end}`;
}
