// Turns a case's raw facts into a situation, and a situation into the facts of one policy set. A fact that is
// not given is unknown, never empty; only the payload and the time have a default.

import type { Span } from '../language/diagnostic/span.ts';
import { nearestOf } from '../language/diagnostic/suggest.ts';
import type { JsonObject } from '../language/model/json.ts';
import type { Meter, PolicySet, Rule } from '../language/model/policy.ts';
import {
  isPushed,
  keyedRow,
  type PushedTable,
  pushedKey,
  rowsKnown,
  strayKey,
} from '../language/model/pushed-row.ts';
import {
  type AgentFacts,
  type Facts,
  type MeterReading,
  type PushedRows,
  type RequestFacts,
  riskTiers,
  type UserFacts,
  userAttributes,
} from '../language/model/request.ts';
import { checkPayload, resolveRecord } from '../language/spec/payload.ts';
import { isCurrency, isInUnits } from '../language/value/currency.ts';
import {
  compare,
  type Decimal,
  fromNumber,
  isInteger,
  multiply,
  parseDecimal,
  toNumber,
} from '../language/value/decimal.ts';
import { canonicalEmail } from '../language/value/email.ts';
import { parseIp } from '../language/value/ip.ts';
import { parseInstantLiteral } from '../language/value/time.ts';
import { find, readBoolean, readIfThere, readMap, readText, readTexts, readWord } from './fields.ts';
import { isCovered, isStandingOf, standingScopes } from './standing.ts';
import type {
  Amount,
  GivenReading,
  GivenRow,
  GivenSatisfaction,
  GivenStanding,
  Situation,
} from './test-file.ts';
import { agentKeys, givenStandingKeys, type RawFacts, requestKeys, satisfiedKeys } from './watch-changes.ts';
import { type LocatedMap, type LocatedValue, type Report, toJson } from './yaml.ts';

/** The default time of a test: the start of 2026, in UTC. */
export const defaultNowMs = Date.UTC(2026, 0, 1);

/** Null, with at least one report, when the facts cannot be understood; `span` is that of the case. */
export function readSituation(facts: RawFacts, span: Span, report: Report): Situation | null {
  let isWhole = true;
  const fault: Report = (...what) => {
    isWhole = false;
    report(...what);
  };
  const action = facts.get('action');
  if (action === undefined) fault(span, 'a test needs an `action`');
  const situation: Situation = {
    action: (action && readText(action, '`action`', fault)) ?? '',
    payload: readPayload(facts.get('payload'), fault),
    agent: readAgent(facts.get('agent'), fault),
    request: readRequest(facts.get('request'), fault),
    nowMs: readNow(facts.get('now'), fault),
    meters: readMeters(facts.get('meters'), fault),
    tables: readRows(facts.get('tables'), fault),
    ...readSatisfied(facts.get('satisfied'), fault),
  };
  return isWhole ? situation : null;
}

/** The facts for a policy set. Null, with at least one report, when the set lacks a name in the situation. */
export function toFacts(situation: Situation, set: PolicySet, report: Report): Facts | null {
  const { action, payload, agent, request, nowMs } = situation;
  const readings = situation.meters.map((given) => [given.meter, readingOf(given, set, report)] as const);
  const satisfied = { escalate: [] as string[], reauth: [] as string[] };
  let isWhole = readings.every(([, reading]) => reading !== null);
  for (const given of situation.satisfied) {
    if (isRequirement(given, set, report)) satisfied[given.kind].push(given.rule);
    else isWhole = false;
  }
  const scopes = standingScopes(set);
  for (const given of situation.standing) isWhole = isStandingOf(given, scopes, report) && isWhole;
  for (const given of situation.tables) isWhole = isRowOf(given, set, report) && isWhole;
  if (!isWhole) return null;
  const meters = Object.fromEntries(readings) as Readonly<Record<string, MeterReading>>;
  const rows = rowsKnown(set, rowsOf(situation.tables, set));
  const facts = { action, payload, agent, request, nowMs, meters, satisfied, ...rows };
  for (const given of situation.standing) if (isCovered(given, facts)) satisfied.escalate.push(given.rule);
  return facts;
}

/** The situation without names that the set lacks: a recorded request may come from another set. */
export function withDeclaredNames(set: PolicySet, situation: Situation): Situation {
  const ignore: Report = () => {};
  return {
    ...situation,
    meters: situation.meters.filter(({ meter }) => set.meters.has(meter)),
    tables: situation.tables.filter((given) => isRowOf(given, set, ignore)),
    satisfied: situation.satisfied.filter((given) => isRequirement(given, set, ignore)),
    standing: situation.standing.filter((given) => isStandingOf(given, standingScopes(set), ignore)),
  };
}

function readPayload(located: LocatedValue | undefined, report: Report): JsonObject {
  if (located === undefined) return {};
  if (located.kind === 'map') return toJson(located) as JsonObject;
  report(located.span, '`payload` must be a mapping', '`{}` is a payload without fields');
  return {};
}

function readAgent(located: LocatedValue | undefined, report: Report): AgentFacts {
  const map = located && readMap(located, { name: '`agent`', keys: agentKeys }, report);
  if (!map) return {};
  const text = (key: string): string | null =>
    readIfThere(map, key, (value) => readText(value, `\`agent.${key}\``, report));
  const riskTier = readIfThere(map, 'risk_tier', (value) =>
    readWord(value, { name: '`agent.risk_tier`', words: riskTiers }, report),
  );
  const tags = readIfThere(map, 'tags', (value) => readTexts(value, '`agent.tags`', report));
  return known<AgentFacts>({
    id: text('id'),
    name: text('name'),
    risk_tier: riskTier,
    control_owner: text('control_owner'),
    tags: tags?.map((tag) => tag.text) ?? null,
  });
}

function readRequest(located: LocatedValue | undefined, report: Report): RequestFacts {
  const map = located && readMap(located, { name: '`request`', keys: requestKeys }, report);
  if (!map) return {};
  return known<RequestFacts>({
    ip: readIfThere(map, 'ip', (value) => readIp(value, report)),
    signed: readIfThere(map, 'signed', (value) => readBoolean(value, '`request.signed`', report)),
    session: readIfThere(map, 'session', (value) => readText(value, '`request.session`', report)),
    point: readIfThere(map, 'point', (value) => readText(value, '`request.point`', report)),
    chain:
      readIfThere(map, 'chain', (value) => readTexts(value, '`request.chain`', report))?.map(
        (one) => one.text,
      ) ?? null,
    user: readIfThere(map, 'user', (value) => readUser(value, report)),
  });
}

function readUser(located: LocatedValue, report: Report): UserFacts | null {
  const map = readMap(located, { name: '`request.user`', keys: userAttributes }, report);
  if (map === null) return null;
  const texts = (key: 'roles' | 'groups') =>
    readIfThere(map, key, (value) => readTexts(value, `\`request.user.${key}\``, report))?.map(
      (one) => one.text,
    ) ?? null;
  return known<UserFacts>({
    id: readIfThere(map, 'id', (value) => readText(value, '`request.user.id`', report)),
    email: readIfThere(map, 'email', (value) => readEmail(value, report)),
    roles: texts('roles'),
    groups: texts('groups'),
  });
}

/**
 * An email address in canonical form, which the service also makes from a token; any other text is kept,
 * since a proof may use any text.
 */
function readEmail(located: LocatedValue, report: Report): string | null {
  const text = readText(located, '`request.user.email`', report);
  return text === null ? null : (canonicalEmail(text) ?? text);
}

function readIp(located: LocatedValue, report: Report): string | null {
  const text = readText(located, '`request.ip`', report);
  if (text !== null && parseIp(text) === null) report(located.span, '`request.ip` must be an IP address');
  return text;
}

function readNow(located: LocatedValue | undefined, report: Report): number {
  return (located && readInstant(located, '`now`', report)) ?? defaultNowMs;
}

function readInstant(located: LocatedValue, name: string, report: Report): number | null {
  const text = located.kind === 'scalar' && typeof located.value === 'string' ? located.value : '';
  const instant = parseInstantLiteral(text);
  const milliseconds = instant === null ? null : multiply(instant, fromNumber(1_000));
  if (milliseconds !== null && isInteger(milliseconds)) return toNumber(milliseconds);
  const help = 'such as `2026-03-02T10:00:00-05:00`, no finer than milliseconds';
  report(located.span, `${name} must be a time with an offset`, help);
  return null;
}

function readMeters(located: LocatedValue | undefined, report: Report): readonly GivenReading[] {
  if (located === undefined) return [];
  if (located.kind !== 'map') {
    report(located.span, '`meters` must be a mapping of names to readings');
    return [];
  }
  return located.entries.flatMap(({ key, value }) => {
    const ends = value.kind === 'list' ? value.items : [value, value];
    const [low = null, high = null] = ends.map(readAmount);
    if (low !== null && high !== null && ends.length === 2 && isOrdered(low, high)) {
      return [{ meter: key, low, high, span: value.span }];
    }
    const help = 'such as `10`, `[10, 25]` with the smaller first, or `100 USD`';
    report(value.span, `\`meters.${key}\` must be a reading`, help);
    return [];
  });
}

function readRows(located: LocatedValue | undefined, report: Report): readonly GivenRow[] {
  if (located === undefined) return [];
  const help = 'such as `tables: { orders: { o-1: { owner: ann } } }`';
  if (located.kind !== 'map') {
    report(located.span, '`tables` must be a mapping of names to rows', help);
    return [];
  }
  return located.entries.flatMap(({ key: table, value: rows }) => {
    if (rows.kind === 'map') return rows.entries.flatMap((entry) => readRow(table, entry, report));
    report(rows.span, `\`tables.${table}\` must be a mapping of keys to rows`, help);
    return [];
  });
}

function readRow(table: string, { key, value }: LocatedMap['entries'][number], report: Report): GivenRow[] {
  const { span } = value;
  if (value.kind === 'map') return [{ table, key, row: toJson(value) as JsonObject, span }];
  report(span, `the row \`${key}\` of \`${table}\` must be a mapping of columns to cells`);
  return [];
}

/** Rows by table, each under the canonical form of its key. */
function rowsOf(given: readonly GivenRow[], set: PolicySet): PushedRows['given'] {
  const tables = [...Map.groupBy(given, ({ table }) => table)].map(([name, rows]) => {
    const table = set.tables.get(name);
    const keyed = isPushed(table) ? rows.map(({ key, row }) => [canonicalKey(table, key, row), row]) : [];
    return [name, Object.fromEntries(keyed)];
  });
  return Object.fromEntries(tables);
}

function canonicalKey(table: PushedTable, key: string, row: JsonObject): string {
  const { shape, record } = keyedRow(table, key, row);
  return pushedKey(table, resolveRecord(shape, record));
}

/** Whether the set has the table and the table the row's columns; reports why not. */
function isRowOf({ table: name, key, row, span }: GivenRow, { tables }: PolicySet, report: Report): boolean {
  const table = tables.get(name);
  if (!isPushed(table)) {
    const pushed = [...tables.values()].filter(isPushed).map((one) => one.name);
    const nearest = nearestOf(name, pushed);
    const help = nearest === null ? undefined : `did you mean \`${nearest}\``;
    report(
      span,
      table ? `table \`${name}\` has no pushed rows` : `the policies have no table \`${name}\``,
      help,
    );
    return false;
  }
  const { shape, record } = keyedRow(table, key, row);
  const issues = [...strayKey(table, row), ...checkPayload(shape, record)];
  for (const { pointer, message } of issues) report(span, `\`tables.${name}.${key}${pointer}\` ${message}`);
  return issues.length === 0;
}

function readAmount(located: LocatedValue): Amount | null {
  if (located.kind !== 'scalar') return null;
  if (typeof located.value === 'number') return { amount: fromNumber(located.value), currency: null };
  const match = typeof located.value === 'string' ? /^(\S+?)(?: ([A-Z]{3}))?$/.exec(located.value) : null;
  const amount = parseDecimal(match?.[1] ?? '');
  const currency = match?.[2] ?? null;
  if (amount === null) return null;
  const isAmount = currency === null || (isCurrency(currency) && isInUnits(amount, currency));
  return isAmount ? { amount, currency } : null;
}

function isOrdered(low: Amount, high: Amount): boolean {
  return low.currency === high.currency && compare(low.amount, high.amount) <= 0;
}

function readSatisfied(
  located: LocatedValue | undefined,
  report: Report,
): Pick<Situation, 'satisfied' | 'standing'> {
  const map = located && readMap(located, { name: '`satisfied`', keys: satisfiedKeys }, report);
  if (!map) return { satisfied: [], standing: [] };
  const satisfied = (['escalate', 'reauth'] as const).flatMap((kind) => {
    const rules = readIfThere(map, kind, (value) => readTexts(value, `\`satisfied.${kind}\``, report));
    return (rules ?? []).map(({ text, span }) => ({ kind, rule: text, span }));
  });
  const standing = readIfThere(map, 'standing', (value) => readStanding(value, report));
  return { satisfied, standing: standing ?? [] };
}

function readStanding(located: LocatedValue, report: Report): readonly GivenStanding[] {
  if (located.kind !== 'list') {
    report(
      located.span,
      '`satisfied.standing` must be a list',
      'such as `[{ rule: pay/new, per: { session: s1 } }]`',
    );
    return [];
  }
  return located.items.flatMap((item) => {
    const map = readMap(item, { name: 'a standing approval', keys: givenStandingKeys }, report);
    if (map === null) return [];
    const rule = readIfThere(map, 'rule', (value) => readText(value, '`rule`', report));
    if (rule === null) report(map.span, 'a standing approval needs a `rule`');
    const untilMs = readIfThere(map, 'until', (value) => readInstant(value, '`until`', report));
    const keys = readStandingKeys(find(map, 'per'), report);
    return rule === null ? [] : [{ rule, keys, untilMs, span: map.span }];
  });
}

function readStandingKeys(located: LocatedValue | null, report: Report): GivenStanding['keys'] {
  if (located === null) return new Map();
  if (located.kind !== 'map') {
    report(located.span, '`per` must be a mapping of keys to values');
    return new Map();
  }
  const pairs = located.entries.flatMap(({ key, value }) => {
    const plain = value.kind === 'scalar' ? value.value : null;
    if (plain !== null) return [[key, plain] as const];
    report(value.span, `\`${key}\` must be a text, a number, true or false`);
    return [];
  });
  return new Map(pairs.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function readingOf(given: GivenReading, set: PolicySet, report: Report): MeterReading | null {
  const meter = set.meters.get(given.meter);
  if (meter === undefined) {
    const nearest = nearestOf(given.meter, set.meters.keys());
    const help = nearest === null ? undefined : `did you mean \`${nearest}\``;
    report(given.span, `the policies have no meter \`${given.meter}\``, help);
    return null;
  }
  const low = amountFor(meter, given.low);
  const high = amountFor(meter, given.high);
  if (low !== null && high !== null) return { low, high };
  const measure =
    meter.currency === null
      ? 'plain numbers'
      : typeof meter.currency === 'string'
        ? meter.currency
        : 'an amount';
  report(given.span, `meter \`${given.meter}\` is read in ${measure}`);
  return null;
}

function amountFor(meter: Meter, { amount, currency }: Amount): Decimal | null {
  const isOfEach = meter.currency !== null && typeof meter.currency !== 'string';
  return currency === null || isOfEach || currency === meter.currency ? amount : null;
}

function isRequirement({ kind, rule: id, span }: GivenSatisfaction, set: PolicySet, report: Report): boolean {
  const rules = set.policies.flatMap((policy) => policy.rules).filter((rule) => satisfies(kind, rule));
  if (rules.some((rule) => rule.id === id)) return true;
  const nearest = nearestOf(
    id,
    rules.map((rule) => rule.id),
  );
  const asks = kind === 'escalate' ? 'asks for approval' : 'asks for a step-up';
  const help = nearest === null ? undefined : `did you mean \`${nearest}\``;
  report(span, `no rule \`${id}\` ${asks}`, help);
  return false;
}

function satisfies(kind: 'escalate' | 'reauth', { requirement }: Rule): boolean {
  return requirement !== null && (requirement.kind === 'approval') === (kind === 'escalate');
}

/** The known attributes, without those that are null. */
function known<Attributes extends object>(
  attributes: {
    readonly [Key in keyof Attributes]-?: Attributes[Key] | null;
  },
): Attributes {
  const entries = Object.entries(attributes).filter(([, value]) => value !== null);
  // Each remaining value has the type of its attribute; the compiler cannot see that through `entries`.
  return Object.fromEntries(entries) as Attributes;
}
