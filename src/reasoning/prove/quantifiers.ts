// Quantifiers over lists of the payload. A list gets places for elements, each of which may be filled or not:
// enough places for each quantifier to have a witness of its own. What holds with these places holds of every
// list.

import { canonicalMeaning } from '../../language/model/canonical.ts';
import { childrenOf } from '../../language/model/children.ts';
import type { Expression, FieldRead, Quantify } from '../../language/model/expression.ts';
import { isListFact } from '../../language/model/expression.ts';
import { signedMark } from '../../language/model/signers.ts';
import type { Slot } from '../../language/model/type.ts';
import { booleanType } from '../../language/model/type.ts';
import type { Value } from '../../language/model/value.ts';
import { calls } from '../../language/spec/calls.ts';
import { type Decimal, isInteger, toNumber, zero } from '../../language/value/decimal.ts';
import { memo } from '../../language/value/memo.ts';
import { constantOf } from '../cells/condition-meaning.ts';
import { isCell, isWhere, type Leaf } from '../cells/leaf.ts';
import { negatedLiteral, type Pair } from '../solver/circuit.ts';
import { notLiteral, type SolverLiteral } from '../solver/literal.ts';
import { boundList, longestOf } from './bounds.ts';
import type { Elements, ListElements, ProofContext, SlotElement } from './context.ts';
import {
  addLeaf,
  delegateLeaf,
  hasValue,
  isUnknown,
  leafOf,
  locationOfField,
  plainLeaf,
  tagElement,
} from './leaves.ts';
import { lookupCases } from './lookups.ts';
import { type Comparison, comparisonCall, literalNode, writtenOut } from './rewrite.ts';

const elementsMax = 24;

/** Null for computed lists, such as the links of a text. */
export function quantifierAtom(ctx: ProofContext, expression: Quantify, elements: Elements): Pair | null {
  const { quantifier } = expression;
  if (quantifier !== 'some' && quantifier !== 'every') return null;
  const list = elementPlaces(ctx, expression.sources, elements);
  if (list === null) return null;
  const bodies = list.keys.map((element) => bodyAt(ctx, expression, { element, elements }));
  const some = ctx.circuit.some(bodies);
  const pair = ctx.circuit.onlyIf(list.isKnown, quantifier === 'some' ? some : negatedLiteral(some));
  return expression.sources.reduce((bounded, one) => boundList(ctx, one, { pair: bounded, elements }), pair);
}

interface QuantifierLocation {
  readonly element: ElementPosition;
  readonly elements: Elements;
}

export interface ElementPosition {
  readonly isThere: SolverLiteral;
  readonly element: SlotElement;
}

/** Whether the place has an element that meets the body; for `every`, one that fails the body. */
function bodyAt(
  ctx: ProofContext,
  { quantifier, body, variable }: Quantify,
  { element, elements }: QuantifierLocation,
): Pair {
  const met = ctx.lower(body, new Map(elements).set(variable, element.element));
  const condition = quantifier === 'every' ? negatedLiteral(met) : met;
  return {
    isTrue: ctx.circuit.and([element.isThere, condition.isTrue]),
    isFalse: ctx.circuit.or([notLiteral(element.isThere), condition.isFalse]),
  };
}

/** Compares `count(...)` with a constant; null when the constant is no whole number. */
export function countAtom(
  ctx: ProofContext,
  expression: Quantify,
  { operator, constant, elements }: Comparison,
): Pair | null {
  const bound = constant as Decimal;
  if (expression.quantifier !== 'count' || !isInteger(bound)) return null;
  const list = elementPlaces(ctx, expression.sources, elements);
  if (list === null) return null;
  const { circuit } = ctx;
  const bodies = list.keys.map(({ isThere, element }) => ({
    isThere,
    ...ctx.lower(expression.body, new Map(elements).set(expression.variable, element)),
  }));
  const decided = bodies.map(({ isThere, isTrue, isFalse }) =>
    circuit.or([notLiteral(isThere), isTrue, isFalse]),
  );
  const counted = bodies.map(({ isThere, isTrue }) => ({
    literal: circuit.and([isThere, isTrue]),
    weight: 1,
  }));
  const atLeast = (least: number): SolverLiteral =>
    least <= 0 ? circuit.yes : circuit.atLeast(counted, least);
  const isTrue = countHolds(ctx, atLeast, { operator, bound: toNumber(bound) });
  const isKnown = circuit.and([list.isKnown, ...decided]);
  const pair = circuit.onlyIf(isKnown, { isTrue, isFalse: notLiteral(isTrue) });
  return expression.sources.reduce((bounded, one) => boundList(ctx, one, { pair: bounded, elements }), pair);
}

function countHolds(
  { circuit }: ProofContext,
  atLeast: (least: number) => SolverLiteral,
  { operator, bound }: { readonly operator: Comparison['operator']; readonly bound: number },
): SolverLiteral {
  switch (operator) {
    case '>':
      return atLeast(bound + 1);
    case '>=':
      return atLeast(bound);
    case '<':
      return notLiteral(atLeast(bound));
    case '<=':
      return notLiteral(atLeast(bound + 1));
    case '==':
      return circuit.and([atLeast(bound), notLiteral(atLeast(bound + 1))]);
    case '!=':
      return circuit.or([notLiteral(atLeast(bound)), atLeast(bound + 1)]);
  }
}

/**
 * The atom of `subject in payload.list`. Null equals nothing, so an element that is null is known to differ
 * from the subject.
 */
export function membershipAtom(
  ctx: ProofContext,
  expression: Extract<Expression, { readonly kind: 'in-elements' }>,
  elements: Elements,
): Pair | null {
  const list = elementPlaces(ctx, [expression.elements], elements);
  if (list === null || expression.elements.type.kind !== 'list') return null;
  const { circuit } = ctx;
  const { type } = expression.elements.type.element;
  const read: FieldRead & Expression = {
    kind: 'field',
    root: memberVariable,
    steps: [],
    isSigned: false,
    isSecret: false,
    type,
    span: expression.span,
  };
  const answers = list.keys.map(({ isThere, element }) => {
    const inside = new Map(elements).set(memberVariable, element);
    const same = ctx.lower(comparisonCall('==', read, expression.subject), inside);
    const isNull = ctx.lower({ kind: 'is-null', subject: read, type: booleanType, span: read.span }, inside);
    // With an unknown subject, even a null element leaves the answer open; the formula admits more than can
    // happen.
    const isOther = circuit.or([same.isFalse, circuit.and([isNull.isTrue, circuit.free()])]);
    return {
      isTrue: circuit.and([isThere, same.isTrue]),
      isFalse: circuit.or([notLiteral(isThere), isOther]),
    };
  });
  const isList = listIsThere(ctx, expression.elements, elements);
  const pair = circuit.onlyIf(circuit.and([list.isKnown, isList]), circuit.some(answers));
  return boundList(ctx, expression.elements, { pair, elements });
}

/**
 * Whether the list is there. A quantifier takes a missing list for empty; whether a missing list contains
 * something is unknown.
 */
function listIsThere(ctx: ProofContext, list: Expression, elements: Elements): SolverLiteral {
  const leaf = listElements(ctx, list, elements)?.leaf;
  if (leaf === undefined) return ctx.circuit.yes;
  const isThere = ctx.circuit.free(true);
  ctx.afterCut.push(() => ctx.circuit.requireEqual(isThere, hasValue(ctx, leaf)));
  return isThere;
}

const memberVariable = '$member';

interface Places {
  readonly isKnown: SolverLiteral;
  readonly keys: readonly ElementPosition[];
}

export function elementPlaces(
  ctx: ProofContext,
  sources: readonly Expression[],
  elements: Elements,
): Places | null {
  const isKnown: SolverLiteral[] = [];
  const places: ElementPosition[] = [];
  const constants = sources.map((source) => constantOf(writtenOut(ctx, source, new Map()), ctx.set));
  const over = sources
    .map((source) => listElements(ctx, source, elements)?.key ?? canonicalMeaning(source))
    .join();
  const rounds = sources.reduce((sum, source, at) => sum + roundsOver(source, constants[at]), 0);
  for (const [at, source] of sources.entries()) {
    const values = constants[at];
    if (Array.isArray(values)) {
      places.push(...constantPlaces(ctx, { source, values: values as readonly Value[], rounds, over }));
      continue;
    }
    const list = listElements(ctx, source, elements);
    if (list === null) return null;
    isKnown.push(knownLater(ctx, list));
    places.push(
      ...list.present.map((isThere, number) => ({
        isThere,
        element: { ...slotAt(list, number), rounds, over },
      })),
    );
  }
  return { isKnown: ctx.circuit.and(isKnown), keys: places };
}

function roundsOver(source: Expression, constant: unknown): number {
  return Array.isArray(constant) ? constant.length : longestOf(source);
}

interface ConstantList {
  readonly source: Expression;
  readonly values: readonly Value[];
  readonly rounds: number;
  readonly over: string;
}

function constantPlaces(
  { circuit }: ProofContext,
  { source, values, rounds, over }: ConstantList,
): readonly ElementPosition[] {
  const type = source.type.kind === 'list' ? source.type.element.type : source.type;
  return values.map((value) => ({
    isThere: circuit.yes,
    element: { kind: 'constant', literal: literalNode(value, { type, span: source.span }), rounds, over },
  }));
}

function slotAt({ key, element }: ListElements, at: number) {
  const isDelegate = key === 'request.chain' && at === 0;
  return { kind: 'slot', key: isDelegate ? 'request.delegate' : `${key}[${at}]`, slot: element } as const;
}

/** The first place of a chain of delegations has its last name, so it is filled exactly if there is a delegate. */
function tieToChain(ctx: ProofContext, { key, present }: ListElements): void {
  if (key !== 'request.chain') return;
  const { circuit } = ctx;
  const [last, ...others] = present as readonly [SolverLiteral, ...SolverLiteral[]];
  circuit.requireEqual(last, hasValue(ctx, delegateLeaf(ctx)));
  for (const one of others) circuit.require([notLiteral(one), last]);
}

function knownLater(ctx: ProofContext, { leaf }: ListElements): SolverLiteral {
  if (!leaf.states.unknown) return ctx.circuit.yes;
  const isKnown = ctx.circuit.free(true);
  ctx.afterCut.push(() => ctx.circuit.requireEqual(isKnown, notLiteral(isUnknown(ctx, leaf))));
  return isKnown;
}

/** By variable of a surrounding quantifier, the forms of the keys of its elements. */
type Variables = ReadonlyMap<string, readonly string[]>;

/**
 * The forms of the keys of the lists that a source may be, with `[]` for each place of an element; empty for a
 * list that has no places, such as one that is calculated from several texts.
 */
function listForms(source: Expression, variables: Variables): readonly string[] {
  if (source.kind === 'else') return listForms(source.subject, variables);
  if (source.kind === 'fact') return isListFact(source.fact) ? [source.fact] : [];
  if (source.kind !== 'call') return source.kind === 'field' ? fieldForms(source, variables) : [];
  const [text] = source.args;
  if (!isComputing(source.builtin) || text === undefined) return [];
  return textForms(text, variables).map((form) => `${source.builtin}(${form})`);
}

function fieldForms(field: FieldRead, variables: Variables): readonly string[] {
  const roots = field.root === 'payload' ? ['payload'] : (variables.get(field.root) ?? []);
  return roots.map((root) => [root, ...field.steps].join('.') + signedMark(field));
}

function textForms(text: Expression, variables: Variables): readonly string[] {
  if (text.kind === 'field') return fieldForms(text, variables);
  if (text.kind === 'fact') return [text.fact];
  const [inner] = text.kind === 'call' && text.args.length === 1 ? text.args : [];
  if (text.kind !== 'call' || inner === undefined) return [];
  return textForms(inner, variables).map((form) => `${text.builtin}(${form})`);
}

function formOf(key: string): string {
  return key.replace(/\[\d+\]/g, '[]');
}

/** Functions that make a list of a text. */
type ComputedKind = 'links' | 'commands';

function isComputing(builtin: string): builtin is ComputedKind {
  return builtin === 'links' || builtin === 'commands';
}

export function isComputedList(source: Expression): boolean {
  return source.kind === 'call' && isComputing(source.builtin);
}

interface DeclaredList {
  readonly key: string;
  readonly leaf: Leaf;
  readonly element: Slot;
  readonly least: number;
  readonly longest: number;
  /** For a computed list, the text and the function. */
  readonly computed: ComputedFrom | null;
}

interface ComputedFrom {
  readonly base: Leaf;
  readonly builtin: ComputedKind;
}

function declaredList(ctx: ProofContext, read: Expression, elements: Elements): DeclaredList | null {
  if (read.kind === 'call') return computedList(ctx, read, elements);
  if (read.kind === 'fact') {
    const leaf = isListFact(read.fact) ? leafOf(ctx, read, elements) : null;
    if (leaf === null) return null;
    const longest = Number.POSITIVE_INFINITY;
    return { key: leaf.key, leaf, element: tagElement, least: 0, longest, computed: null };
  }
  const element = read.kind === 'field' ? locationOfField(ctx, read, elements) : null;
  const type = element?.slot.type;
  if (element === null || type?.kind !== 'list') return null;
  const leaf = leafOf(ctx, read, elements);
  const least = type.length.low === null ? 0 : toNumber(type.length.low);
  const longest = longestOf({ type });
  return leaf && { key: element.key, leaf, element: type.element, least, longest, computed: null };
}

function computedList(ctx: ProofContext, read: Expression, elements: Elements): DeclaredList | null {
  if (read.kind !== 'call' || !isComputing(read.builtin) || read.type.kind !== 'list') return null;
  const base = leafOf(ctx, read.args[0]!, elements);
  if (base?.domain !== 'text') return null;
  base.isEachApart = true;
  const { builtin } = read;
  const key = `${builtin}(${base.key})`;
  const plain = plainLeaf(ctx, key, 'presence');
  const leaf = ctx.leaves.get(key) ?? addLeaf(ctx, { ...plain, states: { ...plain.states, unknown: true } });
  // What only looks like a link is listed as it was read.
  const element = builtin === 'links' ? tagElement : read.type.element;
  return { key, leaf, element, least: 0, longest: Number.POSITIVE_INFINITY, computed: { base, builtin } };
}

function listElements(ctx: ProofContext, read: Expression, elements: Elements): ListElements | null {
  const declared = declaredList(ctx, read, elements);
  if (declared === null) return null;
  const { key, leaf, element, longest } = declared;
  const cached = ctx.lists.get(key);
  if (cached !== undefined) return cached;
  const minimum = Math.min(ctx.elementsOf.get(formOf(key)) ?? 1, longest);
  if (minimum > elementsMax || ctx.bounded.has(formOf(key))) ctx.bounded.add(key);
  const count = ctx.faults.has('lists-have-one-element') ? 1 : Math.min(minimum, elementsMax);
  const present = Array.from({ length: count }, () => ctx.circuit.free());
  const list: ListElements = { key, leaf, element, present };
  ctx.lists.set(key, list);
  ctx.afterCut.push(() => tieElements(ctx, list, declared));
  return list;
}

/**
 * Ties elements to their list: a missing list has no elements, a list with a least length above 0 has some,
 * and the length tells whether the list is empty.
 */
function tieElements(
  ctx: ProofContext,
  list: ListElements,
  { least, computed }: Pick<DeclaredList, 'least' | 'computed'>,
): void {
  const { circuit } = ctx;
  const { key, leaf, present } = list;
  const isThere = hasValue(ctx, leaf);
  const some = circuit.or(present);
  for (const one of present) circuit.require([notLiteral(one), isThere]);
  tieToChain(ctx, list);
  if (computed !== null) tieToText(ctx, { leaf, some, ...computed });
  if (least > 0) circuit.require([notLiteral(isThere), some]);
  const length = ctx.leaves.get(`length(${key})`);
  if (length === undefined) return;
  const isEmpty = isWhere(
    length,
    ({ value }) => typeof value === 'object' && isZero(value as Decimal | null),
    circuit,
  );
  circuit.require([notLiteral(isThere), notLiteral(some), notLiteral(isEmpty)]);
  circuit.require([notLiteral(isThere), some, isEmpty]);
}

/** The list of a text that conditions name is what the definition makes of the text. */
function tieToText(
  ctx: ProofContext,
  { leaf, some, base, builtin }: ComputedFrom & { readonly leaf: Leaf; readonly some: SolverLiteral },
): void {
  const { circuit } = ctx;
  const isOpen = isUnknown(ctx, leaf);
  circuit.require([hasValue(ctx, base), isOpen]);
  for (const [at, { value, isOther }] of base.cells.entries()) {
    if (isOther || typeof value !== 'string') continue;
    const listed = calls[builtin]([value], 0);
    const isHere = isCell(base, at, circuit);
    const isNone = Array.isArray(listed) && listed.length === 0;
    circuit.require([notLiteral(isHere), Array.isArray(listed) ? notLiteral(isOpen) : isOpen]);
    circuit.require([notLiteral(isHere), isNone || !Array.isArray(listed) ? notLiteral(some) : some]);
  }
}

function isZero(value: Decimal | null): boolean {
  return value !== null && value.coefficient === zero.coefficient;
}

/**
 * Counts the places that each list needs: one, plus one for each quantifier over the list and each round of
 * the quantifiers around it, plus as many as a count is compared with. Lists that need each other need ever
 * more places, and are noted as bounded.
 */
export function countElements(ctx: ProofContext, conditions: readonly Expression[]): void {
  const written = conditions.map((condition) => writtenOut(ctx, condition, new Map()));
  const roundsMax = 6;
  for (let round = 0; round < roundsMax; round += 1) {
    const needs = new Map<string, Map<string, number>>();
    for (const condition of written)
      need(ctx, condition, { loops: [], variables: new Map(), more: 0, within: '', needs });
    const before = JSON.stringify([...ctx.elementsOf]);
    for (const [key, uses] of needs)
      ctx.elementsOf.set(key, 1 + [...uses.values()].reduce((sum, one) => sum + one, 0));
    if (JSON.stringify([...ctx.elementsOf]) === before) return;
  }
  for (const key of ctx.elementsOf.keys()) ctx.bounded.add(key);
}

interface Loop {
  readonly variable: string;
  readonly rounds: number;
  /** The variable, or `payload`, that its lists are read from. */
  readonly root: string;
}

interface ElementNeed {
  readonly loops: readonly Loop[];
  readonly variables: Variables;
  readonly more: number;
  /**
   * What the surrounding quantifiers go through: the same condition on the same elements needs no second
   * witness.
   */
  readonly within: string;
  readonly needs: Map<string, Map<string, number>>;
}

function need(ctx: ProofContext, part: Expression, needed: ElementNeed): void {
  const sources =
    part.kind === 'quantify' ? part.sources : part.kind === 'in-elements' ? [part.elements] : [];
  // A sum needs no place for each addend: elements without a place add to the rest.
  const more = part.kind === 'quantify' && part.quantifier === 'sum' ? 0 : needed.more;
  const forms = sources.map((source) => ({
    root: rootOf(source),
    keys: listForms(source, needed.variables),
  }));
  const keys = forms.flatMap((one) => one.keys);
  const id = keys.length === 0 ? '' : `${needed.within} ${canonicalMeaning(part)}`;
  const cases = keys.length === 0 ? 1 : lookupCases(ctx.set, part);
  for (const { root, keys: own } of forms)
    for (const key of own)
      memo(needed.needs, key, () => new Map<string, number>()).set(
        id,
        roundsBeside(needed.loops, root) * (1 + more) * cases,
      );
  if (part.kind === 'quantify') {
    const rounds = forms.reduce(
      (sum, { keys: own }, at) =>
        sum + Math.max(lengthOf(ctx, part.sources[at]!), ...own.map((key) => ctx.elementsOf.get(key) ?? 1)),
      0,
    );
    const roots = new Set(forms.map(({ root }) => root));
    const root = roots.size === 1 ? [...roots][0]! : 'several';
    need(ctx, part.body, {
      ...needed,
      loops: [...needed.loops, { variable: part.variable, rounds: Math.max(1, rounds), root }],
      variables: new Map(needed.variables).set(
        part.variable,
        keys.map((key) => `${key}[]`),
      ),
      more: 0,
      within: `${needed.within} ${part.variable} in ${keys.join()}`,
    });
    return;
  }
  const counted = part.kind === 'compare' ? countedTo(ctx, part) : 0;
  for (const child of childrenOf(part)) need(ctx, child, { ...needed, more: counted });
}

function rootOf(source: Expression): string {
  if (source.kind === 'field') return source.root;
  if (source.kind === 'else') return rootOf(source.subject);
  const [first] = source.kind === 'call' ? source.args : [];
  return first === undefined ? 'payload' : rootOf(first);
}

/** The rounds of the loops that do not already fix the element in which the list lies. */
function roundsBeside(loops: readonly Loop[], root: string): number {
  const fixed = new Set<string>();
  for (let rootKey: string | undefined = root; rootKey !== undefined && !fixed.has(rootKey); ) {
    fixed.add(rootKey);
    rootKey = loops.findLast(({ variable }) => variable === rootKey)?.root;
  }
  return loops.reduce((product, { variable, rounds }) => product * (fixed.has(variable) ? 1 : rounds), 1);
}

function lengthOf({ set }: ProofContext, source: Expression): number {
  const constant = constantOf(source, set);
  return Array.isArray(constant) ? constant.length : 1;
}

/** The constant that a count is compared with; 0 when there is none. */
function countedTo(
  { set }: ProofContext,
  { left, right }: Extract<Expression, { readonly kind: 'compare' }>,
): number {
  const numbers = [left, right].map((side) => constantOf(side, set));
  const number = numbers.find((one) => typeof one === 'object' && one !== null && 'coefficient' in one);
  return number === undefined ? 0 : Math.max(0, Math.ceil(toNumber(number as Decimal)));
}
