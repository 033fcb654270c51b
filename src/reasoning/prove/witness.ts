// Turns a model of the formula into a request: each leaf gets a value of its cell, and the declared shape
// puts the values together. No verdict depends on the result alone: the caller lets the definition decide the
// request.

import type { ListFact } from '../../language/model/expression.ts';
import type { Json, JsonObject } from '../../language/model/json.ts';
import { rowsKnown } from '../../language/model/pushed-row.ts';
import type { Facts, MeterReading } from '../../language/model/request.ts';
import { anyText, type Field, listOf, type Shape, type Slot } from '../../language/model/type.ts';
import { unknown } from '../../language/model/value.ts';
import { type Decimal, toNumber } from '../../language/value/decimal.ts';
import { formatIp, type Ip } from '../../language/value/ip.ts';
import { type CellValue, isValue, type Leaf } from '../cells/leaf.ts';
import { usualMs } from '../cells/times.ts';
import { inUnits } from '../cells/units.ts';
import type { ProofContext } from './context.ts';
import { jsonOfSample, sampleOf } from './sample.ts';
import { agreeOnDates } from './search.ts';
import { cellOf, chooseText } from './text-choice.ts';

type Values = ReadonlyMap<string, CellValue>;

/**
 * The request of the solver's last model. Pushed tables are known and empty, as in a request that sends no
 * rows. Another `variant` repeats other elements in lists that have to be longer.
 */
export function witnessOf(ctx: ProofContext, variant = 0): Facts {
  agreeOnDates(ctx);
  const values = valuesOf(ctx);
  const now = values.get('now');
  return {
    action: ctx.action.key,
    payload: inUnits(ctx.action.shape, recordOf({ ctx, values, variant }, ctx.action.shape, 'payload')),
    agent: agentOf(ctx, values),
    request: requestOf(ctx, values),
    nowMs: isValue(now) ? Math.round(toNumber(now as Decimal) * 1000) : usualMs,
    meters: metersOf(ctx),
    satisfied: satisfiedOf(ctx),
    ...rowsKnown(ctx.set, {}),
  };
}

function valuesOf(ctx: ProofContext): Values {
  const leaves = [...ctx.leaves.values()].filter(({ base }) => base === null);
  const values = new Map(leaves.map((leaf): [string, CellValue] => [leaf.key, chosen(ctx, leaf)]));
  equalize(ctx, values);
  return values;
}

function chosen(ctx: ProofContext, leaf: Leaf): CellValue {
  const number = ctx.numbers.get(leaf.key);
  if (number !== undefined) return number;
  const { value, isOther } = cellOf(ctx, leaf);
  return isOther && leaf.domain === 'text' ? chooseText(ctx, leaf) : value;
}

/** Gives texts that are equal in the model one value, and texts that are not equal different values. */
function equalize(ctx: ProofContext, values: Map<string, CellValue>): void {
  const groups = equalLeaves(ctx);
  const used = new Set<string>();
  for (const leaves of groups) {
    const fixed = leaves.find((leaf) => !cellOf(ctx, leaf).isOther) ?? leaves[0]!;
    const text = values.get(fixed.key);
    if (typeof text !== 'string') continue;
    const isFree = cellOf(ctx, fixed).isOther;
    const chosenText = isFree && used.has(text) ? another(text, used, leaves) : text;
    used.add(chosenText);
    for (const leaf of leaves) values.set(leaf.key, chosenText);
  }
}

const attemptsMax = 50;

function another(text: string, used: ReadonlySet<string>, leaves: readonly Leaf[]): string {
  for (let number = 2; number < attemptsMax; number += 1) {
    for (const next of [`${text}-${number}`, `${number}${text}`])
      if (!used.has(next) && leaves.every(({ fits }) => fits(next))) return next;
  }
  return text;
}

function equalLeaves(ctx: ProofContext): readonly (readonly Leaf[])[] {
  const groupOf = new Map<Leaf, Set<Leaf>>();
  for (const { left, right, equal } of ctx.equalities.values()) {
    const [a, b] = [groupOf.get(left) ?? new Set([left]), groupOf.get(right) ?? new Set([right])];
    const isJoined = ctx.circuit.solver.holds(equal) && isText(ctx, left) && isText(ctx, right);
    const joined = isJoined ? new Set([...a, ...b]) : null;
    for (const leaf of joined ?? []) groupOf.set(leaf, joined!);
    if (joined === null) groupOf.set(left, a).set(right, b);
  }
  const groups = [...new Set(groupOf.values())].map((group) =>
    [...group].filter((leaf) => leaf.base === null),
  );
  return groups.filter((leaves) => leaves.length > 0 && leaves.some((leaf) => isText(ctx, leaf)));
}

function isText(ctx: ProofContext, leaf: Leaf): boolean {
  return typeof cellOf(ctx, leaf).value === 'string';
}

interface WitnessBuilder {
  readonly ctx: ProofContext;
  readonly values: Values;
  readonly variant: number;
}

function recordOf(building: WitnessBuilder, { fields }: Shape, path: string): JsonObject {
  const entries = fields.map(
    (field) => [field.name, slotJson(building, field, `${path}.${field.name}`)] as const,
  );
  return Object.fromEntries(entries.filter(([, json]) => json !== undefined)) as JsonObject;
}

/** The JSON of a place; `undefined` when the field is absent. */
function slotJson(building: WitnessBuilder, slot: Slot | Field, path: string): Json | undefined {
  const value = valueAt(building.values, path);
  const isOptional = 'isOptional' in slot && slot.isOptional;
  if (value === 'not asked' || value === unknown)
    return isOptional ? undefined : plainJson(building, slot, path);
  if (value === undefined || value === null) return value;
  switch (slot.type.kind) {
    case 'record':
      return recordOf(building, slot.type.shape, path);
    case 'list':
      return listJson(building, slot, path);
    case 'any':
      return 'any';
    default:
      return jsonOfSample(value, slot.type);
  }
}

function valueAt(values: Values, path: string): CellValue | 'not asked' {
  for (const key of [path, `${path} signed`]) if (values.has(key)) return values.get(key);
  return 'not asked';
}

/** The JSON of a place that no condition reads; conditions may still read parts of it. */
function plainJson(building: WitnessBuilder, slot: Slot, path: string): Json {
  return slot.type.kind === 'record' ? recordOf(building, slot.type.shape, path) : sampleOf(slot);
}

function listJson(building: WitnessBuilder, slot: Slot, path: string): Json {
  const { ctx, values, variant } = building;
  const list = ctx.lists.get(path) ?? ctx.lists.get(`${path} signed`);
  const element = list?.element ?? (slot.type.kind === 'list' ? slot.type.element : slot);
  const minLength = leastLength(ctx, slot, list?.key ?? path);
  const elements = (list?.present ?? []).flatMap((present, at) => {
    if (!ctx.circuit.solver.holds(present)) return [];
    const key = `${list!.key}[${at}]`;
    const isAsked = [...values.keys()].some((one) => one === key || one.startsWith(`${key}.`));
    return [isAsked ? (slotJson(building, element, key) ?? sampleOf(element)) : sampleOf(element)];
  });
  // Which element can be repeated depends on what conditions count.
  const repeated = [...elements.toReversed(), sampleOf(element)];
  const filling = repeated[variant % repeated.length]!;
  while (elements.length < minLength) elements.push(filling);
  return elements;
}

const filledMax = 100_000;

function leastLength(ctx: ProofContext, { type }: Slot, key: string): number {
  const length = ctx.leaves.get(`length(${key})`);
  const lengthValue =
    length === undefined ? null : (ctx.numbers.get(length.key) ?? cellOf(ctx, length).value);
  const least = type.kind === 'list' && type.length.low !== null ? toNumber(type.length.low) : 0;
  return Math.min(filledMax, Math.max(least, isValue(lengthValue) ? toNumber(lengthValue as Decimal) : 0));
}

function agentOf(ctx: ProofContext, values: Values): Facts['agent'] {
  const facts = [...values].filter(
    ([key, value]) => key.startsWith('agent.') && key !== 'agent.tags' && isValue(value),
  );
  const named = facts.flatMap(([key, value]) =>
    /^agent\.\w+$/.test(key) ? [[key.slice('agent.'.length), value]] : [],
  );
  const tags = listOfFact(ctx, values, 'agent.tags');
  return { ...Object.fromEntries(named), ...(tags === null ? {} : { tags }) } as Facts['agent'];
}

/** The elements that the model gives to a list fact; null when the fact is unknown. */
function listOfFact(ctx: ProofContext, values: Values, fact: ListFact): readonly string[] | null {
  if (!isValue(values.get(fact))) return null;
  const present = ctx.lists.get(fact)?.present ?? [];
  return present.flatMap((one, at) => {
    const element = values.get(`${fact}[${at}]`);
    return ctx.circuit.solver.holds(one) && typeof element === 'string' ? [element] : [];
  });
}

function userOf(ctx: ProofContext, values: Values): Facts['request']['user'] {
  const [id, email] = [values.get('request.user.id'), values.get('request.user.email')];
  const roles = listOfFact(ctx, values, 'request.user.roles');
  const groups = listOfFact(ctx, values, 'request.user.groups');
  const user = {
    ...(typeof id === 'string' ? { id } : {}),
    ...(typeof email === 'string' ? { email } : {}),
    ...(roles === null ? {} : { roles }),
    ...(groups === null ? {} : { groups }),
  };
  return Object.keys(user).length === 0 ? undefined : user;
}

function requestOf(ctx: ProofContext, values: Values): Facts['request'] {
  const user = userOf(ctx, values);
  const chain = chainOf(ctx, values);
  const named = ['ip', 'signed', 'session', 'point'].map((name) => values.get(`request.${name}`));
  const [ip, signed, session, point] = named;
  return {
    ...(isValue(ip) ? { ip: formatIp(ip as Ip) } : {}),
    ...(typeof signed === 'boolean' ? { signed } : {}),
    ...(typeof session === 'string' ? { session } : {}),
    ...(typeof point === 'string' ? { point } : {}),
    ...(user === undefined ? {} : { user }),
    ...(chain === null ? {} : { chain }),
  };
}

const chainSlot: Slot = listOf(listOf(anyText)).element;

/** The names of the chain, its last one the delegate; null when the agent asks by itself. */
function chainOf(ctx: ProofContext, values: Values): readonly string[] | null {
  const delegate = values.get('request.delegate');
  if (typeof delegate !== 'string') return null;
  const others = [...(listOfFact(ctx, values, 'request.chain') ?? [])];
  const least = leastLength(ctx, chainSlot, 'request.chain');
  while (others.length + 1 < least) others.push(delegate);
  return [...others, delegate];
}

function metersOf(ctx: ProofContext): Readonly<Record<string, MeterReading>> {
  const meters = [...ctx.meters.values()].filter(({ isKnown }) => ctx.circuit.solver.holds(isKnown));
  const end = (leaf: Leaf): Decimal => ctx.numbers.get(leaf.key) ?? (cellOf(ctx, leaf).value as Decimal);
  return Object.fromEntries(meters.map(({ name, low, high }) => [name, { low: end(low), high: end(high) }]));
}

function satisfiedOf({ circuit, satisfied }: ProofContext): Facts['satisfied'] {
  const met = [...satisfied.values()].filter(({ literal }) => circuit.solver.holds(literal));
  const of = (kind: 'approval' | 'reauth'): readonly string[] =>
    met.filter(({ rule }) => rule.requirement?.kind === kind).map(({ rule }) => rule.id);
  return { escalate: of('approval'), reauth: of('reauth') };
}
