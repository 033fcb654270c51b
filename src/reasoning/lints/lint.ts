// Proves what is needless in a policy set: rules that can do nothing, and conditions that make no difference,
// for every request of every action that they apply to. Turns a set without errors into warnings, each with a
// request that shows it if there is one.

import { applySilences } from '../../language/check/silences.ts';
import { alsoProved } from '../../language/diagnostic/check-codes.ts';
import { type Diagnostic, sortDiagnostics } from '../../language/diagnostic/diagnostic.ts';
import { isWithinSpan, type SourceText, type Span } from '../../language/diagnostic/span.ts';
import type { Expression } from '../../language/model/expression.ts';
import type { PolicySet, Rule } from '../../language/model/policy.ts';
import type { PolicyFile } from '../../language/syntax/tree/tree.ts';
import { requestJson } from '../prove/report/request-json.ts';
import { type ConstantTruth, smallestConstants } from './conditions.ts';
import { type ActionFindings, type FindingWithExample, findingsOfAction } from './findings.ts';
import { effortMax } from './questions.ts';
import type { RuleFinding } from './rules.ts';

// Makes the warnings for what is proved to be needless.

const texts = {
  'never-true': () => ({
    message: 'is true of no request',
    help: 'it contradicts itself, or the declared payload: remove it or fix it',
  }),
  'guard-without-allow': () => ({
    message: 'guards nothing: no `allow` grants a request that it is about',
    help: 'such requests are refused by default: fix its condition, add an `allow`, remove it, or say why with `because`',
  }),
  'rule-never-decides': (names) => ({
    message: `never decides: every request that it is about is denied by ${names}`,
    help: 'remove it, or fix the conditions that overlap',
  }),
  'rule-duplicated': (names) => ({
    message: `says the same as ${names}`,
    help: 'remove one of them',
  }),
  'rule-implied': (names) => ({
    message:
      names === ''
        ? 'adds nothing: no request is decided by it'
        : `adds nothing: of every request that it is about, ${names} says as much`,
    help: 'remove it, or fix the condition by which they should differ',
  }),
} satisfies Readonly<
  Record<RuleFinding['kind'], (names: string) => { readonly message: string; readonly help: string }>
>;

const namesMax = 5;

function ruleWarning(
  { kind, rule, by, example }: FindingWithExample,
  nameOf: (rule: Rule) => Span,
): Diagnostic {
  const { message, help } = texts[kind](namesText(by));
  return {
    code: kind,
    severity: 'warning',
    span: nameOf(rule),
    message: `\`${rule.name}\` ${message}`,
    help,
    related: [
      ...by.slice(0, namesMax).map((other) => ({ span: nameOf(other), message: `\`${other.id}\`` })),
      ...(example === null ? [] : [{ span: nameOf(rule), message: exampleText(example) }]),
    ],
  };
}

function namesText(rules: readonly Rule[]): string {
  const names = rules.slice(0, namesMax).map(({ id }) => `\`${id}\``);
  const more = rules.length > namesMax ? [`${rules.length - namesMax} more`] : [];
  const all = [...names, ...more];
  return all.length < 2 ? all.join('') : `${all.slice(0, -1).join(', ')} or ${all.at(-1)}`;
}

function exampleText({ facts, decision }: NonNullable<FindingWithExample['example']>): string {
  return `for example ${JSON.stringify(requestJson(facts))}, which is ${decision.outcome} by \`${decision.by}\``;
}

function constantWarning(constant: ConstantTruth, span: Span): Diagnostic {
  const isNever = constant === 'never-true';
  return {
    code: constant,
    severity: 'warning',
    span,
    message: isNever ? 'this is true of no request' : 'this is true of every request',
    help: isNever
      ? 'it contradicts itself, or what a request can contain: remove it or fix it'
      : 'what a request can contain, or a part of the condition, already makes it true: remove it or fix it',
  };
}

/** A set that has been checked, with its trees and source texts. */
export interface LintedSet {
  readonly set: PolicySet;
  readonly files: readonly PolicyFile[];
  readonly texts: readonly SourceText[];
  readonly diagnostics: readonly Diagnostic[];
  /** Diagnostics that comments have silenced. */
  readonly silenced: readonly Diagnostic[];
  /** Whether actions with many rules or long conditions are examined too, however long that takes. */
  readonly isThorough?: boolean;
  /** Keys of the only actions that are examined; absent for all. */
  readonly actions?: readonly string[];
}

export interface LintReport {
  /** The diagnostics together with the proved warnings, except those that comments silence; sorted by place. */
  readonly diagnostics: readonly Diagnostic[];
  /** Keys of the actions that were not examined, or not to the end, sorted. */
  readonly leftOut: readonly string[];
}

export function withLints({
  set,
  files,
  texts,
  diagnostics,
  silenced,
  isThorough = false,
  actions,
}: LintedSet): LintReport {
  const all = isThorough ? new Set(set.actions.keys()) : actionsLookedAt(set);
  const looked = actions === undefined ? all : new Set([...all].filter((one) => actions.includes(one)));
  const byAction = findingsOfActions(set, looked, isThorough);
  const leftOut = [...byAction].flatMap(([action, result]) => (result?.isCut === false ? [] : [action]));
  const lints = lintSet({ set, files, byAction }, [...diagnostics, ...silenced]);
  const off = silenced.filter(({ code }) => alsoProved.has(code));
  const isWhole = leftOut.length === 0;
  const applied = applySilences(files, texts, [...lints, ...off], (code) => isWhole && alsoProved.has(code));
  // Problems of the silencing comments themselves have already been reported.
  const isNew = ({ code }: Diagnostic): boolean => alsoProved.has(code) || code === 'silence-unused';
  return {
    diagnostics: sortDiagnostics([...diagnostics, ...applied.diagnostics.filter(isNew)]),
    leftOut: leftOut.toSorted(),
  };
}

/** The most effort for the questions about all actions of a set, as in `effortMax` for one. */
const effortOfSetMax = 10 * effortMax;

function findingsOfActions(set: PolicySet, looked: ReadonlySet<string>, isThorough: boolean): ByAction {
  const findings = new Map<string, ActionFindings>();
  let left = isThorough ? Number.POSITIVE_INFINITY : effortOfSetMax;
  for (const action of looked) {
    const actionFindings = findingsOfAction(set, action, isThorough ? left : Math.min(left, effortMax));
    findings.set(action, actionFindings);
    left -= actionFindings.effort;
  }
  return new Map([...set.actions.keys()].map((action) => [action, findings.get(action) ?? null]));
}

interface LintInput {
  readonly set: PolicySet;
  readonly files: readonly PolicyFile[];
  readonly byAction: ByAction;
}

/**
 * The proved warnings. `known` holds the warnings that exist already, so that no place gets a warning twice.
 */
function lintSet(
  { set, files, byAction }: LintInput,
  diagnostics: readonly Diagnostic[],
): readonly Diagnostic[] {
  const reported = diagnostics.filter(({ code }) => alsoProved.has(code));
  const constants = constantsOf(set, byAction).filter(
    ({ span }) => !reported.some((one) => isReportedAt(one, span)),
  );
  const names = nameSpans(files);
  const nameOf = (rule: Rule): Span => names.get(keyOf(rule.span)) ?? rule.span;
  const saidBefore = [...reported, ...constants];
  const rules = rulesOf(set, byAction).filter(
    ({ rule }) =>
      !saidBefore.some(({ span }) => isWithinSpan(span, rule.span) || isSame(span, rule.condition.span)),
  );
  return [...constants, ...rules.map((finding) => ruleWarning(finding, nameOf))];
}

/**
 * Most rules that an action may have to be examined, as each rule is compared with all others of its action.
 */
const rulesMax = 300;
const pairsMax = 300_000;

/** The actions that are examined: those with the fewest rules, within a limit on the pairs of their rules. */
function actionsLookedAt({ actions, policies }: PolicySet): ReadonlySet<string> {
  const counts = new Map([...actions.keys()].map((action) => [action, 0]));
  for (const policy of policies)
    for (const action of policy.actions) counts.set(action, (counts.get(action) ?? 0) + policy.rules.length);
  let pairs = 0;
  const taken = [...counts]
    .toSorted(([, a], [, b]) => a - b)
    .filter(([, count]) => {
      pairs += count * count;
      return count <= rulesMax && pairs <= pairsMax;
    });
  return new Set(taken.map(([action]) => action));
}

type ByAction = ReadonlyMap<string, ActionFindings | null>;

/** The findings that hold for a rule in all of its actions. */
function rulesOf({ policies }: PolicySet, byAction: ByAction): readonly FindingWithExample[] {
  return policies.flatMap(({ actions, rules }) =>
    rules.flatMap((rule) => {
      const findings = actions.map((action) => byAction.get(action)?.rules.get(rule) ?? null);
      return findings.includes(null)
        ? []
        : joined(findings as readonly FindingWithExample[], actions, policies);
    }),
  );
}

/**
 * One finding for all actions of a rule; none if the kinds differ. A rule that is never true in one action
 * agrees with a finding of any other kind in the other actions.
 */
function joined(
  findings: readonly FindingWithExample[],
  actions: readonly string[],
  policies: PolicySet['policies'],
): readonly FindingWithExample[] {
  const kinds = new Set(findings.map(({ kind }) => kind).filter((kind) => kind !== 'never-true'));
  const [kind = 'never-true'] = kinds;
  const [first] = findings.toSorted((a, b) => Number(b.kind === kind) - Number(a.kind === kind));
  if (first === undefined || kinds.size > 1) return [];
  const by = [...new Set(findings.flatMap((one) => one.by))];
  const isSame = kind !== 'rule-duplicated' || (by.length === 1 && hasActions(by[0]!, actions, policies));
  return [{ ...first, kind: isSame ? kind : 'rule-implied', by }];
}

function hasActions({ policy }: Rule, actions: readonly string[], policies: PolicySet['policies']): boolean {
  return policies.some(({ name, actions: own }) => name === policy && own.join() === actions.join());
}

/**
 * Warnings for parts of conditions that have the same truth for every request of every action in which they
 * are read.
 */
function constantsOf(set: PolicySet, byAction: ByAction): readonly Diagnostic[] {
  const constants = new Map<Expression, ConstantTruth | null>();
  for (const findings of byAction.values()) {
    for (const [part, constant] of findings?.constants ?? []) {
      const isOther = constants.has(part) && constants.get(part) !== constant;
      constants.set(part, isOther ? null : constant);
    }
  }
  const conditions = [
    ...set.policies.flatMap(({ rules }) => rules.map(({ condition }) => condition)),
    ...set.guarantees.flatMap(({ claims }) => claims.flatMap(({ when }) => when ?? [])),
  ];
  const smallest = conditions.flatMap((condition) => smallestConstants(condition, constants));
  const bySpan = new Map(smallest.map((part) => [keyOf(part.span), part]));
  return [...bySpan.values()].map((part) => constantWarning(constants.get(part)!, part.span));
}

/** Whether a diagnostic already reports the place, a part of it or the whole around it as constant. */
function isReportedAt({ span: reported }: Diagnostic, span: Span): boolean {
  return isWithinSpan(reported, span) || isWithinSpan(span, reported);
}

function isSame(a: Span, b: Span): boolean {
  return isWithinSpan(a, b) && isWithinSpan(b, a);
}

function keyOf({ file, start, end }: Span): string {
  return `${file} ${start} ${end}`;
}

function nameSpans(files: readonly PolicyFile[]): ReadonlyMap<string, Span> {
  const rules = files.flatMap(({ declarations }) =>
    declarations.flatMap((one) => (one.kind === 'policy' ? one.rules : [])),
  );
  return new Map(rules.map(({ span, name }) => [keyOf(span), name.span]));
}
