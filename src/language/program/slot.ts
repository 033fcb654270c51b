// Steps through a shape to the slot at their end: which type it has in this one action, and whether a payload of the
// shape may lack it.

import type { Field, Shape, Slot } from '../model/type.ts';

/** Where steps lead. */
export interface SlotPlace {
  readonly slot: Slot;
  /** Some step on the way, the last included, may be absent or null. */
  readonly mayBeAbsent: boolean;
  /** The record that holds the slot, and the steps to it. */
  readonly owner: Shape;
}

/** The place that one or more steps lead to; null where the shape declares no such field. */
export function placeOf(shape: Shape, steps: readonly string[]): SlotPlace | null {
  let owner = shape;
  let mayBeAbsent = false;
  for (const [at, step] of steps.entries()) {
    const field = fieldOf(owner, step);
    if (field === null) return null;
    // `any` admits null without saying so.
    mayBeAbsent ||= field.isOptional || field.isNullable || field.type.kind === 'any';
    if (at === steps.length - 1) return { slot: field, mayBeAbsent, owner };
    if (field.type.kind !== 'record') return null;
    owner = field.type.shape;
  }
  return null;
}

/** The field of this name; null where the shape does not declare it. */
export function fieldOf(shape: Shape, name: string): Field | null {
  return shape.fields.find((field) => field.name === name) ?? null;
}
