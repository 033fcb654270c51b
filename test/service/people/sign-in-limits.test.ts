// How many guesses are judged, and who else may sign in meanwhile: laws over random interleavings, and days
// of an attack.

import { describe, expect, it } from 'vitest';
import { createAttempts, type Reservation } from '../../../src/service/people/attempts.ts';
import { changePassword } from '../../../src/service/people/change-password.ts';
import { createDevice, knownDevice } from '../../../src/service/people/device.ts';
import { createHashingLine } from '../../../src/service/people/passwords/hashing.ts';
import { signIn } from '../../../src/service/people/sign-in.ts';
import {
  blockOf,
  type Guess,
  networkOf,
  reserveCode,
  reservePassword,
  reserveUnguessable,
} from '../../../src/service/people/sign-in-limits.ts';
import { totpAt } from '../../../src/service/people/totp.ts';
import { password, setUpCodes, startPeople } from './service.ts';

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const dayMs = 24 * 60 * minuteMs;

const ann: Guess = { account: 'ann@example.com', isAccount: true, address: '192.0.2.1', knownSource: null };

/** A small random generator with a seed, so that a failure can be repeated. */
function randoms(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describe('guesses that arrive together', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])('are no more than those one by one, in any order (%i)', (seed) => {
    const random = randoms(seed);
    const attempts = createAttempts();
    const judged = new Map<string, number>();
    const underWay: { readonly key: string; readonly reserved: Reservation }[] = [];
    for (let step = 0; step < 3_000; step++) {
      const [account, address] = [`a${random(3)}`, `192.0.${random(3)}.1`];
      const one = underWay.splice(random(underWay.length + 1), 1)[0];
      // Some guesses are judged and wrong; the others are never judged, and give their place back.
      if (one !== undefined && random(4) > 0) judged.set(one.key, (judged.get(one.key) ?? 0) + 1);
      else one?.reserved.giveBack();
      const reserved = reservePassword(attempts, { ...ann, account, address }, 0);
      if (reserved.kind === 'reserved') underWay.push({ key: `${account} ${address}`, reserved });
    }
    expect(judged.size).toBe(9);
    expect(Math.max(...judged.values())).toBeLessThanOrEqual(5);
  });

  it('are judged five times of sixty: passwords', async () => {
    const service = await startPeople();
    const wrong = { email: ann.account, password: 'correct horse batterz', code: null, address: '::1' };
    const results = await Promise.all(Array.from({ length: 60 }, () => signIn(service, wrong)));
    expect(results.filter(({ kind }) => kind === 'wrong')).toHaveLength(5);
    expect(results.filter(({ kind }) => kind === 'wait')).toHaveLength(55);
  });

  it('are judged five times of sixty: codes, also where one asks for the code in between', async () => {
    const service = await startPeople();
    const secret = await setUpCodes(service, service.admin.person);
    const right = totpAt(secret, service.time.nowMs + 30_000);
    const code = right === '000000' ? '000001' : '000000';
    const sent = { email: ann.account, password, code, address: '::1' };
    const results = await Promise.all(
      Array.from({ length: 60 }, (_, i) => signIn(service, i % 2 === 0 ? sent : { ...sent, code: null })),
    );
    expect(results.filter(({ kind }) => kind === 'wrong').length).toBeLessThanOrEqual(5);
    let judged = results.filter(({ kind }) => kind === 'wrong').length;
    for (let i = 0; i < 20; i++) {
      await signIn(service, { ...sent, code: null });
      if ((await signIn(service, sent)).kind === 'wrong') judged += 1;
    }
    expect(judged).toBe(5);
  });

  it('by links and passkeys are bounded too', () => {
    const attempts = createAttempts();
    const tried = Array.from({ length: 200 }, () =>
      reserveUnguessable(attempts, { what: 'link', address: '::1' }, 0),
    );
    expect(tried.filter(({ kind }) => kind === 'reserved')).toHaveLength(30);
  });
});

interface Day {
  /** Guesses of strangers that were judged. */
  readonly judged: number;
  /** Attempts of the rightful person that were judged, of 1,440. */
  readonly heard: number;
}

/**
 * A day in which the rightful person tries once a minute, and strangers try all the time from these
 * addresses.
 */
function day(addresses: readonly string[], person: Partial<Guess>): Day {
  const attempts = createAttempts();
  let [judged, heard] = [0, 0];
  for (let minute = 0; minute < 1_440; minute++) {
    for (let second = 0; second < 60; second += addresses.length > 1 ? 60 : 20) {
      const nowMs = minute * minuteMs + second * secondMs;
      for (const address of addresses) {
        if (reservePassword(attempts, { ...ann, address }, nowMs).kind === 'reserved') judged += 1;
      }
    }
    const tried = reservePassword(attempts, { ...ann, ...person }, minute * minuteMs + 59 * secondMs);
    if (tried.kind !== 'reserved') continue;
    heard += 1;
    tried.succeeded();
  }
  return { judged, heard };
}

const botnet = Array.from({ length: 150 }, (_, i) => `10.0.${i}.7`);

describe('while strangers guess all day, right credentials at a human pace are heard', () => {
  it('from a known device, from the very address of the stranger', () => {
    const { judged, heard } = day([ann.address], { knownSource: 'device a' });
    expect(heard).toBe(1_440);
    expect(judged).toBeLessThanOrEqual(110);
    expect(judged).toBeGreaterThan(5);
  });

  it('from a new device elsewhere, against one stranger', () => {
    const { judged, heard } = day(['198.51.100.9'], {});
    expect(heard).toBe(1_440);
    expect(judged).toBeLessThanOrEqual(110);
  });

  it.each([
    ['a known device', { knownSource: 'device a' }],
    ['a new device', {}],
  ])('from %s, against a botnet, whose guesses stay few', (_, person) => {
    const { judged, heard } = day(botnet, person);
    expect(heard).toBe(1_440);
    // 400 at once and in a day, and three from each network, whose first attempts came before.
    expect(judged).toBeLessThanOrEqual(400 + 6 * botnet.length);
  });

  it('and a botnet of any size is bounded; then known devices alone are heard', () => {
    const huge = Array.from({ length: 5_000 }, (_, i) => `10.${i >> 8}.${i & 255}.7`);
    const attempts = createAttempts();
    const all = huge.filter(
      (address) => reservePassword(attempts, { ...ann, address }, 0).kind === 'reserved',
    );
    expect(all).toHaveLength(2_500);
    expect(reservePassword(attempts, ann, 0).kind).toBe('wait');
    expect(reservePassword(attempts, { ...ann, knownSource: 'device a' }, 0).kind).toBe('reserved');
    expect(reservePassword(attempts, ann, minuteMs).kind).toBe('reserved');
  });

  it('and other accounts behind the same address are heard', () => {
    const attempts = createAttempts();
    for (let i = 0; i < 1_000; i++) reservePassword(attempts, { ...ann, account: `a${i}` }, 0);
    expect(reservePassword(attempts, ann, 0).kind).toBe('reserved');
  });

  it('and one address has few guesses at each of many accounts', () => {
    const attempts = createAttempts();
    let judged = 0;
    for (let i = 0; i < 1_000; i++) {
      const account = `a${i % 100}`;
      if (reservePassword(attempts, { ...ann, account }, 0).kind === 'reserved') judged += 1;
    }
    expect(judged).toBe(3 * 100 + 30);
  });

  it('while codes of one account are guessed by who knows its password', () => {
    const attempts = createAttempts();
    const strangers = botnet.filter(
      (address) => reserveCode(attempts, { ...ann, address }, 0).kind === 'reserved',
    );
    expect(strangers).toHaveLength(50);
    expect(reserveCode(attempts, { ...ann, knownSource: 'device a' }, 0).kind).toBe('reserved');
    expect(reserveCode(attempts, ann, dayMs).kind).toBe('reserved');
  });
});

describe('an address', () => {
  it.each([
    ['192.0.2.77', '192.0.2.77', '192.0.2'],
    ['::ffff:192.0.2.77', '192.0.2.77', '192.0.2'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2', '2001:db8:1'],
    ['2001:0DB8:1:2::6', '2001:db8:1:2', '2001:db8:1'],
    ['2001:db8::6', '2001:db8:0:0', '2001:db8:0'],
    ['::1', '0:0:0:0', '0:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0', 'fe80:0:0'],
  ])('%s counts as %s, in the network %s', (address, block, network) => {
    expect([blockOf(address), networkOf(address)]).toEqual([block, network]);
  });
});

describe('a device', () => {
  it('is known to be its person’s until the password changes, and lets nobody in', async () => {
    const service = await startPeople();
    const { masterKey, directory } = service;
    const { person } = service.admin;
    const text = createDevice(masterKey, person);
    expect(knownDevice(masterKey, person, text)).toBe(text.split('.')[0]);
    for (const other of [null, '', 'x', text.slice(1), `${text}x`, text.replace('.', '..')]) {
      expect(knownDevice(masterKey, person, other)).toBeNull();
    }
    expect(knownDevice(masterKey, { ...person, id: 'other' }, text)).toBeNull();
    const credentials = { email: ann.account, password: 'guess guess guess', code: null, address: '::1' };
    for (let i = 0; i < 5; i++) await signIn(service, credentials);
    expect((await signIn(service, { ...credentials, password })).kind).toBe('wait');
    expect((await signIn(service, { ...credentials, device: text })).kind).toBe('wrong');
    expect((await signIn(service, { ...credentials, password, device: text })).kind).toBe('signed-in');
    await changePassword(service, person, 'another horse battery');
    const changed = (await directory.people.find(person.id))?.value ?? person;
    expect(knownDevice(masterKey, changed, text)).toBeNull();
  });
});

describe('the line of passwords to be hashed', () => {
  it('works at a few at a time, known ones first, and refuses beyond its length', async () => {
    const line = createHashingLine({ atOnce: 2, waitingMax: 6, waitingMaxEach: 3 });
    const done: string[] = [];
    const ends: (() => void)[] = [];
    let running = 0;
    const run = (key: string, isKnown = false) =>
      line.run({ key, isKnown }, async () => {
        running += 1;
        await new Promise<void>((resolve) => ends.push(resolve));
        running -= 1;
        done.push(key);
      });
    const all = ['a', 'a', 'a', 'a', 'a', 'a', 'b', 'c', 'd', 'e'].map((key) => run(key));
    expect(all.map((one) => one === null)).toEqual([
      ...[false, false, false, false, false],
      ...[true, false, false, false, true],
    ]);
    const known = run('known', true);
    while (ends.length > 0 || running > 0) {
      expect(running).toBeLessThanOrEqual(2);
      ends.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all([...all, known]);
    expect(done.indexOf('known')).toBe(2);
    expect(done).toHaveLength(9);
  });

  it('goes on after work that fails', async () => {
    const line = createHashingLine({ atOnce: 1 });
    const failing = line.run({ key: 'a', isKnown: false }, () => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow('no');
    expect(await line.run({ key: 'a', isKnown: false }, async () => 1)).toBe(1);
  });
});
