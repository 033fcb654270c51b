// What policies ask for and an installation does not have is told: in the state of the policies, in `/readyz`,
// in the log and by an alert.

import { expect, test } from 'vitest';
import type { RuleRequirement } from '../../../src/language/model/rule-requirement.ts';
import { addPoint } from '../../../src/service/agents/points/change-point.ts';
import { type NeededByPolicies, watchPolicyGaps } from '../../../src/service/alerts/policy-gaps.ts';
import { createDirectory } from '../../../src/service/people/directory.ts';
import { firstAdmin, personWith, tokenClient } from '../http/person-client.ts';
import { type Service, startService } from '../http/service.ts';
import { usePolicies } from '../http/written-policies.ts';

const policies = `
approvers finance "Finance"
approvers legal "Legal"
action pay.create { amount: number }
let is_known = request.user.id != "nobody"
meter own = count() of pay.create per user over 24h
policy pay on pay.create {
  allow small when payload.amount <= 10
  allow known when is_known and own < 3
  escalate large to finance needs 2 when payload.amount > 100
  escalate words to legal when payload.amount > 200
  shadow escalate watched to legal needs 5 when payload.amount > 300
  deny direct unless request.point in ["gateway", "gatway"]
}
`;

async function gapsOf(service: Service): Promise<readonly string[]> {
  const ready = (await (await fetch(`${service.url}/readyz`)).json()) as { policies: { gaps: string[] } };
  return ready.policies.gaps;
}

test('groups without enough members, a missing issuer and unknown points are reported until they exist', async () => {
  const service = await startService();
  const admin = await firstAdmin(service);
  await usePolicies(service, policies);
  const client = await tokenClient(service, admin);
  const look = () => client.send('/v1/policies/reload', { method: 'POST' });
  const finance = 'The rule pay/large asks the group finance, which has';
  const legal = 'The rule pay/words asks the group legal, which has nobody in it: nothing can be approved';
  const users = 'The rule pay/known reads request.user, which is never known: users.issuer is not set';
  const point = (name: string) =>
    `The rule pay/direct compares request.point with "${name}", which is not an active enforcement point`;
  const first = (await look()).body;
  expect(first.gaps).toEqual([
    `${finance} nobody in it: nothing can be approved`,
    legal,
    users,
    point('gateway'),
    point('gatway'),
  ]);
  expect(await gapsOf(service)).toEqual(first.gaps);
  expect((await client.send('/v1/policies')).body.state.gaps).toEqual(first.gaps);
  await personWith(service, admin, {
    email: 'ben@example.com',
    roles: ['approver'],
    groups: ['finance', 'legal'],
  });
  // An auditor approves nothing, whatever their groups.
  await personWith(service, admin, { email: 'ida@example.com', roles: ['auditor'], groups: [] });
  const by = { documents: service.store.documents, who: 'test', nowMs: Date.now() };
  expect((await addPoint(by, { name: 'gateway', agents: [service.agent.id], mayRelease: false })).kind).toBe(
    'made',
  );
  await look();
  expect(await gapsOf(service)).toEqual([
    `${finance} only 1 of the 2 required people in it: nothing can be approved`,
    users,
    point('gatway'),
  ]);
});

const policiesNamingPeople = `
approvers finance "Finance"
action pay.create { amount: number, employee: string, region: string }
table staff pushed by "hr" key id: string { manager?: email, deputy?: string }
table regions = { eu: "amy@example.com", us: "ida@example.com", far: "cid@example.com" }
let regional = if payload.amount > 50 then regions[payload.region] else "u-7"
policy pay on pay.create {
  allow all
  escalate manager to staff[payload.employee].manager when payload.amount > 10
  escalate region to regional and regions[payload.region] when payload.amount > 20
  escalate either to staff[payload.employee].deputy or finance when payload.amount > 30
  shadow escalate watched to staff[payload.employee].deputy when payload.amount > 40
}
`;

test('people whom tables name as approvers are reported while they have no account that may approve', async () => {
  const service = await startService();
  const admin = await firstAdmin(service);
  await usePolicies(service, policiesNamingPeople);
  await personWith(service, admin, { email: 'amy@example.com', roles: ['owner'], groups: [] });
  await personWith(service, admin, { email: 'ben@example.com', roles: ['approver'], groups: ['finance'] });
  await personWith(service, admin, { email: 'ida@example.com', roles: ['auditor'], groups: [] });
  const client = await tokenClient(service, admin);
  const push = (key: string, row: object) =>
    client.send(`/v1/tables/staff/${key}`, { method: 'PUT', body: row });
  const look = async () => (await client.send('/v1/policies/reload', { method: 'POST' })).body.gaps;
  const gap = (rule: string, name: string, lack: string) =>
    `The rule pay/${rule} asks ${name}, whom a table names and who ${lack}: what is asked of them cannot be approved`;
  const regional = [
    gap('region', 'cid@example.com', 'has no account'),
    gap('region', 'ida@example.com', 'has an account that may not approve'),
    gap('region', 'u-7', 'has no account'),
  ];
  expect(await look()).toEqual(regional);
  const rows = [
    await push('e-1', { manager: 'Ben@EXAMPLE.com', deputy: 'nobody' }),
    await push('e-2', { manager: 'mia@example.com' }),
    await push('e-3', {}),
  ];
  expect(rows.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(await look()).toEqual([...regional, gap('manager', 'mia@example.com', 'has no account')]);
  await personWith(service, admin, { email: 'mia@example.com', roles: ['operator'], groups: [] });
  expect(await look()).toEqual(regional);
});

test('people and points are read again only after a change of them or the policies', async () => {
  const service = await startService();
  const admin = await firstAdmin(service);
  const { documents } = service.store;
  const lists: string[] = [];
  const watchedDocuments = {
    ...documents,
    list: (page: Parameters<typeof documents.list>[0]) => {
      lists.push(page.kind);
      return documents.list(page);
    },
  };
  const asked: RuleRequirement = {
    rule: 'p/r',
    conditionDigest: '',
    kind: 'approval',
    groups: ['finance'],
    needs: 1,
    except: [],
    withinSeconds: 60,
  };
  const needs = { user: [], points: [{ name: 'gateway', rules: ['p/d'] }], people: [], columns: [] };
  let needed: NeededByPolicies = { asks: [asked], needs };
  const changes: number[] = [];
  const gaps = watchPolicyGaps({
    directory: createDirectory(watchedDocuments, () => 1_000 + lists.length),
    knowsUsers: true,
    needed: () => needed,
    onChange: (found) => changes.push(found.length),
    onFailure: (error) => {
      throw error;
    },
  });
  const read = async () => {
    lists.length = 0;
    const since = await gaps.update();
    return [since.length, [...lists].sort()];
  };
  const both = ['person', 'point'];
  expect(await read()).toEqual([2, both]);
  for (let look = 0; look < 20; look += 1) expect(await read()).toEqual([2, []]);
  await personWith(service, admin, { email: 'ben@example.com', roles: ['approver'], groups: ['finance'] });
  expect(await read()).toEqual([1, both]);
  const by = { documents, who: 'test', nowMs: Date.now() };
  await addPoint(by, { name: 'gateway', agents: [service.agent.id], mayRelease: false });
  expect(await read()).toEqual([0, both]);
  needed = { ...needed, asks: [{ ...asked, needs: 2 }] };
  expect(await read()).toEqual([1, both]);
  expect(await read()).toEqual([1, []]);
  expect(changes).toEqual([2, 1, 0, 1]);
});

test('a failed check is repeated, although nothing has changed', async () => {
  const { store } = await startService();
  let isBroken = true;
  const list = (page: Parameters<typeof store.documents.list>[0]) =>
    isBroken ? Promise.reject(new Error('not now')) : store.documents.list(page);
  const points = [{ name: 'gateway', rules: ['p/d'] }];
  const needed = { asks: [], needs: { user: [], points, people: [], columns: [] } };
  const gaps = watchPolicyGaps({
    directory: createDirectory({ ...store.documents, list }, () => 1_000),
    knowsUsers: true,
    needed: () => needed,
    onChange: () => undefined,
    onFailure: () => undefined,
  });
  await expect(gaps.update()).rejects.toThrow('not now');
  isBroken = false;
  expect(await gaps.update()).toEqual([1_000]);
});
