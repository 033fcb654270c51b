// Changes of people: what they may do afterwards, and that somebody is always left who can undo the change.

import { describe, expect, it } from 'vitest';
import { changePerson } from '../../../src/service/people/change-person.ts';
import { whoseSession } from '../../../src/service/people/sessions.ts';
import { signIn } from '../../../src/service/people/sign-in.ts';
import { actor, joinAs, password, startPeople } from './service.ts';

describe('a person', () => {
  it('is changed, and the change is recorded with its author', async () => {
    const service = await startPeople();
    const { directory, admin, store } = service;
    const ben = await joinAs(service, 'ben@example.com', ['auditor']);
    const change = { id: ben.id, roles: ['approver'] as const, groups: ['finance'] };
    expect(await changePerson(directory, admin, change)).toMatchObject({
      kind: 'changed',
      person: { roles: ['approver'], groups: ['finance'], email: ben.email },
    });
    const { records } = await store.chain.segment(0, 100);
    expect(records.at(-1)?.entry).toMatchObject({
      what: 'person-changed',
      who: 'ann@example.com (first-admin)',
    });
  });

  it('who is disabled is signed out at once', async () => {
    const service = await startPeople();
    const ben = await joinAs(service, 'ben@example.com', ['auditor']);
    const signed = await signIn(service, { email: ben.email, password, code: null, address: '192.0.2.1' });
    if (signed.kind !== 'signed-in') throw new Error(signed.kind);
    await changePerson(service.directory, service.admin, { id: ben.id, status: 'disabled' });
    expect(await whoseSession(service, signed.secret)).toBeNull();
    expect(await service.directory.sessions.find(signed.session.id)).toBeNull();
  });

  it('who is the last admin stays an admin', async () => {
    const { directory, admin } = await startPeople();
    const refused = { kind: 'not-allowed', detail: 'this is the last active admin' };
    const { id } = admin.person;
    expect(await changePerson(directory, admin, { id, roles: ['auditor'] })).toEqual(refused);
    expect(await changePerson(directory, admin, { id, status: 'disabled' })).toEqual(refused);
  });

  it('stays an admin if two admins remove each other at once', async () => {
    const service = await startPeople();
    const { directory, admin } = service;
    const other = actor(await joinAs(service, 'zoe@example.com', ['admin']));
    const results = await Promise.all([
      changePerson(directory, admin, { id: other.person.id, roles: ['auditor'] }),
      changePerson(directory, other, { id: admin.person.id, roles: ['auditor'] }),
    ]);
    expect(results.filter(({ kind }) => kind === 'changed')).toHaveLength(1);
  });

  it('with an unknown id is not found', async () => {
    const { directory, admin } = await startPeople();
    expect(await changePerson(directory, admin, { id: 'nobody', name: 'X' })).toEqual({ kind: 'unknown' });
  });
});
