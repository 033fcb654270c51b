// Whether a payload has the shape that one side declares, as a formula over the joint shape. Only places in
// which the two sides differ are examined; what the formula cannot express is a guess.

import { describeSlot, pathText } from '../../language/model/describe.ts';
import type { FieldRead } from '../../language/model/expression.ts';
import type { Facts } from '../../language/model/request.ts';
import { allSigners } from '../../language/model/signers.ts';
import type { Field, Shape, Type } from '../../language/model/type.ts';
import type { Value } from '../../language/model/value.ts';
import { checkPayload } from '../../language/spec/payload.ts';
import { compare, type Decimal } from '../../language/value/decimal.ts';
import { type Cell, isValue, isWhere, type Leaf } from '../cells/leaf.ts';
import { noElements, type ProofContext } from '../prove/context.ts';
import { fieldLeaf } from '../prove/leaves.ts';
import { notLiteral, type SolverLiteral } from '../solver/literal.ts';
import { type BothSides, type DiffSide, type JointSet, sides } from './joint-set.ts';
import {
  areDisjoint,
  impliesType,
  type OpenDifference,
  type ShapeDifference,
  shapeDifferences,
} from './shapes.ts';

export interface Validity {
  readonly valid: BothSides<SolverLiteral>;
  /** The conditions on the shape, with the words that tell whether a payload meets them. */
  readonly parts: readonly ShapePart[];
  /** Fields that the two sides declare differently. */
  readonly fields: readonly FieldFits[];
  /** Records that hold an undeclared field if the literal holds; one side does not admit such a field. */
  readonly extra: readonly { readonly steps: readonly string[]; readonly literal: SolverLiteral }[];
}

export interface ShapePart {
  readonly literal: SolverLiteral;
  /** The words for a payload that fails the condition. */
  readonly fails: string;
  /**
   * The words for a payload that meets the condition, when the other side then refuses it; null when meeting
   * the condition tells nothing.
   */
  readonly holds: string | null;
  readonly side: DiffSide;
  /** JSON pointer to the place in which the definition finds the fault. */
  readonly pointer: string;
}

export interface FieldFits {
  readonly steps: readonly string[];
  readonly field: BothSides<Field | null>;
  /** By side that declares the field, whether the value has the declared type. */
  readonly fits: ReadonlyMap<DiffSide, SolverLiteral>;
}

export function validityOf(ctx: ProofContext, shapes: BothSides<Shape | null>): Validity {
  const { circuit } = ctx;
  const { before, after } = shapes;
  if (before === null || after === null) {
    const valid = {
      before: before === null ? circuit.no : circuit.yes,
      after: after === null ? circuit.no : circuit.yes,
    };
    return { valid, parts: [], fields: [], extra: [] };
  }
  const { fields, records } = shapeDifferences(before, after);
  const made = fields.map((difference) => fieldValidity(ctx, difference));
  const open = records.map((difference) => openValidity(ctx, difference));
  const valid = (side: DiffSide): SolverLiteral =>
    circuit.and([...made.map(({ fits }) => fits[side]), ...open.map(({ fits }) => fits[side])]);
  return {
    valid: { before: valid('before'), after: valid('after') },
    parts: [...made.flatMap(({ parts }) => parts), ...open.flatMap(({ parts }) => parts)],
    fields: made.map(({ own }) => own),
    extra: open.map(({ steps, literal }) => ({ steps, literal })),
  };
}

interface PartValidity {
  readonly fits: BothSides<SolverLiteral>;
  readonly parts: readonly ShapePart[];
}

interface FieldValidity extends PartValidity {
  readonly own: FieldFits;
}

function fieldValidity(ctx: ProofContext, difference: ShapeDifference): FieldValidity {
  const { field } = difference;
  const { circuit } = ctx;
  const leaf = leafAt(ctx, difference);
  const [isAbsent, isNull] = [circuit.free(), circuit.free()];
  ctx.afterCut.push(() => {
    circuit.requireEqual(isAbsent, isAbsentIn(ctx, leaf));
    circuit.requireEqual(
      isNull,
      leaf === null ? circuit.free() : isWhere(leaf, ({ value }) => value === null, circuit),
    );
  });
  const values = new Map<DiffSide, SolverLiteral>();
  const fits = (side: DiffSide): SolverLiteral => {
    const sideField = field[side];
    if (sideField === null) return difference.isOpen[side] ? circuit.yes : isAbsent;
    const value = valueFits(ctx, {
      leaf,
      own: sideField,
      other: field[side === 'before' ? 'after' : 'before'],
    });
    values.set(side, value);
    const isThere = sideField.isOptional
      ? circuit.yes
      : circuit.or([notLiteral(isAbsent), holderIsGone(ctx, difference)]);
    return circuit.and([isThere, sideField.isNullable ? circuit.yes : notLiteral(isNull), value]);
  };
  const both = { before: fits('before'), after: fits('after') };
  const fieldDifference = { steps: difference.steps, field, fits: values };
  tieFits(ctx, { ...fieldDifference, isNothing: [isAbsent, isNull] });
  const pointer = pointerOf(difference.steps);
  const parts = sides.map((side) => ({
    literal: both[side],
    fails: failingText(difference, side),
    holds: holdingText(difference, side),
    side,
    pointer,
  }));
  return { fits: both, parts, own: fieldDifference };
}

interface TiedFits extends Omit<FieldFits, 'steps'> {
  /** The field has no value if one of these literals holds. */
  readonly isNothing: readonly SolverLiteral[];
}

/** Ties the two fits when a value of one type must, or cannot, have the other type. */
function tieFits({ circuit }: ProofContext, { field: { before, after }, fits, isNothing }: TiedFits): void {
  const [old, now] = [fits.get('before'), fits.get('after')];
  if (before === null || after === null || old === undefined || now === undefined) return;
  if (impliesType(before.type, after.type)) circuit.require([notLiteral(old), now]);
  if (impliesType(after.type, before.type)) circuit.require([notLiteral(now), old]);
  if (areDisjoint(before.type, after.type)) circuit.require([notLiteral(old), notLiteral(now), ...isNothing]);
}

/**
 * Words for a field that fits the side's declaration; null when a value may fit both declarations, since
 * fitting then tells nothing.
 */
function holdingText({ steps, field: { before, after } }: ShapeDifference, side: DiffSide): string | null {
  if (before === null || after === null || !areDisjoint(before.type, after.type)) return null;
  if ([before, after].some(({ isOptional, isNullable }) => isOptional || isNullable)) return null;
  return `${pathText('payload', steps)} is ${describeSlot(side === 'before' ? before : after)}`;
}

/** Words for a field that does not fit the side's declaration. */
function failingText({ steps, field }: ShapeDifference, side: DiffSide): string {
  const text = pathText('payload', steps);
  const [own, other] = [field[side], field[side === 'before' ? 'after' : 'before']];
  if (own === null) return `${text} is there`;
  const isAlikeOtherwise = other === null || isSameType(own.type, other.type);
  if (isAlikeOtherwise && own.isNullable === other?.isNullable) return `${text} is left out`;
  if (isAlikeOtherwise && own.isOptional === other?.isOptional) return `${text} is null`;
  if (isAlikeOtherwise) return `${text} is left out or null`;
  return side === 'before'
    ? `${text} was not admitted as ${describeSlot(own)}`
    : `${text} is not ${describeSlot(own)}`;
}

/** A JSON pointer as in RFC 6901. */
function pointerOf(steps: readonly string[]): string {
  return steps.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

function readOf(steps: readonly string[], field: Field): FieldRead {
  const { type, isSecret } = field;
  return {
    kind: 'field',
    root: 'payload',
    steps,
    ...allSigners(field),
    isSecret,
    type,
    span: { file: '', start: 0, end: 0 },
  };
}

function leafAt(ctx: ProofContext, { steps, field }: ShapeDifference): Leaf | null {
  const declared = (field.after ?? field.before)!;
  return declared.isSigned ? null : fieldLeaf(ctx, readOf(steps, declared), noElements);
}

function isAbsentIn({ circuit }: ProofContext, leaf: Leaf | null): SolverLiteral {
  return leaf === null ? circuit.free() : isWhere(leaf, ({ value }) => value === undefined, circuit);
}

/** Whether the record around the field is absent or null; a field of such a record may be left out. */
function holderIsGone(ctx: ProofContext, { steps, field }: ShapeDifference): SolverLiteral {
  if (steps.length === 1) return ctx.circuit.no;
  const holder = fieldLeaf(ctx, readOf(steps.slice(0, -1), (field.after ?? field.before)!), noElements);
  if (holder === null) return ctx.circuit.free();
  const isGone = ctx.circuit.free();
  ctx.afterCut.push(() =>
    ctx.circuit.requireEqual(
      isGone,
      isWhere(holder, ({ value }) => value === undefined || value === null, ctx.circuit),
    ),
  );
  return isGone;
}

interface LeafValidity {
  readonly leaf: Leaf | null;
  readonly own: Field;
  readonly other: Field | null;
}

/** Whether the value, if there is one, has the side's type. */
function valueFits(ctx: ProofContext, { leaf, own, other }: LeafValidity): SolverLiteral {
  const { circuit } = ctx;
  if (other === null || own.type.kind === 'any' || isSameType(own.type, other.type)) return circuit.yes;
  const fits = circuit.free();
  const isWider = own.type.kind === 'number' && other.type.kind === 'integer';
  const isExact =
    isWider || (own.type.kind === other.type.kind && ('range' in own.type || own.type.kind === 'text'));
  if (leaf === null || !isExact) {
    guessFor(ctx, own, fits);
    return fits;
  }
  if ('range' in own.type)
    leaf.marks.push(...[own.type.range.low, own.type.range.high].filter((end) => end !== null));
  if (own.type.kind === 'text' && leaf.domain === 'text') leaf.marks.push(...(own.type.values ?? []));
  ctx.afterCut.push(() => {
    const isOpen = (cell: Cell): boolean =>
      cell.isOther && !(own.type.kind === 'text' && own.type.values !== null);
    const decided = isWhere(
      leaf,
      (cell) => !isOpen(cell) && (!isValue(cell.value) || isOfType(own, cell.value)),
      circuit,
    );
    const open = isWhere(leaf, (cell) => isOpen(cell) && isValue(cell.value), circuit);
    if (open === circuit.no) circuit.requireEqual(fits, decided);
    else {
      const free = circuit.free();
      circuit.requireEqual(fits, circuit.or([decided, circuit.and([open, free])]));
    }
  });
  return fits;
}

function isSameType(before: Type, other: Type): boolean {
  return (
    before === other ||
    (before.kind === 'record' && other.kind === 'record') ||
    JSON.stringify(before, plain) === JSON.stringify(other, plain)
  );
}

function plain(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

function guessFor(ctx: ProofContext, { name }: Field, literal: SolverLiteral): void {
  const span = { file: '', start: 0, end: 0 };
  ctx.guesses.set(`shape ${name} ${literal}`, {
    span,
    pair: { isTrue: literal, isFalse: notLiteral(literal) },
  });
}

function isOfType(ownField: Field, value: Exclude<Value, null>): boolean {
  const { type } = ownField;
  if ('range' in type) {
    const { low, high } = type.range;
    const number = value as Decimal;
    return (low === null || compare(low, number) <= 0) && (high === null || compare(number, high) <= 0);
  }
  const field: Field = { ...ownField, name: 'value', isOptional: false };
  return checkPayload({ fields: [field], isOpen: false }, { value: value as string }).length === 0;
}

function openValidity(
  { circuit }: ProofContext,
  { steps, isOpen }: OpenDifference,
): PartValidity & { readonly steps: readonly string[]; readonly literal: SolverLiteral } {
  const literal = circuit.free();
  const text = steps.length === 0 ? 'the payload' : pathText('payload', steps);
  const fits = (side: DiffSide): SolverLiteral => (isOpen[side] ? circuit.yes : notLiteral(literal));
  return {
    steps,
    literal,
    fits: { before: fits('before'), after: fits('after') },
    parts: sides
      .filter((side) => !isOpen[side])
      .map((side) => ({
        literal: notLiteral(literal),
        fails: `${text} has a field that is not declared`,
        holds: null,
        side,
        pointer: `${pointerOf(steps)}/`,
      })),
  };
}

/**
 * Adds an undeclared field to the record at `steps`; returns the payload unchanged when there is no such
 * record.
 */
export function withExtra<T extends object>(payload: T, steps: readonly string[]): T {
  const [first, ...rest] = steps;
  if (first === undefined) return { ...payload, not_declared: true };
  const inner = (payload as Readonly<Record<string, unknown>>)[first];
  return typeof inner === 'object' && inner !== null
    ? { ...payload, [first]: withExtra(inner, rest) }
    : payload;
}

/** A place that the shape of one side calls wrong. */
export type ShapeFault = Pick<ShapePart, 'side' | 'pointer'>;

export function hasFault(
  { original }: JointSet,
  { side, pointer }: ShapeFault,
  request: BothSides<Facts>,
): boolean {
  const { action, payload } = request[side];
  const shape = original[side].actions.get(action)?.shape;
  return (
    shape !== undefined && checkPayload(shape, payload).some((issue) => issue.pointer.startsWith(pointer))
  );
}
