// `client.delegate` against the real service: a sub-agent's client runs tools within what was passed on, and its
// outcomes are reported by the agent that answers for it.

import { expect, test } from 'vitest';
import { connect, DeniedError } from '../../integrations/typescript/client.ts';
import { startService } from '../service/http/service.ts';

const until = new Date(Date.now() + 600_000);

test('a delegated client runs only what was delegated', async () => {
  const { url, apiKey: key, policies, store } = await startService();
  expect(policies.current().shapeOf('demo.allow')).not.toBeNull();
  const writ = connect({ url, key, wait: 0 });
  const { client, id } = await writ.delegate({ name: 'sub', actions: ['demo.allow'], until });
  let requestId = '';
  const done = await client.run('demo.allow', {}, (grant) => {
    requestId = grant.requestId;
    return 'done';
  });
  expect(done).toBe('done');
  const { events } = (await store.requests.history(requestId))!;
  expect(events.at(-1)).toMatchObject({ what: 'consumed' });
  await expect(client.run('demo.reauth', {}, () => 'never')).rejects.toThrow('Outside the delegation `sub`');
  const below = await client.delegate({ name: 'below', actions: ['demo.*'], until }).catch((error) => error);
  expect(below).toBeInstanceOf(DeniedError);
  const nested = await client.delegate({ name: 'below', actions: ['demo.allow'], until, uses: 1 });
  expect(await nested.client.run('demo.allow', {}, () => 1)).toBe(1);
  expect(await nested.client.authorize('demo.allow', {})).toMatchObject({
    kind: 'denied',
    policy: 'delegation_ended',
  });
  await writ.revokeDelegation(id);
  expect(await client.authorize('demo.allow', {})).toMatchObject({
    kind: 'denied',
    policy: 'delegation_ended',
  });
});
