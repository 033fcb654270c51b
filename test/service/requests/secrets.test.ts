// Keyed digests replace values wherever the shape calls them secret, and nothing else changes.

import { createHmac, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/language/model/json.ts';
import { anyText } from '../../../src/language/model/type.ts';
import { deriveKey } from '../../../src/service/agents/sealing.ts';
import { createSecretHider } from '../../../src/service/requests/record/secrets.ts';
import { field, paymentShape } from './policies.ts';

const masterKey = randomBytes(32);
const hide = createSecretHider(masterKey);
const wellShaped = { shape: paymentShape, isWellShaped: true };
const illShaped = { shape: paymentShape, isWellShaped: false };

/** The digest of a value whose canonical text is `text`. */
function digestOf(text: string): Json {
  const key = deriveKey(masterKey, 'secret payload fields');
  return { secret: `hmac-sha256:${createHmac('sha256', key).update(text).digest('hex')}` };
}

test('secrets at every depth are replaced, all else stays', () => {
  const payload = {
    amount: 5,
    vendor: 'Staples',
    card_number: '4111',
    codes: ['a', 'b'],
    login: { user: 'u', password: 'p' },
    steps: [{ token: 't' }],
    public: { token: 'shown' },
    extra: [1, { note: null }],
  };
  expect(hide(payload, wellShaped)).toEqual({
    ...payload,
    card_number: digestOf('"4111"'),
    codes: [digestOf('"a"'), digestOf('"b"')],
    login: { user: 'u', password: digestOf('"p"') },
    steps: [{ token: digestOf('"t"') }],
  });
});

test('equal values have equal digests, whatever the order of their keys', () => {
  const digest = (value: Json) => hide({ card_number: value }, illShaped).card_number;
  expect(digest({ b: [1, 'x'], a: null })).toEqual(digest({ a: null, b: [1, 'x'] }));
  expect(digest({ b: 1, a: 2 })).toEqual(digestOf('{"a":2,"b":1}'));
  expect(digest('1')).not.toEqual(digest(1));
  expect(createSecretHider(randomBytes(32))({ card_number: '1' }, wellShaped)).not.toEqual({
    card_number: digest('1'),
  });
});

test('null and absence stay what they are', () => {
  expect(hide({ card_number: null }, wellShaped)).toEqual({ card_number: null });
  expect(hide({}, wellShaped)).toEqual({});
});

test.each<[string, JsonObject]>([
  ['a secret of the wrong type', { card_number: 12345 }],
  ['a secret where a list of secrets belongs', { codes: 's3cret' }],
  ['a secret where a record with one belongs', { login: 's3cret' }],
  ['a list where a record with a secret belongs', { login: ['s3cret'] }],
  ['a secret where a list of records belongs', { steps: 's3cret' }],
  ['a secret in place of an element', { steps: ['s3cret'] }],
  ['a secret too far out', { password: 's3cret' }],
  ['a secret too far in', { vendor: { card_number: 's3cret' } }],
  ['a secret inside of what is not declared', { other: [{ token: 's3cret' }] }],
  ['a secret in another spelling', { cardNumber: 's3cret', 'CARD-NUMBER': 's3cret' }],
  ['a secret of the same name where it is not one', { public: { token: 's3cret' } }],
])('in an ill-shaped payload, %s is replaced too', (_, payload) => {
  const text = JSON.stringify(hide(payload, illShaped));
  expect(text).toContain('hmac-sha256:');
  expect(text).not.toMatch(/s3cret|12345/);
});

test('an action without secrets keeps its payload', () => {
  const payload = { password: 'p' };
  const shape = { fields: [field('password', anyText)], isOpen: false };
  expect(hide(payload, { shape, isWellShaped: true })).toBe(payload);
});

test('any name is data', () => {
  const payload = JSON.parse('{"__proto__": {"password": "p"}, "constructor": 1}');
  const hidden = hide(payload, illShaped);
  expect(Object.keys(hidden)).toEqual(['__proto__', 'constructor']);
  expect(JSON.stringify(hidden)).not.toContain('"p"');
  expect(Object.getPrototypeOf(hidden)).toBe(Object.prototype);
});

test('nothing is kept of a payload whose action is not declared, but its digest', () => {
  const unknown = { shape: null, isWellShaped: false };
  const payload = { user: 'ann', password: 's3cret', s3cret: [1] };
  expect(hide(payload, unknown)).toEqual(digestOf('{"password":"s3cret","s3cret":[1],"user":"ann"}'));
  expect(hide({}, unknown)).toEqual({});
});

test.each<[string, JsonObject]>([
  ['a misspelt name', { card_nubmer: 's3cret' }],
  ['a misspelt name within a record', { login: { user: 'u', pasword: 's3cret' } }],
  ['what is inside of a text', { vendor: { pin: 's3cret' } }],
  ['what is inside of a number', { amount: ['s3cret'] }],
])('in an ill-shaped payload, %s is replaced', (_, payload) => {
  expect(JSON.stringify(hide(payload, illShaped))).not.toContain('s3cret');
});

test('an ill-shaped payload hides undeclared fields of actions without secrets, too', () => {
  const shape = { fields: [field('note', anyText)], isOpen: false };
  const hidden = hide({ note: 'shown', password: 's3cret' }, { shape, isWellShaped: false });
  expect(hidden).toEqual({ note: 'shown', password: digestOf('"s3cret"') });
});
