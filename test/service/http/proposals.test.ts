// Proposals over HTTP: who may propose and settle, what is refused at once, how a proposal is judged and judged again,
// and what makes an accepted one active. Tests of both stores; files are written only where the store is a file.

import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import { createAcceptor } from '../../../src/service/http/resources/policies/proposals/accept-proposal.ts';
import { createDirectory } from '../../../src/service/people/directory.ts';
import type { Person } from '../../../src/service/people/person.ts';
import { sweep } from '../../../src/service/people/sweep.ts';
import { changeFiles, type Disk } from '../../../src/service/policies/change-files.ts';
import { createProposals, proposalLimits } from '../../../src/service/policies/proposals.ts';
import { isOnPostgres } from '../store/place.ts';
import { type Answer, type Client, client, firstAdmin, personWith, tokenClient } from './person-client.ts';
import { type Service, type ServiceOptions, shareService, startService } from './service.ts';
import { ask, codeOf, usePolicies } from './written-policies.ts';

const policies = (limit: number, more = ''): string => `approvers finance "Finance"
action pay.make { amount: number 0.01.. }
policy p on pay.make {
  allow small when payload.amount <= ${limit} because "Small"
  escalate large to finance within 1h when payload.amount > 50 because "Large"
${more}}
guarantee ceiling on pay.make {
  never allow when payload.amount > 10_000
}
`;

const start = policies(1_000);
const narrower = policies(500);
const wider = policies(2_000);
const unbounded = policies(20_000);

interface House {
  readonly admin: Person;
  readonly service: Service;
  readonly ann: Client;
  readonly bob: Client;
  readonly olga: Client;
  readonly aud: Client;
  readonly agent: Client;
}

/** A service with two admins, an operator, an auditor and an agent. */
const isInFile = !isOnPostgres;
const shared = shareService({ isInFile, startsWith: start, mayAgentsPropose: true });
let house: House;

beforeAll(async () => {
  house = await staffed(shared());
});

/** Each test begins with the same policies, and without pending proposals. */
beforeEach(async () => {
  const { service, ann } = house;
  for (const name of readdirSync(dirname(service.policyFile)))
    if (name !== 'demo.policy') rmSync(join(dirname(service.policyFile), name), { recursive: true });
  await usePolicies(service, start);
  const { items } = (await ann.send('/v1/policies/proposals?status=pending')).body;
  for (const one of items) await settle(ann, one, 'reject');
});

/** Another service, with settings of its own. */
async function open(options: ServiceOptions): Promise<House> {
  return await staffed(await startService({ isInFile, startsWith: start, ...options }));
}

async function staffed(service: Service): Promise<House> {
  const admin = await firstAdmin(service);
  const ann = await tokenClient(service, admin);
  const bob = await personWith(service, admin, { email: 'bob@example.com', roles: ['admin'] });
  const olga = await personWith(service, admin, { email: 'olga@example.com', roles: ['operator'] });
  const aud = await personWith(service, admin, { email: 'aud@example.com', roles: ['auditor'] });
  return {
    admin,
    service,
    ann,
    bob,
    olga,
    aud,
    agent: client(service, { 'x-agent-api-key': service.apiKey }),
  };
}

const digestOf = ({ policies: host }: Service): string => host.current().digest;

function propose(house: House, by: Client, text: string | object): Promise<Answer> {
  const files = typeof text === 'string' ? [{ path: 'demo.policy', text }] : undefined;
  const body = {
    active_digest: digestOf(house.service),
    reason: 'asked by the team',
    ...(files === undefined ? (text as object) : { files }),
  };
  return by.send('/v1/policies/proposals', { method: 'POST', body });
}

function settle(
  by: Client,
  proposal: Answer['body'],
  word: 'accept' | 'reject' | 'withdraw',
  more: object = {},
) {
  const { id, active_digest, proposed_digest } = proposal;
  const body =
    word === 'accept'
      ? { active_digest, proposed_digest, comment: 'fine', ...more }
      : word === 'reject'
        ? { comment: 'not now', ...more }
        : undefined;
  return by.send(`/v1/policies/proposals/${id}/${word}`, { method: 'POST', ...(body && { body }) });
}

const look = (by: Client, { id }: { id: string }) => by.send(`/v1/policies/proposals/${id}`);

/** The latest changes of a proposal on record, and who made them. */
async function changesOf({ store }: Service, { id }: { id: string }) {
  const rows = await store.chain.changes({ beforeSequence: null, countMax: 20 });
  return rows.filter(({ subject }) => subject === id).map(({ what, who }) => `${what} ${who.split(' ')[0]}`);
}

const policyFile = ({ policyFile: path }: Service): string => readFileSync(path, 'utf8');

describe('a proposal is judged when it is made', () => {
  test.each([
    ['narrows', narrower, { stricter: 1, loosened: 0 }],
    ['no-change', start.replace('"Finance"', '"Finance" # a note'), { stricter: 0, loosened: 0 }],
    ['widens-within-guarantees', wider, { stricter: 0, loosened: 1 }],
    ['breaks-guarantee', unbounded.replace('when payload.amount > 50', 'when payload.amount == 60'), {}],
    ['breaks-guarantee', start.replace(/guarantee[\s\S]*/, ''), { stricter: 0, loosened: 0 }],
  ])('%s', async (classification, text, counts) => {
    const { status, body } = await propose(house, house.olga, text);
    expect([status, body.problem]).toEqual([201, null]);
    expect(body).toMatchObject({ classification, status: 'pending', is_current: true, ...counts });
    expect(body.active_digest).toBe(digestOf(house.service));
    expect(body.changed_files).toEqual([{ path: 'demo.policy', before: start, after: text }]);
    expect(body.report.diff.new.digest).toBe(body.proposed_digest);
    expect(body.broken_guarantees.length > 0).toBe(classification === 'breaks-guarantee');
    await settle(house.olga, body, 'withdraw');
  });

  test('the same change as a patch, from the directory or from the top of its repository, has the same digest', async () => {
    const { body } = await propose(house, house.olga, narrower);
    await settle(house.olga, body, 'withdraw');
    expect(body.patch).toContain('-  allow small when payload.amount <= 1000');
    const again = await propose(house, house.olga, { patch: body.patch });
    expect([again.status, again.body.proposed_digest]).toEqual([201, body.proposed_digest]);
    await settle(house.olga, again.body, 'withdraw');
  });

  test('what people read, and tests, are noted even where no decision changes', async () => {
    const reworded = await propose(house, house.olga, start.replace('because "Small"', 'because "Tiny"'));
    expect(reworded.body).toMatchObject({
      classification: 'no-change',
      notes: ['reasons that people read change'],
    });
    await settle(house.olga, reworded.body, 'withdraw');
    const file = join(dirname(house.service.policyFile), 'demo.test.yaml');
    writeFileSync(
      file,
      'tests:\n  - name: small\n    action: pay.make\n    payload: { amount: 10 }\n    expect: ALLOW\n  - name: middle\n    action: pay.make\n    payload: { amount: 40 }\n    expect: DENY\n',
    );
    const { body } = await propose(house, house.olga, policies(20));
    expect(body.tests).toEqual({ passed: 2, failed: 0, newly_failed: 0 });
    await settle(house.olga, body, 'withdraw');
    const broken = (await propose(house, house.olga, policies(5))).body;
    expect(broken.tests).toEqual({ passed: 1, failed: 1, newly_failed: 1 });
    expect(broken.report.tests.failed).toEqual([{ file: 'demo.test.yaml', name: 'small', is_new: true }]);
    await settle(house.olga, broken, 'withdraw');
    const tests = { path: 'demo.test.yaml', text: null };
    const without = await propose(house, house.olga, {
      files: [{ path: 'demo.policy', text: policies(5) }, tests],
    });
    expect(without.body).toMatchObject({ notes: ['tests change'], tests: { passed: 0, failed: 0 } });
    await settle(house.olga, without.body, 'withdraw');
  });

  const patch = '--- a/demo.policy\n+++ b/demo.policy\n@@ -2,1 +2,1 @@\n-action gone\n+action x\n';
  test.each<readonly [string, object, string]>([
    ['errors', { files: [{ path: 'demo.policy', text: 'policy {' }] }, 'have errors: demo.policy:1:'],
    ['a patch of another text', { patch }, 'has other text where the patch changes it'],
    ['no patch', { patch: 'hello' }, 'names no file'],
    ['a path outside', { files: [{ path: '../x.policy', text: '' }] }, 'no path relative'],
    ['a hidden file', { files: [{ path: '.git/config', text: '' }] }, 'no path relative'],
    ['a file that nobody reads', { files: [{ path: 'notes.md', text: 'x' }] }, 'no file of the policies'],
    ['no change', { files: [{ path: 'demo.policy', text: start }] }, 'changes nothing'],
    ['no policies', { files: [{ path: 'demo.policy', text: null }] }, 'leaves no policy file'],
    [
      'a file that may not decide',
      {
        files: [
          { path: 'owners.yaml', text: 'owners:\n  team/**: [pay.*]\n' },
          {
            path: 'other.policy',
            text: 'policy q on pay.make { deny odd when payload.amount == 13 because "x" }\n',
          },
        ],
      },
      'may not',
    ],
  ])('%s is refused at once', async (_name, change, why) => {
    const answer = await propose(house, house.olga, change);
    expect(codeOf(answer)).toEqual([422, 'invalid_proposal']);
    expect(answer.body.detail).toContain(why);
  });

  test('a change of `owners.yaml` counts as widening', async () => {
    const owners = { path: 'owners.yaml', text: 'owners:\n  "**": ["*"]\n' };
    const { body } = await propose(house, house.olga, { files: [owners] });
    expect(body).toMatchObject({ classification: 'widens-within-guarantees' });
    expect(body.notes).toEqual([expect.stringContaining('`owners.yaml` changes')]);
    await settle(house.olga, body, 'withdraw');
  });

  test.each([
    [
      'other policies',
      { active_digest: 'f00d', files: [{ path: 'demo.policy', text: narrower }] },
      409,
      'conflict',
    ],
    ['no change at all', {}, 400, 'invalid_body'],
    [
      'an empty reason',
      { reason: ' ', files: [{ path: 'demo.policy', text: narrower }] },
      400,
      'invalid_body',
    ],
    [
      'an unknown request',
      { request_id: 'x', files: [{ path: 'demo.policy', text: narrower }] },
      404,
      'request_not_found',
    ],
  ])('%s: refused', async (_name, change, status, code) => {
    expect(codeOf(await propose(house, house.olga, change))).toEqual([status, code]);
  });
});

describe('who may propose and settle', () => {
  test('an auditor sees proposals, operators make them, only another admin accepts', async () => {
    const { ann, bob, olga, aud } = house;
    expect(codeOf(await propose(house, aud, narrower))).toEqual([403, 'not_allowed']);
    const { body: own } = await propose(house, ann, narrower);
    expect(own.allowed_actions).toEqual({ accept: false, reject: true, withdraw: true });
    const self = await settle(ann, own, 'accept');
    expect([codeOf(self), self.body.detail]).toEqual([
      [403, 'not_allowed'],
      'somebody else has to accept your proposal',
    ]);
    expect(codeOf(await settle(olga, own, 'accept'))).toEqual([403, 'not_allowed']);
    expect(codeOf(await settle(olga, own, 'reject'))).toEqual([403, 'not_allowed']);
    expect(codeOf(await settle(olga, own, 'withdraw'))).toEqual([403, 'not_allowed']);
    expect((await look(aud, own)).body).toMatchObject({ id: own.id, allowed_actions: { accept: false } });
    expect((await look(bob, own)).body.allowed_actions).toEqual({
      accept: true,
      reject: true,
      withdraw: false,
    });
    expect((await settle(bob, own, 'reject')).body).toMatchObject({
      status: 'rejected',
      settled: { by: { name: 'bob@example.com' }, comment: 'not now' },
    });
    expect(codeOf(await settle(bob, own, 'accept'))).toEqual([409, 'conflict']);
    const list = (status: string) => olga.send(`/v1/policies/proposals?status=${status}`);
    expect((await list('rejected')).body.items).toMatchObject([{ id: own.id, reason: 'asked by the team' }]);
    expect((await list('pending')).body.items).toEqual([]);
    expect(await changesOf(house.service, own)).toEqual([
      'proposal-rejected bob@example.com',
      'proposal-made ann@example.com',
    ]);
  });

  test('agents and enforcement points propose only where the setting is on, and see only their own', async () => {
    const { service, ann, agent, olga } = house;
    const made = await olga.send('/v1/enforcement-points', {
      method: 'POST',
      body: { name: 'gate', agents: ['buyer'] },
    });
    const point = client(service, { 'x-agent-api-key': made.body.api_key });
    const forAgent = client(service, { 'x-agent-api-key': made.body.api_key, 'x-writ-agent': 'buyer' });
    await usePolicies(service, start);
    const { request_id: id } = await ask(service, 'pay.make', { payload: { amount: 2_000 } });
    const of = (by: Client, more: object = {}) =>
      propose(house, by, { files: [{ path: 'demo.policy', text: narrower }], ...more });
    const [own, ofPoint, acting] = [await of(agent, { request_id: id }), await of(point), await of(forAgent)];
    expect([own, ofPoint, acting].map(({ status, body }) => [status, body.proposed_by?.kind])).toEqual([
      [201, 'agent'],
      [201, 'point'],
      [201, 'agent'],
    ]);
    expect(own.body.request_id).toBe(id);
    expect(codeOf(await of(point, { request_id: id }))).toEqual([404, 'request_not_found']);
    expect(codeOf(await look(point, own.body))).toEqual([404, 'not_found']);
    expect((await look(agent, own.body)).body.allowed_actions).toEqual({
      accept: false,
      reject: false,
      withdraw: true,
    });
    expect(
      (await point.send('/v1/policies/proposals')).body.items.map((one: { id: string }) => one.id),
    ).toEqual([ofPoint.body.id]);
    expect((await ann.send('/v1/policies/proposals?status=pending')).body.items).toHaveLength(3);
    expect(
      codeOf(await agent.send(`/v1/policies/proposals/${own.body.id}/accept`, { method: 'POST', body: {} })),
    ).toEqual([401, 'not_signed_in']);
    expect((await settle(point, ofPoint.body, 'withdraw')).body.status).toBe('withdrawn');
    expect(await changesOf(service, ofPoint.body)).toContain('proposal-withdrawn point');
  });

  test('a person who lost the right at the same moment accepts nothing', async () => {
    const { service, olga } = house;
    const cy = await personWith(service, house.admin, { email: 'cy@example.com', roles: ['admin'] });
    const { body } = await propose(house, olga, narrower);
    const { documents } = service.store;
    const directory = createDirectory(documents, Date.now);
    const write = vi.spyOn(documents, 'write');
    // Cy is disabled between the check of the rights and the write of the acceptance.
    write.mockImplementationOnce(async (writes, change) => {
      const stored = (await directory.people.find(cy.person.id))!;
      const disabled = directory.people.put({ ...stored.value, status: 'disabled' }, stored.version);
      await documents.write([disabled], null);
      return await documents.write(writes, change);
    });
    expect(codeOf(await settle(cy, body, 'accept'))).toEqual([409, 'conflict']);
    write.mockRestore();
    expect((await look(olga, body)).body.status).toBe('pending');
    expect(codeOf(await settle(cy, body, 'accept'))).toEqual([401, 'not_signed_in']);
  });
});

describe('an acceptance', () => {
  test('is bound to both digests: other policies make it void, and the proposal is judged again', async () => {
    const { service, olga, bob } = house;
    const { body } = await propose(house, olga, narrower);
    expect(codeOf(await settle(bob, body, 'accept', { proposed_digest: body.active_digest }))).toEqual([
      409,
      'conflict',
    ]);
    // The same change, on other policies, makes other policies.
    const odd = '# a note\npolicy q on pay.make { deny odd when payload.amount == 13 because "Odd" }\n';
    await usePolicies(service, start + odd);
    const refused = await settle(bob, body, 'accept');
    expect([codeOf(refused), refused.body.detail]).toEqual([
      [409, 'conflict'],
      expect.stringContaining('judged again, as `narrows`'),
    ]);
    const { body: again } = await look(bob, body);
    expect(again).toMatchObject({ status: 'pending', is_current: true, active_digest: digestOf(service) });
    expect(again.changed_files[0].after).toContain('policy q on');
    expect(again.proposed_digest).not.toBe(body.proposed_digest);
    // Where the same lines have changed, the proposal no longer applies.
    await usePolicies(service, policies(700) + odd);
    await vi.waitFor(async () => expect((await look(bob, body)).body.classification).toBe('invalid'), 30_000);
    const invalid = (await look(bob, body)).body;
    expect(invalid).toMatchObject({
      proposed_digest: null,
      report: null,
      allowed_actions: { accept: false, reject: true },
    });
    expect(codeOf(await settle(bob, again, 'accept'))).toEqual([409, 'conflict']);
    // A proposal whose set became active in another way changes nothing any more.
    await usePolicies(service, narrower + odd);
    await vi.waitFor(
      async () => expect((await look(bob, body)).body.classification).toBe('no-change'),
      30_000,
    );
  });

  test('of a broken guarantee has to say so', async () => {
    const { body } = await propose(house, house.olga, start.replace(/guarantee[\s\S]*/, ''));
    const refused = await settle(house.bob, body, 'accept');
    expect([codeOf(refused), refused.body.detail]).toEqual([
      [409, 'conflict'],
      expect.stringContaining('breaks a guarantee'),
    ]);
    expect((await settle(house.bob, body, 'accept', { breaks_guarantee: true })).body.status).toBe(
      'accepted',
    );
  });

  test('by two people at once happens once', async () => {
    const { service, ann, bob, olga } = house;
    const { body } = await propose(house, olga, narrower);
    const answers = await Promise.all([settle(ann, body, 'accept'), settle(bob, body, 'accept')]);
    expect(answers.map(codeOf).toSorted()).toEqual([
      [200, 'accepted'],
      [409, 'conflict'],
    ]);
    const accepted = (await changesOf(service, body)).filter((what) => what.startsWith('proposal-accepted'));
    expect(accepted).toHaveLength(1);
  });

  test('is on record, and told to webhooks and open pages', async () => {
    const { service, bob, olga } = house;
    const { body } = await propose(house, olga, narrower);
    await settle(bob, body, 'accept');
    const [change] = (await service.store.chain.changes({ beforeSequence: null, countMax: 5 })).filter(
      ({ what }) => what === 'proposal-accepted',
    );
    expect(change).toMatchObject({ subject: body.id, who: expect.stringContaining('bob@example.com') });
    expect(JSON.parse(change?.afterJson ?? '')).toEqual({
      status: 'accepted',
      active: body.active_digest,
      proposed: body.proposed_digest,
      classification: 'narrows',
      files: ['demo.policy'],
      proposer: expect.stringContaining('olga@example.com'),
      comment: 'fine',
    });
    expect(await verifyChain(service.store)).toMatchObject({ kind: 'whole' });
  });

  test('a store that fails grants nothing and changes no file', async () => {
    const { service, bob, olga } = house;
    const { body } = await propose(house, olga, narrower);
    vi.spyOn(service.store.documents, 'write').mockRejectedValueOnce(new Error('no disk'));
    expect((await settle(bob, body, 'accept')).status).toBe(500);
    expect([policyFile(service), digestOf(service)]).toEqual([start, body.active_digest]);
    expect((await look(bob, body)).body.status).toBe('pending');
    expect((await settle(bob, body, 'accept')).body.status).toBe('accepted');
  });
});

// Several processes may serve a database, so nobody's directory is written there.
if (isOnPostgres) {
  test('where several processes serve the store, an accepted proposal is a patch', async () => {
    const { body } = await propose(house, house.olga, narrower);
    const accepted = (await settle(house.bob, body, 'accept')).body;
    expect(accepted).toMatchObject({ status: 'accepted', delivery: 'patch', active_at: null });
    expect(policyFile(house.service)).toBe(start);
    await usePolicies(house.service, narrower);
    await vi.waitFor(async () => expect((await look(house.bob, body)).body.active_at).not.toBeNull(), 30_000);
  });
} else {
  test('an accepted proposal is written and active before the reply, new and deleted files included', async () => {
    const { service, bob, olga } = house;
    const guard = 'policy q on pay.make { deny odd when payload.amount == 13 because "Odd" }\n';
    const files = [{ path: 'team/q.policy', text: guard }];
    const { body } = await propose(house, olga, { files });
    expect(body).toMatchObject({ classification: 'narrows', stricter: 1 });
    const accepted = (await settle(bob, body, 'accept')).body;
    expect(accepted).toMatchObject({ status: 'accepted', delivery: 'files', active_at: expect.any(String) });
    expect(digestOf(service)).toBe(body.proposed_digest);
    expect((await ask(service, 'pay.make', { payload: { amount: 13 } })).decision).toBe('DENY');
    const folder = dirname(service.policyFile);
    expect(readFileSync(join(folder, 'team/q.policy'), 'utf8')).toBe(guard);
    const back = await propose(house, olga, { files: [{ path: 'team/q.policy', text: null }] });
    expect(back.body).toMatchObject({
      classification: 'widens-within-guarantees',
      patch: expect.stringContaining('+++ /dev/null'),
    });
    expect((await settle(bob, back.body, 'accept')).body.status).toBe('accepted');
    expect(existsSync(join(folder, 'team/q.policy'))).toBe(false);
    expect(digestOf(service)).toBe(body.active_digest);
  });

  test('files that differ from the active policies are not overwritten', async () => {
    const { service, bob, olga } = house;
    const { body } = await propose(house, olga, narrower);
    writeFileSync(service.policyFile, 'policy broken {');
    const refused = await settle(bob, body, 'accept');
    expect([codeOf(refused), refused.body.detail]).toEqual([
      [409, 'conflict'],
      expect.stringContaining('not active'),
    ]);
    expect(policyFile(service)).toBe('policy broken {');
    expect(await changesOf(service, body)).toEqual(['proposal-made olga@example.com']);
  });

  test('a disk that fails leaves the old policies, and the proposal is pending again', async () => {
    const { service, olga } = house;
    const { body } = await propose(house, olga, narrower);
    const proposals = createProposals(service.store.documents, Date.now);
    const broken = {
      rename: () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' })),
    };
    const acceptor = createAcceptor({
      proposals,
      policies: service.policies,
      store: service.store,
      write: async (directory, files) =>
        changeFiles(directory, files, { ...(await import('node:fs/promises')), ...broken } as Disk),
      onFailure: (error) => expect.unreachable(String(error)),
    });
    const by = { kind: 'person', id: 'p', name: 'Pat', who: 'pat (p)' } as const;
    const result = await acceptor.accept((await proposals.find(body.id))!, { by, comment: 'x', along: [] });
    expect(result).toEqual({
      kind: 'refused',
      why: 'the disk returned an error (ENOSPC): the files are as they were',
    });
    expect([policyFile(service), digestOf(service)]).toEqual([start, body.active_digest]);
    expect(readdirSync(dirname(service.policyFile))).toEqual(['demo.policy']);
    expect((await look(olga, body)).body).toMatchObject({ status: 'pending', settled: null });
    expect(await changesOf(service, body)).toEqual([
      'proposal-not-written system',
      'proposal-accepted pat',
      'proposal-made olga@example.com',
    ]);
  });

  test('an acceptance whose process ended before the files were written is continued at the next start', async () => {
    const { service, olga } = house;
    const { body } = await propose(house, olga, narrower);
    const proposals = createProposals(service.store.documents, Date.now);
    const deps = { proposals, policies: service.policies, store: service.store };
    const failures: unknown[] = [];
    const crashing = createAcceptor({
      ...deps,
      write: () => Promise.reject(new Error('the process has ended')),
      onFailure: (error) => failures.push(error),
    });
    const by = { kind: 'person', id: 'p', name: 'Pat', who: 'pat (p)' } as const;
    const read = (await proposals.find(body.id))!;
    await expect(crashing.accept(read, { by, comment: 'x', along: [] })).rejects.toThrow('has ended');
    expect([policyFile(service), digestOf(service)]).toEqual([start, body.active_digest]);
    await createAcceptor({ ...deps, onFailure: (error) => failures.push(error) }).resume();
    expect([policyFile(service), digestOf(service)]).toEqual([narrower, body.proposed_digest]);
    expect((await look(olga, body)).body).toMatchObject({
      status: 'accepted',
      active_at: expect.any(String),
    });
    expect(failures).toEqual([]);
  });

  test('only what narrows is accepted by the setting, and only without anything that a person has to judge', async () => {
    const automatic = await open({ isNarrowingAccepted: true, mayAgentsPropose: true });
    const { service, agent } = automatic;
    const widening = await propose(automatic, agent, wider);
    expect(widening.body).toMatchObject({ classification: 'widens-within-guarantees', status: 'pending' });
    const reworded = await propose(automatic, agent, start.replace('because "Small"', 'because "Tiny"'));
    expect(reworded.body).toMatchObject({ classification: 'no-change', status: 'pending' });
    const accepted = (await propose(automatic, agent, narrower)).body;
    expect(accepted).toMatchObject({ status: 'accepted', settled: { by: { kind: 'system' } } });
    expect(digestOf(service)).toBe(accepted.proposed_digest);
    expect(await changesOf(service, accepted)).toEqual(['proposal-accepted system', 'proposal-made agent']);
  });
}

test('a thread that fails judges nothing and grants nothing', async () => {
  const { body } = await propose(house, house.olga, narrower);
  const stored = createProposals(house.service.store.documents, Date.now);
  const { value } = (await stored.find(body.id))!;
  const content = (await stored.content(body.id))!;
  const broken = await open({ playground: { script: new URL('./not-there.ts', import.meta.url) } });
  const { service, olga, bob } = broken;
  expect(codeOf(await propose(broken, olga, narrower))).toEqual([503, 'playground_failed']);
  expect((await olga.send('/v1/policies/proposals')).body.items).toEqual([]);
  const proposals = createProposals(service.store.documents, Date.now);
  const judgement = { ...value.judgement, active: 'other policies' };
  await proposals.create({ ...value, judgement, content }, []);
  const pending = (await look(bob, value)).body;
  expect(pending).toMatchObject({ status: 'pending', is_current: false });
  expect(codeOf(await settle(bob, pending, 'accept'))).toEqual([503, 'playground_failed']);
  expect((await look(bob, value)).body.status).toBe('pending');
  expect(digestOf(service)).toBe(body.active_digest);
});

test('proposals end, and what has ended is deleted', async () => {
  const aging = await open({});
  const { service, olga, agent } = aging;
  expect(codeOf(await propose(aging, agent, narrower))).toEqual([403, 'not_allowed']);
  const { body } = await propose(aging, olga, narrower);
  const day = 86_400_000;
  const at = (days: number) => createProposals(service.store.documents, () => Date.now() + days * day);
  expect(await at(29).find(body.id)).not.toBeNull();
  expect(await at(31).find(body.id)).toBeNull();
  await sweep(service.store.documents, Date.now() + 29 * day);
  expect(await at(0).content(body.id)).not.toBeNull();
  const again = (await at(0).find(body.id))!.value;
  const { proposer: by } = again;
  const settleAs = async (id: string, status: 'rejected' | 'withdrawn') =>
    await at(0).settle((await at(0).find(id))!, { status, by, comment: '', delivery: null, along: [] });
  await settleAs(body.id, 'rejected');
  expect(await at(89).find(body.id)).not.toBeNull();
  await sweep(service.store.documents, Date.now() + 89 * day);
  expect(await at(0).content(body.id)).not.toBeNull();
  await sweep(service.store.documents, Date.now() + 91 * day);
  expect([await at(0).content(body.id), await at(0).find(body.id)]).toEqual([null, null]);
  // Nobody has looked at a withdrawn proposal, so its content is not kept.
  const { value } = (await createProposals(service.store.documents, Date.now).create(
    { ...again, content: { files: [], patch: '', report: null } },
    [],
  ))!;
  expect(await at(0).content(value.id)).not.toBeNull();
  await settleAs(value.id, 'withdrawn');
  expect(await at(0).content(value.id)).toBeNull();
});

test('the number of proposals is limited for each proposer', async () => {
  const { service, olga, bob } = house;
  const { body } = await propose(house, bob, narrower);
  const proposals = createProposals(service.store.documents, Date.now);
  const { value } = (await proposals.find(body.id))!;
  const content = (await proposals.content(body.id))!;
  for (let count = 1; count < proposalLimits.pendingOfOne; count += 1)
    await proposals.create({ ...value, id: `more-${count}`, content }, []);
  expect(codeOf(await propose(house, bob, narrower))).toEqual([429, 'too_many_proposals']);
  expect((await propose(house, olga, narrower)).status).toBe(201);
  for (let count = 0; count < proposalLimits.dailyOfOne; count += 1) {
    const read = await proposals.create({ ...value, id: `day-${count}`, content }, []);
    const by = value.proposer;
    await proposals.settle(read!, { status: 'withdrawn', by, comment: '', delivery: null, along: [] });
  }
  for (const { value: one } of await proposals.list({ state: 'pending', after: null, countMax: 50 }))
    if (one.proposer.id === value.proposer.id) await settle(bob, one, 'withdraw');
  const refused = await propose(house, bob, narrower);
  expect([codeOf(refused), refused.body.detail]).toEqual([
    [429, 'too_many_proposals'],
    expect.stringContaining('a day'),
  ]);
});
