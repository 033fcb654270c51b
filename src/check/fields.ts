// From a path into the payload (or into a quantifier's variable) to a typed read over all matched actions. A step is
// optional where it is optional or missing in any action that has the step before it.

import { spanning } from '../diagnostic/span.ts';
import type { FieldRead } from '../model/expression.ts';
import type { Field, Shape, Slot, Type } from '../model/type.ts';
import type { Name } from '../syntax/tree.ts';
import type { Context } from './context.ts';
import { mergeTypes } from './merge.ts';
import {
  fieldMayBeAbsent,
  fieldMayBeNull,
  fieldMistyped,
  fieldTypesDiffer,
  unknownField,
} from './path-errors.ts';
import { isKnown, presenceFact } from './presence.ts';
import { failedType } from './types.ts';

export interface FieldPath {
  readonly root: Name;
  readonly steps: readonly Name[];
}

/** A field and, for each of its places from the root on, whether it can be missing or null. */
export interface ResolvedField {
  readonly read: FieldRead;
  readonly places: readonly Place[];
}

interface Place {
  /** Steps from the root; none for the variable itself. */
  readonly steps: readonly Name[];
  readonly isOptional: boolean;
  readonly isNullable: boolean;
}

/** A slot with the record around it, of one action. */
interface Found {
  readonly slot: Slot;
  readonly isOptional: boolean;
  readonly parent: Shape | null;
}

/** The field that a path names, or null and a diagnostic; presence is not asked for. */
export function resolveField(path: FieldPath, ctx: Context): ResolvedField | null {
  const variable = ctx.variables.get(path.root.text);
  let found =
    variable === undefined ? payloadRoots(ctx) : [{ slot: variable, isOptional: false, parent: null }];
  const places: Place[] = [];
  let [isSecret, isSigned] = [false, false];
  const note = (steps: readonly Name[], isOptional: boolean): void => {
    isSecret ||= found.some(({ slot }) => slot.isSecret);
    isSigned ||= found.some(isSignedPlace);
    places.push({ steps, isOptional, isNullable: found.some(({ slot }) => slot.isNullable) });
  };
  note([], false);
  for (const [index, step] of path.steps.entries()) {
    const next = takeStep(found, path, index, ctx);
    if (next === null) return null;
    const isOptional = next.length < found.length || next.some((each) => each.isOptional);
    found = next;
    note(path.steps.slice(0, index + 1), isOptional);
    if (found.some(({ slot }) => slot.type === failedType)) return null;
    if (step.text === '') return null;
  }
  const type = commonFieldType(found, path, ctx);
  if (type === null) return null;
  const steps = path.steps.map((step) => step.text);
  const span = spanning(path.root.span, (path.steps.at(-1) ?? path.root).span);
  return {
    read: { kind: 'field', root: path.root.text, steps, isSigned, isSecret, type, span },
    places,
  };
}

function payloadRoots(ctx: Context): readonly Found[] {
  return ctx.actions.map(({ shape }) => ({
    slot: { type: { kind: 'record', shape }, isNullable: false, isSecret: false, isSigned: false },
    isOptional: false,
    parent: null,
  }));
}

function takeStep(
  found: readonly Found[],
  path: FieldPath,
  index: number,
  ctx: Context,
): readonly Found[] | null {
  const step = path.steps[index]!;
  const shapes: Shape[] = [];
  for (const { slot } of found) {
    if (slot.type.kind === 'record') shapes.push(slot.type.shape);
    else {
      if (step.text !== '') ctx.env.report(fieldMistyped(path, index, slot.type));
      return null;
    }
  }
  const next = shapes.flatMap((parent): readonly Found[] => {
    const field: Field | undefined = parent.fields.find((each) => each.name === step.text);
    return field === undefined ? [] : [{ slot: field, isOptional: field.isOptional, parent }];
  });
  if (next.length > 0) return next;
  const candidates = new Set(shapes.flatMap((shape) => shape.fields.map((field) => field.name)));
  if (step.text !== '' && ctx.actions.length > 0) ctx.env.report(unknownField(path, index, candidates));
  return null;
}

/** Signed itself, or an amount whose currency is signed. */
function isSignedPlace({ slot, parent }: Found): boolean {
  if (slot.isSigned) return true;
  if (slot.type.kind !== 'money' || parent === null) return false;
  const { currencyField } = slot.type;
  return parent.fields.some((field) => field.name === currencyField && field.isSigned);
}

function commonFieldType(found: readonly Found[], path: FieldPath, ctx: Context): Type | null {
  const [first, ...rest] = found;
  if (first === undefined) return null;
  let type = first.slot.type;
  for (const other of rest) {
    const merged = mergeTypes(type, other.slot.type);
    if (merged === null) {
      ctx.env.report(fieldTypesDiffer(path, type, other.slot.type));
      return null;
    }
    type = merged;
  }
  return type;
}

/** Whether every step is known to be there and not null; reports the first that is not. */
export function requirePresence(field: ResolvedField, ctx: Context): boolean {
  return field.places.every((place) => isPresent(place, field, ctx) && isNotNull(place, field, ctx));
}

/** As `requirePresence`, but the last step may be absent or null. */
export function requirePresenceBefore(field: ResolvedField, ctx: Context): boolean {
  return requirePresence({ ...field, places: field.places.slice(0, -1) }, ctx);
}

function isPresent(place: Place, field: ResolvedField, ctx: Context): boolean {
  const fact = presenceFact('present', field.read.root, textsOf(place.steps));
  if (!place.isOptional || isKnown(ctx.presence, fact)) return true;
  ctx.env.report(fieldMayBeAbsent(field.read, place.steps));
  return false;
}

function isNotNull(place: Place, field: ResolvedField, ctx: Context): boolean {
  const fact = presenceFact('not-null', field.read.root, textsOf(place.steps));
  if (!place.isNullable || isKnown(ctx.presence, fact)) return true;
  ctx.env.report(fieldMayBeNull(field.read, place.steps));
  return false;
}

function textsOf(steps: readonly Name[]): readonly string[] {
  return steps.map((step) => step.text);
}
