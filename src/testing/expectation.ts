// Reads what a test expects of a decision, and compares it with the actual decision. Only what an expectation
// names is compared.

import {
  type ApprovalRequirement,
  type Decision,
  outcomes,
  type Requirements,
  type ResolvedApprover,
  type ResolvedFallback,
} from '../language/model/decision.ts';
import { exceptText } from '../language/model/describe.ts';
import { fromNumber } from '../language/value/decimal.ts';
import { formatDuration } from '../language/value/time.ts';
import {
  find,
  readDuration,
  readIfThere,
  readInteger,
  readMap,
  readText,
  readTexts,
  readWord,
} from './fields.ts';
import type { Expectation, ExpectedApproval, ExpectedFallback, ExpectedRequirements } from './test-file.ts';
import type { LocatedValue, Report } from './yaml.ts';

/** A field whose actual value differs from the expected one. */
export interface Difference {
  readonly field: string;
  readonly expected: string;
  readonly actual: string;
}

/**
 * Reads an outcome such as `DENY`, or a mapping. Reports mistakes and returns the rest of the expectation.
 */
export function readExpectation(located: LocatedValue, report: Report): Expectation {
  if (located.kind === 'scalar') return { ...anything, decision: readDecision(located, report) };
  const map = readMap(located, { name: '`expect`', keys: expectationKeys }, report);
  if (map === null) return anything;
  if (map.entries.length === 0) report(located.span, '`expect` has nothing to compare');
  const text = (key: string): string | null =>
    readIfThere(map, key, (value) => readText(value, `\`${key}\``, report));
  return {
    decision: readIfThere(map, 'decision', (value) => readDecision(value, report)),
    not: readIfThere(map, 'not', (value) => readDecision(value, report)),
    by: text('by'),
    matchedPolicy: text('matched_policy'),
    risk: readIfThere(map, 'risk', (value) =>
      readInteger(value, { name: '`risk`', min: 0, max: 100 }, report),
    ),
    reason: readIfThere(map, 'reason', (value) => readReason(value, report)),
    rules:
      readIfThere(map, 'rules', (value) => readTexts(value, '`rules`', report))?.map((rule) => rule.text) ??
      null,
    requires: readIfThere(map, 'requires', (value) => readRequires(value, report)),
    validForSeconds: readIfThere(map, 'valid_for', (value) => readDuration(value, '`valid_for`', report)),
  };
}

/** Every difference between the decision and the expectation; empty when there is none. */
export function differences(expectation: Expectation, decision: Decision): readonly Difference[] {
  const {
    decision: outcome,
    not,
    by,
    matchedPolicy,
    risk,
    reason,
    rules,
    requires,
    validForSeconds,
  } = expectation;
  return [
    ...compareTexts('decision', outcome, decision.outcome),
    ...(not === decision.outcome
      ? [{ field: 'decision', expected: `not ${not}`, actual: decision.outcome }]
      : []),
    ...compareTexts('by', by, decision.by),
    ...compareTexts('matched_policy', matchedPolicy, decision.matchedPolicy),
    ...compareTexts('risk', risk === null ? null : String(risk), String(decision.risk.high)),
    ...compareReasons(reason, decision.reason),
    ...compareTexts('rules', rules === null ? null : listed(rules), listed(decision.rules)),
    ...(requires === null ? [] : compareRequirements(requires, decision.requires)),
    ...(validForSeconds === null ? [] : compareValidity(validForSeconds, decision.validForSeconds)),
  ];
}

const anything: Expectation = {
  decision: null,
  not: null,
  by: null,
  matchedPolicy: null,
  risk: null,
  reason: null,
  rules: null,
  requires: null,
  validForSeconds: null,
};

export const expectationKeys = [
  'decision',
  'not',
  'by',
  'matched_policy',
  'risk',
  'reason',
  'rules',
  'requires',
  'valid_for',
] as const;
const approvalKeys = ['group', 'any_of', 'fallbacks', 'needs', 'within', 'except'] as const;
const thisRequest = 'this request';

function readDecision(located: LocatedValue, report: Report): Expectation['decision'] {
  return readWord(located, { name: 'a decision', words: outcomes }, report);
}

/**
 * `/pattern/` is a regular expression that must match some part of the reason; any other text is the whole
 * reason.
 */
function readReason(located: LocatedValue, report: Report): string | RegExp | null {
  const text = readText(located, '`reason`', report);
  const pattern = /^\/(.+)\/([is]*)$/s.exec(text ?? '');
  if (text === null || pattern === null) return text;
  try {
    return new RegExp(pattern[1]!, `u${pattern[2]}`);
  } catch {
    report(located.span, `\`${text}\` is not a regular expression`);
    return null;
  }
}

function readRequires(located: LocatedValue, report: Report): ExpectedRequirements | null {
  const map = readMap(located, { name: '`requires`', keys: ['escalate', 'reauth'] }, report);
  if (map === null) return null;
  return {
    escalate: readIfThere(map, 'escalate', (value) => readApprovals(value, report)),
    reauth: readIfThere(map, 'reauth', (value) => readReauth(value, report)),
  };
}

function readApprovals(located: LocatedValue, report: Report): readonly ExpectedApproval[] | null {
  if (located.kind !== 'list') {
    report(located.span, '`escalate` must be a list of groups');
    return null;
  }
  return located.items.flatMap((item) => {
    const map = readMap(
      item,
      { name: 'an approval', keys: approvalKeys, shape: shapeOfApproval(item) },
      report,
    );
    const name = find(map, 'group');
    if (map !== null && name === null) report(item.span, 'an approval needs a `group`');
    const group = name === null ? null : readText(name, '`group`', report);
    if (map === null || group === null) return [];
    const needs = readIfThere(map, 'needs', (value) =>
      readInteger(value, { name: '`needs`', min: 1, max: Number.MAX_SAFE_INTEGER }, report),
    );
    const withinSeconds = readIfThere(map, 'within', (value) => readDuration(value, '`within`', report));
    const except = readIfThere(map, 'except', (value) => readTexts(value, '`except`', report));
    const anyOf = readIfThere(map, 'any_of', (value) => readTexts(value, '`any_of`', report));
    const fallbacks = readIfThere(map, 'fallbacks', (value) => readFallbacks(value, report));
    return [{ group, needs, withinSeconds, except: sorted(except), anyOf: sorted(anyOf), fallbacks }];
  });
}

function sorted(texts: ReturnType<typeof readTexts>): readonly string[] | null {
  return texts?.map(({ text }) => text).sort() ?? null;
}

function readFallbacks(located: LocatedValue, report: Report): readonly ExpectedFallback[] | null {
  if (located.kind !== 'list') {
    report(located.span, '`fallbacks` must be a list, such as `[{ after: 2h, any_of: [security] }]`');
    return null;
  }
  return located.items.flatMap((item) => {
    const shape = 'write `{ after: 2h, any_of: [security] }`';
    const map = readMap(item, { name: 'a fallback', keys: ['after', 'any_of'], shape }, report);
    if (map === null) return [];
    const afterSeconds = readIfThere(map, 'after', (value) => readDuration(value, '`after`', report));
    const anyOf = readIfThere(map, 'any_of', (value) => readTexts(value, '`any_of`', report));
    return [{ afterSeconds, anyOf: sorted(anyOf) }];
  });
}

/** How to write the approval; what people write first is the group alone. */
function shapeOfApproval(item: LocatedValue): string {
  const isGroup = item.kind === 'scalar' && typeof item.value === 'string' && /^\w+$/.test(item.value);
  const group = isGroup ? item.value : 'finance';
  return `write \`{ group: ${group} }\`, or more of it: \`{ group: ${group}, needs: 2, within: 4h }\``;
}

function readReauth(located: LocatedValue, report: Report): ExpectedRequirements['reauth'] {
  const value = located.kind === 'scalar' ? located.value : undefined;
  if (value === null || value === 'none') return 'none';
  return value === thisRequest ? thisRequest : readDuration(located, '`reauth`', report);
}

function compareTexts(field: string, expected: string | null, actual: string): readonly Difference[] {
  return expected === null || expected === actual ? [] : [{ field, expected, actual }];
}

function compareReasons(expected: string | RegExp | null, actual: string): readonly Difference[] {
  if (!(expected instanceof RegExp)) return compareTexts('reason', expected, actual);
  return expected.test(actual) ? [] : [{ field: 'reason', expected: String(expected), actual }];
}

function compareValidity(expected: number, actual: number | null): readonly Difference[] {
  return compareTexts('valid_for', duration(expected), actual === null ? 'none' : duration(actual));
}

function compareRequirements(
  expected: ExpectedRequirements,
  actual: Requirements | null,
): readonly Difference[] {
  const approvals = actual?.approvals ?? [];
  const wanted = expected.escalate;
  const isMet =
    wanted === null ||
    (wanted.length === approvals.length &&
      wanted.every((one) => approvals.some((approval) => isSameApproval(one, approval))));
  const actualReauth = actual?.reauth ?? null;
  const reauth =
    actualReauth === null
      ? 'none'
      : actualReauth.withinSeconds === null
        ? thisRequest
        : duration(actualReauth.withinSeconds);
  const wantedReauth = typeof expected.reauth === 'number' ? duration(expected.reauth) : expected.reauth;
  return [
    ...(isMet
      ? []
      : [
          {
            field: 'requires.escalate',
            expected: listed(wanted.map(describeApproval)),
            actual: listed(approvals.map(describeApproval)),
          },
        ]),
    ...compareTexts('requires.reauth', wantedReauth, reauth),
  ];
}

function isSameApproval(expected: ExpectedApproval, actual: ApprovalRequirement): boolean {
  return (
    expected.group === actual.group &&
    (expected.needs === null || expected.needs === actual.needs) &&
    (expected.withinSeconds === null || expected.withinSeconds === actual.withinSeconds) &&
    (expected.except === null || exceptText(expected.except) === exceptText(actual.except)) &&
    (expected.anyOf === null || listed(expected.anyOf) === listed(knownApprovers(actual))) &&
    (expected.fallbacks === null || areSameFallbacks(expected.fallbacks, actual.fallbacks ?? []))
  );
}

function areSameFallbacks(
  expected: readonly ExpectedFallback[],
  actual: readonly ResolvedFallback[],
): boolean {
  return (
    expected.length === actual.length &&
    expected.every(
      ({ afterSeconds, anyOf }, at) =>
        (afterSeconds === null || afterSeconds === actual[at]!.afterSeconds) &&
        (anyOf === null || listed(anyOf) === listed(actual[at]!.anyOf.flatMap(nameOf))),
    )
  );
}

function describeFallback({ afterSeconds, anyOf }: ExpectedFallback | ResolvedFallback): string {
  const names = (anyOf ?? []).flatMap((one) => (typeof one === 'string' ? one : nameOf(one)));
  const after = afterSeconds === null ? '' : ` after ${duration(afterSeconds)}`;
  return ` then${anyOf === null ? '' : ` ${listed(names)}`}${after}`;
}

function describeApproval(approval: ExpectedApproval | ApprovalRequirement): string {
  const { group, needs, withinSeconds, except, anyOf, fallbacks } = approval;
  const people = needs === null ? '' : ` needs ${needs}`;
  const names = anyOf == null ? null : anyOf.flatMap((one) => (typeof one === 'string' ? one : nameOf(one)));
  const whom = names === null ? '' : ` (any of ${listed(names)})`;
  const later = (fallbacks ?? []).map(describeFallback).join('');
  return `${group}${whom}${later}${people}${exceptText(except ?? [])}${withinSeconds === null ? '' : ` within ${duration(withinSeconds)}`}`;
}

/** The groups and people who may approve. */
function knownApprovers({ group, anyOf = [{ group }] }: ApprovalRequirement): readonly string[] {
  return anyOf.flatMap(nameOf);
}

function nameOf(approver: ResolvedApprover): readonly string[] {
  if ('unknown' in approver) return [];
  return ['person' in approver ? approver.person : approver.group];
}

function duration(seconds: number): string {
  return formatDuration(fromNumber(seconds));
}

function listed(items: readonly string[]): string {
  return items.length === 0 ? 'none' : [...new Set(items)].toSorted().join(', ');
}
