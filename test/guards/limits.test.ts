// The limits of what the service takes, written down once more, apart from where the service has them: each is tried at
// its edge and one beyond.

import { describe, expect, test } from 'vitest';
import { addAgent } from '../../src/service/agents/registry.ts';
import { settings } from '../../src/service/http/config.ts';
import { liveKeysMax } from '../../src/service/store/contract/store.ts';
import { openStore } from '../../src/service/store/open.ts';
import { makeWebhook } from '../../src/service/webhooks/webhook.ts';
import { startPeople } from '../people/service.ts';
import { temporaryFolder } from '../store/rows.ts';

const limitsOfSettings = {
  port: [8_181, 0, 65_535],
  'policies.compile_timeout': [60, 1, 3_600],
  connections_max: [1_000, 1, 1_000_000],
  'limits.rate_per_minute': [600, 1, 1_000_000_000],
  'limits.burst': [100, 1, 1_000_000_000],
  'limits.in_flight': [256, 1, 2_000],
  'limits.waits': [100, 1, 2_000],
  'people.new_factor_minutes': [60, 0, 10_080],
  'limits.body_bytes': [262_144, 1_024, 16_777_216],
  'requests.open_max': [20, 1, 1_000_000],
} as const;

test('each setting that is a number has this default and these ends', () => {
  const found = Object.entries(settings).flatMap(([name, { default: value, kind }]) =>
    kind.is === 'integer' ? [[name, [value, kind.from, kind.to]]] : [],
  );
  expect(Object.fromEntries(found)).toEqual(limitsOfSettings);
});

test('each setting that opens something is closed unless it is set', () => {
  expect(settings['webhooks.allow_private'].default).toBe(false);
  expect(settings['meters.trust_agent_reports'].default).toBe(false);
  expect(settings['clock.behind'].default).toBe('refuse');
  expect(settings.host.default).toBe('127.0.0.1');
});

describe('agents', () => {
  const draft = { name: 'a', riskTier: 'low', controlOwner: 'o@example.com', tags: [] };
  const tags = (count: number, length = 3) =>
    Array.from({ length: count }, (_, at) => `${at}`.padStart(length, 't'));

  test.each([
    ['name', { name: 'n'.repeat(100) }, { name: 'n'.repeat(101) }],
    ['control owner', { controlOwner: 'o'.repeat(200) }, { controlOwner: 'o'.repeat(201) }],
    ['number of tags', { tags: tags(50) }, { tags: tags(51) }],
    ['length of a tag', { tags: tags(1, 50) }, { tags: tags(1, 51) }],
    ['rate', { ratePerMinute: 1_000_000_000 }, { ratePerMinute: 1_000_000_001 }],
    ['least rate', { ratePerMinute: 1 }, { ratePerMinute: 0 }],
    ['burst', { burst: 1_000_000_000 }, { burst: 1_000_000_001 }],
  ])('%s', async (_, most, more) => {
    const store = await openStore({ path: `${temporaryFolder()}/writ.db` });
    expect((await addAgent(store, { ...draft, ...more })).kind).toBe('invalid');
    expect((await addAgent(store, { ...draft, ...most })).kind).toBe('added');
    await store.close();
  });

  test('two keys are good at the same time', () => expect(liveKeysMax).toBe(2));
});

describe('webhooks', () => {
  const url = (length: number) => `https://hooks.example.com/${'x'.repeat(length - 26)}`;

  test('an address of 2,000 characters, and fifty of them', async () => {
    const { directory, masterKey, admin } = await startPeople();
    const deps = { directory, masterKey, arePrivateAddressesAllowed: false };
    const make = (length: number) =>
      makeWebhook(deps, admin, { url: url(length), events: ['request.pending'] }).then(({ kind }) => kind);
    expect(url(2_000)).toHaveLength(2_000);
    expect(await make(2_001)).toBe('invalid');
    for (let i = 0; i < 50; i++) expect(await make(2_000)).toBe('made');
    expect(await make(100)).toBe('invalid');
  });
});
