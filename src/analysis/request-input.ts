// Turns a request as written by a person into facts and back, or into its issues. Also returns why the gate
// refuses a request. Each issue names its place and, if a similar name exists, suggests that name.

import { nearestOf } from '../language/diagnostic/suggest.ts';
import { describeSlot, payloadFaults } from '../language/model/describe.ts';
import { isJsonObject, type Json, type JsonObject } from '../language/model/json.ts';
import type { Meter, PolicySet } from '../language/model/policy.ts';
import { isPushed, keyedRow, type PushedTable, pushedKey, strayKey } from '../language/model/pushed-row.ts';
import {
  type Facts,
  type MeterReading,
  nothingSatisfied,
  type PushedRows,
  presentRows,
} from '../language/model/request.ts';
import type { Shape, Slot } from '../language/model/type.ts';
import { checkPayload, resolveRecord } from '../language/spec/payload.ts';
import { isCurrency, isInUnits } from '../language/value/currency.ts';
import {
  type Decimal,
  equal,
  formatDecimal,
  fromNumber,
  isInteger,
  multiply,
  parseDecimal,
  toNumber,
} from '../language/value/decimal.ts';
import { parseIp } from '../language/value/ip.ts';
import { parseInstantLiteral } from '../language/value/time.ts';
import type { GivenRequest, RequestIssue } from './playground-questions.ts';

/** Facts without issues, or issues without facts. */
export type RequestInputResult =
  | { readonly facts: Facts; readonly issues: readonly [] }
  | { readonly facts: null; readonly issues: readonly RequestIssue[] };

export function readGiven(given: GivenRequest, set: PolicySet, nowMs: number): RequestInputResult {
  const issues: RequestIssue[] = [];
  const report = (pointer: string, message: string, help: string | null = null): null => {
    issues.push({ pointer, message, help });
    return null;
  };
  const { action_key: action, payload, agent = {}, at, meters = {} } = given;
  const { session, point, chain, address, signed, user, tables } = given;
  const atMs = at === undefined ? nowMs : readTime(at);
  if (atMs === null)
    report(
      '/at',
      '`at` must be a time with an offset',
      'such as `2026-03-02T10:00:00-05:00`, no finer than milliseconds',
    );
  if (address !== undefined && parseIp(address) === null)
    report('/address', '`address` must be an IP address', 'such as `203.0.113.7` or `2001:db8::1`');
  const readings = Object.entries(meters).flatMap(
    ([name, text]): readonly (readonly [string, MeterReading])[] => {
      const amount = readMeter({ name, text, meters: set.meters }, (message, help) =>
        report(pointerOf('meters', name), message, help),
      );
      return amount === null ? [] : [[name, { low: amount, high: amount }]];
    },
  );
  const rows =
    tables === undefined
      ? null
      : readGivenRows(tables, set, (steps, message, help) =>
          report(pointerOf('tables', ...steps), message, help),
        );
  if (atMs === null || issues.length > 0) return { facts: null, issues };
  const request = {
    ...(address === undefined ? {} : { ip: address }),
    ...(signed === undefined ? {} : { signed }),
    ...(session === undefined ? {} : { session }),
    ...(point === undefined ? {} : { point }),
    ...(chain === undefined ? {} : { chain }),
    ...(user === undefined ? {} : { user }),
  };
  const byMeter = Object.fromEntries(readings);
  const facts = {
    action,
    payload,
    agent,
    request,
    nowMs: atMs,
    meters: byMeter,
    satisfied: nothingSatisfied,
  };
  return { facts: rows === null ? facts : { ...facts, rows }, issues: [] };
}

/** Why the gate refuses the request; empty when it does not. */
export function gateIssues(
  { action, payload }: Pick<Facts, 'action' | 'payload'>,
  set: PolicySet,
): readonly RequestIssue[] {
  const declared = set.actions.get(action);
  if (declared === undefined) return [unknownAction(action, set)];
  return checkPayload(declared.shape, payload).map(({ pointer, message }) => {
    const path = ['payload', ...segmentsOf(pointer)].join('.');
    return {
      pointer: `/payload${pointer}`,
      message: `\`${path}\` ${message}`,
      help: helpFor(message, pointer, declared.shape, payload),
    };
  });
}

const namedMax = 8;

function unknownAction(action: string, { actions }: PolicySet): RequestIssue {
  const message = `the action \`${action}\` is not declared`;
  const nearest = nearestOf(action, actions.keys());
  const help = nearest === null ? listed('declared are', [...actions.keys()]) : `did you mean \`${nearest}\``;
  return { pointer: '/action_key', message, help };
}

function helpFor(message: string, pointer: string, shape: Shape, payload: JsonObject): string | null {
  const segments = segmentsOf(pointer);
  const name = segments.at(-1) ?? '';
  const parentShape = recordShapeAt(shape, segments.slice(0, -1));
  if (parentShape === null) return null;
  if (message === payloadFaults.missing) {
    const field = parentShape.fields.find((candidate) => candidate.name === name);
    return field === undefined ? null : `it is ${describeSlot(field)}`;
  }
  if (message !== payloadFaults.undeclared) return null;
  const holder = segments.length === 1 ? payload : {};
  const missing = parentShape.fields.map((field) => field.name).filter((one) => !Object.hasOwn(holder, one));
  const nearest = nearestOf(name, missing);
  const all = parentShape.fields.map((field) => field.name);
  return nearest === null ? listed('the declared fields are', all) : `did you mean \`${nearest}\``;
}

function listed(lead: string, names: readonly string[]): string | null {
  if (names.length === 0) return null;
  const quoted = names.slice(0, namedMax).map((name) => `\`${name}\``);
  return `${lead} ${quoted.join(', ')}${names.length > namedMax ? ' and others' : ''}`;
}

/** The record at a place of the payload; null when there is none. */
function recordShapeAt(shape: Shape, segments: readonly string[]): Shape | null {
  const [first, ...rest] = segments;
  if (first === undefined) return shape;
  const field = shape.fields.find(({ name }) => name === first);
  return field === undefined ? null : slotShapeAt(field, rest);
}

function slotShapeAt({ type }: Slot, segments: readonly string[]): Shape | null {
  if (type.kind === 'record') return recordShapeAt(type.shape, segments);
  return type.kind === 'list' ? slotShapeAt(type.element, segments.slice(1)) : null;
}

function readTime(text: string): number | null {
  const instant = parseInstantLiteral(text);
  const milliseconds = instant === null ? null : multiply(instant, fromNumber(1_000));
  return milliseconds === null || !isInteger(milliseconds) ? null : toNumber(milliseconds);
}

interface GivenMeter {
  readonly name: string;
  readonly text: Json;
  readonly meters: ReadonlyMap<string, Meter>;
}

function readMeter(
  { name, text, meters }: GivenMeter,
  report: (message: string, help: string | null) => null,
): Decimal | null {
  const meter = meters.get(name);
  if (meter === undefined) {
    const nearest = nearestOf(name, meters.keys());
    const help =
      nearest === null ? listed('the meters are', [...meters.keys()]) : `did you mean \`${nearest}\``;
    return report(`the policies have no meter \`${name}\``, help);
  }
  const amount = typeof text === 'number' ? { value: fromNumber(text), currency: null } : readAmount(text);
  if (amount === null)
    return report(`\`meters.${name}\` must be a reading`, 'such as `10`, `"0.5"` or `"100 USD"`');
  if (amount.currency === null || amount.currency === meter.currency) return amount.value;
  const measure = meter.currency === null ? 'plain numbers' : `\`${meter.currency}\``;
  return report(`the meter \`${name}\` is read in ${measure}`, null);
}

function readAmount(text: Json): { readonly value: Decimal; readonly currency: string | null } | null {
  const [, digits = '', currency = null] =
    /^(\S+)(?: ([A-Z]{3}))?$/.exec(typeof text === 'string' ? text : '') ?? [];
  const value = parseDecimal(digits);
  if (value === null) return null;
  const isAmount = currency === null || (isCurrency(currency) && isInUnits(value, currency));
  return isAmount ? { value, currency } : null;
}

function segmentsOf(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function pointerOf(...segments: readonly string[]): string {
  return segments.map((segment) => `/${segment.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/**
 * Returns the facts as a person would write them. Returns null when a meter reading is a range, because
 * requests that wait may still count: a written request cannot express that.
 */
export function givenRequestOf(
  { action, payload, agent, request, nowMs, meters, rows }: Facts,
  set: PolicySet,
): GivenRequest | null {
  const readings = Object.entries(meters);
  if (readings.some(([, { low, high }]) => !equal(low, high))) return null;
  const written = readings.map(([name, { low }]) => {
    const currency = set.meters.get(name)?.currency ?? null;
    return [name, currency === null ? formatDecimal(low) : `${formatDecimal(low)} ${currency}`];
  });
  return {
    action_key: action,
    payload,
    agent,
    at: new Date(nowMs).toISOString(),
    ...(request.session === undefined ? {} : { session: request.session }),
    ...(request.point === undefined ? {} : { point: request.point }),
    ...(request.chain === undefined ? {} : { chain: request.chain }),
    ...(request.ip === undefined ? {} : { address: request.ip }),
    ...(request.signed === undefined ? {} : { signed: request.signed }),
    ...(request.user === undefined ? {} : { user: request.user }),
    meters: Object.fromEntries(written),
    ...(rows === undefined ? {} : { tables: presentRows(rows) }),
  };
}

// Reads rows of pushed tables as a person writes them beside a request. INVARIANT: each row fits its table
// and is found by the canonical form of its key.

/** Reports an issue at a place below `tables`; `help` says what to write, or is null. */
type ReportRow = (steps: readonly string[], message: string, help: string | null) => unknown;

/** The result holds all rows of these tables: there are no others. */
function readGivenRows(given: JsonObject, set: PolicySet, report: ReportRow): PushedRows {
  const tables = Object.entries(given).map(([name, rows]) => {
    const table = set.tables.get(name);
    if (!isPushed(table)) reportTable(name, set, report);
    else if (isJsonObject(rows)) return [name, rowsOf(table, rows, report)] as const;
    else report([name], `\`tables.${name}\` must be an object of rows by key`, null);
    return [name, {}] as const;
  });
  return { given: Object.fromEntries(tables), areAll: true };
}

function reportTable(name: string, { tables }: PolicySet, report: ReportRow): void {
  const pushed = [...tables.values()].filter(isPushed).map((table) => table.name);
  const nearest = nearestOf(name, pushed);
  const help = nearest === null ? null : `did you mean \`${nearest}\``;
  report([name], `the policies have no table \`${name}\` with pushed rows`, help);
}

function rowsOf(table: PushedTable, rows: JsonObject, report: ReportRow): PushedRows['given'][string] {
  const fitting = Object.entries(rows).flatMap(([key, row]) => {
    const path = [table.name, key];
    if (!isJsonObject(row)) {
      report(path, `\`tables.${path.join('.')}\` must be an object of cells by column`, null);
      return [];
    }
    const { shape, record } = keyedRow(table, key, row);
    const issues = [...strayKey(table, row), ...checkPayload(shape, record)];
    for (const { pointer, message } of issues) {
      const steps = [...path, ...pointer.split('/').slice(1)];
      report(steps, `\`tables.${steps.join('.')}\` ${message}`, null);
    }
    return issues.length > 0 ? [] : [[pushedKey(table, resolveRecord(shape, record)), row] as const];
  });
  return Object.fromEntries(fitting);
}
