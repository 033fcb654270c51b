// A field of the request names people who may not approve, over HTTP: those people may not, and when it names
// nobody, nobody may.

import { expect, test } from 'vitest';
import { firstAdmin, personWith } from './person-client.ts';
import { startService } from './service.ts';
import { ask, codeOf, give, look, usePolicies } from './written-policies.ts';

const policies = `
approvers sre "SRE"
approvers platform "Platform"
action ops.scale, ops.drop, ops.stop { by?: string, ... }
policy ops on ops.* {
  allow scaling after approval by sre except payload.by when action.key == "ops.scale"
  allow moving when action.key != "ops.scale"
  escalate drop to sre except payload.by needs 2 when action.key == "ops.drop"
  escalate stop to sre and platform except payload.by when action.key == "ops.stop"
}
`;

async function start() {
  const service = await startService({ startsWith: policies });
  const admin = await firstAdmin(service);
  const person = (name: string, ...groups: readonly string[]) =>
    personWith(service, admin, { email: `${name}@example.com`, roles: ['approver'], groups });
  return {
    service,
    sam: await person('sam', 'sre'),
    sue: await person('sue', 'sre'),
    pia: await person('pia', 'sre', 'platform'),
  };
}

test.each(['sam@example.com', 'Sam@Example.COM', ' sam@example.com '])(
  'the person whom it names by address may not: %j',
  async (by) => {
    const { service, sam, sue } = await start();
    const { request_id: id } = await ask(service, 'ops.scale', { payload: { by } });
    const refused = await give(sam, id, 'approve');
    expect(codeOf(refused)).toEqual([403, 'not_allowed']);
    expect(refused.body.detail).toBe(
      'the policies exclude the person in `payload.by`, and that is you or unknown',
    );
    expect((await sam.send(`/v1/requests/${id}`)).body.allowed_actions).toMatchObject({
      approve: [],
      reject: true,
      reason: 'The policies exclude the person in `payload.by`, and that is you or unknown.',
    });
    expect((await look(service, id)).body.status).toBe('pending');
    expect((await sue.send(`/v1/requests/${id}`)).body.allowed_actions).toMatchObject({
      approve: ['sre'],
      reason: null,
    });
    expect((await give(sue, id, 'approve')).body).toMatchObject({ status: 'approved', decision: 'ALLOW' });
  },
);

test('the person whom the rule excludes by id cannot approve', async () => {
  const { service, sam, sue } = await start();
  const by = sam.person.id;
  const { request_id: id } = await ask(service, 'ops.scale', { payload: { by } });
  expect(codeOf(await give(sam, id, 'approve'))).toEqual([403, 'not_allowed']);
  expect((await give(sue, id, 'approve')).body.status).toBe('approved');
});

test.each([{}, { by: '' }, { by: ' ' }])(
  'an exclusion without a known person excludes everybody: %j',
  async (payload) => {
    const { service, sam, sue } = await start();
    const { request_id: id } = await ask(service, 'ops.scale', { payload });
    for (const person of [sam, sue])
      expect(codeOf(await give(person, id, 'approve'))).toEqual([403, 'not_allowed']);
    expect((await give(sam, id, 'reject')).body.status).toBe('rejected');
  },
);

test('two other people are needed if the rule needs two', async () => {
  const { service, sam, sue, pia } = await start();
  const { request_id: id } = await ask(service, 'ops.drop', { payload: { by: 'sam@example.com' } });
  expect((await give(sue, id, 'approve')).body.status).toBe('pending');
  expect(codeOf(await give(sam, id, 'approve'))).toEqual([403, 'not_allowed']);
  expect((await give(pia, id, 'approve')).body.status).toBe('approved');
});

test('the excluded person can approve for no group of the rule', async () => {
  const { service, sam, pia } = await start();
  const { request_id: id } = await ask(service, 'ops.stop', { payload: { by: 'pia@example.com' } });
  for (const group of ['sre', 'platform'])
    expect(codeOf(await give(pia, id, 'approve', group))).toEqual([403, 'not_allowed']);
  expect((await give(sam, id, 'approve')).body.status).toBe('pending');
});

test('an earlier approval does not count after the policies exclude its giver', async () => {
  const { service, sam, sue, pia } = await start();
  await usePolicies(service, policies.replace('sre except payload.by needs 2', 'sre needs 2'));
  const { request_id: id } = await ask(service, 'ops.drop', { payload: { by: 'sam@example.com' } });
  expect((await give(sam, id, 'approve')).body.status).toBe('pending');
  await usePolicies(service, policies);
  expect((await give(sue, id, 'approve')).body.status).toBe('pending');
  expect((await give(pia, id, 'approve')).body.status).toBe('approved');
});
