// Finds the values that conditions leave: a conjunction becomes, for each field, the set of values that
// remain. If no value remains, the conjunction is never true. Sound, not complete: a test that is not
// understood leaves all values.

import {
  type Compare,
  type Expression,
  type FieldRead,
  mirroredComparison,
  oppositeComparison,
} from '../../model/expression.ts';
import type { Range, Type } from '../../model/type.ts';
import { unknown, type Value } from '../../model/value.ts';
import {
  add,
  compare,
  type Decimal,
  floor,
  fromNumber,
  isInteger,
  subtract,
  zero,
} from '../../value/decimal.ts';
import { length } from '../../value/text.ts';
import { constantValue, type ValueOfLet } from './constants.ts';
import { trimmedList } from './list-forms.ts';
import { valueAs } from './literals.ts';
import { structureOf } from './structure.ts';
import {
  areDisjointSets,
  type DomainAtom,
  type End,
  intersection,
  isEmpty,
  type Texts,
  type Values,
} from './value-sets.ts';

/** Whether the condition is true for no values of the fields that it tests. */
export function isNeverTrue(condition: Expression, valueOfLet: ValueOfLet): boolean {
  return isImpossible(domainAtomsOf(condition, true, valueOfLet));
}

/** Whether the condition is false for no value, and never unknown. */
export function isAlwaysTrue(condition: Expression, valueOfLet: ValueOfLet): boolean {
  const atoms = domainAtomsOf(condition, false, valueOfLet);
  return isImpossible(atoms.filter((atom) => !atom.mayBeUnknown));
}

const nothingLeft: ReadonlyMap<string, Values> = new Map();

/** Whether the atoms leave no value for one of their keys; `before` holds the values already left. */
export function isImpossible(
  atoms: readonly DomainAtom[],
  before: ReadonlyMap<string, Values> = nothingLeft,
): boolean {
  const [first] = atoms;
  if (first === undefined) return false;
  if (atoms.length === 1) return areDisjointSets(before.get(first.key) ?? first.all, first.values);
  if (atoms.length <= fewAtoms && haveOwnKeys(atoms)) {
    return atoms.some(({ key, values, all }) => areDisjointSets(before.get(key) ?? all, values));
  }
  const left = new Map<string, Values>();
  for (const { key, values, all } of atoms) {
    const rest = intersection(left.get(key) ?? before.get(key) ?? all, values);
    if (isEmpty(rest)) return true;
    left.set(key, rest);
  }
  return false;
}

/**
 * The most atoms for which duplicate keys are found without a map. Most conditions state one fact about each
 * of a few values.
 */
const fewAtoms = 8;

function haveOwnKeys(atoms: readonly DomainAtom[]): boolean {
  for (let at = 1; at < atoms.length; at++) {
    const { key } = atoms[at]!;
    for (let before = 0; before < at; before++) if (atoms[before]!.key === key) return false;
  }
  return true;
}

/** Returns the values that all atoms together leave, by key. */
export function valuesLeft(atoms: readonly DomainAtom[]): ReadonlyMap<string, Values> {
  const left = new Map<string, Values>();
  for (const { key, values, all } of atoms) left.set(key, intersection(left.get(key) ?? all, values));
  return left;
}

const noAtoms: readonly DomainAtom[] = [];

/**
 * Returns what the parts of a conjunction state; when `isTrue` is false, what follows from the condition
 * being false.
 */
export function domainAtomsOf(
  node: Expression,
  isTrue: boolean,
  valueOfLet: ValueOfLet,
): readonly DomainAtom[] {
  switch (node.kind) {
    case 'not':
      return domainAtomsOf(node.operand, !isTrue, valueOfLet);
    case 'and':
    case 'or': {
      if ((node.kind === 'and') !== isTrue) return noAtoms;
      const atoms: DomainAtom[] = [];
      for (const operand of node.operands) {
        for (const atom of domainAtomsOf(operand, isTrue, valueOfLet)) atoms.push(atom);
      }
      return trimmedList(atoms);
    }
    case 'let': {
      const value = valueOfLet(node.id);
      return value === null || value === undefined ? [] : domainAtomsOf(value, isTrue, valueOfLet);
    }
    default:
      return knownAtoms(node, isTrue, valueOfLet);
  }
}

/** Returns what a single test states; computed once if there is a cache. */
function knownAtoms(node: Expression, isTrue: boolean, valueOfLet: ValueOfLet): readonly DomainAtom[] {
  const cachedAtoms = isTrue ? valueOfLet.known?.whereTrue : valueOfLet.known?.whereFalse;
  const cached = cachedAtoms?.get(node);
  if (cached !== undefined) return cached;
  const atoms = testAtoms(node, isTrue, valueOfLet);
  cachedAtoms?.set(node, atoms);
  const opposite = isTrue ? valueOfLet.known?.whereFalse : valueOfLet.known?.whereTrue;
  if (opposite?.has(node) === false && saysTextsOfOne(node)) opposite.set(node, atoms.map(turnedRound));
  return atoms;
}

/**
 * Whether the test states that one value is, or is not, one of some texts. What its opposite states is then
 * the complement.
 */
function saysTextsOfOne({ kind }: Expression): boolean {
  return kind !== 'compare' && kind !== 'in-range';
}

function turnedRound(atom: DomainAtom): DomainAtom {
  if (atom.values.kind === 'range') return atom;
  const { texts, isComplement } = atom.values;
  if (atom.key.startsWith('condition '))
    return { ...atom, values: texts === onlyTrue.texts ? onlyFalse : onlyTrue };
  return { ...atom, values: { kind: 'texts', texts, isComplement: !isComplement } };
}

function testAtoms(node: Expression, isTrue: boolean, valueOfLet: ValueOfLet): readonly DomainAtom[] {
  switch (node.kind) {
    case 'compare':
      return comparisonAtoms(node, isTrue, valueOfLet);
    case 'in-range':
      return rangeAtoms(node, isTrue, valueOfLet);
    case 'in-elements':
      return elementAtoms(node, isTrue, valueOfLet);
    default:
      return [conditionAtom(node, isTrue)];
  }
}

const onlyTrue: Texts = { kind: 'texts', texts: new Set(['true']), isComplement: false };
const onlyFalse: Texts = { kind: 'texts', texts: new Set(['false']), isComplement: false };
const truths: Values = { kind: 'texts', texts: new Set(['true', 'false']), isComplement: false };

/** Treats a condition as one value that is true or false. */
function conditionAtom(node: Expression, isTrue: boolean): DomainAtom {
  const literal = node.kind === 'literal' ? node.value : null;
  const all: Values =
    literal === null ? truths : { kind: 'texts', texts: new Set([String(literal)]), isComplement: false };
  const isKnown =
    node.kind === 'literal' || ((node.kind === 'field' || node.kind === 'has') && !isSigned(node));
  return {
    key: `condition ${structureOf(node)}`,
    values: isTrue ? onlyTrue : onlyFalse,
    all,
    mayBeUnknown: !isKnown,
  };
}

function isSigned(node: Extract<Expression, { kind: 'field' | 'has' }>): boolean {
  return node.kind === 'field' ? node.isSigned : node.subject.isSigned;
}

type Operator = Compare['operator'];

function comparisonAtoms(node: Compare, isTrue: boolean, valueOfLet: ValueOfLet): readonly DomainAtom[] {
  const operator = isTrue ? node.operator : oppositeComparison[node.operator];
  const right = constantValue(node.right, valueOfLet);
  if (right !== null) return right === unknown ? [] : atomOf(node.left, operator, right, valueOfLet);
  const left = constantValue(node.left, valueOfLet);
  if (left === null || left === unknown) return [];
  return atomOf(node.right, mirroredComparison[operator], left, valueOfLet);
}

const one = fromNumber(1);
const noText: Values = { kind: 'texts', texts: new Set(), isComplement: false };

/** Whether a text type admits the text by its kind, patterns and length. */
function fitsText(type: Type, text: string): boolean {
  if (type.kind !== 'text' || type.values !== null) return true;
  const { low, high } = type.length;
  const size = fromNumber(length(text));
  if ((low !== null && compare(size, low) < 0) || (high !== null && compare(size, high) > 0)) return false;
  return valueAs(text, type) !== null;
}

/** Returns what `subject operator constant` states. */
function atomOf(
  subject: Expression,
  operator: Operator,
  constant: Value,
  valueOfLet: ValueOfLet,
): readonly DomainAtom[] {
  const subjectKey = domainKeyOf(subject, constant, valueOfLet);
  const isNone = operator === '==' && typeof constant === 'string' && !fitsText(subject.type, constant);
  const values = isNone ? noText : valuesOf(operator, constant);
  if (subjectKey === null || values === null) return [];
  return [{ ...subjectKey, values: isCounted(subject) ? wholeEnds(values) : values }];
}

/** Whether the values of the subject are whole numbers. */
function isCounted(subject: Expression): boolean {
  return subject.type.kind === 'integer' || (subject.kind === 'call' && subject.builtin === 'length');
}

/** Turns a range of whole numbers into one with included ends: `x > 4` becomes `x >= 5`. */
function wholeEnds(values: Values): Values {
  if (values.kind !== 'range') return values;
  return { kind: 'range', low: wholeLow(values.low), high: wholeHigh(values.high) };
}

function wholeLow(low: End | null): End | null {
  if (low === null || (isInteger(low.value) && !low.isOpen)) return low;
  const value = add(floor(low.value), one);
  return value === null ? low : { value, isOpen: false };
}

function wholeHigh(high: End | null): End | null {
  if (high === null || (isInteger(high.value) && !high.isOpen)) return high;
  const value = isInteger(high.value) ? subtract(high.value, one) : floor(high.value);
  return value === null ? high : { value, isOpen: false };
}

function rangeAtoms(
  node: Extract<Expression, { kind: 'in-range' }>,
  isTrue: boolean,
  valueOfLet: ValueOfLet,
): readonly DomainAtom[] {
  if (!isTrue) return [];
  const low = constantValue(node.low, valueOfLet);
  const high = constantValue(node.high, valueOfLet);
  return [
    ...(low === null || low === unknown ? [] : atomOf(node.subject, '>=', low, valueOfLet)),
    ...(high === null || high === unknown ? [] : atomOf(node.subject, '<=', high, valueOfLet)),
  ];
}

function elementAtoms(
  node: Extract<Expression, { kind: 'in-elements' }>,
  isTrue: boolean,
  valueOfLet: ValueOfLet,
): readonly DomainAtom[] {
  const texts = constantTexts(node.elements, valueOfLet);
  if (texts === null) return [conditionAtom(node, isTrue)];
  const [first = ''] = texts;
  const subjectKey = domainKeyOf(node.subject, first, valueOfLet);
  if (subjectKey === null) return [conditionAtom(node, isTrue)];
  return [{ ...subjectKey, values: { kind: 'texts', texts, isComplement: !isTrue } }];
}

/** The texts of a list of constants; null for any other list. */
function constantTexts(list: Expression, valueOfLet: ValueOfLet): ReadonlySet<string> | null {
  if (list.kind === 'text-list') return new Set(list.texts);
  if (list.kind !== 'list') return null;
  const texts = new Set<string>();
  for (const element of list.elements) {
    const text = constantValue(element, valueOfLet);
    if (typeof text !== 'string') return null;
    texts.add(text);
  }
  return texts;
}

/**
 * Returns what a comparison with a constant tests, and which values that can have; null when it is not known.
 */
function domainKeyOf(
  subject: Expression,
  constant: Value,
  valueOfLet: ValueOfLet,
): Omit<DomainAtom, 'values'> | null {
  const other = constantValue(subject, valueOfLet);
  if (other !== null && other !== unknown) return constantPlace(other);
  if (subject.kind === 'call' && subject.builtin === 'length') return lengthPlace(subject.args[0]);
  if (subject.kind === 'fact') {
    const all = allOf(subject.type);
    const isKnown = subject.fact.startsWith('action.');
    return all === null ? null : { key: subject.fact, all, mayBeUnknown: !isKnown };
  }
  if (subject.kind !== 'field') return null;
  const all = allOf(subject.type);
  if (all === null) return null;
  const currency = isMoney(constant) ? constant.currency : null;
  const mayBeUnknown = subject.isSigned || currency !== null;
  return { key: `${fieldKey(subject)} ${currency ?? ''}`, all, mayBeUnknown };
}

/** When both sides are constant, the only possible value. */
function constantPlace(value: Value): Omit<DomainAtom, 'values'> | null {
  const all = valuesOf('==', value);
  return all === null ? null : { key: `constant ${structureOf(value)}`, all, mayBeUnknown: false };
}

function lengthPlace(of: Expression | undefined): Omit<DomainAtom, 'values'> | null {
  if (of?.kind !== 'field' || (of.type.kind !== 'text' && of.type.kind !== 'list')) return null;
  const { low, high } =
    of.type.kind === 'text' && of.type.values !== null ? { low: null, high: null } : of.type.length;
  const all = closedRange({ low: low ?? zero, high });
  return { key: `length ${fieldKey(of)}`, all, mayBeUnknown: of.isSigned };
}

/** Returns a key for a field, made of its path. */
export function fieldKey({ root, steps }: FieldRead): string {
  // All reads of one place of the payload share one array of steps.
  const cachedKey = root === 'payload' ? payloadKeys.get(steps) : undefined;
  if (cachedKey !== undefined) return cachedKey;
  const key = JSON.stringify([root, ...steps]);
  if (root === 'payload') payloadKeys.set(steps, key);
  return key;
}

const payloadKeys = new WeakMap<readonly string[], string>();

const knownValues = new WeakMap<Type, Values | null>();

/** Returns all values of a type; null for types whose values are not tracked. */
function allOf(type: Type): Values | null {
  const cached = knownValues.get(type);
  if (cached !== undefined) return cached;
  const values = valuesOfType(type);
  knownValues.set(type, values);
  return values;
}

function valuesOfType(type: Type): Values | null {
  switch (type.kind) {
    case 'text':
      return type.values === null
        ? { kind: 'texts', texts: new Set(), isComplement: true }
        : { kind: 'texts', texts: new Set(type.values), isComplement: false };
    case 'boolean':
      return truths;
    case 'ip':
    case 'list':
    case 'record':
    case 'any':
      return null;
    default:
      return closedRange(type.range);
  }
}

function closedRange({ low, high }: Range): Values {
  const end = (value: Decimal | null): End | null => (value === null ? null : { value, isOpen: false });
  return { kind: 'range', low: end(low), high: end(high) };
}

/**
 * Returns the values for which `value operator constant` is true; null when no range or set of texts
 * describes them.
 */
function valuesOf(operator: Operator, constant: Value): Values | null {
  if (typeof constant === 'string' || typeof constant === 'boolean') {
    const texts = new Set([String(constant)]);
    return operator === '==' || operator === '!='
      ? { kind: 'texts', texts, isComplement: operator === '!=' }
      : null;
  }
  const value = isMoney(constant) ? constant.amount : isDecimal(constant) ? constant : null;
  if (value === null || operator === '!=') return null;
  const end = { value, isOpen: operator === '<' || operator === '>' };
  return {
    kind: 'range',
    low: operator === '<' || operator === '<=' ? null : end,
    high: operator === '>' || operator === '>=' ? null : end,
  };
}

function isMoney(value: Value): value is Extract<Value, { readonly amount: Decimal }> {
  return typeof value === 'object' && value !== null && 'amount' in value && 'currency' in value;
}

function isDecimal(value: Value): value is Decimal {
  return typeof value === 'object' && value !== null && 'coefficient' in value;
}
