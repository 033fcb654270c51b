// Resolves reads of the payload and of quantifier variables against one action's shape. A field that the
// shape does not declare resolves to nothing, even when the shape is open, because no policy sees such keys.

import { currencyLocation } from '../../model/currency.ts';
import type { FieldRead } from '../../model/expression.ts';
import { allSigners } from '../../model/signers.ts';
import type { Field, Shape, Slot, Type } from '../../model/type.ts';
import type { CurrencyRead, Element, ReadFrom, ReadTerm } from '../program.ts';
import { fieldOf, type ResolvedSlot, resolveSlot } from '../slot.ts';

/** The meaning of names at one place of an expression. */
export interface Scope {
  readonly shape: Shape;
  /** The shape of a call's result; null when the action declares none, or within a let. */
  readonly result: Shape | null;
  readonly variables: ReadonlyMap<string, Variable>;
}

/**
 * A quantifier's variable, with the slots of its sources' elements; no slots when all sources are written
 * out.
 */
export interface Variable {
  readonly slots: readonly Slot[];
  readonly element: Element | null;
}

/**
 * Returns the read as a term. Null when the action does not declare the field, unless other actions require a
 * signature for it: then the read is unknown without a signature.
 */
export function readTerm(read: FieldRead, scope: Scope): ReadTerm | null {
  const expression = isResult(read.root, scope) ? { ...read, isSigned: true } : read;
  const variable = scope.variables.get(expression.root);
  if (variable !== undefined && expression.steps.length === 0) return variableTerm(expression, variable);
  const resolved = resolve(expression, scope);
  if (resolved === null) return expression.isSigned ? undeclaredTerm(expression) : null;
  const { type } = resolved.slot;
  const currency = type.kind === 'money' ? currencyOf(expression, resolved, scope) : null;
  return {
    kind: 'read',
    read: toRead(expression, resolved.mayBeAbsent),
    currency,
    sort: type.kind,
    element: type.kind === 'list' ? elementOf(type) : null,
    mayBeUnknown:
      resolved.mayBeAbsent || expression.isSigned || isUncertain(currency) || mayBeTooLong(type, scope),
    cost: readingCost(type),
  };
}

/**
 * Whether a value may be too long to go through in every round of a quantifier. Within quantifiers such a
 * value is unknown.
 */
export function mayBeTooLong({ kind }: Pick<Type, 'kind'>, { variables }: Scope): boolean {
  return variables.size > 0 && (kind === 'text' || kind === 'list');
}

/** Returns the slots of the elements of a read whose type is a list. */
export function elementSlots(expression: FieldRead, scope: Scope): readonly Slot[] {
  const variable = scope.variables.get(expression.root);
  const lists =
    variable !== undefined && expression.steps.length === 0
      ? variable.slots
      : [resolve(expression, scope)?.slot];
  return lists.flatMap((slot) => (slot?.type.kind === 'list' ? [slot.type.element] : []));
}

/**
 * Returns the read of a field that this action does not declare and for which other actions require a
 * signature. Without the signature the field is unknown in this action as well.
 */
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
    // A written-out element may be any term, and an amount may lack its currency.
    mayBeUnknown: true,
    cost: 0,
  };
}

function resolve({ root, steps }: FieldRead, scope: Scope): ResolvedSlot | null {
  if (root === 'payload') return resolveSlot(scope.shape, steps);
  if (isResult(root, scope)) return resolveSlot(scope.result!, steps);
  const slots = scope.variables.get(root)?.slots ?? [];
  const places = slots.map(({ type }) => (type.kind === 'record' ? resolveSlot(type.shape, steps) : null));
  const resolved = places.find((candidate) => candidate !== null);
  if (resolved === undefined) return null;
  const mayBeAbsent =
    slots.some((slot) => slot.isNullable) ||
    places.some((candidate) => candidate === null || candidate.mayBeAbsent);
  return { ...resolved, mayBeAbsent };
}

/**
 * Whether the root is the result of a call. Before a result is reported it is unknown, like a signed field
 * without its signature.
 */
function isResult(root: string, { variables, result }: Scope): boolean {
  return root === 'result' && !variables.has(root) && result !== null;
}

function toRead(read: FieldRead, mayBeAbsent: boolean): ReadFrom {
  const { root, steps, isSecret } = read;
  return { root, steps, isDeclared: true, ...allSigners(read), isSecret, mayBeAbsent };
}

/**
 * Returns the read of the field that names an amount's currency, beside the amount or in a record around it;
 * null when there is none.
 */
function currencyOf(expression: FieldRead, resolved: ResolvedSlot, { shape }: Scope): CurrencyRead | null {
  const { type } = resolved.slot;
  const at = currencyLocation(type, expression);
  if (type.kind !== 'money' || at === null) return null;
  const field =
    type.currencyRecord === undefined
      ? fieldOf(resolved.owner, type.currencyField!)
      : (resolveSlot(shape, at.steps)?.slot as Field | undefined);
  if (field == null) return null;
  const { root, steps } = at;
  const isOpen = field.isOptional || field.isNullable;
  const { isSecret } = expression;
  const mayBeAbsent = resolved.mayBeAbsent || isOpen;
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

/** The cost of reading a value of a type. Dates, times and addresses have to be parsed. */
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
