// Addresses of webhooks as people enter them: one form is stored, and an address that reads as another host
// is refused.

import { describe, expect, test } from 'vitest';
import { readTarget } from '../../../src/service/webhooks/target.ts';
import {
  allWebhooks,
  changeWebhook,
  makeWebhook,
  urlOfWebhook,
} from '../../../src/service/webhooks/webhook.ts';
import { startPeople } from '../people/service.ts';

const publicOnly = { arePrivateAddressesAllowed: false };
const anywhere = { arePrivateAddressesAllowed: true };

test.each([
  ['HTTPS://Hooks.Example.COM:443/a', 'https://hooks.example.com/a'],
  ['https://hooks.example.com', 'https://hooks.example.com/'],
  ['https://hooks.example.com/a/../b/./c', 'https://hooks.example.com/b/c'],
  ['https://münchen.example/ü', 'https://xn--mnchen-3ya.example/%C3%BC'],
  ['https://hooks.example.com:8443/a?key=v%20w', 'https://hooks.example.com:8443/a?key=v%20w'],
  ['https://1.1.1.1/', 'https://1.1.1.1/'],
])('%s is stored as %s', (text, url) => {
  expect(readTarget(text, publicOnly)).toEqual({ kind: 'target', url });
  expect(readTarget(url, publicOnly)).toEqual({ kind: 'target', url });
});

const refused: readonly (readonly [string, string])[] = [
  ['https://hooks.example.com/\r\nX-Evil: 1', 'line breaks'],
  ['https://hooks.example.com/a\n', 'line breaks'],
  ['\rhttps://hooks.example.com/', 'line breaks'],
  ['https://hooks.exa\tmple.com/', 'line breaks'],
  [' https://hooks.example.com/', 'spaces'],
  ['https://hooks.example.com/a b', 'spaces'],
  ['https://hooks.example.com/\u0000', 'invisible characters'],
  ['https://hooks.example.com/\u202egro.live', 'invisible characters'],
  ['https://hooks\u200b.example.com/', 'invisible characters'],
  ['https://hooks.example.com/\ud800', 'invisible characters'],
  ['https://hooks.example.com/\u2028', 'line breaks'],
  ['https://ann:secret@hooks.example.com/', 'user information'],
  ['https://@hooks.example.com/', 'user information'],
  ['https://hooks.example.com@evil.example/', 'user information'],
  ['https://hooks.example.com/#a', 'fragment'],
  ['https://hooks.example.com/#', 'fragment'],
  ['https:\\\\hooks.example.com/', 'backslash'],
  ['https://hooks.example.com\\@evil.example/', 'backslash'],
  ['https:hooks.example.com', 'https://'],
  ['https:/hooks.example.com', 'https://'],
  ['http://hooks.example.com/', 'https://'],
  ['ftp://hooks.example.com/', 'https://'],
  ['file:///etc/passwd', 'https://'],
  ['', 'https://'],
  ['https://', 'not a URL'],
  ['https:///a', 'not a URL'],
  ['https://a:99999/', 'not a URL'],
  [`https://hooks.example.com/${'x'.repeat(2_000)}`, '2000 characters'],
];

test.each(refused)('%j is refused', (text, detail) => {
  expect(readTarget(text, publicOnly)).toEqual({ kind: 'problem', detail: expect.stringContaining(detail) });
  // An operator who allows private addresses allows those and `http:`, and nothing else.
  expect(readTarget(text, anywhere).kind).toBe(text === 'http://hooks.example.com/' ? 'target' : 'problem');
});

describe('what is stored', () => {
  test('is the one form, made and changed', async () => {
    const { directory, masterKey, admin } = await startPeople();
    const deps = { directory, masterKey, ...publicOnly };
    const made = await makeWebhook(deps, admin, {
      url: 'HTTPS://A.example:443',
      events: ['request.pending'],
      format: 'standard',
    });
    if (made.kind !== 'made') throw new Error(made.kind);
    expect(urlOfWebhook(masterKey, made.webhook)).toBe('https://a.example/');
    await changeWebhook(deps, admin, { id: made.webhook.id, url: 'https://B.example/x/../y' });
    for (const url of ['https://b.example/\r\nX-Evil: 1', 'https://b.example/#f', ' https://b.example/']) {
      const changed = await changeWebhook(deps, admin, { id: made.webhook.id, url });
      expect(changed).toMatchObject({ kind: 'invalid', problems: [{ field: 'url' }] });
      const another = await makeWebhook(deps, admin, {
        url,
        events: ['request.pending'],
        format: 'standard',
      });
      expect(another).toMatchObject({ kind: 'invalid', problems: [{ field: 'url' }] });
    }
    expect((await allWebhooks(directory)).map(({ value }) => urlOfWebhook(masterKey, value))).toEqual([
      'https://b.example/y',
    ]);
  });
});
