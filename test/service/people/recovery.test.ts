// Account recovery: a link for a lost password, recovery codes for a lost phone, and the limits of each.

import { describe, expect, it } from 'vitest';
import { changePassword } from '../../../src/service/people/change-password.ts';
import { changePerson } from '../../../src/service/people/change-person.ts';
import { confirmTotp, offerTotp, removeTotp } from '../../../src/service/people/codes.ts';
import { reauthenticate } from '../../../src/service/people/identity-proof.ts';
import {
  activeAdmins,
  lookAtResetLink,
  makeResetLink,
  resetPassword,
} from '../../../src/service/people/recovery/reset-links.ts';
import { makeRecoveryCodes, recoveryCodesLeft } from '../../../src/service/people/recovery-codes.ts';
import { whoseSession } from '../../../src/service/people/sessions.ts';
import { signIn } from '../../../src/service/people/sign-in.ts';
import { createToken, whoseToken } from '../../../src/service/people/tokens.ts';
import { totpAt } from '../../../src/service/people/totp.ts';
import { joinAs, type PeopleService, password, setUpCodes, startPeople } from './service.ts';

const address = '192.0.2.1';
const another = 'another horse battery';

async function linkFor(service: PeopleService, personId: string, removesFactors = false) {
  const maker = { kind: 'person', actor: service.admin } as const;
  const made = await makeResetLink(service.directory, maker, { personId, removesFactors });
  if (made.kind !== 'made') throw new Error(made.kind);
  return made;
}

const enter = (service: PeopleService, email: string, given: { password: string; code?: string }) =>
  signIn(service, { email, address, password: given.password, code: given.code ?? null });

describe('a reset link', () => {
  it('sets a new password once, ends sessions and tokens, and is announced and recorded', async () => {
    const service = await startPeople();
    const ben = await joinAs(service, 'ben@example.com', ['auditor']);
    const session = await enter(service, ben.email, { password });
    if (session.kind !== 'signed-in') throw new Error(session.kind);
    const draft = { name: 'ci', roles: ben.roles, days: 1 };
    const token = await createToken(service.directory, { person: ben, roles: ben.roles }, draft);
    if (token.kind !== 'made') throw new Error(token.kind);
    const { secret } = await linkFor(service, ben.id);
    // Opening the link does not use it up, and nothing ends before the link is used.
    expect((await lookAtResetLink(service.directory, secret))?.person.value.email).toBe(ben.email);
    expect(await whoseSession(service, session.secret)).not.toBeNull();
    expect(await resetPassword(service, { secret, password: 'short' })).toMatchObject({ kind: 'invalid' });
    expect(await resetPassword(service, { secret, password: another })).toMatchObject({ kind: 'reset' });
    expect(await resetPassword(service, { secret, password: another })).toEqual({ kind: 'no-link' });
    expect(await lookAtResetLink(service.directory, secret)).toBeNull();
    expect(await whoseSession(service, session.secret)).toBeNull();
    expect(await whoseToken(service.directory, token.text)).toBeNull();
    expect(await enter(service, ben.email, { password })).toEqual({ kind: 'wrong' });
    expect((await enter(service, ben.email, { password: another })).kind).toBe('signed-in');
    expect(service.told.map(({ what }) => what)).toEqual(['password-reset']);
    const { records } = await service.store.chain.segment(0, 100);
    const all = JSON.stringify(records);
    for (const what of ['reset-link-made', 'password-reset']) expect(all).toContain(what);
    expect(all).not.toContain(secret);
  });

  it('sets one password if two are sent at once', async () => {
    const service = await startPeople();
    const ben = await joinAs(service, 'ben@example.com', ['auditor']);
    const { secret } = await linkFor(service, ben.id);
    const use = (next: string) => resetPassword(service, { secret, password: next });
    const kinds = (await Promise.all([use(another), use('a third horse battery')])).map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(['no-link', 'reset']);
  });

  it.each([
    [
      'after a day',
      async ({ time }: PeopleService) => {
        time.nowMs += 24 * 3_600_000;
      },
    ],
    ['once its person is disabled', (service: PeopleService, id: string) => disable(service, id)],
    [
      'once the password is another',
      async (service: PeopleService, id: string) => {
        const found = await service.directory.people.find(id);
        if (found === null) throw new Error('nobody');
        await changePassword(service, found.value, 'a third horse battery');
      },
    ],
    [
      'once another was made',
      async (service: PeopleService, id: string) => void (await linkFor(service, id)),
    ],
  ])('is not good %s', async (_, happens) => {
    const service = await startPeople();
    const ben = await joinAs(service, 'ben@example.com', ['auditor']);
    const { secret } = await linkFor(service, ben.id);
    await happens(service, ben.id);
    expect(await lookAtResetLink(service.directory, secret)).toBeNull();
    expect(await resetPassword(service, { secret, password: another })).toEqual({ kind: 'no-link' });
  });

  it('is not valid once its maker is no longer an admin', async () => {
    const service = await startPeople();
    const zoe = await joinAs(service, 'zoe@example.com', ['admin']);
    const ben = await joinAs(service, 'ben@example.com', ['auditor']);
    const maker = { kind: 'person', actor: { person: zoe, roles: zoe.roles } } as const;
    const draft = { personId: ben.id, removesFactors: false };
    const made = await makeResetLink(service.directory, maker, draft);
    if (made.kind !== 'made') throw new Error(made.kind);
    await changePerson(service.directory, service.admin, { id: zoe.id, roles: ['operator'] });
    expect(await resetPassword(service, { secret: made.secret, password: another })).toEqual({
      kind: 'no-link',
    });
  });

  it('cannot be created for a disabled or unknown person', async () => {
    const service = await startPeople();
    const ben = await joinAs(service, 'ben@example.com', ['auditor']);
    await disable(service, ben.id);
    const maker = { kind: 'machine', user: 'root' } as const;
    const make = (personId: string) =>
      makeResetLink(service.directory, maker, { personId, removesFactors: false });
    expect(await make(ben.id)).toEqual({ kind: 'disabled' });
    expect(await make('nobody')).toEqual({ kind: 'unknown' });
    expect((await activeAdmins(service.directory)).map(({ email }) => email)).toEqual(['ann@example.com']);
  });

  it('keeps second factors unless it says otherwise', async () => {
    const service = await startPeople();
    const ben = await joinAs(service, 'ben@example.com', ['auditor']);
    await setUpCodes(service, ben);
    const kept = await linkFor(service, ben.id);
    await resetPassword(service, { secret: kept.secret, password: another });
    expect(await enter(service, ben.email, { password: another })).toEqual({ kind: 'code-needed' });
    expect(await recoveryCodesLeft(service.directory, ben.id)).toBe(10);
    const removing = await linkFor(service, ben.id, true);
    // The link removes the second factor only when it is used.
    expect(await enter(service, ben.email, { password: another })).toEqual({ kind: 'code-needed' });
    await resetPassword(service, { secret: removing.secret, password });
    expect((await enter(service, ben.email, { password })).kind).toBe('signed-in');
    expect(await recoveryCodesLeft(service.directory, ben.id)).toBe(0);
  });
});

async function disable(service: PeopleService, id: string): Promise<void> {
  await changePerson(service.directory, service.admin, { id, status: 'disabled' });
}

async function withRecoveryCodes() {
  const service = await startPeople();
  const { person } = service.admin;
  const { secret } = offerTotp(person);
  const code = totpAt(secret, service.time.nowMs);
  const result = await confirmTotp(service, person, { secret, code });
  if (result.kind !== 'set-up') throw new Error(result.kind);
  service.time.nowMs += 30_000;
  return { service, person, codes: result.recoveryCodes, totpSecret: secret };
}

describe('a recovery code', () => {
  it('signs in once instead of a one-time code, in any spelling, and is counted', async () => {
    const { service, person, codes } = await withRecoveryCodes();
    expect(new Set(codes).size).toBe(10);
    expect(codes.every((code) => /^[A-HJ-NP-Z2-9]{5}-[A-HJ-NP-Z2-9]{5}$/.test(code))).toBe(true);
    const typed = codes[0]?.toLowerCase().replace('-', ' ') ?? '';
    const signedIn = await enter(service, person.email, { password, code: typed });
    expect(signedIn).toMatchObject({ kind: 'signed-in', session: { way: 'password-and-recovery-code' } });
    expect(await enter(service, person.email, { password, code: typed })).toEqual({ kind: 'wrong' });
    expect(await recoveryCodesLeft(service.directory, person.id)).toBe(9);
    expect(service.told.map(({ what }) => what)).toContain('recovery-code-used');
  });

  it('signs in one of two concurrent uses', async () => {
    const { service, person, codes } = await withRecoveryCodes();
    const use = () => enter(service, person.email, { password, code: codes[0] ?? '' });
    const kinds = (await Promise.all([use(), use()])).map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(['signed-in', 'wrong']);
  });

  it('is refused without the password, for another person, and after new codes', async () => {
    const { service, person, codes } = await withRecoveryCodes();
    const code = codes[0] ?? '';
    expect(await enter(service, person.email, { password: another, code })).toEqual({ kind: 'wrong' });
    const ben = await joinAs(service, 'ben@example.com', ['auditor']);
    await setUpCodes(service, ben);
    expect(await enter(service, ben.email, { password, code })).toEqual({ kind: 'wrong' });
    const made = await makeRecoveryCodes(service, person);
    if (made.kind !== 'made') throw new Error(made.kind);
    expect(await enter(service, person.email, { password, code })).toEqual({ kind: 'wrong' });
    expect((await enter(service, person.email, { password, code: made.codes[0] ?? '' })).kind).toBe(
      'signed-in',
    );
  });

  it('cannot step up', async () => {
    const { service, person, codes, totpSecret } = await withRecoveryCodes();
    const stepUp = (code: string) =>
      reauthenticate(service, person, {
        shown: { password, code },
        purpose: 'step up',
        address,
        session: null,
        takesRecoveryCode: false,
      });
    expect(await stepUp(codes[0] ?? '')).toEqual({ kind: 'wrong' });
    expect(await recoveryCodesLeft(service.directory, person.id)).toBe(10);
    expect((await stepUp(totpAt(totpSecret, service.time.nowMs))).kind).toBe('right');
  });

  it('has the same limit on guesses as a one-time code', async () => {
    const { service, person } = await withRecoveryCodes();
    const kinds: string[] = [];
    for (let i = 0; i < 20; i++) {
      kinds.push((await enter(service, person.email, { password, code: `AAAAA-AAAA${i}` })).kind);
    }
    expect(kinds.filter((kind) => kind === 'wrong').length).toBeLessThan(10);
    expect(kinds.at(-1)).toBe('wait');
  });

  it('is removed with the one-time codes, and cannot exist without them', async () => {
    const { service, codes } = await withRecoveryCodes();
    const found = await service.directory.people.find(service.admin.person.id);
    if (found === null) throw new Error('nobody');
    await removeTotp(service, { person: found.value, roles: found.value.roles });
    expect(await recoveryCodesLeft(service.directory, found.value.id)).toBe(0);
    expect(codes).toHaveLength(10);
    expect(await makeRecoveryCodes(service, found.value)).toEqual({ kind: 'no-codes' });
  });
});
