// A file of requests, one JSON object a line, into the facts of each policy set that decides them.
// INVARIANT: every line that is not empty is either a request or a mistake that names it; none is left out.

import { readJson } from '../../language/json/read.ts';
import type { JsonObject } from '../../language/model/json.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import type { Facts } from '../../language/model/request.ts';
import { applyPart, changeKeys, factKeys } from '../testing/changes.ts';
import { readMap } from '../testing/fields.ts';
import { readSituation, toFacts } from '../testing/situation.ts';
import type { Situation } from '../testing/test-file.ts';
import { fromJson, type Report } from '../testing/yaml.ts';

export interface RequestLine {
  /** In the file, from 1. */
  readonly line: number;
  readonly situation: Situation;
}

export interface ReadLines {
  readonly lines: readonly RequestLine[];
  /** `FILE:LINE: what is wrong`, or `FILE:LINE:COLUMN: ...` for what is not JSON. */
  readonly mistakes: readonly string[];
}

/** Empty lines are passed over. `name` is how the file is called in mistakes. */
export function readRequestLines(bytes: Uint8Array, name: string): ReadLines {
  const lines: RequestLine[] = [];
  const mistakes: string[] = [];
  for (const [index, own] of splitLines(bytes).entries()) {
    if (own.every(isBlank)) continue;
    const line = index + 1;
    const situation = readLine(own, (place, message) => mistakes.push(`${name}:${line}${place}: ${message}`));
    if (situation !== null) lines.push({ line, situation });
  }
  return { lines, mistakes };
}

/**
 * The facts of every line for one of several sets that decide them. What names a meter or a rule that only another one
 * has is left out of the facts; what none of them has is a mistake.
 */
export function factsOf(
  lines: readonly RequestLine[],
  set: PolicySet,
  others: readonly PolicySet[],
): { readonly facts: readonly Facts[]; readonly mistakes: readonly { line: number; message: string }[] } {
  const mistakes: { line: number; message: string }[] = [];
  const facts = lines.flatMap(({ line, situation }) => {
    const own = withoutOthers(situation, set, others);
    const given = toFacts(own, set, (_span, message, help) =>
      mistakes.push({ line, message: joined(message, help) }),
    );
    return given === null ? [] : [given];
  });
  return { facts, mistakes };
}

type Fault = (place: string, message: string) => void;

function readLine(bytes: Uint8Array, fault: Fault): Situation | null {
  const result = readJson(bytes);
  if (!result.ok) {
    const { offset, detail } = result.issue;
    const before = Buffer.from(bytes.subarray(0, offset)).toString('utf8');
    fault(`:${[...before].length + 1}`, detail);
    return null;
  }
  const { value } = result;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    fault('', 'a request is a JSON object');
    return null;
  }
  return readFacts(value as JsonObject, (message) => fault('', message));
}

/** `action_key` as the service calls it, `action` as tests do. */
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

/** Without their line breaks. */
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
