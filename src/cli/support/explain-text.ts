// Renders a decision for people: the outcome with its requirements, each rule with the value of each part of its condition,
// the unknown facts, the rules that came close, and the changes that would change the decision.

import { isDeepStrictEqual } from 'node:util';
import { type ConditionLine, conditionLines, textOf } from '../../analysis/condition-lines.ts';
import type { CameBy } from '../../analysis/replay/export-line.ts';
import { escapeForTerminal, position, type SourceOf } from '../../language/diagnostic/render.ts';
import { nearestOf } from '../../language/diagnostic/suggest.ts';
import { unknownApprovers, whomText } from '../../language/model/approvers.ts';
import { type Decision, isRefusedByGate, type Requirements } from '../../language/model/decision.ts';
import { exceptText } from '../../language/model/describe.ts';
import type { PolicySet, Rule } from '../../language/model/policy.ts';
import type { Facts } from '../../language/model/request.ts';
import type { Explanation, Truth } from '../../language/model/trace.ts';
import { authorize } from '../../language/spec/authorize.ts';
import { type ExplainedRule, explain } from '../../language/spec/explain-rule.ts';
import { fromNumber } from '../../language/value/decimal.ts';
import { formatDuration } from '../../language/value/time.ts';
import { type SmallestChange, smallestChange } from '../../reasoning/counterfactual/change.ts';
import { type NearRule, nearRules } from '../../reasoning/counterfactual/near-misses.ts';
import { type UnknownFact, unknownFacts } from '../../reasoning/counterfactual/unknown-facts.ts';
import { createMarks } from '../output/output.ts';

export interface ExplanationInput {
  readonly set: PolicySet;
  readonly action: string;
  readonly decision: Decision;
  /** The rules of the request's action, in the order of their ids; none if the gate refuses. */
  readonly rules: readonly ExplainedRule[];
  readonly near: readonly NearRule[];
  readonly unknown: readonly UnknownFact[];
  readonly changes: readonly SmallestChange[];
  /** The facts of the decision; null when a record withholds them. */
  readonly facts: Facts | null;
}

export interface ExplainEngine {
  readonly set: PolicySet;
  readonly decide: (facts: Facts) => Decision;
}

/**
 * Decides twice, by `decide` and by the language's definition. Throws when the two disagree, which is a bug
 * in Writ.
 */
export function explainDecision({ set, decide }: ExplainEngine, facts: Facts): ExplanationInput {
  const { action } = facts;
  const decision = decide(facts);
  if (!isDeepStrictEqual(decision, authorize(set, facts))) {
    throw new Error(`the compiled policies and the definition disagree on a request for ${action}`);
  }
  if (isRefusedByGate(decision))
    return { set, action, decision, rules: [], near: [], unknown: [], changes: [], facts };
  return {
    set,
    facts,
    action,
    decision,
    rules: explain(set, facts),
    near: nearRules(set, facts),
    unknown: unknownFacts(set, facts),
    changes: smallestChange(set, facts, { decide }),
  };
}

/** A few lines about the decision. For an action that is not declared, they name the nearest declared one. */
export function renderDecision({ set, action, decision }: ExplanationInput): string {
  const { outcome, by, reason, risk, validForSeconds, requires, withShadow } = decision;
  const marks = createMarks();
  const paint = outcome === 'ALLOW' ? marks.good : marks.bad;
  const score = risk.low === risk.high ? `risk ${risk.high}` : `risk ${risk.low} to ${risk.high}`;
  const near = decision.by === 'undeclared_action' ? nearestOf(action, set.actions.keys()) : null;
  const help = near === null ? '' : `  did you mean \`${escapeForTerminal(near)}\`?\n`;
  const details = [
    score,
    ...(validForSeconds === null ? [] : [`valid for ${duration(validForSeconds)}`]),
    ...(requires === null ? [] : describeRequirements(requires)),
    ...(withShadow === outcome ? [] : [`${withShadow} if shadow rules were enforced`]),
  ];
  return `${paint(outcome)} by ${escapeForTerminal(by)}\n  ${escapeForTerminal(reason)}\n${help}  ${details.join(', ')}\n`;
}

/** The standing approvals and the delegations by which a recorded request came; empty without any. */
export function renderCameBy({ standing, chain }: CameBy): string {
  const lines = [
    ...Object.entries(standing).map(([rule, id]) => `the standing approval ${id} satisfies ${rule}`),
    ...(chain.length === 0 ? [] : [`it came by the delegation ${chain.join(' › ')}`]),
  ];
  return lines.map((line) => `  ${escapeForTerminal(line)}\n`).join('');
}

export interface ExplanationView {
  readonly sourceOf: SourceOf;
  /** Whether to show every rule or the deciding one only. */
  readonly isWhole: boolean;
}

/** An empty line, then each rule with its condition. */
export function renderRules(explained: ExplanationInput, view: ExplanationView): string {
  const blocks = ruleBlocks(explained, view).map((block) => `${block}\n`);
  return blocks.length === 0 ? '' : `\n${blocks.join('')}`;
}

/** Each rule with its condition. Rules that took part come first. */
export function ruleBlocks(
  { rules, decision }: ExplanationInput,
  { sourceOf, isWhole }: ExplanationView,
): readonly string[] {
  const marks = createMarks();
  const rank = ({ rule }: ExplainedRule): number =>
    rule === decision.by ? 0 : decision.rules.includes(rule) ? 1 : 2;
  return rules
    .filter(({ rule }) => isWhole || rule === decision.by)
    .toSorted((a, b) => rank(a) - rank(b))
    .map((rule) => {
      const note = rule.isShadow ? ' (shadow)' : rule.rule === decision.by ? ' (decides)' : '';
      const head = `${showTruth(rule.truth)} ${rule.effect.padEnd(8)} ${rule.rule}${marks.faint(note)}`;
      return [head, ...conditionLines(rule.explanation, sourceOf).map(renderLine)].join('\n');
    });
}

/** The source of the deciding rule with its place; empty if no rule decided. `shown` is the path of a file for people. */
export function renderSource(
  { set, decision }: ExplanationInput,
  sourceOf: SourceOf,
  shown: (file: string) => string = (file) => file,
): string {
  const rule = ruleOf(set, decision.by);
  const text = rule === null ? null : sourceOf(rule.span.file);
  if (rule === null || text === null) return '';
  const { line } = position(text, rule.span.start);
  const lines = escapeLines(text.slice(rule.span.start, rule.span.end));
  return section(`${escapeForTerminal(shown(rule.span.file))}:${line}`, lines);
}

/** Rules of which a single part was not true. */
export function renderNear({ near, decision }: ExplanationInput): string {
  const missed = near.filter(({ rule }) => !decision.rules.includes(rule));
  const lines = missed.map(
    ({ rule, effect, missing, isUnknown }) =>
      `${effect.padEnd(8)} ${rule}, but ${missing} is ${isUnknown ? 'unknown' : 'false'}`,
  );
  return section('nearly met', lines);
}

export function renderUnknown({ unknown }: ExplanationInput): string {
  return section(
    'unknown',
    unknown.map(({ name, why, help }) =>
      escapeForTerminal(`${name}: ${why}${help === null ? '' : `; ${help}`}`),
    ),
  );
}

/** The points of each rule that added to the risk, or may have. */
export function renderRisk({ set, rules }: ExplanationInput): string {
  const lines = rules.flatMap(({ rule: id, truth, isShadow }) => {
    const points = ruleOf(set, id)?.points ?? 0;
    if (points === 0 || truth === 'false' || isShadow) return [];
    return [`${points > 0 ? '+' : ''}${points} ${id}${truth === 'unknown' ? ' (unknown)' : ''}`];
  });
  return section('risk', lines);
}

/** One line for each change; changes that the agent does not control come separately. */
export function renderChanges({ changes, decision }: ExplanationInput): string {
  if (isRefusedByGate(decision)) return '';
  const isOwn = ({ parts }: SmallestChange): boolean => parts.every(({ of }) => of === 'payload');
  const lines = (selected: readonly SmallestChange[]): readonly string[] => selected.map(({ text }) => text);
  const others = changes.filter((change) => !isOwn(change));
  const verb = decision.outcome === 'ALLOW' ? 'end' : 'change';
  const title = `what would ${verb} it`;
  if (changes.length === 0) return section(title, ['no change was found']);
  const ownLines = lines(changes.filter(isOwn));
  return (
    section(title, ownLines) +
    section(ownLines.length === 0 ? title : `other ways to ${verb} it`, lines(others))
  );
}

function section(title: string, lines: readonly string[]): string {
  if (lines.length === 0) return '';
  return `\n${createMarks().faint(`${title}:`)}\n${lines.map((line) => `  ${line}\n`).join('')}`;
}

function escapeLines(text: string): readonly string[] {
  const lines = text.split(/\r?\n/);
  const indents = lines.slice(1).flatMap((line) => (line.trim() === '' ? [] : [line.search(/\S/)]));
  const indent = Math.min(...indents);
  // The first line begins at the rule; the lines below it are indented by two columns.
  return lines.map((line, index) =>
    escapeForTerminal(index === 0 ? line : `  ${line.slice(indent)}`).trimEnd(),
  );
}

function ruleOf(set: PolicySet, id: string): Rule | null {
  return set.policies.flatMap(({ rules }) => rules).find((rule) => rule.id === id) ?? null;
}

/** Everything except the payloads of changes, which can contain secrets. */
export function explanationJson(explained: ExplanationInput, sourceOf: SourceOf): object {
  const { decision, rules, near, unknown, changes } = explained;
  return {
    decision,
    rules: rules.map((rule) => explanationToJson(rule, sourceOf)),
    near,
    unknown,
    changes: changes.map(({ outcome, by, text, parts }) => ({ outcome, by, text, parts })),
  };
}

/** The rule with the text, place and value of each part of its condition. */
function explanationToJson({ explanation, ...rule }: ExplainedRule, sourceOf: SourceOf): object {
  return { ...rule, condition: partToJson(explanation, sourceOf) };
}

function partToJson({ span, value, truth, parts }: Explanation, sourceOf: SourceOf): object {
  const text = sourceOf(span.file);
  return {
    text: escapeForTerminal(textOf(span, sourceOf)),
    file: span.file,
    ...(text === null ? {} : position(text, span.start)),
    value,
    truth,
    parts: parts.map((part) => partToJson(part, sourceOf)),
  };
}

function renderLine({ depth, text, value, truth }: ConditionLine): string {
  const label = escapeForTerminal(text);
  const line =
    truth === null
      ? `${' '.repeat(truthWidth)} ${label} ${createMarks().faint('=')} ${escapeForTerminal(value)}`
      : `${showTruth(truth)} ${label}`;
  return `${'  '.repeat(depth + 1)}${line}`;
}

const truthWidth = 7;

function showTruth(truth: Truth): string {
  const marks = createMarks();
  const padded = truth.padEnd(truthWidth);
  return truth === 'true' ? marks.good(padded) : truth === 'false' ? marks.faint(padded) : marks.bad(padded);
}

function describeRequirements({ approvals, reauth }: Requirements): readonly string[] {
  const people = approvals.map(
    ({ needs, withinSeconds, except, ...whom }) =>
      `needs ${needs} of ${whomText(whom)}${exceptText(except)} within ${duration(withinSeconds)}`,
  );
  const unknown = unknownApprovers(approvals).map((why) => `the approver is not known: ${why}`);
  if (reauth === null) return [...people, ...unknown];
  const when =
    reauth.withinSeconds === null ? 'for this request' : `not older than ${duration(reauth.withinSeconds)}`;
  return [`needs a step-up ${when}`, ...people, ...unknown];
}

function duration(seconds: number): string {
  return formatDuration(fromNumber(seconds));
}
