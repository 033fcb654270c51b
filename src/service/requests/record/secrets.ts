// A payload into the form in which it may be stored and shown: `{"secret": "hmac-sha256:<hex>"}` replaces
// each value that the action's shape marks secret. The digest shows whether two secrets are equal, and
// nothing else. INVARIANT: a well-shaped payload keeps all that a rule can read; in an ill-shaped one, values
// that might be secret are replaced too, and of a payload whose action is not declared nothing is kept.

import { createHmac } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject } from '../../../language/model/json.ts';
import type { Shape, Slot, Type } from '../../../language/model/type.ts';
import { memo } from '../../../language/value/memo.ts';
import { deriveKey } from '../../agents/sealing.ts';
import { canonicalJson } from '../../store/contract/canonical-json.ts';

interface PayloadForm {
  /** Null when the action is not declared: its name may be misspelt, so nobody knows what is secret. */
  readonly shape: Shape | null;
  readonly isWellShaped: boolean;
}

export type HideSecrets = (payload: JsonObject, form: PayloadForm) => JsonObject;

export function createSecretHider(masterKey: Uint8Array): HideSecrets {
  const key = deriveKey(masterKey, 'secret payload fields');
  const digest = (value: Json): JsonObject => ({
    secret: `hmac-sha256:${createHmac('sha256', key).update(canonicalJson(value)).digest('hex')}`,
  });
  const namesByShape = new WeakMap<Shape, ReadonlySet<string>>();
  return function hideSecrets(payload, { shape, isWellShaped }) {
    if (shape === null) return Object.keys(payload).length === 0 ? payload : digest(payload);
    const names = memo(namesByShape, shape, secretNames);
    if (names.size === 0 && isWellShaped) return payload;
    const isNamedSecret = (name: string) => names.has(nameForm(name));
    return hideInRecord(payload, shape, { digest, isNamedSecret, isWellShaped });
  };
}

interface SecretContext {
  readonly digest: (value: Json) => Json;
  /** Whether a field of the shape with this name is secret, or has secret elements. */
  readonly isNamedSecret: (name: string) => boolean;
  readonly isWellShaped: boolean;
}

function hideInRecord(record: JsonObject, shape: Shape, hiding: SecretContext): JsonObject {
  return mapFields(record, (name, value) => {
    const field = shape.fields.find((candidate) => candidate.name === name);
    // An undeclared field may be a secret whose name is misspelt.
    if (field === undefined)
      return hiding.isWellShaped ? hideByName(name, value, hiding) : digestOf(value, hiding);
    if (!hiding.isWellShaped && hiding.isNamedSecret(name)) return digestOf(value, hiding);
    return hideInSlot(value, field, hiding);
  });
}

function hideInSlot(value: Json, slot: Slot, hiding: SecretContext): Json {
  if (slot.isSecret) return digestOf(value, hiding);
  const { type } = slot;
  if (type.kind === 'list' && Array.isArray(value)) {
    return value.map((element) => hideInSlot(element, type.element, hiding));
  }
  if (type.kind === 'record' && isJsonObject(value)) return hideInRecord(value, type.shape, hiding);
  // When the shape expects secrets inside and the value is of another kind, the value itself may be the
  // secret.
  if (holdsSecrets(type)) return digestOf(value, hiding);
  // So may what stands inside of a value where the shape declares nothing inside.
  const isOpen = hiding.isWellShaped || type.kind === 'any' || !isComposed(value);
  return isOpen ? hideUndeclared(value, hiding) : digestOf(value, hiding);
}

function hideByName(name: string, value: Json, hiding: SecretContext): Json {
  return hiding.isNamedSecret(name) ? digestOf(value, hiding) : hideUndeclared(value, hiding);
}

function isComposed(value: Json): boolean {
  return typeof value === 'object' && value !== null;
}

/** Where no shape describes the value, names are the only clue. */
function hideUndeclared(value: Json, hiding: SecretContext): Json {
  if (Array.isArray(value)) return value.map((element) => hideUndeclared(element, hiding));
  return isJsonObject(value) ? mapFields(value, (name, inner) => hideByName(name, inner, hiding)) : value;
}

/**
 * The digest of a value. Null is kept: it reveals no more than absence does, and rules may distinguish the
 * two.
 */
function digestOf(value: Json, hiding: SecretContext): Json {
  return value === null ? null : hiding.digest(value);
}

/**
 * The names, in their comparison form, of all fields at any depth that are secret or have secret elements.
 */
function secretNames(shape: Shape): ReadonlySet<string> {
  const names = shape.fields.flatMap((field) => [
    ...(isSecretSlot(field) ? [nameForm(field.name)] : []),
    ...innerNames(field.type),
  ]);
  return new Set(names);
}

function innerNames(type: Type): readonly string[] {
  if (type.kind === 'record') return [...secretNames(type.shape)];
  return type.kind === 'list' ? innerNames(type.element.type) : [];
}

function isSecretSlot(slot: Slot): boolean {
  return slot.isSecret || (slot.type.kind === 'list' && isSecretSlot(slot.type.element));
}

function holdsSecrets(type: Type): boolean {
  if (type.kind === 'list') return type.element.isSecret || holdsSecrets(type.element.type);
  return (
    type.kind === 'record' && type.shape.fields.some((field) => field.isSecret || holdsSecrets(field.type))
  );
}

/**
 * The comparison form of a name. `apiKey`, `api_key` and `API-Key` count as one name, since an ill-shaped
 * payload is often a misspelt one.
 */
function nameForm(name: string): string {
  return name.replaceAll(/[_-]/g, '').toLowerCase();
}

/** Maps all fields. Any name is data: `Object.fromEntries` defines `__proto__` as an ordinary field. */
function mapFields(record: JsonObject, change: (name: string, value: Json) => Json): JsonObject {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(name, value)]));
}
