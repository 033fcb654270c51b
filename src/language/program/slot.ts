// Follows steps through a shape to a slot: the type that it has in this one action, and whether a payload of
// the shape may lack it.

import type { Field, Shape, Slot } from '../model/type.ts';

/** The slot to which steps lead. */
export interface ResolvedSlot {
  readonly slot: Slot;
  /** Whether any step, including the last, may be absent or null. */
  readonly mayBeAbsent: boolean;
  /** The shape of the record that has the slot. */
  readonly owner: Shape;
}

/** Returns the slot to which one or more steps lead; null when the shape declares no such field. */
export function resolveSlot(shape: Shape, steps: readonly string[]): ResolvedSlot | null {
  let owner = shape;
  let mayBeAbsent = false;
  for (const [at, step] of steps.entries()) {
    const field = fieldOf(owner, step);
    if (field === null) return null;
    // `any` allows null without a mark.
    mayBeAbsent ||= field.isOptional || field.isNullable || field.type.kind === 'any';
    if (at === steps.length - 1) return { slot: field, mayBeAbsent, owner };
    if (field.type.kind !== 'record') return null;
    owner = field.type.shape;
  }
  return null;
}

/** Returns the field of this name; null when the shape does not declare it. */
export function fieldOf(shape: Shape, name: string): Field | null {
  return shape.fields.find((field) => field.name === name) ?? null;
}
