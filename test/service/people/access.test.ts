// How people get access, and how they do not.

import { describe, expect, it } from 'vitest';
import {
  acceptInvitation,
  apply,
  createSetUpLink,
  declineApplication,
  grantApplication,
  invite,
  type RolesAndGroups,
  setUpFirstAdmin,
  withdrawInvitation,
} from '../../../src/service/people/access.ts';
import { changePerson } from '../../../src/service/people/change-person.ts';
import { actor, emptyDirectory, joinAs, password, startPeople } from './service.ts';

const ben = { email: 'ben@example.com', name: 'Ben' };
const hourMs = 3_600_000;

describe('the first admin', () => {
  it('signs up by a link that works once', async () => {
    const { directory, admin } = await startPeople();
    expect(admin.person).toMatchObject({ email: 'ann@example.com', roles: ['admin'], status: 'active' });
    expect(admin.person.passwordHash).toMatch(/^\$argon2id\$/);
    expect(await createSetUpLink(directory)).toBeNull();
    const again = { secret: 'guess', password, ...ben };
    expect(await setUpFirstAdmin(directory, again)).toEqual({ kind: 'no-link' });
  });
});

describe('a set-up link that was lost', () => {
  it('is replaced by another while there is no person, and not afterwards', async () => {
    const directory = await emptyDirectory();
    const first = (await createSetUpLink(directory)) ?? '';
    const second = (await createSetUpLink(directory, { who: 'root', when: 'replace' })) ?? '';
    expect(await setUpFirstAdmin(directory, { secret: first, password, ...ben })).toEqual({
      kind: 'no-link',
    });
    expect(await setUpFirstAdmin(directory, { secret: second, password, ...ben })).toMatchObject({
      kind: 'joined',
    });
    expect(await createSetUpLink(directory, { who: 'root', when: 'replace' })).toBeNull();
  });
});

describe('the set-up links of later starts', () => {
  it('work beside those of earlier starts, the last five, until somebody has access', async () => {
    const directory = await emptyDirectory();
    const secrets: string[] = [];
    for (let start = 0; start < 6; start += 1) secrets.push((await createSetUpLink(directory)) ?? '');
    const [oldest = '', second = '', , , , latest = ''] = secrets;
    const joinBy = (secret: string) => setUpFirstAdmin(directory, { secret, password, ...ben });
    expect(await joinBy(oldest)).toEqual({ kind: 'no-link' });
    expect(await joinBy(second)).toMatchObject({ kind: 'joined' });
    expect(await joinBy(latest)).toEqual({ kind: 'no-link' });
    expect(await createSetUpLink(directory)).toBeNull();
  });
});

describe('an invitation', () => {
  it('creates a person with its roles, once', async () => {
    const { directory, admin } = await startPeople();
    const invited = await invite(directory, admin, { ...ben, roles: ['approver'], groups: ['finance'] });
    if (invited.kind !== 'invited') throw new Error(invited.kind);
    const joined = await acceptInvitation(directory, { secret: invited.secret, password });
    expect(joined).toMatchObject({ person: { ...ben, roles: ['approver'], groups: ['finance'] } });
    const again = await acceptInvitation(directory, { secret: invited.secret, password });
    expect(again).toEqual({ kind: 'no-invitation' });
  });

  it.each<[string, object, RolesAndGroups]>([
    ['disabled', { status: 'disabled' }, { roles: ['approver'], groups: ['finance'] }],
    ['without the right to invite', { roles: ['auditor'] }, { roles: ['auditor'], groups: [] }],
    ['without the right to give its role', { roles: ['operator'] }, { roles: ['operator'], groups: [] }],
    [
      'without the right to give its groups',
      { roles: ['operator'] },
      { roles: ['auditor'], groups: ['finance'] },
    ],
  ])('does not outlive its sender, who is %s', async (_, change, rolesAndGroups) => {
    for (const isLate of [false, true]) {
      const service = await startPeople();
      const { directory, admin } = service;
      const sender = await joinAs(service, 'cleo@example.com', ['admin']);
      const newcomer = { ...ben, ...rolesAndGroups };
      const invited = await invite(directory, { person: sender, roles: sender.roles }, newcomer);
      if (invited.kind !== 'invited') throw new Error(invited.kind);
      const changeSender = () => changePerson(directory, admin, { id: sender.id, ...change });
      // Late is between the last look at the sender and the write.
      let writes = 0;
      const late: typeof directory = {
        ...directory,
        change: async (...given) => {
          writes += 1;
          if (writes === 1) expect((await changeSender()).kind).toBe('changed');
          return await directory.change(...given);
        },
      };
      if (!isLate) expect((await changeSender()).kind).toBe('changed');
      const accepted = await acceptInvitation(isLate ? late : directory, {
        secret: invited.secret,
        password,
      });
      expect(accepted).toEqual({ kind: 'no-invitation' });
      expect(writes).toBe(isLate ? 1 : 0);
      expect(await directory.people.findByName(ben.email)).toBeNull();
    }
  });

  it('stays valid after a change of its sender that leaves them the right', async () => {
    const service = await startPeople();
    const { directory, admin } = service;
    const sender = await joinAs(service, 'cleo@example.com', ['admin']);
    const invited = await invite(
      directory,
      { person: sender, roles: sender.roles },
      { ...ben, roles: ['auditor'], groups: [] },
    );
    if (invited.kind !== 'invited') throw new Error(invited.kind);
    let writes = 0;
    const late: typeof directory = {
      ...directory,
      change: async (...given) => {
        writes += 1;
        if (writes === 1) await changePerson(directory, admin, { id: sender.id, roles: ['operator'] });
        return await directory.change(...given);
      },
    };
    expect(await acceptInvitation(late, { secret: invited.secret, password })).toMatchObject({
      kind: 'joined',
    });
    expect(writes).toBe(2);
  });

  it('creates one person if two accept it at once', async () => {
    const { directory, admin } = await startPeople();
    const invited = await invite(directory, admin, { ...ben, roles: ['auditor'], groups: [] });
    if (invited.kind !== 'invited') throw new Error(invited.kind);
    const accept = () => acceptInvitation(directory, { secret: invited.secret, password });
    const kinds = (await Promise.all([accept(), accept()])).map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(['joined', 'no-invitation']);
  });

  it('expires after a week', async () => {
    const { directory, admin, time } = await startPeople();
    const invited = await invite(directory, admin, { ...ben, roles: ['auditor'], groups: [] });
    if (invited.kind !== 'invited') throw new Error(invited.kind);
    time.nowMs += 7 * 24 * hourMs;
    const late = await acceptInvitation(directory, { secret: invited.secret, password });
    expect(late).toEqual({ kind: 'no-invitation' });
  });

  it('is either accepted or withdrawn', async () => {
    const { directory, admin } = await startPeople();
    const invited = await invite(directory, admin, { ...ben, roles: ['auditor'], groups: [] });
    if (invited.kind !== 'invited') throw new Error(invited.kind);
    const results = await Promise.all([
      acceptInvitation(directory, { secret: invited.secret, password }),
      withdrawInvitation(directory, admin, invited.invitation.id),
      withdrawInvitation(directory, admin, invited.invitation.id),
    ]);
    const done = results.filter(({ kind }) => kind === 'joined' || kind === 'withdrawn');
    expect(done).toHaveLength(1);
    const people = (await directory.people.list({ countMax: 9 })).length;
    expect(people).toBe(done[0]?.kind === 'joined' ? 2 : 1);
  });

  it('that has ended cannot be withdrawn, nor can an unknown one', async () => {
    const { directory, admin, time } = await startPeople();
    const invited = await invite(directory, admin, { ...ben, roles: ['auditor'], groups: [] });
    if (invited.kind !== 'invited') throw new Error(invited.kind);
    const { id, digest } = invited.invitation;
    time.nowMs += 7 * 24 * hourMs;
    for (const one of [id, digest, invited.secret, 'none']) {
      expect(await withdrawInvitation(directory, admin, one)).toEqual({ kind: 'unknown' });
    }
  });

  it('stays valid after an unacceptable password', async () => {
    const { directory, admin } = await startPeople();
    const invited = await invite(directory, admin, { ...ben, roles: ['auditor'], groups: [] });
    if (invited.kind !== 'invited') throw new Error(invited.kind);
    const weak = await acceptInvitation(directory, { secret: invited.secret, password: 'short' });
    expect(weak).toMatchObject({ kind: 'invalid', problems: [{ field: 'password' }] });
    expect(await acceptInvitation(directory, { secret: invited.secret, password })).toMatchObject({
      kind: 'joined',
    });
  });

  it('cannot be sent by an operator to an admin or an operator', async () => {
    const service = await startPeople();
    const operator = actor(await joinAs(service, 'op@example.com', ['operator']));
    for (const role of ['admin', 'operator'] as const) {
      const result = await invite(service.directory, operator, { ...ben, roles: [role], groups: [] });
      expect(result).toEqual({
        kind: 'not-allowed',
        detail: `only an admin can assign the role \`${role}\``,
      });
    }
    const result = await invite(service.directory, operator, { ...ben, roles: ['auditor'], groups: [] });
    expect(result.kind).toBe('invited');
  });

  it.each([
    [{ email: 'no address' }, 'email'],
    [{ email: 'a@b@c.example' }, 'email'],
    [{ email: 'ANN@example.com' }, 'email'],
    [{ name: '' }, 'name'],
    [{ name: 'a\u0007b' }, 'name'],
    [{ roles: [] }, 'roles'],
    [{ roles: ['approver' as const], groups: [] }, 'groups'],
    [{ groups: ['Finance Dept'] }, 'groups'],
  ])('is not made of %j', async (wrong, field) => {
    const { directory, admin } = await startPeople();
    const draft = { ...ben, roles: ['auditor' as const], groups: [], ...wrong };
    expect(await invite(directory, admin, draft)).toMatchObject({ kind: 'invalid', problems: [{ field }] });
  });
});

describe('an application', () => {
  it('is due in a day, and becomes an invitation when it is granted', async () => {
    const { directory, admin } = await startPeople();
    const applied = await apply(directory, { ...ben, reason: 'I approve payments' });
    if (applied.kind !== 'applied') throw new Error(applied.kind);
    const { id, createdAtMs, dueAtMs } = applied.application;
    expect(dueAtMs - createdAtMs).toBe(24 * hourMs);
    const granted = await grantApplication(directory, admin, {
      id,
      roles: ['approver'],
      groups: ['finance'],
    });
    if (granted.kind !== 'invited') throw new Error(granted.kind);
    expect(await acceptInvitation(directory, { secret: granted.secret, password })).toMatchObject({
      person: { ...ben, roles: ['approver'] },
    });
    expect(await grantApplication(directory, admin, { id, roles: ['auditor'], groups: [] })).toEqual({
      kind: 'not-open',
    });
  });

  it('is either granted or declined', async () => {
    const { directory, admin } = await startPeople();
    const applied = await apply(directory, { ...ben, reason: 'I approve payments' });
    if (applied.kind !== 'applied') throw new Error(applied.kind);
    const { id } = applied.application;
    const results = await Promise.all([
      grantApplication(directory, admin, { id, roles: ['auditor'], groups: [] }),
      declineApplication(directory, admin, { id, reason: 'not now' }),
    ]);
    expect(results.filter(({ kind }) => kind === 'invited' || kind === 'declined')).toHaveLength(1);
    const kept = await directory.applications.find(id);
    expect(kept?.value.decidedBy).toBe(admin.person.id);
  });

  it('with an unknown id is not found', async () => {
    const { directory, admin } = await startPeople();
    expect(await declineApplication(directory, admin, { id: 'none', reason: 'no' })).toEqual({
      kind: 'not-open',
    });
  });
});
