// A decision as people read it: the outcome with what it asks for, then each rule with the parts of its condition and
// the value that each part had.

import { escapeControls, position, type SourceOf } from '../diagnostic/render.ts';
import type { Span } from '../diagnostic/span.ts';
import type { Decision, Requirements } from '../model/decision.ts';
import type { PolicySet } from '../model/policy.ts';
import type { Explanation, Truth } from '../model/trace.ts';
import type { ExplainedRule } from '../spec/explain.ts';
import { fromNumber } from '../value/decimal.ts';
import { formatDuration } from '../value/time.ts';
import { createMarks } from './output.ts';

/** A few lines, with an empty one after them. */
export function renderDecision(decision: Decision): string {
  const { outcome, by, reason, risk, validForSeconds, requires, withShadow } = decision;
  const marks = createMarks();
  const paint = outcome === 'ALLOW' ? marks.good : marks.bad;
  const score = risk.low === risk.high ? `risk ${risk.high}` : `risk ${risk.low} to ${risk.high}`;
  const details = [
    score,
    ...(validForSeconds === null ? [] : [`valid for ${duration(validForSeconds)}`]),
    ...(requires === null ? [] : describeRequirements(requires)),
    ...(withShadow === outcome ? [] : [`${withShadow} if shadow rules were enforced`]),
  ];
  return `${paint(outcome)} by ${escapeControls(by)}\n  ${escapeControls(reason)}\n  ${details.join(', ')}\n\n`;
}

export interface Shown {
  readonly decision: Decision;
  readonly set: PolicySet;
  readonly sourceOf: SourceOf;
}

/** Each rule with its condition; the ones that took part first. */
export function renderRules(rules: readonly ExplainedRule[], { decision, set, sourceOf }: Shown): string {
  const spans = new Map(set.policies.flatMap((policy) => policy.rules.map(({ id, span }) => [id, span])));
  const marks = createMarks();
  const rank = ({ rule }: ExplainedRule): number =>
    rule === decision.by ? 0 : decision.rules.includes(rule) ? 1 : 2;
  return rules
    .toSorted((a, b) => rank(a) - rank(b))
    .map((rule) => {
      const note = rule.isShadow ? ' (shadow)' : rule.rule === decision.by ? ' (decides)' : '';
      const head = `${showTruth(rule.truth)} ${rule.effect.padEnd(8)} ${rule.rule}${marks.faint(note)}`;
      const place = { sourceOf, depth: 1, isUnlessOperand: false };
      // What joins `when`, `unless` and the policy's own `when` is written nowhere: its parts stand for it.
      const isJoint = isSameSpan(rule.explanation.span, spans.get(rule.rule));
      const shown = isJoint ? rule.explanation.parts : [rule.explanation];
      return [head, ...shown.flatMap((part) => renderParts(part, place))].join('\n');
    })
    .map((block) => `${block}\n`)
    .join('');
}

/** The rule with the text, place and value of each part of its condition. */
export function explanationToJson({ explanation, ...rule }: ExplainedRule, sourceOf: SourceOf): object {
  return { ...rule, condition: partToJson(explanation, sourceOf) };
}

function partToJson({ span, value, truth, parts }: Explanation, sourceOf: SourceOf): object {
  const text = sourceOf(span.file);
  return {
    text: textOf(span, sourceOf),
    file: span.file,
    ...(text === null ? {} : position(text, span.start)),
    value,
    truth,
    parts: parts.map((part) => partToJson(part, sourceOf)),
  };
}

interface Place {
  readonly sourceOf: SourceOf;
  readonly depth: number;
  /** The node is the operand of an `unless` that has been shown. */
  readonly isUnlessOperand: boolean;
}

function renderParts(explanation: Explanation, place: Place): readonly string[] {
  const { span, value, truth, parts } = explanation;
  const { sourceOf, depth } = place;
  const text = textOf(span, sourceOf);
  const negated = negatedPart(explanation);
  const isUnless = negated !== null && !place.isUnlessOperand && followsUnless(explanation, sourceOf);
  const label = isUnless ? `unless ${text}` : text;
  const shown =
    truth === null
      ? `${' '.repeat(truthWidth)} ${label} ${createMarks().faint('=')} ${escapeControls(value)}`
      : `${showTruth(truth)} ${label}`;
  // A rule without a condition has no text of one, and a list of constants says nothing that its text does not.
  const isSilent = text === '' || (parts.length === 0 && text.startsWith('['));
  // `x not in y` is a negation that has no text of its own: what is negated need not be shown beside it.
  const inner = negated !== null && !isUnless ? negated.parts : parts;
  return [
    ...(isSilent ? [] : [`${'  '.repeat(depth)}${shown}`]),
    ...inner.flatMap((part) => renderParts(part, { sourceOf, depth: depth + 1, isUnlessOperand: isUnless })),
  ];
}

/** What a negation negates where both are one piece of text; null for all else. */
function negatedPart({ span, truth, parts }: Explanation): Explanation | null {
  const [part] = parts;
  if (part === undefined || parts.length > 1 || truth === null || part.truth === null) return null;
  return isSameSpan(part.span, span) ? part : null;
}

function isSameSpan(a: Span, b: Span | undefined): boolean {
  return a.file === b?.file && a.start === b.start && a.end === b.end;
}

function followsUnless({ span }: Explanation, sourceOf: SourceOf): boolean {
  return /\bunless[\s(]*$/.test(sourceOf(span.file)?.slice(0, span.start) ?? '');
}

const truthWidth = 7;

function showTruth(truth: Truth): string {
  const marks = createMarks();
  const padded = truth.padEnd(truthWidth);
  return truth === 'true' ? marks.good(padded) : truth === 'false' ? marks.faint(padded) : marks.bad(padded);
}

/** The source of a part on one line. */
function textOf(span: Explanation['span'], sourceOf: SourceOf): string {
  const text = sourceOf(span.file)?.slice(span.start, span.end) ?? '';
  return escapeControls(
    text
      .replace(/^\s*#.*$/gm, '')
      .replace(/\s+/g, ' ')
      .trim(),
  );
}

function describeRequirements({ approvals, reauth }: Requirements): readonly string[] {
  const people = approvals.map(
    ({ group, needs, withinSeconds }) => `needs ${needs} of ${group} within ${duration(withinSeconds)}`,
  );
  if (reauth === null) return people;
  const when =
    reauth.withinSeconds === null ? 'for this request' : `not older than ${duration(reauth.withinSeconds)}`;
  return [`needs a step-up ${when}`, ...people];
}

function duration(seconds: number): string {
  return formatDuration(fromNumber(seconds));
}
