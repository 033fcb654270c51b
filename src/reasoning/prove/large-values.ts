// Makes requests so large that a condition is unknown: lists are filled and a text is lengthened until the
// definition would exceed what a decision may cost. No proof depends on these requests: the caller lets the
// definition decide them.

import type { Json } from '../../language/model/json.ts';
import { elementRoundsMax, payloadBytesMax, textRoundsMax } from '../../language/model/limits.ts';
import type { Facts } from '../../language/model/request.ts';
import type { Slot } from '../../language/model/type.ts';
import { toNumber } from '../../language/value/decimal.ts';
import type { GrowingPart, ListElements, ProofContext } from './context.ts';
import { sampleOf } from './sample.ts';

/**
 * What fills a list: `another` element of the list, a `sample` of the element's type, the last element
 * `itself`, or a text that conditions on the elements name. A text is lengthened by a character, since a
 * condition may be about one of them.
 */
type FillPattern = { readonly kind: 'another' | 'sample' | 'itself'; readonly padding: string } | NamedText;

interface NamedText {
  readonly kind: 'named';
  readonly index: number;
  readonly padding: string;
}

const fillings: readonly FillPattern[] = [
  { kind: 'another', padding: 'x' },
  { kind: 'sample', padding: 'q' },
  { kind: 'itself', padding: '.' },
  ...[0, 1, 2, 3].map((index): NamedText => ({ kind: 'named', index, padding: 'x' })),
];

const elementsMax = 1_000;
/**
 * Copies of the request made as large as the model needs, one for each way to fill lists; the request itself
 * when the model needs nothing large.
 */
export function enlarged(ctx: ProofContext, facts: Facts): readonly Facts[] {
  const parts = [...ctx.bounds.values()].flatMap(({ literal, grows }) =>
    grows === undefined || ctx.circuit.solver.holds(literal) ? [] : [grows],
  );
  if (parts.length === 0) return [facts];
  const grown = fillings.map((filling) =>
    parts.reduce((facts, part) => withPart(ctx, facts, { part, filling }), facts),
  );
  return grown.filter(({ payload }) => bytesOf(payload) <= payloadBytesMax);
}

function bytesOf(payload: Facts['payload']): number {
  return new TextEncoder().encode(JSON.stringify(payload)).length;
}

interface GrowthPlan {
  readonly part: GrowingPart;
  readonly filling: FillPattern;
}

function withPart(ctx: ProofContext, facts: Facts, { part, filling }: GrowthPlan): Facts {
  if (part.kind === 'addends') return withAddends(ctx, facts, part);
  const keys = [...new Set([...part.around, ...(part.kind === 'list' ? [part.key] : [])])];
  const lists = keys.flatMap((key) => ctx.lists.get(key) ?? []);
  // The lengths of nested lists multiply, so each list gets its equal share of the rounds that are needed.
  const valueCount = Math.ceil((elementRoundsMax + 1) ** (1 / Math.max(2, part.around.length + 1))) + 1;
  const count = part.kind === 'list' ? valueCount : elementsMax;
  const filled = lists.reduce(
    (payload, list) =>
      filledList(payload, list, {
        count,
        filling,
        spared: keyInRequest(ctx, part.key),
        named: namedIn(ctx, list),
      }),
    facts.payload as Json,
  );
  if (part.kind === 'list') return withPayload(facts, filled);
  const rounds = part.around.reduce((product, key) => product * lengthAt(filled, key), 1);
  const units = Math.floor(textRoundsMax / Math.max(1, rounds)) + 1;
  if (units > payloadBytesMax) return facts;
  const lengthened = changedAt(filled, stepsOf(keyInRequest(ctx, part.key)), (text) =>
    typeof text === 'string' ? text.padEnd(units, filling.padding) : text,
  );
  return withPayload(facts, lengthened);
}

/** Adds elements like the last one, which share what is missing from the sum. */
function withAddends(ctx: ProofContext, facts: Facts, { key, adds }: GrowingPart): Facts {
  const list = ctx.lists.get(key);
  const rest = adds === undefined ? undefined : ctx.numbers.get(adds.leaf.key);
  if (list === undefined || adds === undefined || rest === undefined) return facts;
  const payload = changedAt(facts.payload as Json, stepsOf(key), (json) => {
    if (!Array.isArray(json)) return json;
    const last: Json = json.at(-1) ?? sampleOf(list.element);
    const most = highestAt(list.element, adds.steps);
    const count = Math.max(1, Math.min(elementsMax, Math.ceil(toNumber(rest) / most)));
    const shares = sharesOf(toNumber(rest), count, adds.leaf.domain === 'integer');
    return [...json, ...shares.map((share) => changedAt(last, adds.steps, () => share))];
  });
  return withPayload(facts, payload);
}

/** Numbers that add up to the total: equal ones, or whole ones that differ by at most 1. */
function sharesOf(total: number, count: number, areWhole: boolean): readonly number[] {
  if (!areWhole) return Array.from({ length: count }, () => total / count);
  const least = Math.floor(total / count);
  return Array.from({ length: count }, (_, at) => least + (at < total - least * count ? 1 : 0));
}

function highestAt({ type }: Slot, [first, ...others]: readonly string[]): number {
  if (first === undefined)
    return 'range' in type && type.range.high !== null ? toNumber(type.range.high) : Number.POSITIVE_INFINITY;
  const field = type.kind === 'record' ? type.shape.fields.find(({ name }) => name === first) : undefined;
  return field === undefined ? Number.POSITIVE_INFINITY : highestAt(field, others);
}

function withPayload(facts: Facts, payload: Json): Facts {
  return { ...facts, payload: payload as Facts['payload'] };
}

interface Fill {
  readonly count: number;
  readonly filling: FillPattern;
  /** Texts that conditions on the elements name. */
  readonly named: readonly string[];
  /** Key of the part that becomes large; an element that holds it is not copied as an example. */
  readonly spared: string;
}

function filledList(payload: Json, { key, leaf, element }: ListElements, fill: Fill): Json {
  return changedAt(payload, stepsOf(key), (list) => {
    if (!Array.isArray(list)) return list;
    const high = leaf.lengths.high === null ? fill.count : Math.min(fill.count, toNumber(leaf.lengths.high));
    const others = list.filter((_, at) => !fill.spared.startsWith(`${key}[${at}]`));
    const { kind } = fill.filling;
    const filler = {
      another: others.at(-1),
      itself: list.at(-1),
      sample: undefined,
      named: kind === 'named' ? fill.named[fill.filling.index] : undefined,
    }[kind];
    const added: Json = filler ?? sampleOf(element);
    return [...list, ...Array.from({ length: Math.max(0, high - list.length) }, () => added)];
  });
}

/** The key with the index that an element has in the request, which leaves out empty places. */
function keyInRequest({ lists, circuit: { solver } }: ProofContext, key: string): string {
  return key.replace(/^([^[]*)\[(\d+)\]/, (whole, list: string, index: string) => {
    const present = lists.get(list)?.present;
    if (present === undefined) return whole;
    return `${list}[${present.slice(0, Number(index)).filter((one) => solver.holds(one)).length}]`;
  });
}

function namedIn({ leaves }: ProofContext, { key }: ListElements): readonly string[] {
  const cells = leaves.get(`${key}[0]`)?.cells ?? [];
  return cells.flatMap(({ value, isOther }) => (typeof value === 'string' && !isOther ? [value] : []));
}

function lengthAt(payload: Json, key: string): number {
  let length = 1;
  changedAt(payload, stepsOf(key), (list) => {
    if (Array.isArray(list)) length = list.length;
    return list;
  });
  return length;
}

/** The key `payload.lines[0].sku` has the steps "lines", 0, "sku". */
function stepsOf(key: string): readonly (string | number)[] {
  const [, ...names] = key.split(/[.[\]]+/).filter((step) => step !== '');
  return names.map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}

function changedAt(
  json: Json,
  [first, ...rest]: readonly (string | number)[],
  change: (json: Json) => Json,
): Json {
  if (first === undefined) return change(json);
  if (Array.isArray(json))
    return json.map((one: Json, at: number) => (at === first ? changedAt(one, rest, change) : one));
  if (typeof json !== 'object' || json === null) return json;
  const record = json as Readonly<Record<string, Json>>;
  return record[first] === undefined ? json : { ...record, [first]: changedAt(record[first], rest, change) };
}
