// The overview of a service that was killed without warning, or stopped, equals what its records say.

import { expect, it } from 'vitest';
import { setUpFirstAdmin } from '../../../src/service/people/access.ts';
import { createDirectory } from '../../../src/service/people/directory.ts';
import { createToken } from '../../../src/service/people/tokens.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { password } from '../../service/http/person-client.ts';
import { recordsOf } from '../../service/statistics/naive.ts';
import { isOnPostgres, locationOfStore } from '../../service/store/place.ts';
import { runLoad } from './load.ts';
import { addAgent, startService, temporary } from './service.ts';

/**
 * On a database, what a killed process had not stored is counted only when another process takes its slot.
 */
const inFile = it.skipIf(isOnPostgres);

inFile('counts what was recorded before a kill and before a stop', async () => {
  const data = temporary('overview');
  let running = await startService({ policies: 'policies', data });
  const key = await addAgent(data, 'loader');
  const store = await openStore(await locationOfStore(data));
  try {
    const headers = await adminHeaders(store, running.output());
    for (const signal of ['SIGKILL', 'SIGTERM', 'SIGKILL'] as const) {
      const { url, process: child } = running;
      await runLoad({
        url,
        key,
        total: 400,
        clients: 8,
        request: (index) => ({
          action_key: index % 7 === 0 ? 'no.such' : 'payment.create',
          payload: { amount: 1 + index, currency: 'USD', vendor: 'Staples', description: `order ${index}` },
        }),
        onReply: (count) => {
          if (count === 250) child.kill(signal);
        },
      });
      await running.end(signal);
      running = await startService({ policies: 'policies', data });
      const reply = await fetch(`${running.url}/v1/overview`, { headers });
      const { total } = (await reply.json()) as { readonly total: number };
      const recorded = (await recordsOf(store)).filter(
        ({ kind }) => kind === 'request' || kind === 'refusal',
      );
      expect(total).toBe(recorded.length);
      expect(total).toBeGreaterThan(0);
    }
  } finally {
    await store.close();
  }
  expect(await running.end('SIGTERM')).toBe(0);
});

/** The headers of the first admin's token; the admin signs in by the link that the service has printed. */
async function adminHeaders({ documents }: Store, printed: string) {
  const directory = createDirectory(documents, Date.now);
  const secret = /\/setup#token=(\S+)/.exec(printed)?.[1] ?? '';
  const admin = { secret, email: 'ann@example.com', name: 'Ann', password };
  const joined = await setUpFirstAdmin(directory, admin);
  if (joined.kind !== 'joined') throw new Error(joined.kind);
  const actor = { person: joined.person, roles: joined.person.roles };
  const made = await createToken(directory, actor, { name: 'test', roles: ['admin'], days: 1 });
  if (made.kind !== 'made') throw new Error(made.kind);
  return { authorization: `Bearer ${made.text}` };
}
