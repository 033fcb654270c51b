// Reads the steps of a `sequence:`: requests one after the other, with the time between them and people's
// answers. Meters are counted, so a step gives no readings. The time of a step is the test's time plus all
// time that has passed since.

import type { JsonObject } from '../language/model/json.ts';
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
import { type ApprovalAnswer, approvalAnswers, type GivenResult } from './test-file.ts';
import { applyPart, changeKeys, describeChanges, factKeys, type RawFacts } from './watch-changes.ts';
import { type LocatedMap, type LocatedValue, type Report, toJson } from './yaml.ts';

export interface RawStep {
  readonly step: LocatedMap;
  /** Tells the step from its neighbours; may be empty. */
  readonly remark: string;
  readonly facts: RawFacts;
  /** Milliseconds since the first step. */
  readonly elapsedMs: number;
  readonly answer: ApprovalAnswer | null;
  /** What the call returns, reported before the next step; null when the test does not give it. */
  readonly result: GivenResult | null;
}

export const stepKeys = ['name', 'after', ...factKeys, ...changeKeys, 'expect', 'then', 'result'] as const;

export function readSequence(located: LocatedValue, facts: RawFacts, report: Report): readonly RawStep[] {
  if (located.kind !== 'list' || located.items.length === 0) {
    report(located.span, '`sequence` must be a non-empty list');
    return [];
  }
  const ofTest = withoutMeters(facts);
  const steps: RawStep[] = [];
  let elapsedMs = 0;
  let pausedSeconds = 0;
  for (const item of located.items) {
    const step = readMap(item, { name: 'a step', keys: stepKeys }, report);
    if (step === null) continue;
    const after = find(step, 'after');
    const seconds = (after && readDuration(after, '`after`', report)) ?? 0;
    elapsedMs += seconds * 1_000;
    pausedSeconds += seconds;
    // The step only lets time pass.
    if (after !== null && step.entries.length === 1) continue;
    const [read, answer] = [withoutCounted(step, ofTest, report), readAnswer(step, report)];
    const result = readResult(step, report);
    steps.push({
      step,
      facts: read,
      elapsedMs,
      answer,
      result,
      remark: remarkOf(step, pausedSeconds, report),
    });
    pausedSeconds = 0;
  }
  if (steps.length === 0) report(located.span, 'this sequence has no request');
  return steps;
}

function withoutMeters(facts: RawFacts): RawFacts {
  return new Map([...facts].filter(([name]) => name !== 'meters'));
}

/** The facts of a step; meters and times in a step are reported as mistakes. */
function withoutCounted(step: LocatedMap, ofTest: RawFacts, report: Report): RawFacts {
  const facts = applyPart(ofTest, step, report);
  const meters = facts.get('meters') ?? unknownMeter(step, report);
  if (meters) report(meters.span, 'a sequence counts its own meters', 'omit them');
  const now = facts.get('now');
  if (now !== undefined && now !== ofTest.get('now'))
    report(
      now.span,
      'the time of a step is given with `after`',
      'such as `after: 10m`; `now` of the test is its start',
    );
  return withoutMeters(facts);
}

function unknownMeter(step: LocatedMap, report: Report) {
  const unknown = find(step, 'unknown');
  const names = unknown === null ? null : readTexts(unknown, '`unknown`', report);
  return names?.find(({ text }) => /^meters\b/.test(text));
}

function readAnswer(step: LocatedMap, report: Report): ApprovalAnswer | null {
  const then = find(step, 'then');
  if (then === null) return null;
  if (then.kind === 'map') return readStandingAnswer(then, report);
  const kind = readWord(then, { name: '`then`', words: approvalAnswers }, report);
  if (kind !== 'standing') return kind && { kind };
  return { kind, seconds: null, times: null, span: then.span };
}

/** More uses than any sequence has. */
const timesMax = 1_000_000;

export const standingAnswerKeys = ['for', 'times'] as const;

/** Reads `{ standing: { for: 1h, times: 3 } }`. */
function readStandingAnswer(then: LocatedMap, report: Report): ApprovalAnswer | null {
  const map = readMap(then, { name: '`then`', keys: ['standing'] }, report);
  const standing = find(map, 'standing');
  const choice = standing && readMap(standing, { name: '`standing`', keys: standingAnswerKeys }, report);
  if (choice === null) return null;
  const seconds = readIfThere(choice, 'for', (value) => readDuration(value, '`for`', report));
  const times = readIfThere(choice, 'times', (value) =>
    readInteger(value, { name: '`times`', min: 1, max: timesMax }, report),
  );
  return { kind: 'standing', seconds, times, span: then.span };
}

function readResult(step: LocatedMap, report: Report): GivenResult | null {
  const located = find(step, 'result');
  if (located === null) return null;
  if (located.kind === 'map') return { json: toJson(located) as JsonObject, span: located.span };
  report(located.span, '`result` must be a mapping');
  return null;
}

function remarkOf(step: LocatedMap, pausedSeconds: number, report: Report): string {
  const named = find(step, 'name');
  if (named !== null) return readText(named, '`name`', report) ?? '';
  const pause = pausedSeconds === 0 ? '' : `after ${formatDuration(fromNumber(pausedSeconds))}`;
  return [pause, describeChanges(step)].filter((text) => text !== '').join(', ');
}
