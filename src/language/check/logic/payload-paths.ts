// Places in the payloads of several actions at once: for each path its type, and whether a step of it may be
// missing. A step counts as optional when it is optional or missing in any action that has the step before.
// Findings about a path are kept with the set of actions, so that each path is examined once, however many
// rules read it.

import { allSigners } from '../../model/signers.ts';
import type { Field, Shape, Slot, Type } from '../../model/type.ts';
import { memo } from '../../value/memo.ts';
import type { ActionSlot, PathNode } from '../incremental/resolved.ts';
import { failedShape, failedType, mergeTypes } from './merge.ts';

/** Returns the place of the payload as a whole. */
export function payloadNode(shapes: readonly Shape[]): PathNode {
  return nodeOf(
    shapes.map((shape) => foundSlot({ kind: 'record', shape })),
    null,
    [],
    false,
  );
}

function foundSlot(type: Type): ActionSlot {
  const slot: Slot = { type, isNullable: false, isSecret: false, isSigned: false };
  return { slot, isOptional: false, parent: null };
}

const variableNodes = new WeakMap<Slot, PathNode>();

/** Returns the place of the element that a variable stands for. */
export function variableNode(slot: Slot): PathNode {
  const cached = variableNodes.get(slot);
  if (cached !== undefined) return cached;
  const node = nodeOf([{ slot, isOptional: false, parent: null }], null, [], false);
  variableNodes.set(slot, node);
  return node;
}

function nodeOf(
  actions: readonly ActionSlot[],
  above: PathNode | null,
  steps: readonly string[],
  isOptional: boolean,
): PathNode {
  const isNullable = actions.some(({ slot }) => slot.isNullable);
  return {
    slots: actions,
    steps,
    isOptional,
    isNullable,
    isCertain: !isOptional && !isNullable && (above?.isCertain ?? true),
    isSecret: (above?.isSecret ?? false) || actions.some(({ slot }) => slot.isSecret),
    ...allSigners(...(above === null ? [] : [above]), ...actions.flatMap(slotsThatSign)),
    isFailed: actions.some(({ slot }) => slot.type === failedType),
    below: null,
    type: null,
  };
}

/** Returns the slots whose signers a value needs: an amount is signed if its currency is. */
function slotsThatSign({ slot, parent }: ActionSlot): readonly Slot[] {
  if (slot.type.kind !== 'money' || parent === null || slot.type.currencyField === null) return [slot];
  const currency = payloadField(parent, slot.type.currencyField);
  return currency == null ? [slot] : [slot, currency];
}

/** Returns the place one step below; null when the place is no record or no action has the field. */
export function stepInto(node: PathNode, name: string): PathNode | null {
  node.below ??= new Map();
  return memo(node.below, name, () => findBelow(node, name));
}

function findBelow(node: PathNode, name: string): PathNode | null {
  const matching: ActionSlot[] = [];
  let isOptional = false;
  for (const { slot } of node.slots) {
    if (slot.type.kind !== 'record') return null;
    const { shape } = slot.type;
    const field = payloadField(shape, name);
    if (field === undefined || field.isOptional) isOptional = true;
    if (field !== undefined) matching.push({ slot: field, isOptional: field.isOptional, parent: shape });
  }
  return matching.length === 0 ? null : nodeOf(matching, node, [...node.steps, name], isOptional);
}

/** Returns the common type of the place in all actions, or the first two types that differ. */
export function typeOfNode(node: PathNode): NonNullable<PathNode['type']> {
  node.type ??= commonTypeOf(node.slots);
  return node.type;
}

function commonTypeOf(actions: readonly ActionSlot[]): NonNullable<PathNode['type']> {
  let common: Type = actions[0]?.slot.type ?? failedType;
  for (const { slot } of actions.slice(1)) {
    if (slot.type === common) continue;
    const merged = mergeTypes(common, slot.type);
    if (merged === null) return { differ: [common, slot.type] };
    common = merged;
  }
  return { common };
}

/** The most fields of a shape that are searched one by one; larger shapes get a map. */
const fieldsSearchedMax = 8;
const fieldTables = new WeakMap<Shape, ReadonlyMap<string, Field>>();

export function payloadField(shape: Shape, name: string): Field | undefined {
  if (shape === failedShape) return shape.fields[0];
  if (shape.fields.length <= fieldsSearchedMax) return shape.fields.find((field) => field.name === name);
  let table = fieldTables.get(shape);
  if (table === undefined) {
    table = new Map(shape.fields.map((field) => [field.name, field]));
    fieldTables.set(shape, table);
  }
  return table.get(name);
}
