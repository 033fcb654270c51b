// Whether a recorded request cannot be decided again, because what its payload check or its rules would read was withheld
// from the record.

import type { Decision } from '../../language/model/decision.ts';
import { isJsonObject, type Json, type JsonObject } from '../../language/model/json.ts';
import { withoutSecretTypes } from '../../language/model/open-secrets.ts';
import type { Shape, Slot } from '../../language/model/type.ts';
import { checkPayload } from '../../language/spec/payload.ts';
import type { ReplayCandidate } from './candidate.ts';
import type { LoggedRequest } from './log.ts';

/** Whether a digest stands in the request where the candidate has to see the value. */
export function isWithheld(candidate: ReplayCandidate, logged: LoggedRequest, decision: Decision): boolean {
  if (!logged.holdsDigests) return false;
  // It was refused for its shape then, and what was wrong with it may be what is withheld.
  if (logged.decision.by === 'invalid_payload') return true;
  const { action, payload } = logged.facts;
  const shape = candidate.shapeOf(action);
  if (shape === null) return false;
  if (decision.by !== 'invalid_payload') return hidesValues(shape, payload);
  return checkPayload(withoutSecretTypes(shape), payload).some(({ pointer }) =>
    digestStandsAt(payload, pointer),
  );
}

/** Whether a digest stands where rules may read the value: where the shape has neither a secret nor a value of any type. */
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
