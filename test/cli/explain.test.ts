// `writ explain` and the output of `writ decide`: requests of files and requests from a store, as a user sees them.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { loadCompiled } from '../../src/cli/support/load-policies.ts';
import type { JsonObject } from '../../src/language/model/json.ts';
import type { ActingChain } from '../../src/service/agents/delegations/delegation.ts';
import { addAgent } from '../../src/service/agents/registry.ts';
import { createDelegatedPolicies } from '../../src/service/policies/delegated-policies.ts';
import { digest } from '../../src/service/policies/digest.ts';
import { createAuthorizer } from '../../src/service/requests/authorize.ts';
import { createMetering } from '../../src/service/requests/metering/metering.ts';
import { createRequestId } from '../../src/service/requests/record/id.ts';
import { openStore } from '../../src/service/store/open.ts';
import { createFolder } from '../service/policies/folder.ts';
import { bystanders } from '../service/requests/bystanders.ts';
import { writ } from './writ.ts';

const policy = `action a.b {
  n:     integer
  note?: string
  pin?:  secret string 4..8
}

approvers finance "Finance"

meter spent = sum(payload.n) of a.b per agent over 24h

policy p on a.b {
  allow small for 10m
    when payload.n < 100
    unless payload has note

  # Only for some.
  escalate medium to finance
    when payload.n >= 10 and agent.risk_tier in ["high", "critical"]
    risk +30

  deny budget
    when payload has pin and spent > 50
}
`;

describe('writ decide', () => {
  const args = (...more: readonly string[]): readonly string[] => [
    'decide',
    '--policies',
    createFolder({ 'a.policy': policy }),
    '--action',
    'a.b',
    ...more,
  ];

  it('shows the deciding rule and what would change the decision', async () => {
    const ran = await writ(args('--payload', '{"n": 20}', '--agent', '{"risk_tier": "high"}'));
    expect(ran).toMatchObject({ code: 3, stderr: '' });
    expect(ran.stdout).toBe(`ESCALATE by p/medium
  Medium
  risk 30, needs 1 of finance within 24h

true    escalate p/medium (decides)
  true    payload.n >= 10 and agent.risk_tier in ["high", "critical"]
    true    payload.n >= 10
              payload.n = 20
    true    agent.risk_tier in ["high", "critical"]
              agent.risk_tier = high

unknown:
  spent: there is no reading of this meter

what would change it:
  ALLOW if payload.n < 10

other ways to change it:
  ALLOW once finance (1 person) approves
  ALLOW if agent.risk_tier in ["low", "medium"]
`);
  });

  it('shows the nearest grant if none was met', async () => {
    const ran = await writ(args('--payload', '{"n": 100}'));
    expect(ran.stdout).toContain('nearly met:\n  allow    p/small, but payload.n < 100 is false\n');
    expect(ran.stdout).toContain('what would change it:\n  ALLOW if payload.n < 10\n');
  });

  it('shows every rule with --trace', async () => {
    const ran = await writ(args('--trace', '--payload', '{"n": 5}', '--agent', '{"risk_tier": "low"}'));
    expect(ran.code).toBe(0);
    for (const rule of ['allow    p/small (decides)', 'deny     p/budget', 'escalate p/medium'])
      expect(ran.stdout).toContain(rule);
    expect(ran.stdout).toContain('what would end it:\n  DENY if payload.n >= 100\n');
  });
});

describe('writ explain FILE', () => {
  it('shows the deciding rule, unknown facts, and the parts of the risk score', async () => {
    const folder = createFolder({ 'a.policy': policy });
    writeFileSync(join(folder, 'request.json'), '{"action_key": "a.b", "payload": {"n": 20}}');
    const ran = await writ(['explain', 'request.json', '--policies', 'a.policy'], { cwd: folder });
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(ran.stdout).toMatch(/^ESCALATE by p\/medium\n/);
    expect(ran.stdout).toContain(`a.policy:17:
  escalate medium to finance
    when payload.n >= 10 and agent.risk_tier in ["high", "critical"]
    risk +30

unknown:
  spent: there is no reading of this meter
  agent.risk_tier: the registry has no such attribute

risk:
  +30 p/medium (unknown)
`);
    expect(ran.stdout).toContain('ALLOW if agent.risk_tier in ["low", "medium"]');
  });

  it('answers in JSON, without payloads', async () => {
    const folder = createFolder({ 'a.policy': policy });
    const stdin = '{"action": "a.b", "payload": {"n": 200, "pin": "hunter2"}, "meters": {"spent": 0}}';
    const ran = await writ(['explain', '-', '--policies', folder, '--json'], { stdin });
    expect(JSON.parse(ran.stdout)).toMatchObject({
      request: null,
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      notes: [],
      decision: { outcome: 'DENY', by: 'default_deny' },
      near: [
        { rule: 'p/small', missing: 'payload.n < 100', isUnknown: false },
        { rule: 'p/budget' },
        { rule: 'p/medium', isUnknown: true },
      ],
      unknown: [{ name: 'agent.risk_tier' }],
      changes: [{ outcome: 'ALLOW', text: 'ALLOW if payload.n < 10', parts: [{ of: 'payload' }] }, {}],
    });
    expect(ran.stdout).not.toContain('hunter2');
  });

  it('shows which part of a condition is false, and an absent field as absent, not as unknown', async () => {
    const text = `action a.b { n: integer, note?: string }

policy p on a.b {
  deny noted
    when payload.n > 5 and payload has note and payload.note == "x"

  deny other
    when payload.n > 5 and (payload has note or (payload.note else "y") == "x")
}
`;
    const folder = createFolder({ 'a.policy': text });
    const stdin = '{"action": "a.b", "payload": {"n": 6}}';
    const { stdout } = await writ(['explain', '-', '--policies', folder], { stdin });
    expect(stdout).toContain(`false   deny     p/noted
  false   payload.n > 5 and payload has note and payload.note == "x"
    false   payload has note
false   deny     p/other
  false   payload.n > 5 and (payload has note or (payload.note else "y") == "x")
    false   payload has note or (payload.note else "y") == "x"
      false   payload has note
      false   (payload.note else "y") == "x"
                payload.note else "y" = y
                  payload.note = absent
`);
    expect(stdout).not.toContain('unknown');
  });

  it('refuses invalid input', async () => {
    const folder = createFolder({ 'a.policy': policy, 'bad.policy': 'policy' });
    const [missing, broken] = await Promise.all([
      writ(['explain', 'nowhere.json'], { cwd: folder }),
      writ(['explain', '-', '--policies', join(folder, 'bad.policy')], { stdin: '{"action": "a.b"}' }),
    ]);
    expect(missing).toMatchObject({
      code: 2,
      stderr: 'error: `nowhere.json` is neither a request id nor a file\n',
    });
    expect(broken).toMatchObject({ code: 1, stderr: expect.stringContaining('bad.policy:1:') });
  });
});

describe('writ explain ID', () => {
  const cleanups: (() => Promise<void>)[] = [];

  afterEach(async () => {
    for (const clean of cleanups.splice(0)) await clean();
  });

  /** A data directory in which one request was decided and recorded. */
  async function record(
    payload: JsonObject,
    chain?: ActingChain,
  ): Promise<{ id: string; data: string; policies: string }> {
    const [data, policies] = [createFolder(), createFolder({ 'a.policy': policy })];
    const { set, engine } = (await loadCompiled(policies)).compiled;
    if (set === null || engine === null) throw new Error('the policies must compile');
    const store = await openStore({ path: join(data, 'writ.db') });
    cleanups.push(() => store.close());
    const draft = { name: 'buyer-1', riskTier: 'high', controlOwner: 'ops@example.com', tags: [] };
    const added = await addAgent(store, draft);
    if (added.kind === 'invalid') throw new Error('the agent must be valid');
    const nowMs = Date.UTC(2026, 2, 2, 9);
    // A meter is known once its past was looked for.
    const metering = createMetering({ meters: store.meters, clock: () => nowMs });
    await metering.note({ ...engine, digest: digest(set) });
    await metering.settled();
    const chains = createDelegatedPolicies();
    await chains.ready();
    const authorizer = createAuthorizer({
      openRequestsMax: 20,
      store,
      policies: () => ({
        decide: engine.decide,
        decideTraced: engine.decideTraced,
        decideRecorded: engine.decideRecorded,
        trace: engine.trace,
        asks: () => new Map(),
        chatLimits: () => new Map(),
        titleOf: () => null,
        entries: engine.entries,
        entriesRecorded: engine.entriesRecorded,
        meters: engine.meters,
        actions: engine.actions,
        possibility: engine.possibility,
        checkResult: engine.checkResult,
        checkRow: engine.checkRow,
        pushedTables: engine.pushedTables,
        readsPushed: engine.readsPushed,
        checkPayload: () => [],
        resultShapeOf: engine.resultShapeOf,
        shapeOf: (action) => set.actions.get(action)?.shape ?? null,
        digest: digest(set),
        commit: null,
      }),
      clock: () => nowMs,
      metering,
      chains,
      ...bystanders,
    });
    const id = createRequestId(nowMs);
    await authorizer.authorize({
      agent: added.agent,
      key: { id: 'key00001', notAfterMs: null },
      actionKey: 'a.b',
      payload,
      ...(chain && { chain }),
      isSigned: false,
      session: null,
      clientAddress: '10.0.0.1',
      idempotencyKey: null,
      bodyDigest: '0'.repeat(64),
      requestId: id,
    });
    return { id, data, policies };
  }

  const notes = (stdout: string): readonly string[] =>
    stdout.split('\n').filter((line) => line.startsWith('note: '));

  it('decides again with the facts of the record', async () => {
    const { id, data, policies } = await record({ n: 20 });
    const ran = await writ(['explain', id, '--data', data, '--policies', policies]);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(ran.stdout).toMatch(
      new RegExp(`^${id}: a\\.b by buyer-1, 2026-03-02T09:00:00\\.000Z\n.*\nESCALATE by p/medium\n`, 's'),
    );
    expect(ran.stdout).toContain('ALLOW once finance (1 person) approves');
    expect(notes(ran.stdout)).toEqual([]);
  });

  it('names the link of a delegation that denied it, and its condition', async () => {
    const link = { id: 'link0001', name: 'reader', actions: ['a.*'], when: 'payload.n <= 10', uses: null };
    const given = await record({ n: 20 }, { links: [{ ...link, version: 0 }], session: null });
    const args = ['explain', given.id, '--data', given.data, '--policies', given.policies];
    const { stdout } = await writ(args);
    expect(stdout).toContain('DENY by outside_delegation/link_1\n  Outside the delegation `reader`\n');
    expect(stdout).toContain(`link_1 (reader):1:
  deny outside_delegation unless action in a.* and (payload.n <= 10)
`);
    expect(stdout).toContain('payload.n = 20');
    expect(stdout).toContain('\n  it came by the delegation reader\n');
    expect(notes(stdout)).toEqual([]);
    expect((await writ([...args, '--step'])).stdout).toContain('payload.n <= 10');
  });

  it('names the standing approval and the delegation of an exported record', async () => {
    const link = { id: 'link0001', name: 'reader', actions: ['a.*'], when: null, uses: null };
    const { data, policies } = await record({ n: 20 }, { links: [{ ...link, version: 0 }], session: null });
    const { stdout: lines } = await writ(['audit', 'export', '--data', data]);
    const line = JSON.parse(lines.split('\n').find((one) => one.includes('"kind":"request"')) ?? '');
    const stored = JSON.parse(line.entry.record_json);
    stored.satisfied = { escalate: ['p/medium'], reauth: [], standing: { 'p/medium': 'sa-0001' } };
    line.entry.record_json = JSON.stringify(stored);
    const file = join(createFolder({ 'line.json': JSON.stringify(line) }), 'line.json');
    const { stdout } = await writ(['explain', file, '--policies', policies]);
    expect(stdout).toContain(
      '  the standing approval sa-0001 satisfies p/medium\n  it came by the delegation reader\n\nALLOW',
    );
    const json = JSON.parse((await writ(['explain', file, '--policies', policies, '--json'])).stdout);
    expect(json).toMatchObject({
      standing_approvals: [{ rule: 'p/medium', id: 'sa-0001' }],
      delegation_chain: ['reader'],
    });
  });

  it('reads the presence of a secret from its digest', async () => {
    const { id, data, policies } = await record({ n: 60, pin: 'hunter2' });
    const ran = await writ(['explain', id, '--data', data, '--policies', policies, '--json']);
    const shown = JSON.parse(ran.stdout);
    expect(shown).toMatchObject({
      request: { id, action: 'a.b', status: 'rejected', decision: { outcome: 'DENY', by: 'p/budget' } },
      decision: { outcome: 'DENY', by: 'p/budget' },
      unknown: [],
      notes: [expect.stringContaining('rules read only whether they are present')],
    });
    expect(shown.changes.map(({ text }: { text: string }) => text)).toContain(
      'ESCALATE if not (payload has pin)',
    );
    expect(ran.stdout).not.toContain('hmac');
  });

  it('reports that other policies decided', async () => {
    const { id, data, policies } = await record({ n: 20 });
    writeFileSync(join(policies, 'a.policy'), policy.replace('payload.n >= 10', 'payload.n >= 30'));
    const ran = await writ(['explain', id, '--data', data, '--policies', policies]);
    expect(ran.stdout).toMatch(/\nALLOW by p\/small\n/);
    const [changed, decided] = notes(ran.stdout);
    expect(changed).toMatch(
      /^note: these policies \(digest [0-9a-f]{12}\) differ from those that decided \(digest [0-9a-f]{12}\)$/,
    );
    expect(decided).toBe(
      'note: the record says ESCALATE by p/medium; the decision of these policies follows',
    );
  });

  it('reports that the payload check cannot be repeated', async () => {
    const { id, data, policies } = await record({ n: 20, pin: 'x' });
    const ran = await writ(['explain', id, '--data', data, '--policies', policies]);
    expect(ran.code).toBe(0);
    expect(notes(ran.stdout)).toEqual([
      'note: the record omits secrets, so the payload cannot be checked again: this is the recorded result',
    ]);
    expect(ran.stdout).toContain(
      'DENY by invalid_payload\n  The payload does not match the declared shape: /pin',
    );
  });

  it('creates no store, and reports an unknown request', async () => {
    const { data, policies } = await record({ n: 20 });
    const other = createFolder();
    const id = '019d0000-0000-7000-8000-00000000ffff';
    const [unknown, storeless] = await Promise.all([
      writ(['explain', id, '--data', data, '--policies', policies]),
      writ(['explain', id, '--data', other, '--policies', policies]),
    ]);
    expect(unknown).toMatchObject({
      code: 1,
      stderr: `error: there is no request \`${id}\` in \`${data}\`\n`,
    });
    expect(storeless).toMatchObject({ code: 1, stderr: `error: there is no store in \`${other}\`\n` });
  });
});
