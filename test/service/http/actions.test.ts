// What an agent learns over HTTP about the actions it may be granted.

import { describe, expect, test } from 'vitest';
import { addAgent } from '../../../src/service/agents/registry.ts';
import { firstAdmin, signedIn } from './person-client.ts';
import { type Service, startService } from './service.ts';
import { ask, usePolicies } from './written-policies.ts';

const policies = `
approvers finance "Finance"
action pay.small, pay.large, pay.closed, pay.unruled, mail.send { amount: number }
policy small on pay.small { allow known when payload.amount < 10 }
policy large on pay.large { allow known after approval by finance }
policy closed on pay.closed {
  allow known
  deny strangers when agent.name != "insider"
}
policy mail on mail.send {
  allow known
  escalate low_tier to finance when agent.risk_tier == "low"
}
`;

async function actionsOf(service: Service, key: string, query = '') {
  const reply = await fetch(`${service.url}/v1/actions${query}`, { headers: { 'x-agent-api-key': key } });
  return { status: reply.status, headers: reply.headers, body: await reply.json() };
}

describe('GET /v1/actions', () => {
  test('returns the actions that the agent and the policies permit', async () => {
    const service = await startService({ startsWith: policies });
    const { body } = await actionsOf(service, service.apiKey);
    expect(body.items).toEqual([
      { action_key: 'mail.send', grant: 'after_approval', result_fields: null },
      { action_key: 'pay.closed', grant: 'never', result_fields: null },
      { action_key: 'pay.large', grant: 'after_approval', result_fields: null },
      { action_key: 'pay.small', grant: 'possible', result_fields: null },
      { action_key: 'pay.unruled', grant: 'never', result_fields: null },
    ]);
    expect(body.policy_set).toBe(service.policies.current().digest);
    expect(Date.parse(body.expires_at)).toBeGreaterThan(Date.now());
    for (const { action_key, grant } of body.items) {
      const { decision } = await ask(service, action_key, { payload: { amount: 5 } });
      expect([action_key, decision === 'DENY']).toEqual([action_key, grant === 'never']);
    }
    const insider = { name: 'insider', riskTier: 'high', controlOwner: 'ops', tags: [] };
    const added = await addAgent(service.store, insider);
    if (added.kind !== 'added') throw new Error('the agent must be valid');
    const { body: ofInsider } = await actionsOf(service, added.apiKey, '?prefix=pay.c');
    expect(ofInsider.items).toEqual([{ action_key: 'pay.closed', grant: 'possible', result_fields: null }]);
  });

  test('names the fields of the results that actions declare', async () => {
    const service = await startService({
      startsWith: `action db.query { sql: string } result { rows: integer 0.., labels?: [string] }
        policy p on db.query { allow all }`,
    });
    const { body } = await actionsOf(service, service.apiKey);
    expect(body.items).toEqual([
      { action_key: 'db.query', grant: 'possible', result_fields: ['labels', 'rows'] },
    ]);
  });

  test('follows a reload', async () => {
    const service = await startService({ startsWith: policies });
    const before = (await actionsOf(service, service.apiKey, '?prefix=pay.small')).body;
    await usePolicies(service, policies.replace('allow known when payload.amount < 10', 'deny everything'));
    const after = (await actionsOf(service, service.apiKey, '?prefix=pay.small')).body;
    expect([before.items[0].grant, after.items[0].grant]).toEqual(['possible', 'never']);
    expect(after.policy_set).not.toBe(before.policy_set);
  });

  test('returns what is unknown about an agent to people', async () => {
    const service = await startService({ startsWith: policies });
    await firstAdmin(service);
    const admin = await signedIn(service, 'ann@example.com');
    const { body } = await admin.send('/v1/actions?prefix=pay.');
    expect(body.items).toEqual([
      { action_key: 'pay.closed', grant: 'possible', result_fields: null },
      { action_key: 'pay.large', grant: 'after_approval', result_fields: null },
      { action_key: 'pay.small', grant: 'possible', result_fields: null },
      { action_key: 'pay.unruled', grant: 'never', result_fields: null },
    ]);
  });
});
