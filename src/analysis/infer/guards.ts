// Turns the payloads of one action into guards that stop what was not seen: a guard for each field, at any
// depth, and for the elements of lists. INVARIANT: no guard stops a payload that it was made from, except that
// a guard for rare values asks people about them, and that texts which no policy should hold are refused.

import type { Json, JsonObject } from '../../language/model/json.ts';
import { isJsonObject } from '../../language/model/json.ts';
import type { Field, MoneyType, Shape, Slot } from '../../language/model/type.ts';
import { escapeText, quote } from '../../language/syntax/print/expression.ts';
import { type Amount, type Lesson, learn, learnAmounts, rareMax, unrestricted } from './learn.ts';
import { type MembershipTest, type Test, valuesMin } from './value-classes.ts';

export interface Guard {
  readonly name: string;
  readonly effect: 'deny' | 'escalate';
  /** `when ...` or `unless ...`. */
  readonly clause: string;
  /** A text in quotes; null for a guard without a reason. */
  readonly reason: string | null;
  /** What the guard rests on. */
  readonly basis: string;
}

export interface FieldLesson {
  /** The place, such as `payload.lines.price`. */
  readonly field: string;
  readonly basis: string;
  readonly isRestricted: boolean;
}

export interface PayloadLessons {
  readonly guards: readonly Guard[];
  readonly fields: readonly FieldLesson[];
}

/** Makes membership tests whose list files are named after the place. */
export type MembershipOf = (place: string) => MembershipTest;

/** `payloads` have the shape, and are as rules see them. */
export function guardsOfPayloads(
  shape: Shape,
  payloads: readonly JsonObject[],
  membershipOf: MembershipOf,
): PayloadLessons {
  const context: Context = { membershipOf, requests: payloads.length, currencies: currenciesIn(shape) };
  const place: RecordPlace = {
    subject: 'payload',
    name: 'payload',
    has: '',
    list: null,
    isCertain: true,
    fields: shape.fields,
  };
  return joined(shape.fields.map((field) => lessonsOfField(field, payloads, { place, context })));
}

interface Context {
  readonly membershipOf: MembershipOf;
  readonly requests: number;
  /** The currency fields of amounts, which the guards of the amounts restrict, too. */
  readonly currencies: ReadonlySet<string>;
}

/** A record in the payload, or an element of a list. */
interface RecordPlace {
  /** How rules name the record, such as `payload.customer` or the variable of a quantifier. */
  readonly subject: string;
  /** How people name it. */
  readonly name: string;
  /** The steps to it from the root of `subject`, each with a dot behind it. */
  readonly has: string;
  /** The list that a quantifier goes through; null outside of lists. */
  readonly list: string | null;
  /** Whether the record is always there. */
  readonly isCertain: boolean;
  /** The declared fields of the record. */
  readonly fields: readonly Field[];
}

interface Around {
  readonly place: RecordPlace;
  readonly context: Context;
}

function joined(parts: readonly PayloadLessons[]): PayloadLessons {
  return {
    guards: parts.flatMap(({ guards }) => guards),
    fields: parts.flatMap(({ fields }) => fields),
  };
}

interface FieldPlace extends RecordPlace {
  readonly context: Context;
  /** How rules name the record of the field, and the name of the field in it. */
  readonly record: string;
  readonly step: string;
  readonly siblings: readonly Field[];
  /** The test whether the field is there; null if it always is. */
  readonly presence: string | null;
  /** How many records there are, and how many of them have the field. */
  readonly of: number;
  readonly present: number;
}

function lessonsOfField(
  field: Field,
  records: readonly JsonObject[],
  { place, context }: Around,
): PayloadLessons {
  const values = records.map((record) => (Object.hasOwn(record, field.name) ? record[field.name]! : null));
  const present = values.filter((value) => value !== null);
  const step = stepOf(field.name);
  const root = place.subject.split('.')[0]!;
  const own: FieldPlace = {
    subject: `${place.subject}.${step}`,
    name: `${place.name}.${field.name}`,
    has: `${place.has}${step}.`,
    list: place.list,
    context,
    record: place.subject,
    step: field.name,
    siblings: place.fields,
    fields: [],
    isCertain: true,
    presence:
      field.isOptional || field.isNullable || !place.isCertain ? `${root} has ${place.has}${step}` : null,
    of: records.length,
    present: present.length,
  };
  if (present.length === 0) return absentField(own);
  const lessons = lessonsOfValues(field, { values: present, records }, own);
  return own.presence !== null && isRarelyThere(own)
    ? { ...lessons, guards: [rareField(own), ...lessons.guards] }
    : lessons;
}

function isRarelyThere({ of, present }: FieldPlace): boolean {
  return of >= valuesMin * 5 && present <= rareMax(of);
}

/** A name as a step of a path, in quotes where it is no plain name. */
function stepOf(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : quote(name);
}

interface PlaceValues {
  /** The values that are present and not null. */
  readonly values: readonly Json[];
  /** The records that may have such a value. */
  readonly records: readonly JsonObject[];
}

function lessonsOfValues(slot: Slot, { values, records }: PlaceValues, place: FieldPlace): PayloadLessons {
  const { type } = slot;
  if (slot.isSecret || slot.isSigned) return lessonsOf(learn(slot, values, noList), place);
  if (type.kind === 'record') return recordLessons(type.shape, values.filter(isJsonObject), place);
  if (type.kind === 'list') return listLessons(type.element, values as readonly Json[][], place);
  if (type.kind === 'money') return moneyLessons(type, place, records);
  if (place.context.currencies.has(place.name)) return lessonsOf(unrestricted('see the amounts'), place);
  return lessonsOf(learn(slot, values, place.context.membershipOf(place.name)), place);
}

const noList: MembershipTest = () => () => 'false';

function recordLessons(shape: Shape, records: readonly JsonObject[], place: FieldPlace): PayloadLessons {
  const { context } = place;
  const own = { ...place, isCertain: place.presence === null, fields: shape.fields };
  return joined(shape.fields.map((field) => lessonsOfField(field, records, { place: own, context })));
}

// ---- lists

const variable = 'each_of_them';

function listLessons(element: Slot, lists: readonly (readonly Json[])[], place: FieldPlace): PayloadLessons {
  const longest = lists.reduce((most, list) => Math.max(most, list.length), 0);
  const long = longGuard(place, longest);
  const elements = lists.flat().filter((one) => one !== null);
  if (place.list !== null) return joined([long, lessonsOf(unrestricted('lists in a list'), place)]);
  const inner: FieldPlace = {
    ...place,
    subject: variable,
    has: '',
    list: place.subject,
    presence: element.isNullable ? `${variable} != null` : null,
    of: lists.flat().length,
    present: elements.length,
  };
  return joined([
    long,
    lessonsOfValues(element, { values: elements, records: elements.filter(isJsonObject) }, inner),
  ]);
}

function longGuard(place: FieldPlace, longest: number): PayloadLessons {
  if (place.list !== null || place.present < valuesMin) return { guards: [], fields: [] };
  const length = `length(${place.subject}) > ${longest}`;
  const guard: Guard = {
    name: `${ruleName(place)}_long`,
    effect: 'deny',
    clause: `when ${place.presence === null ? '' : `${place.presence} and `}${length}`,
    reason: reasonText(`None of ${place.of} recorded requests has more than ${longest} in ${place.name}`),
    basis: `${place.present} of ${place.present}: at most ${longest} ${longest === 1 ? 'element' : 'elements'}.`,
  };
  return { guards: [guard], fields: [] };
}

// ---- money

function moneyLessons(
  { currencyField, currencyRecord }: MoneyType,
  place: FieldPlace,
  records: readonly JsonObject[],
): PayloadLessons {
  if (currencyField === null || currencyRecord !== undefined)
    return lessonsOf(unrestricted('the currency is in another record'), place);
  const { step: name } = place;
  const amounts = records.flatMap((record): readonly Amount[] => {
    const [amount, currency] = [record[name], record[currencyField]];
    return typeof amount === 'number' && typeof currency === 'string' ? [{ amount, currency }] : [];
  });
  const currency = `${place.record}.${stepOf(currencyField)}`;
  const isOnlyOne = place.siblings.some((one) => one.name === currencyField && isOneText(one));
  return lessonsOf(learnAmounts(amounts, isOnlyOne ? null : currency), place);
}

function isOneText({ type }: Slot): boolean {
  return type.kind === 'text' && type.values?.length === 1;
}

/** Names of the fields with the currency of an amount beside them. */
function currenciesIn({ fields }: Shape, name = 'payload'): ReadonlySet<string> {
  const found = fields.flatMap(({ type, name: own }): readonly string[] => {
    if (type.kind === 'record') return [...currenciesIn(type.shape, `${name}.${own}`)];
    if (type.kind === 'list' && type.element.type.kind === 'record')
      return [...currenciesIn(type.element.type.shape, `${name}.${own}`)];
    const isBeside = type.kind === 'money' && type.currencyRecord === undefined;
    return isBeside && type.currencyField !== null ? [`${name}.${type.currencyField}`] : [];
  });
  return new Set(found);
}

// ---- the guards of a place

function lessonsOf({ seen, rare, rareCount, basis }: Lesson, place: FieldPlace): PayloadLessons {
  const fields = [{ field: place.name, basis, isRestricted: seen !== null }];
  const { present, of, name } = place;
  const total = place.list === null ? `${present} of ${of}` : `${present} elements`;
  const guards: Guard[] = [];
  if (seen !== null)
    guards.push({
      name: `${ruleName(place)}_unseen`,
      effect: 'deny',
      clause: unseenClause(seen, place),
      reason: reasonText(`None of ${place.context.requests} recorded requests has such a value of ${name}`),
      basis: `${total}: ${basis}.`,
    });
  if (rare !== null)
    guards.push({
      name: `${ruleName(place)}_rare`,
      effect: 'escalate',
      clause: `when ${rareTest(rare, place)}`,
      reason: reasonText(`Few recorded values of ${name} are like this: ${rareCount} of ${present}`),
      basis: `Rare: ${rareCount} of ${present}.`,
    });
  return { guards, fields };
}

function unseenClause(seen: Test, { subject, presence, list }: FieldPlace): string {
  const test = seen(subject);
  if (list !== null) {
    const body = presence === null ? test : `if ${presence} then (${test})`;
    return `unless every ${variable} in ${list} (${body})`;
  }
  return presence === null ? `unless ${test}` : `when ${presence} and not (${test})`;
}

function rareTest(rare: Test, { subject, presence, list }: FieldPlace): string {
  const test = presence === null ? rare(subject) : `${presence} and (${rare(subject)})`;
  return list === null ? test : `some ${variable} in ${list} (${test})`;
}

function absentField(place: FieldPlace): PayloadLessons {
  const basis = `never present in ${place.of}`;
  const isKnown = place.presence !== null && place.of >= valuesMin;
  const fields = [{ field: place.name, basis, isRestricted: isKnown }];
  if (!isKnown) return { guards: [], fields };
  const guard: Guard = {
    name: `${ruleName(place)}_given`,
    effect: 'deny',
    clause: `when ${anyElement(place.presence!, place)}`,
    reason: reasonText(`None of ${place.context.requests} recorded requests has ${place.name}`),
    basis: `Present in 0 of ${place.of}.`,
  };
  return { guards: [guard], fields };
}

function rareField(place: FieldPlace): Guard {
  return {
    name: `${ruleName(place)}_given`,
    effect: 'escalate',
    clause: `when ${anyElement(place.presence!, place)}`,
    reason: reasonText(`Few recorded requests have ${place.name}: ${place.present} of ${place.of}`),
    basis: `Present in ${place.present} of ${place.of}.`,
  };
}

function anyElement(test: string, { list }: FieldPlace): string {
  return list === null ? test : `some ${variable} in ${list} (${test})`;
}

function ruleName({ name }: Pick<FieldPlace, 'name'>): string {
  return snakeCase(name.replace(/^payload\./, ''));
}

/** A name of the language made from a text. */
export function snakeCase(text: string): string {
  const name = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '');
  return /^[a-z]/.test(name) ? name : `x_${name}`;
}

/** A text of `because` without placeholders. */
export function reasonText(text: string): string {
  return `"${escapeText(text.replaceAll('payload.', '')).replaceAll('{', '{{')}"`;
}
