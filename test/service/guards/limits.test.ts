// The limits of the service's input, written down a second time, apart from the service: each is tried at its
// edge and one beyond.

import { describe, expect, test } from 'vitest';
import { addAgent } from '../../../src/service/agents/registry.ts';
import { readEnvelope } from '../../../src/service/http/contract/envelope.ts';
import { acceptInvitation, apply, invite } from '../../../src/service/people/access.ts';
import { createChallenge, isChallenge } from '../../../src/service/people/challenges.ts';
import { createKillSwitchBoard } from '../../../src/service/people/kill-switches.ts';
import { addPasskey, passkeyCreationOptions } from '../../../src/service/people/passkeys.ts';
import { passwordFormProblem } from '../../../src/service/people/passwords.ts';
import { lookAtResetLink, makeResetLink } from '../../../src/service/people/recovery/reset-links.ts';
import { startSession, whoseSession } from '../../../src/service/people/sessions.ts';
import { createToken } from '../../../src/service/people/tokens.ts';
import { settings } from '../../../src/service/settings/table.ts';
import { liveKeysMax } from '../../../src/service/store/contract/store.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { makeWebhook } from '../../../src/service/webhooks/webhook.ts';
import { createAuthenticator } from '../people/authenticator.ts';
import { origin, password, startPeople } from '../people/service.ts';
import { temporaryFolder } from '../store/rows.ts';

const limitsOfSettings = {
  port: [8_181, 0, 65_535],
  'policies.compile_timeout': [60, 1, 3_600],
  'bundle.bytes_max': [67_108_864, 1_048_576, 1_073_741_824],
  'bundle.poll_seconds': [10, 1, 86_400],
  'store.wait_seconds': [60, 0, 86_400],
  connections_max: [1_000, 1, 1_000_000],
  'limits.rate_per_minute': [600, 1, 1_000_000_000],
  'limits.burst': [100, 1, 1_000_000_000],
  'limits.in_flight': [256, 1, 2_000],
  'limits.waits': [100, 1, 2_000],
  'reminders.before_minutes': [60, 0, 44_640],
  'siem.batch_bytes': [1_048_576, 10_240, 67_108_864],
  'siem.batch_records': [500, 1, 10_000],
  'siem.skip': [null, 1, 9_007_199_254_740_991],
  'siem.timeout_seconds': [30, 1, 600],
  'transparency.quorum': [null, 0, 16],
  workers: [1, 1, 64],
  'people.new_factor_minutes': [60, 0, 10_080],
  'sso.recheck_seconds': [120, 10, 240],
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
  expect(settings['store.durability'].default).toBe('replicated');
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
      makeWebhook(deps, admin, { url: url(length), events: ['request.pending'], format: 'standard' }).then(
        ({ kind }) => kind,
      );
    expect(url(2_000)).toHaveLength(2_000);
    expect(await make(2_001)).toBe('invalid');
    for (let i = 0; i < 50; i++) expect(await make(2_000)).toBe('made');
    expect(await make(100)).toBe('invalid');
  });
});

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

describe('people', () => {
  const newcomer = { email: 'ben@example.com', name: 'Ben', roles: ['auditor'], groups: [] } as const;
  const groups = (count: number) => Array.from({ length: count }, (_, at) => `g${at}`);

  test.each([
    ['name', { name: 'n'.repeat(100) }, { name: 'n'.repeat(101) }],
    ['number of groups', { groups: groups(50) }, { groups: groups(51) }],
    ['length of a group', { groups: ['g'.repeat(100)] }, { groups: ['g'.repeat(101)] }],
    ['roles', { roles: ['auditor'] as const }, { roles: [] }],
    ['groups of an approver', { groups: ['g'] }, { roles: ['approver'] as const }],
  ])('%s', async (_, most, more) => {
    const { directory, admin } = await startPeople();
    expect((await invite(directory, admin, { ...newcomer, ...more })).kind).toBe('invalid');
    expect((await invite(directory, admin, { ...newcomer, ...most })).kind).toBe('invited');
  });

  test('an application has a reason of 2,000 characters, and is due within a day', async () => {
    const { directory, time } = await startPeople();
    const applied = (length: number) =>
      apply(directory, { email: 'ben@example.com', name: 'Ben', reason: 'r'.repeat(length) });
    expect((await applied(2_001)).kind).toBe('invalid');
    expect(await applied(2_000)).toMatchObject({ application: { dueAtMs: time.nowMs + dayMs } });
  });

  test('a password has 12 characters, 5 different ones, and 1,024 bytes', () => {
    const isTaken = (text: string) => passwordFormProblem(text, { email: '', name: '' }) === null;
    const long = (bytes: number) => 'abcde'.padEnd(bytes, 'x');
    expect([long(11), long(12), long(1_024), long(1_025)].map(isTaken)).toEqual([false, true, true, false]);
    expect(['abcdabcdabcd', 'abcdeabcdabc'].map(isTaken)).toEqual([false, true]);
  });

  test('a reset link is good for a day', async () => {
    const service = await startPeople();
    const maker = { kind: 'machine', user: 'root' } as const;
    const draft = { personId: service.admin.person.id, removesFactors: false };
    const made = await makeResetLink(service.directory, maker, draft);
    if (made.kind !== 'made') throw new Error(made.kind);
    const isGood = async () => (await lookAtResetLink(service.directory, made.secret)) !== null;
    service.time.nowMs += dayMs - 1;
    expect(await isGood()).toBe(true);
    service.time.nowMs += 1;
    expect(await isGood()).toBe(false);
  });

  test('an invitation is good for a week', async () => {
    const { directory, admin, time } = await startPeople();
    for (const [waitMs, kind] of [
      [7 * dayMs - 1, 'joined'],
      [7 * dayMs, 'no-invitation'],
    ] as const) {
      const email = `${kind}@example.com`;
      const invited = await invite(directory, admin, { ...newcomer, email });
      if (invited.kind !== 'invited') throw new Error(invited.kind);
      time.nowMs += waitMs;
      expect((await acceptInvitation(directory, { secret: invited.secret, password })).kind).toBe(kind);
    }
  });

  test('a session ends after an hour without use, and after twelve hours in any case', async () => {
    const service = await startPeople();
    const { admin, time } = service;
    const { secret, session } = await startSession(service, admin.person, {
      address: '192.0.2.1',
      way: 'password',
    });
    const isOpenAfter = async (waitMs: number) => {
      time.nowMs += waitMs;
      return (await whoseSession(service, secret)) !== null;
    };
    expect(session.endsAtMs).toBe(time.nowMs + 12 * hourMs);
    for (let i = 0; i < 12; i++) expect(await isOpenAfter(hourMs - 1)).toBe(true);
    expect(await isOpenAfter(12)).toBe(false);
    const idle = await startSession(service, admin.person, { address: '192.0.2.1', way: 'password' });
    time.nowMs += hourMs;
    expect(await whoseSession(service, idle.secret)).toBeNull();
  });

  test('a question to a passkey is good for five minutes', () => {
    const key = Buffer.alloc(32, 1);
    const question = createChallenge(key, 'sign in', 0);
    const isGoodAfter = (nowMs: number) => isChallenge(key, question, { purpose: 'sign in', nowMs });
    expect([isGoodAfter(5 * minuteMs - 1), isGoodAfter(5 * minuteMs)]).toEqual([true, false]);
  });

  test('twenty passkeys, with names of 100 characters', async () => {
    const service = await startPeople();
    const { person } = service.admin;
    const add = async (name: string) => {
      const options = await passkeyCreationOptions(service, person);
      const response = createAuthenticator({ origin }).create(options);
      return (await addPasskey(service, person, { response, name })).kind;
    };
    expect(await add('n'.repeat(101))).toBe('invalid');
    for (let i = 0; i < 20; i++) expect(await add('n'.repeat(100))).toBe('added');
    expect(await add('one more')).toBe('too-many');
  });
});

describe('tokens', () => {
  const draft = { name: 'ci', roles: ['auditor'], days: 1 } as const;

  test.each([
    ['name', { name: 'n'.repeat(100) }, { name: 'n'.repeat(101) }],
    ['most days', { days: 366 }, { days: 367 }],
    ['least days', { days: 1 }, { days: 0 }],
    ['whole days', { days: 2 }, { days: 1.5 }],
    ['roles', { roles: ['admin'] as const }, { roles: [] }],
  ])('%s', async (_, most, more) => {
    const { directory, admin } = await startPeople();
    const person = { ...admin, roles: ['admin', 'auditor'] as const };
    expect((await createToken(directory, person, { ...draft, ...more })).kind).toBe('invalid');
    expect((await createToken(directory, person, { ...draft, ...most })).kind).toBe('made');
  });

  test('fifty of one person', async () => {
    const { directory, admin } = await startPeople();
    const make = async () => (await createToken(directory, admin, { ...draft, roles: ['admin'] })).kind;
    for (let i = 0; i < 50; i++) expect(await make()).toBe('made');
    expect(await make()).toBe('invalid');
  });
});

describe('switches', () => {
  test('a reason of 500 characters', async () => {
    const { directory, admin } = await startPeople();
    const board = createKillSwitchBoard({ directory, steadyMs: () => 0 });
    const turnOn = async (length: number) =>
      (await board.turnOn(admin, { scope: { kind: 'all' }, reason: 'r'.repeat(length) })).kind;
    expect([await turnOn(501), await turnOn(500)]).toEqual(['invalid', 'on']);
  });

  test('a look is good for half a second', async () => {
    const { directory, admin } = await startPeople();
    let nowMs = 0;
    const [here, there] = [1, 2].map(() => createKillSwitchBoard({ directory, steadyMs: () => nowMs }));
    const asked = { agentId: 'a1', tier: 'low', actionKey: 'payment.create' } as const;
    const isStopped = async () => (await there!.current()).stoppedBy(asked) !== null;
    expect(await isStopped()).toBe(false);
    await here!.turnOn(admin, { scope: { kind: 'all' }, reason: 'r' });
    nowMs = 500;
    expect(await isStopped()).toBe(false);
    nowMs = 501;
    expect(await isStopped()).toBe(true);
  });
});

describe('the envelope', () => {
  const isRead = (body: Parameters<typeof readEnvelope>[0]) => readEnvelope(body).ok;

  test.each(['a', '😀'])('an action key of 200 characters: %s', (character) => {
    const keyed = (length: number) => ({ action_key: character.repeat(length), payload: {} });
    expect([0, 1, 200, 201].map((length) => isRead(keyed(length)))).toEqual([false, true, true, false]);
  });

  test('two fields and no others, an object in an object', () => {
    const whole = { action_key: 'a', payload: {} };
    expect(isRead(whole)).toBe(true);
    for (const body of [{ ...whole, more: 1 }, { action_key: 'a' }, { payload: {} }, [], null, 'a']) {
      expect(isRead(body)).toBe(false);
    }
    for (const payload of [null, [], 'a', 1, true]) expect(isRead({ ...whole, payload })).toBe(false);
    for (const actionKey of [null, [], {}, 1])
      expect(isRead({ ...whole, action_key: actionKey })).toBe(false);
  });

  test('ten faults are named', () => {
    const body = Object.fromEntries(Array.from({ length: 11 }, (_, at) => [`field_${at}`, at]));
    const result = readEnvelope({ action_key: 'a', payload: {}, ...body });
    expect(result.ok ? [] : result.errors).toHaveLength(10);
  });
});
