// One rule that asks two groups, over HTTP: each group gives its own approvals, nobody approves for both, and
// the grant needs all of them.

import { expect, test } from 'vitest';
import { firstAdmin, personWith } from './person-client.ts';
import { startService } from './service.ts';
import { ask, codeOf, give, look, usePolicies } from './written-policies.ts';

const policies = `
approvers sre "SRE"
approvers platform "Platform"
approvers legal "Legal"
action ops.scale, ops.drop { amount?: number, ... }
policy ops on ops.* {
  allow scaling for 10m after approval by sre and platform within 4h when action.key == "ops.scale"
  allow dropping when action.key == "ops.drop"
  escalate drop to sre and platform needs 2 within 2h when action.key == "ops.drop"
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
    pia: await person('pia', 'platform'),
    paul: await person('paul', 'platform'),
    both: await person('both', 'sre', 'platform'),
  };
}

test('a grant needs both groups, whichever comes first', async () => {
  const { service, sam, sue, pia } = await start();
  const { request_id: id, message } = await ask(service, 'ops.scale');
  expect(message).toContain('it needs 1 approval by platform and 1 approval by sre before');
  expect((await give(sam, id, 'approve')).body).toMatchObject({
    status: 'pending',
    requires: {
      approvals: [
        { group: 'platform', needs: 1, given: 0 },
        { group: 'sre', needs: 1, given: 1 },
      ],
    },
  });
  expect((await look(service, id)).body.message).toContain('it needs 1 approval by platform before');
  // The person's group has approved already, so the person may only reject.
  expect((await sue.send(`/v1/requests/${id}`)).body.allowed_actions).toMatchObject({
    approve: [],
    reject: true,
    reason: 'Your group has approved this; other approvals are missing.',
  });
  expect(codeOf(await give(sue, id, 'approve'))).toEqual([403, 'not_allowed']);
  expect(codeOf(await give(sam, id, 'approve'))).toEqual([409, 'conflict']);
  expect((await give(pia, id, 'approve')).body).toMatchObject({ status: 'approved', decision: 'ALLOW' });
  const other = await ask(service, 'ops.scale');
  await give(pia, other.request_id, 'approve');
  expect((await give(sue, other.request_id, 'approve')).body.status).toBe('approved');
});

test('nobody can approve for both', async () => {
  const { service, both, sam } = await start();
  const { request_id: id } = await ask(service, 'ops.scale');
  expect(codeOf(await give(both, id, 'approve'))).toEqual([400, 'invalid_body']);
  expect((await give(both, id, 'approve', 'platform')).body.status).toBe('pending');
  expect(codeOf(await give(both, id, 'approve', 'sre'))).toEqual([409, 'conflict']);
  expect((await give(sam, id, 'approve')).body.status).toBe('approved');
});

test('a member of both is not asked to choose when one group has approved', async () => {
  const { service, both, sam } = await start();
  const { request_id: id } = await ask(service, 'ops.scale');
  await give(sam, id, 'approve');
  expect((await give(both, id, 'approve')).body.status).toBe('approved');
});

test('each group needs as many approvals as the rule says', async () => {
  const { service, sam, sue, pia, paul } = await start();
  const { request_id: id } = await ask(service, 'ops.drop');
  for (const person of [sam, sue, pia])
    expect((await give(person, id, 'approve')).body.status).toBe('pending');
  expect((await give(paul, id, 'approve')).body.status).toBe('approved');
});

test('one approval that is withdrawn is missing again', async () => {
  const { service, sam, pia } = await start();
  const { request_id: id } = await ask(service, 'ops.scale');
  await give(sam, id, 'approve');
  await sam.send(`/v1/requests/${id}/revoke-approval`, { method: 'POST', body: { comment: 'too early' } });
  expect((await give(pia, id, 'approve')).body).toMatchObject({
    status: 'pending',
    requires: {
      approvals: [
        { group: 'platform', given: 1 },
        { group: 'sre', given: 0 },
      ],
    },
  });
  expect((await give(sam, id, 'approve')).body.status).toBe('approved');
});

test('the active policies decide which groups are needed at the time of the vote', async () => {
  const { service, sam, pia } = await start();
  const { request_id: id } = await ask(service, 'ops.scale');
  await give(sam, id, 'approve');
  await usePolicies(
    service,
    policies.replace('sre and platform within 4h', 'legal and sre and platform within 4h'),
  );
  expect((await give(pia, id, 'approve')).body.status).toBe('pending');
  const { request_id: fewer } = await ask(service, 'ops.scale');
  await give(sam, fewer, 'approve');
  await give(pia, fewer, 'approve');
  await usePolicies(service, policies.replace('sre and platform within 4h', 'legal within 4h'));
  expect((await look(service, fewer)).body.status).toBe('pending');
});

test('two concurrent approvals grant once', async () => {
  const { service, sam, pia } = await start();
  const { request_id: id } = await ask(service, 'ops.scale');
  const answers = await Promise.all([give(sam, id, 'approve'), give(pia, id, 'approve')]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect((await look(service, id)).body).toMatchObject({ status: 'approved', decision: 'ALLOW' });
});
