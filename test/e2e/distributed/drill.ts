// `npm run drill`: loses the primary of a database that two replicas serve, on this machine alone. Reports
// whether anything acknowledged is gone, how long nothing was decided, and whether the budget held.

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { openWire } from '../../service/store/cut-wire.ts';
import { addAgent, ask, type Reply } from '../acceptance/service.ts';
import { startReplicas } from './replicas.ts';
import { startPair } from './server-pair.ts';
import { budget, policyText } from './world.ts';

const say = (text: string): void => console.log(`${new Date().toISOString().slice(11, 23)}  ${text}`);

say('starting a primary and its synchronous standby');
const server = await startPair();
const name = `drill_${randomUUID().replaceAll('-', '')}`;
await server.query(`CREATE DATABASE ${name}`);
const database = { name, url: server.urlOf(name), keyFile: '', drop: async () => {} };
const replicas = await startReplicas(server, {
  database,
  count: 2,
  text: policyText(1).replace('per session', 'per agent'),
});
const wire = await openWire(server, database);
for (const { service } of replicas.all) say(`a replica serves on ${service?.url}`);
const key = await addAgent(replicas.data, 'buyer', { WRIT_STORE: wire.url });

interface Answer {
  readonly atMs: number;
  readonly reply: Reply | null;
}

const answers: Answer[] = [];
let isOver = false;
const request = { action_key: 'pay.send', payload: { amount: 1, currency: 'USD' } };
const asking = replicas.all.map(async ({ service }) => {
  while (!isOver) {
    const reply = await ask(service?.url ?? '', key, request).catch(() => null);
    answers.push({ atMs: performance.now(), reply });
    await sleep(50);
  }
});
const grantsOf = (all: readonly Answer[]) => all.filter(({ reply }) => reply?.body.decision === 'ALLOW');

await sleep(2_000);
say(`${grantsOf(answers).length} payments of 1 USD are granted, of a budget of ${budget} USD`);
const killedAtMs = performance.now();
say('the primary is killed with all its processes; the standby is promoted');
await server.failOver(() => say('the standby is the primary now'));
say('what was the primary is the standby now');
await sleep(3_000);
isOver = true;
await Promise.all(asking);

const decided = answers.filter(({ reply }) => reply?.status === 200);
const [before, after] = [
  decided.findLast(({ atMs }) => atMs < killedAtMs),
  decided.find(({ atMs }) => atMs > killedAtMs),
];
say(`nothing was decided for ${(((after?.atMs ?? Infinity) - (before?.atMs ?? 0)) / 1000).toFixed(1)} s`);
const store = await openStore({ url: wire.url, keyFile: join(replicas.data, 'writ.key') });
const ids = grantsOf(answers).map(({ reply }) => String(reply?.body.request_id));
const stored = await Promise.all(ids.map((id) => store.requests.find(id)));
const lost = stored.filter((row) => row?.status !== 'auto_approved').length;
say(`${ids.length} grants were told, of which ${lost} are lost`);
const chain = await verifyChain(store);
say(`the records are ${chain.kind}${chain.kind === 'whole' ? `, up to ${chain.end.sequence}` : ''}`);
await store.close();
await replicas.end();
wire.close();
await server.stop();
process.exit(lost === 0 && chain.kind === 'whole' && after !== undefined ? 0 : 1);
