// /v1/overview and /v1/policies/hits over HTTP: the counts match the answers that were sent.

import { writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { type Client, firstAdmin, personWith, tokenClient } from './person-client.ts';
import { authorize, policyText, problemOf, type Service, shareService, startService } from './service.ts';

const shared = shareService();
let admin: Client;

beforeAll(async () => {
  admin = await tokenClient(shared(), await firstAdmin(shared()));
});

const bodyOf = (verb: string) => JSON.stringify({ action_key: `demo.${verb}`, payload: {} });

async function askAll(service: Service, verbs: readonly string[]): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const verb of verbs) {
    const reply = await authorize(service, { body: bodyOf(verb) });
    ids.push(((await reply.json()) as { readonly request_id: string }).request_id);
  }
  return ids;
}

describe('the overview', () => {
  test('counts decisions, refusals, policies, risk and the outcomes of escalations', async () => {
    const service = await startService();
    const ann = await firstAdmin(service);
    const approver = await personWith(service, ann, {
      email: 'fin@example.com',
      roles: ['approver'],
      groups: ['finance'],
    });
    const client = await tokenClient(service, ann);
    const verbs = [
      'allow',
      'allow',
      'allow',
      'deny',
      'escalate',
      'escalate',
      'escalate',
      'reauth',
      'unknown',
    ];
    const ids = await askAll(service, verbs);
    await authorize(service, { body: '{' });
    const answers = [
      await approver.send(`/v1/requests/${ids[4]}/approve`, { method: 'POST', body: { comment: 'yes' } }),
      await approver.send(`/v1/requests/${ids[5]}/reject`, { method: 'POST', body: { comment: 'no' } }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const { status, body } = await client.send('/v1/overview');
    expect(status).toBe(200);
    const sum = (name: string) =>
      body.buckets.reduce((total: number, bucket: Record<string, number>) => total + (bucket[name] ?? 0), 0);
    expect(['allow', 'deny', 'escalate', 'reauth', 'refused'].map(sum)).toEqual([3, 2, 3, 1, 1]);
    expect(body.total).toBe(10);
    expect(body.policies).toEqual([
      { name: 'demo', allow: 3, deny: 1, escalate: 3, reauth: 1 },
      { name: null, allow: 0, deny: 1, escalate: 0, reauth: 0 },
    ]);
    expect(body.risk.map(({ count }: { count: number }) => count)).toEqual([8, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    expect(body.escalations).toMatchObject({ opened: 4, approved: 1, rejected: 1, expired: 0, pending: 2 });
    expect(body.escalations.time_to_approve_seconds.p50).toEqual(expect.any(Number));
    const timed = body.latency.filter(({ p50_us }: { p50_us: number | null }) => p50_us !== null);
    expect(timed.length).toBeGreaterThan(0);
    for (const { p50_us, p90_us, p99_us } of timed) {
      expect([p50_us, p90_us, p99_us]).toEqual([p50_us, p90_us, p99_us].toSorted((a, b) => a - b));
    }
  });

  test('is divided into at most the requested number of steps, of whole minutes', async () => {
    const at = (query: string) => admin.send(`/v1/overview?${query}`);
    const day = await at('from=2026-03-02T00:00:00Z&to=2026-03-03T00:00:00Z&buckets=24');
    expect(day.body).toMatchObject({
      from: '2026-03-02T00:00:00.000Z',
      to: '2026-03-03T00:00:00.000Z',
      bucket_seconds: 3_600,
      total: 0,
    });
    expect(day.body.buckets).toHaveLength(24);
    const now = Date.now();
    const from = new Date(now - 61_000).toISOString();
    const short = await at(`from=${from}&to=${new Date(now).toISOString()}&buckets=200`);
    expect(short.body.bucket_seconds).toBe(60);
    expect(short.body.buckets.length).toBeLessThanOrEqual(3);
    expect(Date.parse(short.body.to)).toBeGreaterThanOrEqual(now);
  });

  test.each([
    'from=yesterday',
    'to=1969-12-31',
    'from=2026-03-03&to=2026-03-02',
    'buckets=0',
    'buckets=201',
    'buckets=1.5',
    'what=this',
  ])('refuses %s', async (query) => {
    const reply = await fetch(`${shared().url}/v1/overview?${query}`, { headers: admin.headers });
    expect(await problemOf(reply)).toMatchObject({ status: 400, code: 'invalid_query' });
  });
});

describe('the hits of rules', () => {
  test('are counted for each rule of the active policies, and for shadow rules by what they would change', async () => {
    const service = await startService();
    const client = await tokenClient(service, await firstAdmin(service));
    writeFileSync(
      service.policyFile,
      `${policyText}
      policy tried on demo.* {
        shadow deny all_reads when action.key == "demo.allow"
        shadow deny nothing when action.key == "demo.reauth"
      }`,
    );
    await service.policies.reload();
    const before = await client.send('/v1/policies/hits');
    expect(before.body.items.map((item: Record<string, unknown>) => item.last_at)).toEqual(
      Array.from({ length: 7 }, () => null),
    );
    await askAll(service, ['allow', 'allow', 'deny', 'escalate']);
    const { body } = await client.send('/v1/policies/hits');
    const shown = Object.fromEntries(
      body.items.map(({ policy, rule, file, last_at, ...item }: Record<string, unknown>) => {
        expect(file).toBe('demo.policy');
        return [`${policy}/${rule}`, { ...item, isMet: last_at !== null }];
      }),
    );
    const enforced = { shadow_changed: null, shadow_outcomes: [] };
    expect(shown).toEqual({
      'demo/most': { effect: 'allow', decided: 2, met: 3, isMet: true, ...enforced },
      'demo/one': { effect: 'deny', decided: 1, met: 1, isMet: true, ...enforced },
      'demo/one_more': { effect: 'escalate', decided: 1, met: 1, isMet: true, ...enforced },
      'demo/another': { effect: 'reauth', decided: 0, met: 0, isMet: false, ...enforced },
      'demo/base_risk': { effect: 'risk', decided: 0, met: 4, isMet: true, ...enforced },
      'tried/all_reads': {
        effect: 'deny',
        decided: 0,
        met: 2,
        isMet: true,
        shadow_changed: 2,
        shadow_outcomes: [{ from: 'ALLOW', to: 'DENY', count: 2 }],
      },
      'tried/nothing': {
        effect: 'deny',
        decided: 0,
        met: 0,
        isMet: false,
        shadow_changed: 0,
        shadow_outcomes: [],
      },
    });
    expect(Date.parse(body.since)).toBeLessThanOrEqual(Date.now());
  });
});

test('a request is answered even if it cannot be counted', async () => {
  const service = await startService();
  const client = await tokenClient(service, await firstAdmin(service));
  const cells = vi.spyOn(service.store.statistics, 'cells').mockRejectedValue(new Error('no'));
  expect((await authorize(service)).status).toBe(200);
  expect((await client.send('/v1/overview')).status).toBe(500);
  cells.mockRestore();
  expect((await client.send('/v1/overview')).body.total).toBe(1);
});
