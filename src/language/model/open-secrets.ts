// Turns a shape into the shape of recorded payloads, in which a digest replaces each secret.

import type { Shape, Slot, Type } from './type.ts';

/** Returns the shape with the type `any` for every secret. */
export function withoutSecretTypes(shape: Shape): Shape {
  return { ...shape, fields: shape.fields.map(openedSlot) };
}

function openedSlot<Place extends Slot>(slot: Place): Place {
  return { ...slot, type: slot.isSecret ? { kind: 'any' } : openedType(slot.type) };
}

function openedType(type: Type): Type {
  if (type.kind === 'record') return { ...type, shape: withoutSecretTypes(type.shape) };
  return type.kind === 'list' ? { ...type, element: openedSlot(type.element) } : type;
}
