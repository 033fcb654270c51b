// Texts that look like other texts: against the definitions of Unicode TS 39, and over HTTP for people who
// may see the request.

import { expect, test } from 'vitest';
import {
  charactersMax,
  confusablesMax,
  findConfusables,
  skeleton,
} from '../../../src/service/requests/confusables.ts';
import { firstAdmin, personWith, tokenClient } from './person-client.ts';
import { startService } from './service.ts';
import { ask, codeOf } from './written-policies.ts';

const cyrillicA = '\u0430';
const fake = `St${cyrillicA}ples`;

test.each([
  ['paypal', `p${cyrillicA}ypal`],
  ['Paypal', 'PaypaI'],
  ['microsoft', 'rnicrosoft'],
  ['Acme', '\u0391cme'],
  ['Acme', 'Ac\u200bme'],
  ['café', 'cafe\u0301'],
  ['scope', '\u0455\u0441\u043e\u0440\u0435'],
])('%s and %s have one skeleton', (known, other) => {
  expect(skeleton(other)).toBe(skeleton(known));
});

test('finds a value that looks like one granted more often for the same field', () => {
  const granted = [{ vendor: 'Staples' }, { vendor: 'Staples' }, { vendor: fake }, { note: 'PayPal' }];
  expect(findConfusables({ vendor: fake, note: 'Staples' }, granted)).toEqual([
    {
      path: 'vendor',
      value: fake,
      scripts: ['Latin', 'Cyrillic'],
      looksLike: { value: 'Staples', count: 2 },
      characters: [cyrillicA],
    },
  ]);
  expect(findConfusables({ vendor: 'Staples' }, granted)).toEqual([]);
  expect(findConfusables({ note: 'PayPaI' }, granted)).toMatchObject([
    { scripts: [], looksLike: { value: 'PayPal', count: 1 }, characters: ['I'] },
  ]);
  expect(findConfusables({ note: 'paypal' }, granted)).toEqual([]);
});

test('finds words with letters of several scripts without any history', () => {
  const lines = [{ to: 'Москва Moscow' }, { to: fake }, { to: fake }];
  expect(findConfusables({ lines, amount: 3 }, [])).toEqual([
    {
      path: 'lines[].to',
      value: fake,
      scripts: ['Latin', 'Cyrillic'],
      looksLike: null,
      characters: [cyrillicA],
    },
  ]);
  // The script of most letters in the text counts as the usual script.
  expect(findConfusables({ to: 'Мocква' }, [])).toMatchObject([{ characters: ['o', 'c'] }]);
});

test('limits the number of warnings', () => {
  const cyrillic = Array.from({ length: 64 }, (_, at) => String.fromCodePoint(0x400 + at)).join('');
  const many = Array.from({ length: 300 }, (_, at) => `${cyrillic}abc${'z'.repeat(at)}`.repeat(3));
  const found = findConfusables({ many: [...many, `q${cyrillic}`.repeat(2_000)] }, [{ many }]);
  expect(found).toHaveLength(confusablesMax);
  for (const { value, characters } of found) {
    expect([...value].length).toBeLessThanOrEqual(100);
    expect(characters.length).toBeLessThanOrEqual(charactersMax);
  }
});

test('people who may see a request see its confusable characters with their names', async () => {
  const service = await startService();
  const admin = await firstAdmin(service);
  const ann = await tokenClient(service, admin);
  const legal = await personWith(service, admin, {
    email: 'ben@example.com',
    roles: ['approver'],
    groups: ['legal'],
  });
  for (const vendor of ['Staples', 'Staples', 'Acme'])
    await ask(service, 'demo.allow', { payload: { vendor } });
  const { request_id: id } = await ask(service, 'demo.allow', { payload: { vendor: fake } });
  const path = `/v1/requests/${id}`;
  const told = {
    path: 'vendor',
    value: fake,
    scripts: ['Latin', 'Cyrillic'],
    confusable_with: { value: 'Staples', count: 2 },
    characters: [{ character: cyrillicA, code_point: 'U+0430', name: 'CYRILLIC SMALL LETTER A' }],
  };
  const reviewed = async (of: string) => (await ann.send(`/v1/requests/${of}`)).body.review;
  expect(await reviewed(id)).toMatchObject({ warnings: ['deceptive_letters'], confusables: [told] });
  // A grant that came later, or for another action, is not among the known texts.
  await ask(service, 'demo.allow', { payload: { vendor: fake } });
  await ask(service, 'demo.allow', { payload: { vendor: fake } });
  expect((await reviewed(id)).confusables).toEqual([told]);
  const other = await ask(service, 'demo.escalate', { payload: { vendor: 'StapIes' } });
  expect(await reviewed(other.request_id)).toEqual({ warnings: [], confusables: [], earlier_grants: [] });
  expect(codeOf(await legal.send(path))).toEqual([404, 'request_not_found']);
  const asAgent = await fetch(`${service.url}${path}`, { headers: { 'x-agent-api-key': service.apiKey } });
  expect(await asAgent.json()).toMatchObject({ review: null, people: [] });
});
