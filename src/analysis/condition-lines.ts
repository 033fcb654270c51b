// Turns a condition with the value of each part into lines for people: each part by its text in the policy
// file, indented below the part that it belongs to. Lines that repeat what is already there are left out.

import type { SourceOf } from '../language/diagnostic/render.ts';
import type { Span } from '../language/diagnostic/span.ts';
import type { Explanation, Truth } from '../language/model/trace.ts';

export interface ConditionLine {
  readonly depth: number;
  /** The source on one line; after `unless`, that word comes first. */
  readonly text: string;
  /** The value in shown form; `unknown` for an unknown one. */
  readonly value: string;
  /** Null for a part with a value that is neither true nor false. */
  readonly truth: Truth | null;
  readonly span: Span;
}

/**
 * Leaves out parts that change nothing: if some joined parts alone settle the whole, only those are shown.
 */
export function conditionLines(explanation: Explanation, sourceOf: SourceOf): readonly ConditionLine[] {
  return linesWith(explanation, sourceOf, settling);
}

/** Lines of all parts, including those that change nothing. */
export function allConditionLines(explanation: Explanation, sourceOf: SourceOf): readonly ConditionLine[] {
  return linesWith(explanation, sourceOf, ({ parts }) => parts);
}

function linesWith(
  explanation: Explanation,
  sourceOf: SourceOf,
  partsOf: LineContext['partsOf'],
): readonly ConditionLine[] {
  const lines = isJoint(explanation, sourceOf) ? partsOf(explanation) : [explanation];
  return lines.flatMap((part) => linesOf(part, { sourceOf, partsOf, depth: 0, isUnlessOperand: false }));
}

interface LineContext {
  readonly sourceOf: SourceOf;
  readonly partsOf: (explanation: Explanation) => readonly Explanation[];
  readonly depth: number;
  /** Whether the node is the operand of an `unless` that has been shown. */
  readonly isUnlessOperand: boolean;
}

function linesOf(explanation: Explanation, context: LineContext): readonly ConditionLine[] {
  const { span, value, truth, parts } = explanation;
  const { sourceOf, partsOf, depth } = context;
  const text = textOf(span, sourceOf);
  const negated = negatedPart(explanation);
  const isUnless = negated !== null && !context.isUnlessOperand && followsUnless(explanation, sourceOf);
  // A rule without a condition has no text, and the value of a list of constants only repeats its text.
  const isSilent = text === '' || (parts.length === 0 && text.startsWith('['));
  // `x not in y` is a negation without a text of its own, so the negated part is not shown beside it.
  const inner = partsOf(negated !== null && !isUnless ? negated : explanation);
  return [
    ...(isSilent ? [] : [{ depth, text: isUnless ? `unless ${text}` : text, value, truth, span }]),
    ...inner.flatMap((part) =>
      linesOf(part, { sourceOf, partsOf, depth: depth + 1, isUnlessOperand: isUnless }),
    ),
  ];
}

/** The parts that alone make the whole false or true, if there are any; else all parts. */
function settling({ truth, parts, isJoined }: Explanation): readonly Explanation[] {
  const settlers = isJoined ? parts.filter((part) => part.truth === truth) : [];
  return settlers.length === 0 ? parts : settlers;
}

/** The part that a negation negates, if both are one piece of text; else null. */
function negatedPart({ span, truth, parts }: Explanation): Explanation | null {
  const [part] = parts;
  if (part === undefined || parts.length > 1 || truth === null || part.truth === null) return null;
  return isSameSpan(part.span, span) ? part : null;
}

/**
 * `when`, `unless` and the policy's own `when` are joined without a text of their own, so their parts are
 * shown instead.
 */
function isJoint({ span, parts }: Explanation, sourceOf: SourceOf): boolean {
  const isOwn = (part: Explanation): boolean =>
    part.span.file === span.file && part.span.start >= span.start && part.span.end <= span.end;
  return parts.length > 1 && parts.some((part) => !isOwn(part) || followsUnless(part, sourceOf));
}

function isSameSpan(a: Explanation['span'], b: Explanation['span']): boolean {
  return a.file === b.file && a.start === b.start && a.end === b.end;
}

function followsUnless({ span }: Explanation, sourceOf: SourceOf): boolean {
  return /\bunless[\s(]*$/.test(sourceOf(span.file)?.slice(0, span.start) ?? '');
}

/** The source of a part on one line, without notes. */
export function textOf(span: Explanation['span'], sourceOf: SourceOf): string {
  const text = sourceOf(span.file)?.slice(span.start, span.end) ?? '';
  return text
    .replace(/^\s*#.*$/gm, '')
    .replace(/\s+/g, ' ')
    .trim();
}
