// Signing in, staying signed in, and signing out.

import { describe, expect, it } from 'vitest';
import { createChallenge, isChallenge } from '../../../src/service/people/challenges.ts';
import { changePassword } from '../../../src/service/people/change-password.ts';
import { confirmTotp, offerTotp } from '../../../src/service/people/codes.ts';
import { createDirectory } from '../../../src/service/people/directory.ts';
import { reauthenticate } from '../../../src/service/people/identity-proof.ts';
import {
  addPasskey,
  checkPasskey,
  passkeyCreationOptions,
  passkeyRequestOptions,
} from '../../../src/service/people/passkeys.ts';
import type { Person } from '../../../src/service/people/person.ts';
import {
  csrfToken,
  isCsrfToken,
  signOut,
  startSession,
  whoseSession,
} from '../../../src/service/people/sessions.ts';
import { type Credentials, signIn } from '../../../src/service/people/sign-in.ts';
import { sweep } from '../../../src/service/people/sweep.ts';
import { checkToken, createToken, removeToken, whoseToken } from '../../../src/service/people/tokens.ts';
import { totpAt } from '../../../src/service/people/totp.ts';
import { createAuthenticator } from './authenticator.ts';
import { actor, joinAs, origin, type PeopleService, password, setUpCodes, startPeople } from './service.ts';

const ann = { email: 'ann@example.com', password, code: null, address: '192.0.2.1' };
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

async function signedIn(service: PeopleService, more: Partial<Credentials> = {}) {
  const result = await signIn(service, { ...ann, ...more });
  if (result.kind !== 'signed-in') throw new Error(result.kind);
  return result;
}

describe('signing in', () => {
  it('creates a new session each time', async () => {
    const service = await startPeople();
    const [first, second] = [await signedIn(service), await signedIn(service, { email: 'ANN@example.com' })];
    expect(first.secret).not.toBe(second.secret);
    expect((await whoseSession(service, first.secret))?.person.email).toBe('ann@example.com');
    await signOut(service, first.session);
    expect(await whoseSession(service, first.secret)).toBeNull();
    expect(await whoseSession(service, second.secret)).not.toBeNull();
  });

  it.each([
    ['a wrong password', { password: 'correct horse batterz' }],
    ['a wrong address', { email: 'nobody@example.com' }],
  ])('takes no %s, and says no more', async (_, wrong) => {
    const service = await startPeople();
    expect(await signIn(service, { ...ann, ...wrong })).toEqual({ kind: 'wrong' });
  });

  it('is refused to a disabled person, whose sessions end', async () => {
    const service = await startPeople();
    const ben = await joinAs(service, 'ben@example.com', ['auditor']);
    const { secret } = await signedIn(service, { email: ben.email });
    const { people, documents } = service.directory;
    const found = await people.find(ben.id);
    await documents.write([people.put({ ...ben, status: 'disabled' }, found?.version ?? 0)], null);
    expect(await whoseSession(service, secret)).toBeNull();
    expect(await signIn(service, { ...ann, email: ben.email })).toEqual({ kind: 'wrong' });
  });

  it('requires a code if codes are set up, and accepts each once', async () => {
    const service = await startPeople();
    const secret = await setUpCodes(service, service.admin.person);
    expect(await signIn(service, ann)).toEqual({ kind: 'code-needed' });
    expect(await signIn(service, { ...ann, password: 'wrong wrong wrong' })).toEqual({ kind: 'wrong' });
    service.time.nowMs += 30_000;
    const code = totpAt(secret, service.time.nowMs);
    await signedIn(service, { code });
    expect(await signIn(service, { ...ann, code })).toEqual({ kind: 'code-used' });
  });

  it('keeps the secret of codes that are set up', async () => {
    const service = await startPeople();
    await setUpCodes(service, service.admin.person);
    const person = await service.directory.people.find(service.admin.person.id);
    const { secret } = offerTotp(person!.value);
    const code = totpAt(secret, service.time.nowMs);
    expect(await confirmTotp(service, person!.value, { secret, code })).toEqual({ kind: 'conflict' });
    expect((await service.directory.people.find(person!.value.id))?.value.totp).toEqual(person!.value.totp);
  });

  it('with one code twice at once succeeds once', async () => {
    const service = await startPeople();
    const secret = await setUpCodes(service, service.admin.person);
    service.time.nowMs += 30_000;
    const code = totpAt(secret, service.time.nowMs);
    const results = await Promise.all([signIn(service, { ...ann, code }), signIn(service, { ...ann, code })]);
    expect(results.map(({ kind }) => kind).toSorted()).toEqual(['signed-in', 'wrong']);
  });

  it('is delayed after five failures, for longer each time, and then continues', async () => {
    const service = await startPeople();
    const wrong = { ...ann, password: 'correct horse batterz' };
    for (let i = 0; i < 5; i++) expect(await signIn(service, wrong)).toEqual({ kind: 'wrong' });
    expect(await signIn(service, ann)).toEqual({ kind: 'wait', waitMs: 2_000 });
    service.time.nowMs += 2_000;
    expect(await signIn(service, wrong)).toEqual({ kind: 'wrong' });
    expect(await signIn(service, ann)).toEqual({ kind: 'wait', waitMs: 4_000 });
    service.time.nowMs += 4_000;
    await signedIn(service);
  });
});

describe('a session', () => {
  it('ends an hour after its last use', async () => {
    const service = await startPeople();
    const { secret } = await signedIn(service);
    service.time.nowMs += 59 * minuteMs;
    expect(await whoseSession(service, secret)).not.toBeNull();
    service.time.nowMs += 59 * minuteMs;
    expect(await whoseSession(service, secret)).not.toBeNull();
    service.time.nowMs += 60 * minuteMs;
    expect(await whoseSession(service, secret)).toBeNull();
  });

  it('ends after twelve hours, however often it is used', async () => {
    const service = await startPeople();
    const { secret } = await signedIn(service);
    for (let at = 0; at < 23; at++) {
      service.time.nowMs += 30 * minuteMs;
      expect(await whoseSession(service, secret)).not.toBeNull();
    }
    service.time.nowMs += 30 * minuteMs;
    expect(await whoseSession(service, secret)).toBeNull();
  });

  it('is identified only by its cookie, which is not stored', async () => {
    const service = await startPeople();
    const { secret, session } = await signedIn(service);
    expect(await whoseSession(service, session.id)).toBeNull();
    const stored = await service.store.documents.find('session', session.id);
    expect(JSON.stringify(stored)).not.toContain(secret);
  });

  it('has a CSRF token, which is invalid for other sessions', async () => {
    const service = await startPeople();
    const [first, second] = [await signedIn(service), await signedIn(service)];
    const token = csrfToken(service, first.session);
    expect(isCsrfToken(service, first.session, token)).toBe(true);
    expect(isCsrfToken(service, second.session, token)).toBe(false);
    expect(isCsrfToken(service, first.session, '')).toBe(false);
  });
});

describe('a new password', () => {
  it('ends all sessions and tokens', async () => {
    const service = await startPeople();
    const { secret } = await signedIn(service);
    const made = await createToken(service.directory, service.admin, {
      name: 'ci',
      roles: ['admin'],
      days: 1,
    });
    if (made.kind !== 'made') throw new Error(made.kind);
    const newPassword = 'another horse battery';
    expect(await changePassword(service, service.admin.person, newPassword)).toMatchObject({
      kind: 'changed',
    });
    expect(await whoseSession(service, secret)).toBeNull();
    expect(await whoseToken(service.directory, made.text)).toBeNull();
    expect(await signIn(service, ann)).toEqual({ kind: 'wrong' });
    await signedIn(service, { password: newPassword });
  });

  it('also ends a session that is opened with the old one at the same moment', async () => {
    const service = await startPeople();
    const { directory, admin } = service;
    await changePassword(service, admin.person, 'another horse battery');
    // Both changes started from the same state of the person.
    const { secret } = await startSession(service, admin.person, { address: ann.address, way: 'password' });
    const made = await createToken(directory, admin, { name: 'ci', roles: ['admin'], days: 1 });
    if (made.kind !== 'made') throw new Error(made.kind);
    expect(await whoseSession(service, secret)).toBeNull();
    expect(await whoseToken(directory, made.text)).toBeNull();
  });

  it('comes before the change that a proof with the old one allowed, or prevents it', async () => {
    const service = await startPeople();
    const { directory } = service;
    const { person } = service.admin;
    const device = createAuthenticator({ origin });
    const response = device.create(await passkeyCreationOptions(service, person));
    const { secret } = offerTotp(person);
    const code = totpAt(secret, service.time.nowMs);
    await changePassword(service, person, 'another horse battery');
    expect((await addPasskey(service, person, { response, name: 'phone' })).kind).toBe('wrong');
    expect(await confirmTotp(service, person, { secret, code })).toEqual({ kind: 'conflict' });
    expect((await changePassword(service, person, 'a third horse battery')).kind).toBe('conflict');
    expect(await directory.passkeys.list({ parent: person.id, countMax: 9 })).toEqual([]);
    expect((await directory.people.find(person.id))?.value.totp).toBeNull();
  });

  it('must meet the requirements', async () => {
    const service = await startPeople();
    const { person } = service.admin;
    expect(await changePassword(service, person, 'short')).toMatchObject({ kind: 'invalid' });
  });
});

describe('a step-up', () => {
  it('accepts password and code together, and no code twice', async () => {
    const service = await startPeople();
    const { person } = service.admin;
    const again = (code?: string) =>
      reauthenticate(service, person, {
        shown: { password, ...(code === undefined ? {} : { code }) },
        purpose: 'step up',
        address: ann.address,
        session: null,
        takesRecoveryCode: false,
      });
    expect(await again()).toMatchObject({ kind: 'right', factorSinceMs: null });
    const secret = await setUpCodes(service, person);
    expect(await again()).toEqual({ kind: 'code-needed' });
    service.time.nowMs += 30_000;
    const code = totpAt(secret, service.time.nowMs);
    expect(await again(code)).toMatchObject({ kind: 'right', factorSinceMs: service.time.nowMs - 30_000 });
    expect(await again(code)).toEqual({ kind: 'code-used' });
  });

  it('accepts only a passkey of the person', async () => {
    const service = await startPeople();
    const ben = await joinAs(service, 'ben@example.com', ['operator']);
    const again = async (owner: Person) => {
      const device = createAuthenticator({ origin });
      const response = device.create(await passkeyCreationOptions(service, owner));
      await addPasskey(service, owner, { response, name: 'phone' });
      const question = await passkeyRequestOptions(service, 'step up');
      const shown = { passkey: device.get(question) };
      const showing = { shown, purpose: 'step up', address: ann.address, session: null };
      return await reauthenticate(service, ben, { ...showing, takesRecoveryCode: false });
    };
    expect(await again(service.admin.person)).toEqual({ kind: 'wrong' });
    expect(await again(ben)).toMatchObject({ kind: 'right', person: { id: ben.id } });
  });
});

describe('a personal token', () => {
  it('that is refused tells its holder the reason, and tells nothing to a guesser', async () => {
    const service = await startPeople();
    const { directory, time } = service;
    const ben = await joinAs(service, 'ben@example.com', ['auditor']);
    const make = async () => {
      const made = await createToken(directory, actor(ben), { name: 'ci', roles: ['auditor'], days: 2 });
      if (made.kind !== 'made') throw new Error(made.kind);
      return made;
    };
    const [made, earlier] = [await make(), await make()];
    const { passwordDigest: _, ...unbound } = earlier.token;
    const found = await directory.tokens.find(earlier.token.id);
    const put = directory.tokens.put(unbound as typeof earlier.token, found?.version ?? 0);
    await directory.documents.write([put], null);
    const kindOf = async (text: string) => (await checkToken(directory, text)).kind;
    expect(await kindOf(made.text)).toBe('good');
    expect(await kindOf(earlier.text)).toBe('earlier-version');
    for (const guess of [
      `${made.text}0`,
      made.text.slice(0, -1),
      earlier.text.replace('writp_', 'writ_'),
      '',
    ])
      expect(await kindOf(guess)).toBe('unknown');
    await changePassword(service, ben, 'another horse battery');
    for (const { text } of [made, earlier]) expect(await kindOf(text)).toBe('unknown');
    // Made at the same moment, by the earlier password.
    const late = await make();
    expect(await kindOf(late.text)).toBe('password-changed');
    const person = await directory.people.find(ben.id);
    const disabled = { ...(person?.value ?? ben), status: 'disabled' } as const;
    await directory.documents.write([directory.people.put(disabled, person?.version ?? 0)], null);
    expect(await kindOf(late.text)).toBe('person-inactive');
    time.nowMs = late.token.endsAtMs;
    expect(await kindOf(late.text)).toBe('ended');
  });

  it('has its roles as long as its person has them', async () => {
    const service = await startPeople();
    const { directory } = service;
    const ben = await joinAs(service, 'ben@example.com', ['operator', 'auditor']);
    const draft = { name: 'ci', roles: ['auditor'] as const, days: 2 };
    const made = await createToken(directory, actor(ben), draft);
    if (made.kind !== 'made') throw new Error(made.kind);
    expect(made.text).toMatch(/^writp_[0-9A-Za-z]{46}$/);
    expect((await whoseToken(directory, made.text))?.roles).toEqual(['auditor']);
    const found = await directory.people.find(ben.id);
    const put = directory.people.put({ ...ben, roles: ['operator'] }, found?.version ?? 0);
    await directory.documents.write([put], null);
    expect((await whoseToken(directory, made.text))?.roles).toEqual([]);
    service.time.nowMs += 2 * 24 * hourMs;
    expect(await whoseToken(directory, made.text)).toBeNull();
  });

  it('cannot have more roles than its person, and is removed by its person', async () => {
    const service = await startPeople();
    const { directory } = service;
    const ben = actor(await joinAs(service, 'ben@example.com', ['auditor']));
    const draft = { name: 'ci', roles: ['admin'] as const, days: 2 };
    expect(await createToken(directory, ben, draft)).toMatchObject({
      problems: [{ field: 'roles', detail: 'you do not have the role `admin`' }],
    });
    const made = await createToken(directory, ben, { ...draft, roles: ['auditor'] });
    if (made.kind !== 'made') throw new Error(made.kind);
    expect(await removeToken(directory, service.admin, made.token.id)).toBe('unknown');
    expect(await removeToken(directory, ben, made.token.id)).toBe('removed');
    expect(await whoseToken(directory, made.text)).toBeNull();
    expect(await whoseToken(directory, made.text.replace('writp_', 'writ_'))).toBeNull();
  });
});

describe('a passkey', () => {
  async function withPasskey() {
    const service = await startPeople();
    const deps = service;
    const device = createAuthenticator({ origin });
    const { person } = service.admin;
    const options = await passkeyCreationOptions(deps, person);
    const added = await addPasskey(deps, person, { response: device.create(options), name: 'phone' });
    expect(added.kind).toBe('added');
    return { service, deps, device, person, options };
  }

  it('is set up once by a response, and then identifies its person', async () => {
    const { deps, device, person, options } = await withPasskey();
    const again = await addPasskey(deps, person, { response: device.create(options), name: 'again' });
    expect(again).toEqual({ kind: 'wrong' });
    const question = await passkeyRequestOptions(deps, 'sign in');
    const answer = device.get(question);
    expect((await checkPasskey(deps, 'sign in', answer))?.person.id).toBe(person.id);
    expect(await checkPasskey(deps, 'sign in', answer)).toBeNull();
  });

  it('is valid for one purpose and a limited time', async () => {
    const { service, deps, device } = await withPasskey();
    const other = await passkeyRequestOptions(deps, 'sign in');
    expect(await checkPasskey(deps, 'step-up r1', device.get(other))).toBeNull();
    const late = await passkeyRequestOptions(deps, 'sign in');
    service.time.nowMs += 5 * minuteMs;
    expect(await checkPasskey(deps, 'sign in', device.get(late))).toBeNull();
  });

  it('is accepted by any process of the store, and by one of them once', async () => {
    const { service, deps, device, person } = await withPasskey();
    const directory = createDirectory(service.store.documents, () => service.time.nowMs);
    const elsewhere = { ...deps, directory };
    const one = device.get(await passkeyRequestOptions(deps, 'sign in'));
    expect((await checkPasskey(elsewhere, 'sign in', one))?.person.id).toBe(person.id);
    const two = device.get(await passkeyRequestOptions(deps, 'sign in'));
    const taken = await Promise.all([deps, elsewhere].map((each) => checkPasskey(each, 'sign in', two)));
    expect(taken.filter((found) => found !== null)).toHaveLength(1);
    // Also with a device that does not count its uses, and after the process that made the challenge has
    // gone.
    const three = device.get(await passkeyRequestOptions(deps, 'sign in'));
    expect(await checkPasskey(elsewhere, 'sign in', three)).not.toBeNull();
    const [present] = await directory.passkeys.list({ parent: person.id, countMax: 1 });
    const uncounted = directory.passkeys.put({ ...present!.value, counter: 0 }, present!.version);
    await directory.documents.write([uncounted], null);
    // Nor once what has ended was swept, for as long as the question is good.
    service.time.nowMs += 5 * minuteMs - 1;
    await sweep(service.store.documents, service.time.nowMs);
    expect(await checkPasskey(deps, 'sign in', three)).toBeNull();
  });

  it('is accepted only for a challenge of this service', async () => {
    const service = await startPeople();
    const { masterKey, time } = service;
    const at = { purpose: 'sign in', nowMs: time.nowMs };
    const question = createChallenge(masterKey, 'sign in', time.nowMs);
    expect(isChallenge(masterKey, question, at)).toBe(true);
    const other = Buffer.from(masterKey).fill(1);
    expect(isChallenge(other, question, at)).toBe(false);
    for (const wrong of ['', `${question}=`, `${question} `, question.slice(4), `${question}AAAA`])
      expect(isChallenge(masterKey, wrong, at), wrong).toBe(false);
    for (let place = 0; place < 54; place += 1) {
      const bytes = Buffer.from(question, 'base64url');
      bytes[place]! ^= 1;
      expect(isChallenge(masterKey, bytes.toString('base64url'), at)).toBe(false);
    }
  });

  it.each([
    ['another origin', { origin: 'https://evil.example.com', relyingParty: 'writ.example.com' }],
    ['another relying party', { origin, relyingParty: 'example.com' }],
    ['nobody verified', { origin, isUserVerified: false }],
  ])('is not taken from %s', async (_, wrong) => {
    const service = await startPeople();
    const deps = service;
    const { person } = service.admin;
    const options = await passkeyCreationOptions(deps, person);
    const response = createAuthenticator(wrong).create(options);
    expect(await addPasskey(deps, person, { response, name: 'phone' })).toEqual({ kind: 'wrong' });
  });

  it.each([null, 1, 'x', {}, { id: 'x' }, { id: 5, response: {} }])('is refused for %j', async (answer) => {
    const { deps } = await withPasskey();
    expect(await checkPasskey(deps, 'sign in', answer)).toBeNull();
  });

  it('of another device is refused', async () => {
    const { deps } = await withPasskey();
    const question = await passkeyRequestOptions(deps, 'sign in');
    expect(await checkPasskey(deps, 'sign in', createAuthenticator({ origin }).get(question))).toBeNull();
  });
});
