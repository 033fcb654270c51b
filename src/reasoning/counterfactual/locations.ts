// Lists the places of a request that its rules read and that could change: payload fields, facts of the
// registry and the service, readings and the time. Each place holds the changes to try, as functions from
// facts to facts.

import { currencyLocation } from '../../language/model/currency.ts';
import { pathText, quoted } from '../../language/model/describe.ts';
import type { ListFact } from '../../language/model/expression.ts';
import type { Json } from '../../language/model/json.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import {
  type AgentFacts,
  type Facts,
  factAt,
  riskTiers,
  type UserFacts,
} from '../../language/model/request.ts';
import type { Field, Slot } from '../../language/model/type.ts';
import { unitDigits } from '../../language/value/currency.ts';
import { compare, type Decimal, formatDecimal, fromNumber, toNumber } from '../../language/value/decimal.ts';
import {
  formatDate,
  formatDatetime,
  formatTimestamp,
  parseDate,
  parseDatetime,
  parseTimestamp,
} from '../../language/value/time.ts';
import { type Atom, atomTruth, isBelow, reads } from './atoms.ts';
import { jsonAt, putField, type Steps } from './edit.ts';
import { byDistance, createScale, measureOf, type Scale } from './scale.ts';
import { ipValues, textValues, type ValueSource, valuesFor } from './values.ts';

/** What a change is about; the agent controls only `payload`. */
export type ChangeSubject = 'payload' | 'people' | 'time' | 'meters' | 'request' | 'agent';

export interface ChangeLocation {
  readonly subject: ChangeSubject;
  /** The key of the place in atoms, such as `payload.lines[].price`. */
  readonly key: string;
  /** The place as conditions write it. */
  readonly name: string;
  /** The scale of the place; null if its values have no order. */
  readonly scale: Scale | null;
  readonly candidates: readonly Candidate[];
}

export interface Candidate {
  readonly apply: (facts: Facts) => Facts;
  /** The point of the new value on the place's scale; null if it has none. */
  readonly at: Decimal | null;
  /**
   * The new value as the language writes it, if the place has few values and each has a name; null otherwise.
   */
  readonly named: string | null;
  /** The new text, if it can be an entry of a list; null otherwise. */
  readonly entry: string | null;
}

export interface LocationSource {
  readonly set: PolicySet;
  readonly facts: Facts;
  readonly atoms: readonly Atom[];
}

/** The places in the order of the atoms that read them, places of the payload first. */
export function placesOf(source: LocationSource): readonly ChangeLocation[] {
  const rank = ({ key }: ChangeLocation): number => source.atoms.findIndex((atom) => reads(atom, key));
  const payload = fieldPlaces(source).toSorted((a, b) => rank(a) - rank(b));
  return [...payload, ...meterSeriesOf(source), ...timePlaces(source), ...factPlaces(source)];
}

const elementsMax = 5;

function fieldPlaces(source: LocationSource): readonly ChangeLocation[] {
  const shape = source.set.actions.get(source.facts.action)?.shape;
  return (shape?.fields ?? []).flatMap((field) =>
    slotPlaces(source, {
      slot: field,
      isOptional: field.isOptional,
      steps: [field.name],
      key: pathText('payload', [field.name]),
    }),
  );
}

interface FieldSlot {
  readonly slot: Slot;
  readonly isOptional: boolean;
  readonly steps: Steps;
  readonly key: string;
}

/** The place and the places inside it, as far as atoms read them. */
function slotPlaces(source: LocationSource, location: FieldSlot): readonly ChangeLocation[] {
  const { slot, steps, key } = location;
  const { type } = slot;
  if (!source.atoms.some((atom) => reads(atom, key))) return [];
  const fields = isReadItself(source, location) ? [fieldPlace(source, location)] : [];
  if (type.kind === 'record') {
    const inner = type.shape.fields.flatMap((field: Field) =>
      slotPlaces(source, {
        slot: field,
        isOptional: field.isOptional,
        steps: [...steps, field.name],
        key: pathText(key, [field.name]),
      }),
    );
    return [...fields, ...inner];
  }
  const json = jsonAt(source.facts.payload, steps);
  if (type.kind !== 'list' || !Array.isArray(json)) return fields;
  const isPlain = type.element.type.kind !== 'record' && type.element.type.kind !== 'list';
  // An element that is not a record changes with its list.
  if (isPlain && measureOf(type.element.type) === null) return fields;
  const elements = json.slice(0, elementsMax).flatMap((_, index) =>
    slotPlaces(source, {
      slot: type.element,
      isOptional: false,
      steps: [...steps, index],
      key: `${key}[]`,
    }),
  );
  return [...fields, ...elements];
}

/**
 * Whether atoms read the place itself. The changes of a record are those of its fields and, if the record is
 * optional, of its presence.
 */
function isReadItself({ atoms }: LocationSource, { slot, isOptional, key }: FieldSlot): boolean {
  const read = (isMatch: (key: string) => boolean): boolean =>
    atoms.some(({ keys }) => [...keys].some(isMatch));
  if (read((one) => one === key)) return true;
  if (slot.type.kind === 'list') return read((one) => isBelow(one, key));
  return slot.type.kind === 'record' && (isOptional || slot.isNullable) && read((one) => isBelow(one, key));
}

function fieldPlace(source: LocationSource, location: FieldSlot): ChangeLocation {
  const { set, facts } = source;
  const { slot, steps, key, isOptional } = location;
  const current = jsonAt(facts.payload, steps);
  const atoms = source.atoms.filter((atom) => reads(atom, key));
  const put = (value: Json | undefined) => putField(set, steps, value);
  const scale = scaleOf(source, location);
  const isNamed = slot.type.kind === 'boolean' || (slot.type.kind === 'text' && slot.type.values !== null);
  const values = slot.isSecret && current !== undefined ? [] : valuesFor({ set, atoms }, slot, current);
  const isInList = steps.some((step) => typeof step === 'number');
  return {
    subject: 'payload',
    key,
    name: pathText('payload', steps),
    scale: isInList ? null : scale,
    candidates: [
      ...(scale === null ? [] : byDistance(scale)).map((at) => ({
        ...plain,
        apply: (changed: Facts) => scale?.put(changed, at) ?? changed,
        at: isInList ? null : at,
      })),
      ...values.map((value) => ({
        ...plain,
        apply: put(value),
        named: isNamed && !slot.isSecret ? shownJson(value) : null,
        entry: typeof value === 'string' && !slot.isSecret ? value : null,
      })),
      ...(isOptional && current !== undefined ? [{ ...plain, apply: put(undefined) }] : []),
      ...(slot.isNullable && current !== null ? [{ ...plain, apply: put(null) }] : []),
    ],
  };
}

const plain = { at: null, named: null, entry: null } as const;

function shownJson(value: Json): string {
  return typeof value === 'string' ? quoted(value) : String(value);
}

interface Measure {
  readonly parse: (json: Json) => Decimal | null;
  readonly write: (value: Decimal) => Json;
  readonly show: (value: Decimal) => string;
}

const plainMeasure: Measure = {
  parse: (json) => (typeof json === 'number' ? fromNumber(json) : null),
  write: toNumber,
  show: formatDecimal,
};

function timeMeasure(parse: (text: string) => Decimal | null, format: (value: Decimal) => string): Measure {
  return { parse: (json) => (typeof json === 'string' ? parse(json) : null), write: format, show: format };
}

const measures: Readonly<Record<string, Measure>> = {
  date: timeMeasure(parseDate, formatDate),
  timestamp: timeMeasure(parseTimestamp, formatTimestamp),
  datetime: timeMeasure(parseDatetime, formatDatetime),
};

function scaleOf({ set, facts, atoms }: LocationSource, { slot, steps, key }: FieldSlot): Scale | null {
  const { type } = slot;
  const measure = measureOf(type);
  if (measure === null || slot.isSecret) return null;
  const { parse, write, show } = measures[type.kind] ?? plainMeasure;
  const current = jsonAt(facts.payload, steps);
  const currencySteps = currencyLocation(type, { root: 'payload', steps })?.steps ?? null;
  const currencyIn = (of: Facts): string | null => {
    const currency = currencySteps && jsonAt(of.payload, currencySteps);
    return typeof currency === 'string' ? currency : null;
  };
  const ownCurrency = currencyIn(facts);
  return createScale(
    {
      name: pathText('payload', steps),
      key,
      kind: measure.kind,
      range: measure.range,
      current: current === undefined ? null : parse(current),
      put: (changed, value) => putField(set, steps, write(value))(changed),
      unitDigits: ownCurrency === null ? null : unitDigits(ownCurrency),
      show: (changed, value) => [show(value), currencyIn(changed) ?? []].flat().join(' '),
    },
    atoms,
  );
}

function meterSeriesOf({ set, facts, atoms }: LocationSource): readonly ChangeLocation[] {
  return [...set.meters.values()]
    .filter(({ name }) => atoms.some(({ keys }) => keys.has(`meters.${name}`)))
    .map(({ name, currency }) => {
      const reading = Object.hasOwn(facts.meters, name) ? facts.meters[name] : undefined;
      const isPlain = reading !== undefined && compare(reading.low, reading.high) === 0;
      const put = (changed: Facts, value: Decimal): Facts => ({
        ...changed,
        meters: { ...changed.meters, [name]: { low: value, high: value } },
      });
      const scale = createScale(
        {
          name,
          key: `meters.${name}`,
          kind: currency === null ? 'number' : 'money',
          range: { low: fromNumber(0), high: null },
          unitDigits: typeof currency === 'string' ? unitDigits(currency) : null,
          current: isPlain ? reading.low : null,
          put,
          show: (_, value) => `${formatDecimal(value)}${currency === null ? '' : ` ${currency}`}`,
        },
        atoms,
      );
      const candidates = byDistance(scale).map((at) => ({
        ...plain,
        at,
        apply: (changed: Facts) => put(changed, at),
      }));
      return { subject: 'meters', key: `meters.${name}`, name, scale, candidates };
    });
}

const halfHourMs = 1_800_000;
const dayMs = 86_400_000;
const laterDays = [10, 14, 30, 60, 90, 180, 365];
const halfHours = 8 * 48;

/**
 * The place `now`, with the future moments at which a condition on the time turns, to the second; none if no
 * condition reads the time.
 */
function timePlaces({ set, facts, atoms }: LocationSource): readonly ChangeLocation[] {
  const timed = atoms.filter(({ keys }) => keys.has('now'));
  if (timed.length === 0) return [];
  const at = (nowMs: number): Facts => ({ ...facts, nowMs });
  const truths = (nowMs: number): string =>
    timed.map((atom) => String(atomTruth(atom, set, at(nowMs)))).join();
  const named = timed.flatMap(({ parts }) =>
    parts.flatMap((part) =>
      part.kind === 'literal' && part.type.kind === 'timestamp'
        ? [toNumber(part.value as Decimal) * 1_000, toNumber(part.value as Decimal) * 1_000 + 1_000]
        : [],
    ),
  );
  const samples = [
    ...Array.from({ length: halfHours }, (_, index) => facts.nowMs + (index + 1) * halfHourMs),
    ...laterDays.map((days) => facts.nowMs + days * dayMs),
    ...named.filter((nowMs) => nowMs > facts.nowMs),
  ].toSorted((a, b) => a - b);
  const seen = new Set([truths(facts.nowMs)]);
  const turns = samples.flatMap((nowMs, index) => {
    const truth = truths(nowMs);
    if (seen.has(truth)) return [];
    seen.add(truth);
    return [firstMoment(samples[index - 1] ?? facts.nowMs, nowMs, (moment) => truths(moment) === truth)];
  });
  const candidates = turns.map((nowMs) => ({ ...plain, apply: (changed: Facts) => ({ ...changed, nowMs }) }));
  return [{ subject: 'time', key: 'now', name: 'now', scale: null, candidates }];
}

/**
 * The first whole second after `fromMs`, and not after `toMs`, at which `isThere` holds. It is assumed to
 * hold from then on.
 */
function firstMoment(fromMs: number, toMs: number, isThere: (nowMs: number) => boolean): number {
  let [before, there] = [Math.floor(fromMs / 1_000), Math.ceil(toMs / 1_000)];
  if (!isThere(there * 1_000)) return toMs;
  while (there - before > 1) {
    const middle = Math.floor((before + there) / 2);
    if (isThere(middle * 1_000)) there = middle;
    else before = middle;
  }
  return there * 1_000;
}

function factPlaces(source: LocationSource): readonly ChangeLocation[] {
  const { facts, set } = source;
  const values: ValueSource = { set, atoms: [] };
  const texts = (key: string, extra: readonly string[] = []): readonly string[] => [
    ...textValues({ ...values, atoms: readersOf(source, key) }, 'string', ''),
    ...extra,
  ];
  const inAgent = (
    attribute: keyof AgentFacts,
    all: readonly AgentFacts[keyof AgentFacts][],
    isNamed = false,
  ): ChangeLocation => ({
    subject: 'agent',
    key: `agent.${attribute}`,
    name: `agent.${attribute}`,
    scale: null,
    candidates: all
      .filter((value) => JSON.stringify(value) !== JSON.stringify(facts.agent[attribute]))
      .map((value) => ({
        ...plain,
        apply: (changed) => ({ ...changed, agent: { ...changed.agent, [attribute]: value } }),
        named: isNamed && typeof value === 'string' ? quoted(value) : null,
        entry: typeof value === 'string' ? value : null,
      })),
  });
  const inRequest = (
    attribute: 'ip' | 'signed' | 'session' | 'point',
    all: readonly (string | boolean)[],
  ): ChangeLocation => ({
    subject: 'request',
    key: `request.${attribute}`,
    name: `request.${attribute}`,
    scale: null,
    candidates: all
      .filter((value) => value !== facts.request[attribute])
      .map((value) => ({
        ...plain,
        apply: (changed) => ({ ...changed, request: { ...changed.request, [attribute]: value } }),
        named: typeof value === 'boolean' ? String(value) : null,
        entry: typeof value === 'string' ? value : null,
      })),
  });
  const inUser = (
    attribute: keyof UserFacts,
    all: readonly (string | readonly string[])[],
  ): ChangeLocation => ({
    subject: 'request',
    key: `request.user.${attribute}`,
    name: `request.user.${attribute}`,
    scale: null,
    candidates: all
      .filter((value) => JSON.stringify(value) !== JSON.stringify(facts.request.user?.[attribute]))
      .map((value) => ({
        ...plain,
        apply: (changed) => {
          const user = { ...changed.request.user, [attribute]: value };
          return { ...changed, request: { ...changed.request, user } };
        },
        named: null,
        entry: typeof value === 'string' ? value : null,
      })),
  });
  /** The list with one element less, with one more, and empty. */
  const changed = (key: ListFact): readonly (readonly string[])[] => {
    const elements = (factAt(facts, key) ?? []) as readonly string[];
    return [
      ...elements.map((_, index) => elements.toSpliced(index, 1)),
      ...texts(key)
        .filter((text) => text !== '')
        .map((text) => [...elements, text]),
      [],
    ];
  };
  const locations = [
    inAgent('risk_tier', riskTiers, true),
    inAgent('tags', changed('agent.tags')),
    inAgent('control_owner', texts('agent.control_owner', ownersAt(texts('agent.control_owner')))),
    inAgent('name', texts('agent.name')),
    inAgent('id', texts('agent.id')),
    inRequest('signed', [true, false]),
    inRequest('ip', ipValues({ set, atoms: readersOf(source, 'request.ip') })),
    inRequest('session', texts('request.session')),
    inRequest('point', texts('request.point')),
    inUser('id', texts('request.user.id')),
    inUser('email', texts('request.user.email')),
    inUser('roles', changed('request.user.roles')),
    inUser('groups', changed('request.user.groups')),
  ];
  return locations.filter(({ key }) => readersOf(source, key).length > 0);
}

function ownersAt(texts: readonly string[]): readonly string[] {
  return texts.filter((text) => text.startsWith('@')).map((text) => `someone${text}`);
}

function readersOf({ atoms }: LocationSource, key: string): readonly Atom[] {
  return atoms.filter(({ keys }) => keys.has(key));
}
