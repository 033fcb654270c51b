// The leaves of an action's requests: fields by path, facts, the time, and functions of one text or list.
// Each leaf knows which values its declaration admits, and is tied to the leaf that holds it or that it is a
// function of.

import { currenciesOfRecordsBelow, currencyLocation } from '../../language/model/currency.ts';
import type { Expression, FactRead, FieldRead } from '../../language/model/expression.ts';
import { riskTiers } from '../../language/model/request.ts';
import { signedMark } from '../../language/model/signers.ts';
import {
  anyText,
  type Field,
  listOf,
  type Range,
  type Shape,
  type Slot,
  type Type,
} from '../../language/model/type.ts';
import { type UnknownValue, unknown, type Value } from '../../language/model/value.ts';
import { calls } from '../../language/spec/calls.ts';
import { isOfTextType } from '../../language/spec/payload.ts';
import { isCurrency, unitDigits } from '../../language/value/currency.ts';
import {
  type Decimal,
  equal,
  fractionDigits,
  fromNumber,
  isInRange,
  zero,
} from '../../language/value/decimal.ts';
import { memo } from '../../language/value/memo.ts';
import { cellPlaceOf } from '../cells/cut.ts';
import {
  type Cell,
  type Domain,
  isCell,
  isValue,
  isWhere,
  type Leaf,
  noStates,
  type States,
} from '../cells/leaf.ts';
import { horizon, isCovered, usualMs } from '../cells/times.ts';
import { notLiteral } from '../solver/literal.ts';
import type { Elements, ProofContext } from './context.ts';

/** The leaf that the expression reads; null when the expression is no leaf. */
export function leafOf(ctx: ProofContext, expression: Expression, elements: Elements): Leaf | null {
  switch (expression.kind) {
    case 'field':
      return fieldLeaf(ctx, expression, elements);
    case 'fact':
      return factLeaf(ctx, expression);
    case 'now':
      return nowLeaf(ctx);
    case 'call':
      return callLeaf(ctx, expression, elements);
    default:
      return null;
  }
}

/** A place of the payload or of an element, with the values that it may hold. */
export interface FieldLocation {
  readonly key: string;
  readonly slot: Slot;
  readonly states: States;
  /** The record that holds the place; null for an element of a list. */
  readonly shape: Shape | null;
}

export function locationOfField(
  ctx: ProofContext,
  field: FieldRead,
  elements: Elements,
): FieldLocation | null {
  const element = elements.get(field.root);
  if (field.root !== 'payload' && element?.kind !== 'slot') return null;
  const start = element?.kind === 'slot' ? element.slot : null;
  let shape: Shape | null = start === null ? ctx.action.shape : recordShape(start);
  let slot: Slot | Field | null = start;
  let holder: Shape | null = null;
  let isAbsent = false;
  for (const step of field.steps) {
    isAbsent ||= slot?.isNullable === true || slot?.type.kind === 'any';
    const next: Field | undefined = shape?.fields.find(({ name }) => name === step);
    if (next === undefined) return null;
    isAbsent ||= next.isOptional;
    slot = next;
    holder = shape;
    shape = recordShape(next);
  }
  if (slot === null) return null;
  const base = element?.kind === 'slot' ? element.key : 'payload';
  return {
    key: [base, ...field.steps].join('.') + signedMark(field),
    slot,
    states: { absent: isAbsent, null: slot.isNullable || slot.type.kind === 'any', unknown: field.isSigned },
    shape: holder,
  };
}

function recordShape({ type }: Slot): Shape | null {
  return type.kind === 'record' ? type.shape : null;
}

export function fieldLeaf(ctx: ProofContext, field: FieldRead & Expression, elements: Elements): Leaf | null {
  const location = locationOfField(ctx, field, elements);
  if (location === null) return null;
  const cached = ctx.leaves.get(location.key);
  if (cached !== undefined) return cached;
  const { type } = location.slot;
  const leaf = addLeaf(ctx, {
    ...plainLeaf(ctx, location.key, domainOf(type)),
    states: location.states,
    values: type.kind === 'text' ? (type.values ?? []) : [],
    fits: fitsPlace(location, ctx.action.shape),
    ...(type.kind === 'text' ? { patterns: type.patterns } : {}),
    ...('length' in type ? { lengths: type.length } : {}),
    marks: 'range' in type ? rangeMarks(type.range) : [],
    isMoney: type.kind === 'money',
    usual: usualOf(type),
  });
  if (type.kind === 'money') tieToCurrency(ctx, leaf, { type, field, elements });
  // A field for which an enforcement point vouches stays free to be known or unknown, whatever conditions
  // require of the point.
  if (field.isSigned && field.signers === undefined) tieToSignature(ctx, leaf);
  if (field.steps.length > 0) tieToHolder(ctx, leaf, field, elements);
  return leaf;
}

/** An amount is in whole units of its currency. */
function tieToCurrency(
  ctx: ProofContext,
  leaf: Leaf,
  {
    type,
    field,
    elements,
  }: { readonly type: Type; readonly field: FieldRead & Expression; readonly elements: Elements },
): void {
  const at = currencyLocation(type, field);
  const location = at === null ? null : locationOfField(ctx, { ...field, ...at }, elements);
  if (at === null || location === null) return;
  const currency = fieldLeaf(ctx, { ...field, ...at, type: location.slot.type }, elements);
  if (currency === null) return;
  ctx.afterCut.push(() => {
    for (const digits of new Set(leaf.cells.map(digitsOfCell).filter((one) => one > 0))) {
      const isSoFine = isWhere(leaf, (cell) => digitsOfCell(cell) === digits, ctx.circuit);
      const isFit = isWhere(currency, (cell) => admits(cell, digits), ctx.circuit);
      ctx.circuit.require([notLiteral(isSoFine), isFit]);
    }
  });
}

/** The fewest decimal places of the numbers of a cell; 0 for a state that is no number. */
function digitsOfCell({ value }: Cell): number {
  return isValue(value) ? fractionDigits(value as Decimal) : 0;
}

/** Whether amounts in the currency of a cell may have the decimal places; so do those in an open one. */
function admits({ value, isOther }: Cell, digits: number): boolean {
  return !isValue(value) || isOther || typeof value !== 'string' || unitDigits(value) >= digits;
}

const noLengths: Range = { low: null, high: null };

export function plainLeaf({ set }: ProofContext, key: string, domain: Domain): Leaf {
  return {
    key,
    set,
    domain,
    states: noStates,
    values: [],
    fits: () => true,
    patterns: [],
    lengths: noLengths,
    base: null,
    atoms: [],
    atomsByText: new Map(),
    isEachApart: false,
    isMoney: false,
    usual: null,
    marks: [],
    cells: [],
    order: [],
    indexes: new Map(),
    rest: null,
  };
}

export function addLeaf(ctx: ProofContext, leaf: Leaf): Leaf {
  ctx.leaves.set(leaf.key, leaf);
  return leaf;
}

function domainOf(type: Type): Domain {
  switch (type.kind) {
    case 'boolean':
      return 'boolean';
    case 'text':
      return type.values === null ? 'text' : 'closed';
    case 'number':
    case 'datetime':
    case 'money':
      return 'number';
    case 'integer':
    case 'date':
      return 'integer';
    case 'timestamp':
      return 'time';
    case 'ip':
      return 'address';
    case 'list':
    case 'record':
    case 'any':
    case 'duration':
      return 'presence';
  }
}

/** Whether the place admits a value; for texts, the definition's own check of payloads decides. */
function fitsPlace({ slot, shape, key }: FieldLocation, payload: Shape): (value: Value) => boolean {
  const { type } = slot;
  if ('range' in type) return (value) => isInRange(type.range, value as Decimal);
  if (type.kind !== 'text') return () => true;
  const name = key.split('.').at(-1);
  const isOfMoney =
    shape?.fields.some((one) => one.type.kind === 'money' && one.type.currencyField === name) ||
    currenciesOfRecordsBelow(payload).has(key.replace('payload.', ''));
  const isOfType = memo(
    textFits,
    type,
    () => (value) => typeof value !== 'string' || isOfTextType(type, value),
  );
  return isOfMoney
    ? (value) => isOfType(value) && (typeof value !== 'string' || isCurrency(value))
    : isOfType;
}

/** One function per type, so that results cached by the function are found again. */
const textFits = new WeakMap<Type, Leaf['fits']>();

const usualTime = fromNumber(usualMs / 1000);
export const usualDate = fromNumber(Math.floor(usualMs / 86_400_000));

function usualOf({ kind }: Type): Decimal | null {
  if (kind === 'date') return usualDate;
  return kind === 'timestamp' || kind === 'datetime' ? usualTime : null;
}

function rangeMarks({ low, high }: Range): Decimal[] {
  return [low, high].filter((end) => end !== null);
}

/** Rules know a signed field exactly when the request is signed. */
function tieToSignature(ctx: ProofContext, leaf: Leaf): void {
  const signed = signedLeaf(ctx);
  ctx.afterCut.push(() => {
    const isSigned = isWhere(signed, ({ value }) => value === true, ctx.circuit);
    ctx.circuit.requireEqual(isUnknown(ctx, leaf), notLiteral(isSigned));
  });
}

export function isUnknown({ circuit }: ProofContext, leaf: Leaf): number {
  return isWhere(leaf, ({ value }) => value === unknown, circuit);
}

function isGone({ circuit }: ProofContext, leaf: Leaf): number {
  return isWhere(leaf, ({ value }) => value === undefined || value === null, circuit);
}

/** True if the leaf is neither absent nor null nor unknown. */
export function hasValue({ circuit }: ProofContext, leaf: Leaf): number {
  return isWhere(leaf, ({ value }) => isValue(value), circuit);
}

/**
 * Ties a field to its record: without the record the field is absent, and with the record a required field is
 * present.
 */
function tieToHolder(ctx: ProofContext, leaf: Leaf, field: FieldRead & Expression, elements: Elements): void {
  const steps = field.steps.slice(0, -1);
  if (steps.length === 0 && field.root === 'payload') return;
  const holder = fieldLeaf(ctx, { ...field, steps }, elements);
  if (holder === null) return;
  const name = field.steps.at(-1);
  const isOptional = locationOfField(ctx, field, elements)?.shape?.fields.find(
    (one) => one.name === name,
  )?.isOptional;
  ctx.afterCut.push(() => {
    const isAbsent = isWhere(leaf, ({ value }) => value === undefined, ctx.circuit);
    ctx.circuit.require([notLiteral(isGone(ctx, holder)), isAbsent, isUnknown(ctx, leaf)]);
    if (isOptional === false)
      ctx.circuit.require([isGone(ctx, holder), isUnknown(ctx, holder), notLiteral(isAbsent)]);
  });
}

function factLeaf(ctx: ProofContext, { fact }: Pick<FactRead, 'fact'>): Leaf | null {
  if (fact.startsWith('action.')) return null;
  const cached = ctx.leaves.get(fact);
  if (cached !== undefined) return cached;
  const leaf = addLeaf(ctx, newFactLeaf(ctx, fact));
  if (fact === 'request.delegated' || fact === 'request.chain') tieToDelegate(ctx, leaf);
  return leaf;
}

/** The last name of the chain of delegations; unknown exactly if the chain is empty. */
export function delegateLeaf(ctx: ProofContext): Leaf {
  const fact = 'request.delegate';
  return ctx.leaves.get(fact) ?? addLeaf(ctx, newFactLeaf(ctx, fact));
}

/** A request is delegated, and its chain has a length, exactly if it has a delegate. */
function tieToDelegate(ctx: ProofContext, leaf: Leaf): void {
  const delegate = delegateLeaf(ctx);
  ctx.afterCut.push(() => {
    const { circuit } = ctx;
    const isThere = hasValue(ctx, delegate);
    if (leaf.key === 'request.delegated')
      return circuit.requireEqual(
        isWhere(leaf, ({ value }) => value === true, circuit),
        isThere,
      );
    const length = ctx.leaves.get(`length(${leaf.key})`);
    if (length === undefined) return;
    const isEmpty = isWhere(length, ({ value }) => isValue(value) && equal(value as Decimal, zero), circuit);
    circuit.requireEqual(isEmpty, notLiteral(isThere));
  });
}

function newFactLeaf(ctx: ProofContext, fact: FactRead['fact']): Leaf {
  const states = { ...noStates, unknown: fact !== 'request.delegated' && fact !== 'request.chain' };
  if (fact === 'agent.risk_tier') return { ...plainLeaf(ctx, fact, 'closed'), states, values: riskTiers };
  const domains: Partial<Record<typeof fact, Domain>> = {
    'request.ip': 'address',
    'request.signed': 'boolean',
    'request.delegated': 'boolean',
    'request.chain': 'presence',
    'agent.tags': 'presence',
    'request.user.roles': 'presence',
    'request.user.groups': 'presence',
  };
  return { ...plainLeaf(ctx, fact, domains[fact] ?? 'text'), states };
}

function signedLeaf(ctx: ProofContext): Leaf {
  return ctx.leaves.get('request.signed') ?? addLeaf(ctx, newFactLeaf(ctx, 'request.signed'));
}

function nowLeaf(ctx: ProofContext): Leaf {
  const cached = ctx.leaves.get('now');
  if (cached !== undefined) return cached;
  const leaf = {
    ...plainLeaf(ctx, 'now', 'time'),
    usual: usualTime,
    marks: [horizon.from, horizon.to].map(fromNumber),
  };
  return addLeaf(ctx, { ...leaf, fits: (value) => isCovered(leaf, value as Decimal) });
}

export const tagElement: Slot = listOf(anyText).element;

const functionsOfText = ['lower', 'trim', 'fold', 'domain', 'host', 'scheme', 'port', 'length'] as const;

function callLeaf(
  ctx: ProofContext,
  call: Extract<Expression, { readonly kind: 'call' }>,
  elements: Elements,
): Leaf | null {
  const { builtin, args } = call;
  if (builtin === 'today') return nowLeaf(ctx);
  if (args.length !== 1 || !functionsOfText.some((name) => name === builtin)) return null;
  const counted = builtin === 'length' ? linkedText(args[0]!) : null;
  const base = leafOf(ctx, counted ?? args[0]!, elements);
  if (base === null) return null;
  if (base.domain !== 'text' && !(base.domain === 'presence' && builtin === 'length')) return null;
  const key = counted === null ? `${builtin}(${base.key})` : `length(links(${base.key}))`;
  const cached = ctx.leaves.get(key);
  if (cached !== undefined) return cached;
  base.isEachApart = true;
  const isNumber = builtin === 'length' || builtin === 'port';
  const of = (value: Value): Value | UnknownValue =>
    calls[builtin]([counted === null ? value : (calls.links([value], 0) as Value)], 0);
  const lengths = builtin === 'length' && counted === null ? base.lengths : noLengths;
  const derived = addLeaf(ctx, {
    ...plainLeaf(ctx, key, isNumber ? 'integer' : 'text'),
    states: { ...noStates, unknown: true },
    fits: (value) => !isNumber || isInRange({ ...lengths, low: lengths.low ?? zero }, value as Decimal),
    marks: isNumber ? [zero, ...rangeMarks(lengths)] : [],
    base: { leaf: base, of },
  });
  ctx.afterCut.push(() =>
    tieToBase(ctx, derived, !base.key.startsWith('links(') && isAlwaysKnown(builtin, args[0]!)),
  );
  return derived;
}

/** The text whose links are taken; null when the expression is no call of `links`. */
function linkedText(list: Expression): Expression | null {
  return list.kind === 'call' && list.builtin === 'links' ? (list.args[0] ?? null) : null;
}

/**
 * Whether the function has a value for each value of its argument. A web address has a host and a scheme,
 * else the payload is refused; it may lack a port.
 */
function isAlwaysKnown(builtin: string, { type }: Expression): boolean {
  if (builtin === 'host' || builtin === 'scheme')
    return type.kind === 'text' && (type.of === 'url' || type.of === 'web_address');
  return builtin !== 'port';
}

/**
 * Ties a function to its argument: unknown when the argument has no value, and the definition's result when
 * the argument is a named value.
 */
function tieToBase(ctx: ProofContext, leaf: Leaf, isKnown: boolean): void {
  const { circuit } = ctx;
  const base = leaf.base!;
  const isDerivedUnknown = isUnknown(ctx, leaf);
  circuit.require([hasValue(ctx, base.leaf), isDerivedUnknown]);
  if (isKnown) circuit.require([notLiteral(hasValue(ctx, base.leaf)), notLiteral(isDerivedUnknown)]);
  for (const [at, { value, isOther }] of base.leaf.cells.entries()) {
    if (isOther || !isValue(value)) continue;
    const location = derivedPlace(leaf, base.of(value));
    if (location >= 0)
      circuit.require([notLiteral(isCell(base.leaf, at, circuit)), isCell(leaf, location, circuit)]);
  }
}

function derivedPlace(leaf: Leaf, value: Value | UnknownValue): number {
  const index = cellPlaceOf(leaf, value);
  return index >= 0 ? index : leaf.cells.findIndex(({ isOther }) => isOther);
}
