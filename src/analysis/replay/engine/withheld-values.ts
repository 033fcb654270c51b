// Detects recorded requests that cannot be decided again, because the record withholds values that the
// payload check or the rules would read.

import type { Decision } from '../../../language/model/decision.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../language/model/json.ts';
import { withoutSecretTypes } from '../../../language/model/open-secrets.ts';
import type { Shape, Slot } from '../../../language/model/type.ts';
import { checkPayload } from '../../../language/spec/payload.ts';
import type { ReplayCandidate } from './candidate.ts';
import type { LoggedRequest } from './log.ts';

/** Whether the request holds a digest where the candidate needs the value. */
export function isWithheld(candidate: ReplayCandidate, logged: LoggedRequest, decision: Decision): boolean {
  if (!logged.holdsDigests) return false;
  // The log refused the request for its shape, and the wrong value may be the one that is withheld.
  if (logged.decision.by === 'invalid_payload') return true;
  const { action, payload } = logged.facts;
  const shape = candidate.shapeOf(action);
  if (shape === null) return false;
  if (decision.by !== 'invalid_payload') return hidesValues(shape, payload);
  return checkPayload(withoutSecretTypes(shape), payload).some(({ pointer }) =>
    digestStandsAt(payload, pointer),
  );
}

/**
 * Whether a digest replaces a value that rules may read: the shape there declares neither a secret nor the
 * type `any`.
 */
export function hidesValues({ fields }: Pick<Shape, 'fields'>, payload: JsonObject): boolean {
  return fields.some(
    (field) => Object.hasOwn(payload, field.name) && isHidden(field, payload[field.name] as Json),
  );
}

function isHidden({ isSecret, type }: Slot, value: Json): boolean {
  if (isSecret || type.kind === 'any') return false;
  if (isDigest(value)) return true;
  if (type.kind === 'record' && isJsonObject(value)) return hidesValues(type.shape, value);
  return type.kind === 'list' && Array.isArray(value) && value.some((one) => isHidden(type.element, one));
}

function digestStandsAt(payload: JsonObject, pointer: string): boolean {
  let at: Json | undefined = payload;
  for (const segment of pointer.split('/').slice(1)) {
    if (isDigest(at)) return true;
    const name = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    at = Object.getOwnPropertyDescriptor(Object(at), name)?.value as Json | undefined;
  }
  return isDigest(at);
}

function isDigest(value: Json | undefined): boolean {
  if (!isJsonObject(value)) return false;
  const { secret } = value;
  return typeof secret === 'string' && secret.startsWith('hmac-sha256:');
}
