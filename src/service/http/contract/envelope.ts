// Turns the JSON value of a body into the two fields of an authorization request, or lists what is wrong with
// it, place by place. The content of the payload is for the policies: only that it is an object is checked.

import { pointerTo } from '../../../language/json/parse.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../language/model/json.ts';
import type { ProblemLocation } from './problem.ts';

export interface Envelope {
  readonly actionKey: string;
  readonly payload: JsonObject;
}

export type ReadEnvelope =
  | { readonly ok: true; readonly envelope: Envelope }
  | { readonly ok: false; readonly errors: readonly ProblemLocation[] };

/** The longest action key, in code points. */
export const actionKeyLengthMax = 200;
const errorsMax = 10;

export function readEnvelope(body: Json): ReadEnvelope {
  if (!isJsonObject(body))
    return { ok: false, errors: [{ pointer: '', detail: 'the body must be an object' }] };
  const actionKey = own(body, 'action_key');
  const payload = own(body, 'payload');
  const errors: ProblemLocation[] = [];
  const actionFault = actionKeyFault(actionKey);
  if (actionFault !== null) errors.push({ pointer: '/action_key', detail: actionFault });
  if (payload === undefined) errors.push({ pointer: '/payload', detail: 'payload is missing' });
  else if (!isJsonObject(payload)) errors.push({ pointer: '/payload', detail: 'payload must be an object' });
  for (const key of Object.keys(body)) {
    if (key === 'action_key' || key === 'payload') continue;
    errors.push({ pointer: pointerTo([key]), detail: 'only action_key and payload are allowed here' });
  }
  if (errors.length > 0 || typeof actionKey !== 'string' || !isJsonObject(payload)) {
    return { ok: false, errors: errors.slice(0, errorsMax) };
  }
  return { ok: true, envelope: { actionKey, payload } };
}

function actionKeyFault(actionKey: Json | undefined): string | null {
  if (actionKey === undefined) return 'action_key is missing';
  if (typeof actionKey !== 'string') return 'action_key must be a string';
  if (actionKey === '') return 'action_key must not be empty';
  if (actionKey.includes('\0')) return 'action_key must not contain a NUL character';
  return isLong(actionKey) ? `action_key may have at most ${actionKeyLengthMax} characters` : null;
}

/** Whether a text is too long. A code point takes one or two units, so few texts need counting. */
function isLong(text: string): boolean {
  if (text.length <= actionKeyLengthMax) return false;
  return text.length > 2 * actionKeyLengthMax || [...text].length > actionKeyLengthMax;
}

function own(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
