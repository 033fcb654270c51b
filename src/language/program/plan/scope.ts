// Resolves reads of the payload and of quantifier variables against one action's shape. A field that the shape does
// not declare leads nowhere, also where the shape is open: such keys pass unseen by every policy.

import { currencyPlace } from '../../model/currency.ts';
import type { FieldRead } from '../../model/expression.ts';
import type { Field, Shape, Slot, Type } from '../../model/type.ts';
import { allSigners } from '../../model/vouched.ts';
import type { CurrencyRead, Element, ReadFrom, ReadTerm } from '../program.ts';
import { fieldOf, placeOf, type SlotPlace } from '../slot.ts';

/** What names stand for at one place of an expression. */
export interface Scope {
  readonly shape: Shape;
  /** Of what a call returns. */
  readonly result: Shape | null;
  readonly variables: ReadonlyMap<string, Variable>;
}

/** A quantifier's variable: the slots of its sources' elements; none where all sources are written out. */
export interface Variable {
  readonly slots: readonly Slot[];
  readonly element: Element | null;
}

/** The read as a term; null where the action declares no such field and it is not a signature that is missing. */
export function readTerm(read: FieldRead, scope: Scope): ReadTerm | null {
  const expression = isResult(read.root, scope) ? { ...read, isSigned: true } : read;
  const variable = scope.variables.get(expression.root);
  if (variable !== undefined && expression.steps.length === 0) return variableTerm(expression, variable);
  const place = resolve(expression, scope);
  if (place === null) return expression.isSigned ? undeclaredTerm(expression) : null;
  const { type } = place.slot;
  const currency = type.kind === 'money' ? currencyOf(expression, place, scope) : null;
  return {
    kind: 'read',
    read: toRead(expression, place.mayBeAbsent),
    currency,
    sort: type.kind,
    element: type.kind === 'list' ? elementOf(type) : null,
    mayBeUnknown:
      place.mayBeAbsent || expression.isSigned || isUncertain(currency) || mayBeTooLong(type, scope),
    cost: readingCost(type),
  };
}

/** Inside quantifiers what is too long to go through again and again is unknown. */
export function mayBeTooLong({ kind }: Pick<Type, 'kind'>, { variables }: Scope): boolean {
  return variables.size > 0 && (kind === 'text' || kind === 'list');
}

/** The slots of the elements that a list-typed read holds. */
export function elementSlots(expression: FieldRead, scope: Scope): readonly Slot[] {
  const variable = scope.variables.get(expression.root);
  const lists =
    variable !== undefined && expression.steps.length === 0
      ? variable.slots
      : [resolve(expression, scope)?.slot];
  return lists.flatMap((slot) => (slot?.type.kind === 'list' ? [slot.type.element] : []));
}

/** A signed field of other actions: without a signature nothing is known of it here either. */
function undeclaredTerm(expression: FieldRead): ReadTerm {
  const { type } = expression;
  const sort = type.kind === 'list' ? type.element.type.kind : null;
  return {
    kind: 'read',
    read: { ...toRead(expression, true), isDeclared: false },
    currency: null,
    sort: type.kind,
    element: sort === null ? null : { sort, encoding: 'value', element: null },
    mayBeUnknown: true,
    cost: 0,
  };
}

function variableTerm(expression: FieldRead, variable: Variable): ReadTerm {
  const mayBeAbsent = variable.slots.some((slot) => slot.isNullable);
  return {
    kind: 'read',
    read: toRead(expression, mayBeAbsent),
    currency: null,
    sort: expression.type.kind,
    element: variable.element,
    // A written-out element may be any term, an amount may lack its currency.
    mayBeUnknown: true,
    cost: 0,
  };
}

function resolve({ root, steps }: FieldRead, scope: Scope): SlotPlace | null {
  if (root === 'payload') return placeOf(scope.shape, steps);
  if (isResult(root, scope)) return placeOf(scope.result!, steps);
  const slots = scope.variables.get(root)?.slots ?? [];
  const places = slots.map(({ type }) => (type.kind === 'record' ? placeOf(type.shape, steps) : null));
  const place = places.find((candidate) => candidate !== null);
  if (place === undefined) return null;
  const mayBeAbsent =
    slots.some((slot) => slot.isNullable) ||
    places.some((candidate) => candidate === null || candidate.mayBeAbsent);
  return { ...place, mayBeAbsent };
}

/** What a call returns is as little known before it is reported as what has to be signed is without a signature. */
function isResult(root: string, { variables, result }: Scope): boolean {
  return root === 'result' && !variables.has(root) && result !== null;
}

function toRead(read: FieldRead, mayBeAbsent: boolean): ReadFrom {
  const { root, steps, isSecret } = read;
  return { root, steps, isDeclared: true, ...allSigners(read), isSecret, mayBeAbsent };
}

/** The field that names an amount's currency, beside it or in a record around it. */
function currencyOf(expression: FieldRead, place: SlotPlace, { shape }: Scope): CurrencyRead | null {
  const { type } = place.slot;
  const at = currencyPlace(type, expression);
  if (type.kind !== 'money' || at === null) return null;
  const field =
    type.currencyRecord === undefined
      ? fieldOf(place.owner, type.currencyField!)
      : (placeOf(shape, at.steps)?.slot as Field | undefined);
  if (field == null) return null;
  const { root, steps } = at;
  const isOpen = field.isOptional || field.isNullable;
  const { isSecret } = expression;
  const mayBeAbsent = place.mayBeAbsent || isOpen;
  const vouching = allSigners(expression, field);
  const read: ReadFrom = { root, steps, isDeclared: true, ...vouching, isSecret, mayBeAbsent };
  const values = field.type.kind === 'text' ? field.type.values : null;
  const isOne = values?.length === 1 && !isOpen && !field.isSigned;
  return { read, known: isOne ? (values[0] ?? null) : null };
}

function elementOf(type: Extract<Type, { kind: 'list' }>): Element {
  const inner = type.element.type;
  return { sort: inner.kind, encoding: 'json', element: inner.kind === 'list' ? elementOf(inner) : null };
}

function isUncertain(currency: CurrencyRead | null): boolean {
  return currency !== null && (currency.read.mayBeAbsent || currency.read.isSigned);
}

/** Points of time and addresses are parsed. */
function readingCost(type: Type): number {
  switch (type.kind) {
    case 'date':
    case 'timestamp':
    case 'datetime':
    case 'duration':
    case 'ip':
      return 6;
    case 'money':
      return 1;
    case 'boolean':
    case 'text':
    case 'number':
    case 'integer':
    case 'list':
    case 'record':
    case 'any':
      return 0;
  }
}
