// `writ agent delegations` on a data directory: lists what an agent has passed on, and revokes it.

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addDelegation } from '../../src/service/agents/delegations/change-delegation.ts';
import { addAgent } from '../../src/service/agents/registry.ts';
import { openStore } from '../../src/service/store/open.ts';
import { temporaryFolder } from '../service/store/rows.ts';
import { writ } from './writ.ts';

/** A data directory with the agent `buyer` and a delegation of it; returns the delegation's id. */
async function setUp(data: string): Promise<string> {
  const store = await openStore({ path: join(data, 'writ.db') });
  const nowMs = Date.now();
  const added = await addAgent(
    store,
    { name: 'buyer', riskTier: 'low', controlOwner: 'ops', tags: [] },
    nowMs,
  );
  if (added.kind !== 'added') throw new Error('the agent could not be added');
  const { agent } = added;
  const key = { id: added.apiKey.slice('writ_'.length, 13) };
  const terms = {
    name: 'research',
    actions: ['pay.*'],
    when: 'payload.amount <= 5 USD',
    uses: 3,
    session: null,
  };
  const at = { documents: store.documents, nowMs, actionsOf: () => [], countUses: () => 0 };
  const made = await addDelegation(at, { agent, key }, { ...terms, untilMs: nowMs + 60_000 });
  await store.close();
  if (made.kind !== 'made') throw new Error(made.kind);
  return made.delegation.id;
}

test('lists and revokes the delegations of an agent', async () => {
  const data = temporaryFolder();
  const id = await setUp(data);
  const list = await writ(['agent', 'delegations', 'list', 'buyer', '--data', data]);
  expect(list).toMatchObject({ code: 0 });
  for (const text of ['research', 'pay.*', 'payload.amount <= 5 USD', '0 of 3', 'active', id])
    expect(list.stdout).toContain(text);
  expect(await writ(['agent', 'delegations', 'revoke', id, '--data', data])).toMatchObject({
    code: 0,
    stdout: 'research is revoked\n',
  });
  const again = await writ(['agent', 'delegations', 'list', 'buyer', '--json', '--data', data]);
  expect(JSON.parse(again.stdout)).toMatchObject([{ id, status: 'revoked', used: 0 }]);
  const none = await writ(['agent', 'delegations', 'revoke', 'none', '--data', data]);
  expect(none).toMatchObject({ code: 1, stderr: 'error: there is no delegation `none`\n' });
});
