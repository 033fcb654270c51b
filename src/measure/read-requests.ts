// Turns a file of requests, one JSON object a line, or an export of recorded requests into facts of each
// policy set that decides them. INVARIANT: every line that is not empty is a request, a mistake that names
// it, or another record of an export.

import { exportLimits, exportLineOf, givenOf } from '../analysis/replay/export-line.ts';
import { readJson } from '../language/json/read-json.ts';
import { isJsonObject, type JsonObject } from '../language/model/json.ts';
import type { PolicySet } from '../language/model/policy.ts';
import type { Facts } from '../language/model/request.ts';
import { readMap } from '../testing/fields.ts';
import { readSituation, toFacts, withDeclaredNames } from '../testing/situation.ts';
import type { Situation } from '../testing/test-file.ts';
import { applyPart, changeKeys, factKeys } from '../testing/watch-changes.ts';
import { fromJson, type Report } from '../testing/yaml.ts';

export interface RequestLine {
  /** The line in the file, from 1. */
  readonly line: number;
  readonly situation: Situation;
  /** Whether the request comes from an export; then it may name things that no set has. */
  readonly isRecorded: boolean;
}

export interface ReadLines {
  readonly lines: readonly RequestLine[];
  /** Mistakes as `FILE:LINE: what is wrong`, or `FILE:LINE:COLUMN: ...` for a line that is not JSON. */
  readonly mistakes: readonly string[];
}

/** Reads the lines and skips empty ones. `name` is the name of the file in mistakes. */
export function readRequestLines(bytes: Uint8Array, name: string): ReadLines {
  const lines: RequestLine[] = [];
  const mistakes: string[] = [];
  for (const [index, own] of splitLines(bytes).entries()) {
    if (own.every(isBlank)) continue;
    const line = index + 1;
    const read = readLine(own, (location, message) =>
      mistakes.push(`${name}:${line}${location}: ${message}`),
    );
    if (read !== null) lines.push({ line, ...read });
  }
  return { lines, mistakes };
}

/**
 * The facts of every line for one of several sets. A meter or rule that only another set has is left out of
 * the facts; one that no set has is a mistake.
 */
export function factsOf(
  lines: readonly RequestLine[],
  set: PolicySet,
  others: readonly PolicySet[],
): { readonly facts: readonly Facts[]; readonly mistakes: readonly { line: number; message: string }[] } {
  const mistakes: { line: number; message: string }[] = [];
  const facts = lines.flatMap(({ line, situation, isRecorded }) => {
    const ownSituation = isRecorded
      ? withDeclaredNames(set, situation)
      : withoutOthers(situation, set, others);
    const given = toFacts(ownSituation, set, (_span, message, help) =>
      mistakes.push({ line, message: joined(message, help) }),
    );
    return given === null ? [] : [given];
  });
  return { facts, mistakes };
}

type Fault = (location: string, message: string) => void;

function readLine(bytes: Uint8Array, fault: Fault): Omit<RequestLine, 'line'> | null {
  const result = readJson(bytes, exportLimits);
  if (!result.ok) {
    const { offset, detail } = result.issue;
    const before = Buffer.from(bytes.subarray(0, offset)).toString('utf8');
    fault(`:${[...before].length + 1}`, detail);
    return null;
  }
  const { value } = result;
  if (!isJsonObject(value)) {
    fault('', 'a request must be a JSON object');
    return null;
  }
  const recorded = withFault(fault, () => recordedGiven(value as JsonObject));
  if (recorded === 'other record') return null;
  const situation = readFacts(recorded ?? (value as JsonObject), (message) => fault('', message));
  return situation && { situation, isRecorded: recorded !== null };
}

/**
 * The request that a line of an export records; null when the object is no such line. Throws an error in one
 * sentence.
 */
function recordedGiven(value: JsonObject): JsonObject | 'other record' | null {
  const line = exportLineOf(value);
  return line === null ? null : (givenOf(line) ?? 'other record');
}

function withFault<T>(fault: Fault, read: () => T): T | 'other record' {
  try {
    return read();
  } catch (error) {
    fault('', error instanceof Error ? error.message : String(error));
    return 'other record';
  }
}

/** Reads the facts. The action is `action_key`, as in the service, or `action`, as in tests. */
function readFacts(
  { action_key: action, ...rest }: JsonObject,
  fail: (message: string) => void,
): Situation | null {
  let isWhole = true;
  const fault = (message: string): void => {
    isWhole = false;
    fail(message);
  };
  const report: Report = (_span, message, help) => fault(joined(message, help));
  const named = action ?? rest.action;
  if (typeof named !== 'string') {
    fault(named === undefined ? '`action_key` is missing' : '`action_key` must be a string');
  }
  const given = fromJson({ ...rest, action: typeof named === 'string' ? named : '' }, nowhere);
  const map = readMap(given, { name: 'the request', keys: [...factKeys, ...changeKeys] }, report);
  const situation = map && readSituation(applyPart(new Map(), map, report), nowhere, report);
  return isWhole ? situation : null;
}

const nowhere = { file: '', start: 0, end: 0 };

function withoutOthers(situation: Situation, set: PolicySet, others: readonly PolicySet[]): Situation {
  const { meters, satisfied } = situation;
  return {
    ...situation,
    meters: meters.filter(
      ({ meter }) => set.meters.has(meter) || !others.some((other) => other.meters.has(meter)),
    ),
    satisfied: satisfied.filter(
      ({ rule }) => hasRule(set, rule) || !others.some((other) => hasRule(other, rule)),
    ),
  };
}

function hasRule({ policies }: PolicySet, id: string): boolean {
  return policies.some(({ rules }) => rules.some((rule) => rule.id === id));
}

function joined(message: string, help: string | undefined): string {
  return help === undefined ? message : `${message} (${help})`;
}

/** The lines without their line breaks. */
function splitLines(bytes: Uint8Array): readonly Uint8Array[] {
  const lines: Uint8Array[] = [];
  let start = 0;
  for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, start)) {
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return start < bytes.length ? [...lines, bytes.subarray(start)] : lines;
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d;
}
