// Picks the payload fields that may be sent. INVARIANT: only a listed field is sent, and only a text, a number, a
// boolean or a list of these; never a field that was secret when it was recorded or is secret by the active policies.

import { isJsonObject, type Json, type JsonObject } from '../../../language/model/json.ts';
import type { Shape, Slot, Type } from '../../../language/model/type.ts';

type Scalar = string | number | boolean;
export type AllowedFields = Readonly<Record<string, Scalar | readonly Scalar[]>>;

/** The listed fields by their path. `shape` is the one that the active policies declare; null when they declare none. */
export function allowedFields(
  payload: JsonObject,
  paths: readonly string[],
  shape: Shape | null,
): AllowedFields {
  const found = paths.flatMap((path) => {
    const names = path.split('.');
    const value = shape !== null && isSecretPath(shape, names) ? undefined : valueAt(payload, names);
    const sent = sendable(value);
    return sent === null ? [] : [[path, sent] as const];
  });
  return Object.fromEntries(found);
}

function valueAt(payload: JsonObject, names: readonly string[]): Json | undefined {
  let value: Json | undefined = payload;
  for (const name of names) {
    if (value === undefined || !isJsonObject(value) || isDigest(value) || !Object.hasOwn(value, name))
      return undefined;
    value = value[name];
  }
  return value;
}

/** Whether a record keeps this in place of a secret. */
function isDigest(value: JsonObject): boolean {
  const { secret, ...others } = value;
  return typeof secret === 'string' && secret.startsWith('hmac-sha256:') && Object.keys(others).length === 0;
}

function sendable(value: Json | undefined): Scalar | readonly Scalar[] | null {
  if (isScalar(value)) return value;
  return Array.isArray(value) && value.every(isScalar) ? value : null;
}

function isScalar(value: Json | undefined): value is Scalar {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function isSecretPath(shape: Shape, [name = '', ...deeper]: readonly string[]): boolean {
  const field = shape.fields.find((candidate) => candidate.name === name);
  if (field === undefined) return false;
  if (isSecretSlot(field)) return true;
  return deeper.length > 0 && field.type.kind === 'record' && isSecretPath(field.type.shape, deeper);
}

function isSecretSlot({ isSecret, type }: Slot): boolean {
  return isSecret || hasSecretElements(type);
}

function hasSecretElements(type: Type): boolean {
  return type.kind === 'list' && isSecretSlot(type.element);
}
