// Commands that call a running service: their output, their error messages, and their exit codes.

import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { firstAdmin, personWith, send, tokenClient } from '../service/http/person-client.ts';
import {
  authorize,
  type Service,
  shareService,
  startService,
  temporaryDirectory,
} from '../service/http/service.ts';
import { type Ran, writ } from './writ.ts';

const shared = shareService();
let inShared: ReturnType<typeof withAdmin> | null = null;

/** One service for the tests of the file that do not depend on a clean state. */
const sharedWithAdmin = () => {
  inShared ??= withAdmin(shared());
  return inShared;
};

const startWithAdmin = async () => await withAdmin(await startService());

async function withAdmin(service: Service) {
  const admin = await firstAdmin(service);
  const ann = await tokenClient(service, admin);
  return { service, admin, ann, run: runner(service, tokenOf(ann.headers)) };
}

function tokenOf({ authorization = '' }: Readonly<Record<string, string>>): string {
  return authorization.replace('Bearer ', '');
}

function runner({ url }: Pick<Service, 'url'>, token: string): (...args: string[]) => Promise<Ran> {
  return (...args) => writ(args, { env: { WRIT_URL: url, WRIT_TOKEN: token } });
}

describe('writ kill-switch', () => {
  test('turns a switch on, lists it, and turns it off', async () => {
    const { service, run } = await sharedWithAdmin();
    const on = await run('kill-switch', 'on', 'area:demo', '--reason', 'an incident');
    expect([on.code, on.stdout]).toEqual([0, expect.stringContaining('stopped: area:demo;')]);
    const list = JSON.parse((await run('kill-switch', 'list', '--json')).stdout);
    expect(list.items).toMatchObject([{ scope: 'area:demo', reason: 'an incident' }]);
    expect((await authorize(service)).status).toBe(403);
    const { id } = list.items[0];
    const off = (named: string) => run('kill-switch', 'off', named, '--reason', 'checked');
    const other = await off('all');
    expect([other.code, other.stderr]).toEqual([
      1,
      'error: no active kill switch has the scope or id all: area:demo\n',
    ]);
    expect(await off(id)).toMatchObject({ code: 0, stdout: 'area:demo is off\n' });
    expect((await authorize(service)).status).toBe(200);
    expect((await run('kill-switch', 'list')).stdout).toBe('no active kill switches\n');
    expect(await off(id)).toMatchObject({ code: 1, stderr: expect.stringContaining('none is active') });
    for (const scope of ['all', `agent:${service.agent.name}`]) {
      await run('kill-switch', 'on', scope, '--reason', 'an incident');
      expect(await off(scope)).toMatchObject({ code: 0, stdout: `${scope} is off\n` });
    }
    await run('kill-switch', 'on', 'all', '--reason', 'an incident');
    await run('kill-switch', 'on', 'all', '--reason', 'another one');
    expect(await off('all')).toMatchObject({ code: 1, stderr: expect.stringContaining('name the id') });
    const { items } = JSON.parse((await run('kill-switch', 'list', '--json')).stdout);
    for (const one of items) expect(await off(one.id)).toMatchObject({ code: 0 });
  });
});

test('writ suggest asks a running service about its own request and policies', async () => {
  const { service, ann, run } = await sharedWithAdmin();
  const body = JSON.stringify({ action_key: 'demo.escalate', payload: {} });
  const { request_id: id } = await (await authorize(service, { body })).json();
  const { body: reply } = await ann.send(`/v1/requests/${id}/suggestions`);
  expect(reply.suggestions.length).toBeGreaterThan(0);
  const shown = await run('suggest', id, '--url', service.url);
  expect([shown.code, shown.stderr]).toEqual([0, '']);
  expect(shown.stdout).toMatch(/^ESCALATE by demo\//);
  for (const { text } of reply.suggestions) expect(shown.stdout).toContain(text);
  expect(shown.stdout).not.toContain('tests still pass');
  const patch = await run('suggest', id, '--url', service.url, '--patch');
  expect(patch).toMatchObject({ code: 0, stdout: reply.suggestions[0].patch });
  const json = JSON.parse((await run('suggest', id, '--url', service.url, '--json')).stdout);
  expect(json).toEqual({
    ...reply,
    suggestions: reply.suggestions.map((one: object) => ({ ...one, broken_tests: null })),
  });
  const unknown = await run('suggest', randomUUID(), '--url', service.url);
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('404 request_not_found') });
  const stranger = await writ(['suggest', id, '--url', service.url], { env: { WRIT_TOKEN: 'wp_none' } });
  expect(stranger).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('error: 401') });
  for (const [args, why] of [
    [[id, '--url', service.url, '--policies', 'policies'], 'leave out --policies or --url'],
    [[id, '--url', service.url, '--log', 'log.jsonl'], 'leave out --log or --url'],
    [['request.json', '--url', service.url], '--url takes the id of a request'],
    [[id, '--token', 'x'], '--token needs --url'],
  ] as const)
    expect(await run('suggest', ...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
});

test('writ propose sends what differs, a patch as well, and says what it means', async () => {
  const text = (limit: number): string =>
    `action pay.make { amount: number 0.01.. }\npolicy p on pay.make {\n  allow small when payload.amount <= ${limit} because "Small"\n}\n`;
  const { run } = await withAdmin(await startService({ startsWith: text(10) }));
  const folder = temporaryDirectory();
  writeFileSync(join(folder, 'demo.policy'), text(10));
  const same = await run('propose', folder, '--reason', 'none');
  expect([same.code, same.stderr]).toEqual([1, expect.stringContaining('nothing to propose')]);
  writeFileSync(join(folder, 'demo.policy'), text(5));
  const made = await run('propose', folder, '--reason', 'less');
  expect([made.code, made.stderr]).toEqual([0, '']);
  expect(made.stdout).toMatch(
    /^pending: narrows\n0 loosened, 1 stricter, 0 undecided; 0 tests pass, 0 fail\nhttp.*\/proposals\/[-\w]+\n$/,
  );
  const { id, patch } = JSON.parse((await run('propose', folder, '--reason', 'less', '--json')).stdout);
  writeFileSync(join(folder, 'the.patch'), patch);
  const again = await run('propose', '--patch', join(folder, 'the.patch'), '--reason', 'less', '--json');
  expect(JSON.parse(again.stdout)).toMatchObject({ patch, classification: 'narrows' });
  expect(JSON.parse(again.stdout).id).not.toBe(id);
  writeFileSync(join(folder, 'demo.policy'), 'policy {');
  const wrong = await run('propose', folder, '--reason', 'less');
  expect([wrong.code, wrong.stderr]).toEqual([
    1,
    expect.stringContaining('the proposed policies have errors'),
  ]);
  expect((await run('propose', folder, '--patch', 'x', '--reason', 'less')).code).toBe(2);
});

test('writ tables shows tables and rows, sets and removes them', async () => {
  const startsWith = `
action order.see { id: string }
table orders pushed by "crm" key id: string { owner: string, note?: string }
policy seeing on order.see { allow own when orders[payload.id].owner == agent.name }
`;
  const service = await startService({ startsWith });
  const ann = await tokenClient(service, await firstAdmin(service));
  const run = runner(service, tokenOf(ann.headers));
  expect((await run('tables', 'list')).stdout).toMatch(
    /^TABLE .*\norders +id: string +note\?: string, owner: string +crm, people\n$|^TABLE .*\norders +id: string +owner: string, note\?: string +crm, people\n$/,
  );
  expect((await run('tables', 'list', 'orders')).stdout).toBe('no rows\n');
  const set = await run('tables', 'set', 'orders', 'o/1', '{"owner": "buyer"}');
  expect([set.code, set.stdout]).toEqual([0, 'o/1 of orders is stored, version 1\n']);
  expect((await run('tables', 'list', 'orders')).stdout).toMatch(
    /\no\/1 +\{"owner":"buyer"\} +1 +20.*ann@example\.com/,
  );
  const body = JSON.stringify({ action_key: 'order.see', payload: { id: 'o/1' } });
  expect(await (await authorize(service, { body })).json()).toMatchObject({ decision: 'ALLOW' });
  const removed = await run('tables', 'remove', 'orders', 'o/1');
  expect([removed.code, removed.stdout]).toEqual([0, 'o/1 of orders is removed\n']);
  expect(await (await authorize(service, { body })).json()).toMatchObject({ decision: 'DENY' });
  const again = await run('tables', 'remove', 'orders', 'o/1');
  expect([again.code, again.stderr]).toEqual([1, 'error: 404 not_found: no such row\n']);
  const unfit = await run('tables', 'set', 'orders', 'o-2', '{"owner": 3}');
  expect([unfit.code, unfit.stderr]).toEqual([1, expect.stringContaining('`/owner` must be string')]);
  expect(await run('tables', 'set', 'orders', 'o-2', 'owner=3')).toMatchObject({ code: 2 });
});

test('writ alerts lists current and past alerts and the rules, and changes the rules', async () => {
  const service = await startService({ alerts: { everyMs: 50 } });
  const admin = await firstAdmin(service);
  const ann = await tokenClient(service, admin);
  // A group that policies ask and that nobody is in would be an alert, too.
  await personWith(service, admin, { email: 'fin@example.com', roles: ['approver'], groups: ['finance'] });
  const run = runner(service, tokenOf(ann.headers));
  await expect.poll(async () => (await run('alerts', '--on')).stdout).toBe('no active alerts\n');
  await ann.send('/v1/kill-switches', { method: 'POST', body: { scope: 'all', reason: 'a drill' } });
  const on = async () => (await run('alerts', '--on')).stdout;
  await expect.poll(on).toMatch(/active +Kill switch on +1 kill switch is on\./);
  const rules = await run('alerts', 'rules');
  expect(rules.stdout).toMatch(/denials +Many denials +on +denials +50 % +15 +admin, operator/);
  const set = await run('alerts', 'set', 'Kill switch on', '--off', '--minutes', '5');
  expect(set.stdout).toMatch(/switch +Kill switch on +off +kill_switch +1 +5 /);
  await expect.poll(on).toBe('no active alerts\n');
  expect((await run('alerts')).stdout).toMatch(
    /^BEGAN +OVER +ALERT +WHAT HAPPENED\n20\d\d-\d\d-\d\d \d\d:\d\d UTC +20/,
  );
  expect(await run('alerts', 'set', 'denials')).toMatchObject({ code: 2 });
  expect((await run('alerts', 'set', 'none', '--off')).stderr).toContain('there is no rule `none`');
  const wrong = await run('alerts', 'set', 'denials', '--threshold', '101');
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('at most 100 percent')]);
});

describe('writ point', () => {
  test('registers, assigns, rotates, disables and revokes', async () => {
    const { service, run } = await sharedWithAdmin();
    const point = (...args: string[]) => run('point', ...args);
    expect((await point('list')).stdout).toContain('no enforcement points yet');
    const added = await point('add', 'files proxy', '--agent', 'buyer');
    const key = /writpep_\w+/.exec(added.stdout)?.[0] ?? '';
    const ask = async (sent = key) =>
      (await authorize(service, { key: sent, headers: { 'x-writ-agent': 'buyer' } })).status;
    expect(await ask()).toBe(200);
    const list = (await point('list')).stdout;
    expect(list).toMatch(/files proxy +active +buyer +(?:never|\d{4}-\S+ \d\d:\d\d) +[0-9a-f-]{36}/);
    expect(list).not.toContain(key);
    const none = await point('assign', 'files proxy', '--none');
    expect([none.stdout, await ask()]).toEqual(['files proxy asks for no agent\n', 403]);
    await point('assign', 'files proxy', '--agent', 'buyer');
    const rotated = JSON.parse((await point('rotate', 'files proxy', '--leaked', '--json')).stdout);
    expect([await ask(), await ask(rotated.api_key)]).toEqual([401, 200]);
    await point('disable', 'Files Proxy');
    expect(await ask(rotated.api_key)).toBe(403);
    expect((await point('enable', 'files proxy')).stdout).toBe('files proxy is active\n');
    expect((await point('revoke', 'files proxy')).code).toBe(2);
    expect((await point('revoke', 'files proxy', '--yes')).stdout).toBe('files proxy is revoked\n');
    expect((await point('enable', 'files proxy')).stderr).toContain('409 conflict');
    expect((await point('enable', 'nobody')).stderr).toBe('error: there is no enforcement point `nobody`\n');
    expect((await point('assign', 'files proxy')).code).toBe(2);
  });
});

describe('a scope', () => {
  test('that is invalid is refused with the valid scopes and the nearest one', async () => {
    const { service, run } = await sharedWithAdmin();
    const wrong = [
      ['everything', 'all'],
      ['al', 'all'],
      ['tier:hihg', 'tier:high'],
      ['High', 'tier:high'],
    ] as const;
    for (const [scope, near] of wrong) {
      const ran = await run('kill-switch', 'on', scope, '--reason', 'x');
      expect([ran.code, ran.stdout]).toEqual([2, '']);
      expect(ran.stderr).toBe(
        `error: \`${scope}\` is not a scope: use all, tier:TIER (low, medium, high, critical), area:AREA or agent:NAME; did you mean \`${near}\`?\n`,
      );
    }
    const far = await run('kill-switch', 'on', 'area:', '--reason', 'x');
    expect([far.code, far.stderr]).toEqual([2, expect.stringMatching(/agent:NAME\n$/)]);
    expect((await authorize(service)).status).toBe(200);
  });

  test('names an agent by name or id, and an unknown agent is an error', async () => {
    const { service, run } = await sharedWithAdmin();
    const [buyer] = JSON.parse((await run('agent', 'list', '--url', service.url, '--json')).stdout);
    const made = JSON.parse(
      (await run('kill-switch', 'on', 'agent:BUYER', '--reason', 'an incident', '--json')).stdout,
    );
    expect(made).toMatchObject({ scope: `agent:${buyer.id}` });
    expect((await authorize(service)).status).toBe(403);
    expect((await run('kill-switch', 'off', made.id, '--reason', 'checked')).code).toBe(0);
    const on = await run('kill-switch', 'on', 'agent:buyer', '--reason', 'an incident');
    expect(on.stdout).toMatch(/^stopped: agent:buyer;/);
    const [stopped] = JSON.parse((await run('kill-switch', 'list', '--json')).stdout).items;
    expect((await run('kill-switch', 'list')).stdout).toMatch(/ agent:buyer +20\d\d/);
    await run('kill-switch', 'off', stopped.id, '--reason', 'checked');
    const none = await run('kill-switch', 'on', 'agent:nobody', '--reason', 'x');
    expect([none.code, none.stderr]).toEqual([1, 'error: no agent `nobody`, or you may not see it\n']);
  });
});

describe('writ agent', () => {
  test('does over HTTP what it does on the data directory, in the name of a person', async () => {
    const { service, admin, run } = await sharedWithAdmin();
    const agent = (...args: string[]) => run('agent', ...args, '--url', service.url);
    const owner = 'ann@example.com';
    // Of its own in each attempt.
    const name = `seller-${randomUUID()}`;
    const added = await agent('add', name, '--tier', 'high', '--owner', owner, '--tag', 'x', '--json');
    const { agent: made, api_key: key } = JSON.parse(added.stdout);
    expect(made).toMatchObject({ name, risk_tier: 'high', tags: ['x'], status: 'active' });
    expect((await authorize(service, { key })).status).toBe(200);
    const data = service.policyFile.replace('policies/demo.policy', 'var');
    for (const list of [agent('list', '--json'), writ(['agent', 'list', '--json', '--data', data])]) {
      const agents = JSON.parse((await list).stdout);
      expect(agents[0]).toMatchObject({ name: 'buyer', rate_per_minute: null, burst: null });
      expect(agents.at(-1)).toEqual(made);
    }
    expect((await agent('disable', name.toUpperCase())).stdout).toBe(`${name} is disabled\n`);
    expect((await agent('disable', made.id)).stdout).toBe(`${name} is already disabled\n`);
    expect((await authorize(service, { key })).status).toBe(403);
    expect((await agent('enable', name)).stdout).toBe(`${name} is active\n`);
    const rotated = await agent('rotate', name, '--grace', 'now', '--json');
    const { api_key: newKey } = JSON.parse(rotated.stdout);
    expect((await authorize(service, { key })).status).toBe(401);
    const rate = await agent('rate', name, '--per-minute', '1', '--burst', '1');
    expect(rate.stdout).toBe(`the rate of ${name}: 1/min,1\n`);
    const replies = [await authorize(service, { key: newKey }), await authorize(service, { key: newKey })];
    expect(replies.map(({ status }) => status)).toEqual([200, 429]);
    const all = await agent('rate', name, '--per-minute', 'default', '--burst', 'default');
    expect(all.stdout).toBe(`the rate of ${name}: the service's default\n`);
    const signed = await agent('signing', name, 'required');
    expect(signed.stdout).toContain(`signatures of ${name}: required\n\n  writsec_`);
    const shown = JSON.parse((await agent('show', name, '--json')).stdout);
    expect(shown).toMatchObject({ name, signing: 'required' });
    expect(shown.keys).toHaveLength(2);
    expect((await agent('show', name)).stdout).toContain('ended');
    expect((await agent('revoke', name)).code).toBe(2);
    expect((await agent('revoke', name, '--yes')).stdout).toBe(`${name} is revoked\n`);
    // The service itself may record an alert meanwhile.
    const recorded = await service.store.chain.changes({ beforeSequence: null, countMax: 12 });
    const changes = recorded.filter(({ who }) => who !== 'system').slice(0, 7);
    for (const { who } of changes) expect(who).toBe(`ann@example.com (${admin.id})`);
    expect(changes.map(({ what }) => what)).toEqual([
      'agent-revoked',
      'signing-changed',
      'agent-changed',
      'agent-changed',
      'key-rotated',
      'agent-enabled',
      'agent-disabled',
    ]);
  });

  test('reports errors over HTTP', async () => {
    const { service, run } = await sharedWithAdmin();
    const agent = (...args: string[]) => run('agent', ...args, '--url', service.url);
    const wrong = [
      [['show', 'nobody'], 'error: no agent `nobody`, or you may not see it\n'],
      [['add', 'x', '--tier', 'low', '--owner', 'nobody'], '/control_owner'],
      [['add', 'buyer', '--tier', 'low', '--owner', 'ann@example.com'], '/name: another agent has this name'],
    ] as const;
    for (const [args, expected] of wrong) {
      const ran = await agent(...args);
      expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining(expected)]);
    }
    const misused = [
      [['list', '--data', './var'], 'not both'],
      [['rate', 'buyer'], '--per-minute or --burst'],
      [['rate', 'buyer', '--burst', '0'], 'a whole number of at least 1'],
    ] as const;
    for (const [args, expected] of misused) {
      const ran = await agent(...args);
      expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining(expected)]);
    }
    const token = await writ(['agent', 'list', '--token', 'writp_x']);
    expect([token.code, token.stderr]).toEqual([2, expect.stringContaining('--url')]);
  });
});

describe('writ people', () => {
  test('invites, changes, disables and lists', async () => {
    const { run } = await sharedWithAdmin();
    const invited = await run('people', 'invite', 'ben@example.com', '--name', 'Ben', '--role', 'auditor');
    expect([invited.code, invited.stdout]).toEqual([
      0,
      expect.stringMatching(/ {2}http:\/\/127\.0\.0\.1:\d+\/invitation#token=[\w-]{43}\n/),
    ]);
    const weak = await run('people', 'invite', 'eve@example.com', '--name', 'Eve', '--role', 'approver');
    expect([weak.code, weak.stderr]).toEqual([1, expect.stringContaining('/groups: name the groups')]);
    const { items } = JSON.parse((await run('people', 'list', '--json')).stdout);
    expect(items).toMatchObject([{ email: 'ann@example.com', roles: ['admin'] }]);
    const last = await run('people', 'disable', items[0].id);
    expect([last.code, last.stderr]).toEqual([1, expect.stringContaining('the last active admin')]);
    const changed = await run('people', 'change', items[0].id, '--name', 'Anna', '--group', 'nogroup');
    expect([changed.code, changed.stdout]).toEqual([0, expect.stringContaining('Anna')]);
    expect(changed.stderr).toMatch(/^warning: no active policy asks the group `nogroup`; the policies ask /);
    expect((await run('people', 'change', items[0].id)).code).toBe(2);
  });

  test('lists invitations, and withdraws one', async () => {
    const { run } = await startWithAdmin();
    expect((await run('people', 'invitations')).stdout).toBe('no valid invitations\n');
    const name = 'Ben';
    const turned = await run(
      'people',
      'invite',
      'x@example.com',
      '--name',
      'Ben \u202eneB',
      '--role',
      'auditor',
    );
    expect([turned.code, turned.stderr]).toEqual([1, expect.stringContaining('/name')]);
    const args = ['--name', name, '--role', 'approver', '--group', 'finance', '--json'];
    const made = JSON.parse((await run('people', 'invite', 'ben@example.com', ...args)).stdout);
    const list = await run('people', 'invitations');
    expect([list.code, list.stdout]).toEqual([
      0,
      expect.stringMatching(/ben@example\.com .* approver {2}finance/),
    ]);
    const { items } = JSON.parse((await run('people', 'invitations', '--json')).stdout);
    expect(items).toMatchObject([{ id: made.id, name, ends_at: made.ends_at }]);
    const withdrawn = await run('people', 'withdraw', made.id);
    expect([withdrawn.code, withdrawn.stdout]).toEqual([0, `${made.id} is withdrawn\n`]);
    const again = await run('people', 'withdraw', made.id);
    expect([again.code, again.stderr]).toEqual([1, 'error: 404 not_found: no such open invitation\n']);
    expect((await run('people', 'withdraw')).code).toBe(2);
  });

  test('names, lists, confirms and ends a stand-in', async () => {
    const { service, admin, run } = await startWithAdmin();
    const fay = { email: 'fay@example.com', roles: ['approver'], groups: ['finance'] } as const;
    const own = runner(service, tokenOf((await personWith(service, admin, fay)).headers));
    await personWith(service, admin, { email: 'lea@example.com', roles: ['approver'], groups: ['legal'] });
    expect((await own('people', 'stand-ins')).stdout).toBe('no stand-ins\n');
    const until = new Date(Date.now() + 86_400_000).toISOString();
    const args = ['--group', 'finance', '--until', until];
    const strange = await own('people', 'stand-in', 'nobody@example.com', ...args);
    expect([strange.code, strange.stderr]).toEqual([1, expect.stringContaining('/stand_in')]);
    const named = await own('people', 'stand-in', 'lea@example.com', ...args);
    expect([named.code, named.stdout]).toEqual([0, expect.stringMatching(/lea@example\.com .* not yet/)]);
    const { items } = JSON.parse((await run('people', 'stand-ins', '--json')).stdout);
    const [{ id }] = items;
    expect((await own('people', 'confirm-stand-in', id)).code).toBe(1);
    const confirmed = await run('people', 'confirm-stand-in', id);
    expect([confirmed.code, confirmed.stdout]).toEqual([0, expect.stringMatching(/finance +fay@.*ann@/)]);
    expect(await own('people', 'end-stand-in', id)).toMatchObject({ code: 0, stdout: `${id} has ended\n` });
    expect((await own('people', 'stand-ins')).stdout).toBe('no stand-ins\n');
  });

  test('answers applications', async () => {
    const { service, run } = await startWithAdmin();
    const apply = async (email: string) => {
      const body = { email, name: 'Ben', reason: 'I approve \u202epayments' };
      return (await send(service, '/v1/applications', { method: 'POST', body })).body.id as string;
    };
    const [one, other] = [await apply('ben@example.com'), await apply('eve@example.com')];
    expect(typeof one).toBe('string');
    const granted = await run('people', 'grant', one, '--role', 'approver', '--group', 'finance', 'finanse');
    expect([granted.code, granted.stdout]).toEqual([0, expect.stringContaining('#token=')]);
    expect(granted.stderr).toMatch(/^warning: no active policy asks the group `finanse`;/);
    const declined = await run('people', 'decline', other, '--reason', 'ask your own team first');
    expect([declined.code, declined.stdout]).toEqual([0, 'the application of eve@example.com is declined\n']);
    const list = await run('people', 'applications');
    expect(list.stdout).not.toContain('\u202e');
    expect(list.stdout).toMatch(/eve@example\.com .* declined/);
  });

  test('creates another link for the first admin while there is no person', async () => {
    const service = await startService();
    const data = service.policyFile.replace('policies/demo.policy', 'var');
    const made = await writ(['people', 'setup-link', '--data', data, '--url', 'https://writ.example.com/']);
    expect([made.code, made.stdout]).toEqual([
      0,
      expect.stringMatching(/^https:\/\/writ\.example\.com\/setup#token=/),
    ]);
    const token = made.stdout.trim().replace(/.*#token=/, '');
    const body = { token, email: 'ann@example.com', name: 'Ann', password: 'correct horse battery' };
    expect((await send(service, '/v1/setup', { method: 'POST', body })).status).toBe(201);
    const late = await writ(['people', 'setup-link', '--data', data]);
    expect([late.code, late.stdout]).toEqual([
      0,
      expect.stringMatching(
        /^ann@example\.com can set a new password .*\n\n {2}http:\/\/localhost:8181\/reset#/,
      ),
    ]);
  });

  test('creates a link with which an admin, and nobody else, sets a new password', async () => {
    const { service, admin } = await startWithAdmin();
    const data = service.policyFile.replace('policies/demo.policy', 'var');
    await personWith(service, admin, { email: 'eve@example.com', roles: ['auditor'] });
    const link = async (...args: readonly string[]) =>
      await writ(['people', 'setup-link', '--data', data, '--json', ...args]);
    const made = JSON.parse((await link()).stdout);
    expect(made.email).toBe(admin.email);
    const body = { token: made.url.replace(/.*#token=/, ''), password: 'another horse battery' };
    expect((await send(service, '/v1/reset-link/use', { method: 'POST', body })).status).toBe(204);
    await personWith(service, admin, { email: 'zoe@example.com', roles: ['admin'] });
    const which = await link();
    expect([which.code, which.stderr]).toEqual([2, expect.stringContaining('name the admin with --admin')]);
    const auditor = await link('--admin', 'eve@example.com');
    expect([auditor.code, auditor.stderr]).toEqual([2, expect.stringContaining('no active admin has')]);
    expect(JSON.parse((await link('--admin', 'Zoe@example.com')).stdout).email).toBe('zoe@example.com');
  });
});

describe('a client', () => {
  test('explains how to get access when it is refused', async () => {
    const { service, admin, run } = await sharedWithAdmin();
    const wrong = await runner(service, `writp_${'0'.repeat(46)}`)('people', 'list');
    expect([wrong.code, wrong.stderr]).toEqual([
      1,
      expect.stringMatching(/^error: 401 not_signed_in: .*token/),
    ]);
    const auditor = await personWith(service, admin, { email: 'eve@example.com', roles: ['auditor'] });
    const refused = await runner(service, tokenOf(auditor.headers))(
      'kill-switch',
      'on',
      'all',
      '--reason',
      'x',
    );
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/^error: 403 not_allowed: /)]);
    const none = await writ(['people', 'list'], { env: { WRIT_URL: service.url, WRIT_TOKEN: '' } });
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('WRIT_TOKEN')]);
    expect((await run('people', 'disable', '..')).code).toBe(2);
  });

  test('reports that no service answers, or another program', async () => {
    const down = await writ(['kill-switch', 'list', '--url', 'http://127.0.0.1:1', '--token', 't']);
    expect([down.code, down.stderr]).toEqual([1, expect.stringContaining('is the service running')]);
    const other = createServer((_request, response) => response.writeHead(500).end('<html>'));
    await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening));
    onTestFinished(() => void other.close());
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const foreign = await writ(['kill-switch', 'list', '--url', url, '--token', 't']);
    expect([foreign.code, foreign.stderr]).toEqual([1, expect.stringContaining('not from a Writ service')]);
    const bad = await writ(['kill-switch', 'list', '--url', 'ftp://x', '--token', 't']);
    expect(bad.code).toBe(2);
  });

  test('never shows its token', async () => {
    const { service } = await sharedWithAdmin();
    const token = `writp_${'S'.repeat(46)}`;
    const env = { WRIT_URL: service.url, WRIT_TOKEN: token };
    const ran = await writ(['people', 'list', '--json'], { env });
    expect([ran.code, ran.stdout + ran.stderr]).toEqual([1, expect.stringContaining('not_signed_in')]);
    expect(ran.stdout + ran.stderr).not.toContain(token);
  });
});

describe('writ requests, approve, reject', () => {
  test('assigns and snoozes pending requests without deciding them', async () => {
    const { service, admin, run } = await startWithAdmin();
    const people: Awaited<ReturnType<typeof personWith>>[] = [];
    for (const name of ['ben', 'kim'])
      people.push(
        await personWith(service, admin, {
          email: `${name}@example.com`,
          roles: ['approver'],
          groups: ['finance'],
        }),
      );
    const [asBen] = people.map(({ headers }) => runner(service, tokenOf(headers)));
    const body = '{"action_key":"demo.escalate","payload":{}}';
    const { request_id: id } = (await (await authorize(service, { body })).json()) as { request_id: string };
    const handling = async () => (await people[0]!.send(`/v1/requests/${id}/assignment`)).body;
    const asked: { name: string; is_you: boolean }[] = (await handling()).people;
    const me = asked.find((one) => one.is_you)!;

    expect(await asBen!('requests', 'assign', id, 'me')).toMatchObject({
      code: 0,
      stdout: `${id} is assigned to ${me.name}\n`,
    });
    expect((await handling()).assigned_to?.name).toBe(me.name);
    const stranger = await asBen!('requests', 'assign', id, 'Somebody else');
    expect([stranger.code, stranger.stderr]).toEqual([
      1,
      `error: nobody with this name can decide it: people who can: ${asked.map((one) => (one.is_you ? `${one.name} (me)` : one.name)).join(', ')}\n`,
    ]);
    const kim = asked.find((one) => !one.is_you)!;
    expect((await asBen!('requests', 'assign', id, kim.name)).code).toBe(0);
    expect((await handling()).assigned_to?.name).toBe(kim.name);
    expect((await asBen!('requests', 'assign', id, 'nobody')).stdout).toContain('is not assigned');
    expect((await handling()).assigned_to).toBeNull();

    expect((await asBen!('requests', 'snooze', id, '30m')).stdout).toMatch(
      /hidden from your inbox until 20\d\d-/,
    );
    expect((await handling()).snoozed_until).not.toBeNull();
    expect((await asBen!('requests', 'snooze', id, '0s')).stdout).toBe(`${id} is back in your inbox\n`);
    expect((await handling()).snoozed_until).toBeNull();
    const odd = await asBen!('requests', 'snooze', id, 'later');
    expect([odd.code, odd.stderr]).toEqual([2, expect.stringContaining('`later` is not a duration such as')]);
    expect((await asBen!('requests', 'snooze', id, '30d')).code).toBe(1);
    expect(JSON.parse((await run('requests', 'show', id, '--json')).stdout).status).toBe('pending');
  });

  test('marks confusable letters, and approves such requests only with an option', async () => {
    const { service, admin, run } = await startWithAdmin();
    const ben = await personWith(service, admin, {
      email: 'ben@example.com',
      roles: ['approver'],
      groups: ['finance'],
    });
    const asBen = runner(service, tokenOf(ben.headers));
    const body = '{"action_key":"demo.escalate","payload":{"vendor":"St\u0430ples"}}';
    const { request_id: id } = (await (await authorize(service, { body })).json()) as { request_id: string };
    expect((await run('requests', 'show', id)).stdout).toContain(
      '"vendor": "St\u0430\u2039U+0430\u203aples"',
    );
    const refused = await asBen('approve', id, '--comment', 'fine');
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect((await run('requests', 'show', id)).stdout).toMatch(
      / {2}warning {3}vendor: "Stаples" \(mixes Latin and Cyrillic; U\+0430/,
    );
    expect(refused.stderr).toMatch(
      /may contain deceptive letters\n {2}vendor: "St\u0430ples" \(mixes Latin and Cyrillic; U\+0430 CYRILLIC SMALL LETTER A\)\n.*--letters-checked/,
    );
    expect(JSON.parse((await run('requests', 'show', id, '--json')).stdout).status).toBe('pending');
    expect((await asBen('approve', id, '--comment', 'fine', '--letters-checked')).code).toBe(0);
    expect(JSON.parse((await run('requests', 'show', id, '--json')).stdout).status).toBe('approved');
  });

  test('lists, shows and decides pending requests', async () => {
    const { service, admin, run } = await startWithAdmin();
    const ben = await personWith(service, admin, {
      email: 'ben@example.com',
      roles: ['approver'],
      groups: ['finance'],
    });
    const asBen = runner(service, tokenOf(ben.headers));
    const ask = async () => {
      const body = '{"action_key":"demo.escalate","payload":{"note":"\\u001b[2J"}}';
      return ((await (await authorize(service, { body })).json()) as { request_id: string }).request_id;
    };
    const [one, other] = [await ask(), await ask()];
    const list = await run('requests', '--status', 'pending');
    expect(await run('requests', '--status', 'Pending')).toEqual(list);
    const found = (await run('requests', '--decision', 'ESCALATE', '--text', one)).stdout;
    expect([found.includes(one), found.includes(other)]).toEqual([true, false]);
    expect((await run('requests', '--decision', 'DENY')).stdout).toBe('no requests\n');
    const odd = await run('requests', '--status', 'odd');
    expect([odd.code, odd.stderr]).toEqual([2, expect.stringContaining('Allowed choices are auto_approved')]);
    expect([list.code, list.stdout]).toEqual([0, expect.stringContaining(one)]);
    const shown = await run('requests', 'show', one);
    expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining('demo.escalate')]);
    expect(shown.stdout).not.toContain('\u001b');
    expect(JSON.parse((await run('requests', 'show', one, '--json')).stdout).request_id).toBe(one);
    expect((await asBen('approve', one, '--comment', 'the invoice is right')).stderr).toContain(
      'invisible characters',
    );
    const approved = await asBen('approve', one, '--comment', 'the invoice is right', '--letters-checked');
    expect([approved.code, approved.stderr]).toEqual([0, '']);
    expect(JSON.parse((await run('requests', 'show', one, '--json')).stdout).status).toBe('approved');
    const rejected = await asBen('reject', other, '--comment', 'we do not know this vendor', '--json');
    expect(JSON.parse(rejected.stdout).status).toBe('rejected');
    const late = await asBen('approve', other, '--comment', 'after all');
    expect([late.code, late.stderr]).toEqual([1, expect.stringMatching(/^error: 409 /)]);
    expect((await run('requests', 'show', 'nonsense')).code).toBe(1);
    const unanswered = await ask();
    expect((await run('requests', 'show', unanswered)).stdout).toContain('people    no votes yet');
    await ben.send(`/v1/requests/${unanswered}/comments`, {
      method: 'POST',
      body: { text: 'looking', kind: 'comment' },
    });
    expect((await run('requests', 'show', unanswered)).stdout).toMatch(
      /people {4}\S+ \S+ UTC {2}ben@\S+ .*wrote: looking/,
    );
    expect((await asBen('approve', one)).code).toBe(2);
    const text = (await run('requests', 'show', other)).stdout;
    expect(text).toMatch(
      / {2}people {4}20\d\d-\S+ \d\d:\d\d UTC {2}ben@example\.com \(\S+\) rejected for finance: we do not know/,
    );
  });
});

describe('writ standing', () => {
  test('gives, lists and revokes a standing approval', async () => {
    const service = await startService({
      startsWith: `
        approvers finance "Finance"
        action pay.send { vendor: string }
        policy pay on pay.send {
          allow all
          escalate new to finance within 1h
            standing per payload.vendor for 8h up to 10 times
        }`,
    });
    const admin = await firstAdmin(service);
    const ben = await personWith(service, admin, {
      email: 'ben@example.com',
      roles: ['approver'],
      groups: ['finance'],
    });
    const asBen = runner(service, tokenOf(ben.headers));
    const ask = async () => {
      const body = JSON.stringify({ action_key: 'pay.send', payload: { vendor: 'Staples' } });
      return (await (await authorize(service, { body })).json()) as { request_id: string; decision: string };
    };
    expect((await asBen('standing', 'list')).stdout).toBe('no standing approvals\n');
    const { request_id: id } = await ask();
    const approve = (...more: string[]) => asBen('approve', id, '--comment', 'known vendor', ...more);
    expect((await approve('--times', '2')).stderr).toContain('belong to --standing');
    expect((await approve('--standing', '--for', 'soon')).code).toBe(2);
    expect((await approve('--standing', '--times', '0')).code).toBe(2);
    expect((await approve('--standing', '--for', '9h')).stderr).toMatch(/^error: 409 /);
    expect((await approve('--standing', '--for', '2h', '--times', '2')).code).toBe(0);
    const under = await ask();
    expect(under.decision).toBe('ALLOW');
    const { stdout } = await asBen('standing', 'list');
    expect(stdout).toMatch(/pay\/new +payload\.vendor "Staples" .* 1 of 2 +active/);
    const [{ id: standing }] = JSON.parse((await asBen('standing', 'list', '--json')).stdout).items;
    const ann = await tokenClient(service, admin);
    const run = runner(service, tokenOf(ann.headers));
    expect((await run('requests', 'show', under.request_id)).stdout).toContain(
      `standing  ${standing} satisfies pay/new`,
    );
    expect((await asBen('standing', 'revoke', standing)).stdout).toBe(`${standing} is revoked\n`);
    expect((await ask()).decision).toBe('ESCALATE');
    expect((await asBen('standing', 'list')).stdout).toContain('has revoked it');
    expect((await asBen('standing', 'revoke', 'nonsense')).stderr).toMatch(/^error: 404 /);
  });
});
