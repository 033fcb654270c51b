// A recorded payload, in which digests replace secrets, is decided like the payload that was sent. Other
// faults of the payload remain faults.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/language/model/json.ts';
import { createSecretHider } from '../../../src/service/requests/record/secrets.ts';
import { engineOf, factsOf } from './engine.ts';

const policies = `
approvers finance "Finance"
action a.b {
  amount: number 0..100
  card: secret string matches '[0-9]{16}' | null
  codes?: [secret string]
  login?: { user: string, password: secret string 8.. }
  note?: string
}
policy p on a.b {
  allow small when payload.amount < 10
  escalate carded to finance when payload has card
  escalate coded to finance when payload has codes
  risk users +20 when payload has login.user and payload.login.user == "root"
}
`;

const engine = engineOf(policies);
const hide = createSecretHider(new Uint8Array(32));

function hidden(payload: JsonObject): JsonObject {
  return hide(payload, { shape: engine.shapeOf('a.b'), isWellShaped: true });
}

const card = '4111111111111111';

describe('a recorded payload', () => {
  test.each<[string, JsonObject]>([
    ['without a secret', { amount: 5, card: null }],
    ['with one', { amount: 5, card }],
    [
      'with secrets at every kind of place',
      { amount: 5, card, codes: ['a', 'b'], login: { user: 'root', password: 'long enough' } },
    ],
    ['with more of them than issues are counted', { amount: 5, card, codes: Array(20).fill('c') }],
    ['that is denied', { amount: 50, card }],
  ])('%s is decided as the one that was sent', (_, payload) => {
    expect(engine.decideRecorded(factsOf(hidden(payload)))).toEqual(engine.decideTraced(factsOf(payload)));
  });

  test('holds digests, which would not be of its shape', () => {
    const facts = factsOf(hidden({ amount: 5, card }));
    expect(engine.decideTraced(facts).decision.by).toBe('invalid_payload');
  });

  test.each<[string, JsonObject]>([
    ['a number out of range', { amount: 500, card: null }],
    ['an undeclared key after many secrets', { amount: 5, card: null, codes: Array(20).fill('c'), extra: 1 }],
    ['a digest where nothing is secret', { amount: 5, card: null, note: { secret: 'hmac-sha256:0' } }],
    ['a secret that is missing', { amount: 5 }],
    ['something else than a list of secrets', { amount: 5, card: null, codes: 'c' }],
  ])('with %s is refused', (_, payload) => {
    const { decision } = engine.decideRecorded(factsOf(payload));
    expect([decision.outcome, decision.by]).toEqual(['DENY', 'invalid_payload']);
  });
});
