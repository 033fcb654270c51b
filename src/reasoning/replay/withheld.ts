// Whether a recorded request cannot be decided again, because what its payload check would read was withheld from the
// record.

import type { Decision } from '../../language/model/decision.ts';
import type { Json, JsonObject } from '../../language/model/json.ts';
import { withoutSecretTypes } from '../../language/model/open-secrets.ts';
import { checkPayload } from '../../language/spec/payload.ts';
import type { ReplayCandidate } from './candidate.ts';
import type { LoggedRequest } from './log.ts';

/** Of a request that holds digests: whether one stands where the candidate has to see the value. */
export function isWithheld(candidate: ReplayCandidate, logged: LoggedRequest, decision: Decision): boolean {
  if (!logged.holdsDigests) return false;
  // It was refused for its shape then, and what was wrong with it may be what is withheld.
  if (logged.decision.by === 'invalid_payload') return true;
  if (decision.by !== 'invalid_payload') return false;
  const { action, payload } = logged.facts;
  const shape = candidate.shapeOf(action);
  if (shape === null) return false;
  return checkPayload(withoutSecretTypes(shape), payload).some(({ pointer }) =>
    digestStandsAt(payload, pointer),
  );
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
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { secret } = value as JsonObject;
  return typeof secret === 'string' && secret.startsWith('hmac-sha256:');
}
