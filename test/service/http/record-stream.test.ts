// The running service sends its records to a SIEM, shows how the stream stands, and decides as ever while the receiver
// hangs or the cursor cannot be stored.

import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type HttpReceiver, startHttpReceiver } from '../siem/receivers.ts';
import { openRecords, siemSettings } from '../siem/stream.ts';
import { firstAdmin, tokenClient } from './person-client.ts';
import { authorize, startService } from './service.ts';

const codesIn = ({ batches }: HttpReceiver): readonly string[] =>
  batches.flatMap(({ body }) =>
    (JSON.parse(body) as { readonly metadata: { readonly event_code: string } }[]).map(
      ({ metadata }) => metadata.event_code,
    ),
  );

async function until(isDone: () => boolean | Promise<boolean>): Promise<void> {
  for (let at = 0; !(await isDone()) && at < 200; at++) await wait(50);
  expect(await isDone()).toBe(true);
}

test('records reach the receiver without secrets, and people see how far it is', async () => {
  const receiver = await startHttpReceiver();
  const service = await startService({
    startsWith:
      'action pay.out { amount: integer, pin: secret string, note: string }\npolicy pay on pay.* { allow all for 5m because "a note {payload.note}" }\n',
    siem: siemSettings({ url: receiver.url, payloadFields: ['amount', 'pin', 'pin.secret'] }),
  });
  const admin = await tokenClient(service, await firstAdmin(service));
  for (const action of ['pay.out', 'pay.unknown'])
    await authorize(service, {
      body: `{"action_key":"${action}","payload":{"amount":7,"pin":"4711","note":"private"}}`,
    });
  await authorize(service, { body: '{' });
  await until(() => codesIn(receiver).includes('refusal'));
  expect(codesIn(receiver).filter((code) => code === 'decision')).toHaveLength(2);
  const text = receiver.batches.map(({ body }) => body).join('\n');
  expect(text.match(/"data":\{"amount":7\}/g)).toHaveLength(1);
  expect(text).not.toMatch(/private|a note|4711|hmac/);
  const status = async () => {
    const { stream } = (await admin.send('/v1/audit/stream')).body as {
      readonly stream: { readonly lacking: number; readonly sequence: number };
    };
    return stream;
  };
  await until(async () => (await status()).lacking === 0);
  expect(await status()).toMatchObject({
    name: 'siem',
    format: 'ocsf',
    failure: null,
    refused: null,
    gap: null,
  });
  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  for (const line of ['writ_siem_lag_records 0', 'writ_siem_lag_seconds 0', 'writ_siem_stopped 0'])
    expect(metrics).toContain(`${line}\n`);
  expect(metrics).toMatch(/^writ_siem_records_sent_total [1-9]/m);
});

test('decisions wait for no receiver', async () => {
  const receiver = await startHttpReceiver();
  let asked = 0;
  receiver.reply = () => {
    asked += 1;
    return 'silent';
  };
  const service = await startService({ siem: siemSettings({ url: receiver.url, timeoutMs: 60_000 }) });
  await until(() => asked === 1);
  const startedMs = performance.now();
  for (const verb of ['allow', 'deny', 'escalate', 'allow']) {
    const reply = await authorize(service, { body: `{"action_key":"demo.${verb}","payload":{}}` });
    expect(reply.status).toBe(200);
    expect(await reply.json()).toMatchObject({ decision: verb.toUpperCase() });
  }
  expect(performance.now() - startedMs).toBeLessThan(10_000);
  expect(asked).toBe(1);
  const closing = performance.now();
  await service.close();
  expect(performance.now() - closing).toBeLessThan(10_000);
});

test('the stream stores nothing but its cursor, and its faults change no decision', async () => {
  const receiver = await startHttpReceiver();
  const store = await openRecords();
  const kinds = new Set<string>();
  let isFailing = false;
  const other = await startService({
    store: {
      ...store,
      close: async () => undefined,
      documents: {
        ...store.documents,
        write: async (writes, change) => {
          const isCursor = writes.some(({ kind }) => kind === 'siem-cursor');
          if (isCursor) {
            for (const { kind } of writes)
              kinds.add(`${kind} ${change === null ? 'unrecorded' : 'recorded'}`);
            if (isFailing) throw new Error('no disk for the cursor');
          }
          return store.documents.write(writes, change);
        },
      },
    },
    siem: siemSettings({ url: receiver.url }),
  });
  await until(() => codesIn(receiver).length > 0);
  isFailing = true;
  const decisions: unknown[] = [];
  for (const verb of ['deny', 'escalate', 'allow']) {
    const reply = await authorize(other, { body: `{"action_key":"demo.${verb}","payload":{}}` });
    decisions.push(((await reply.json()) as { readonly decision: string }).decision);
  }
  expect(decisions).toEqual(['DENY', 'ESCALATE', 'ALLOW']);
  await until(() => other.log.some((line) => line.includes('could not read records for the SIEM')));
  expect([...kinds]).toEqual(['siem-cursor unrecorded']);
});

test('a certificate that cannot be read keeps the service from starting, and the message names it', async () => {
  const siem = { ...siemSettings({ url: 'https://siem.example.com/' }), ca: '/nowhere/ca.pem' };
  await expect(startService({ store: await openRecords(), siem })).rejects.toThrow(
    'writ: /nowhere/ca.pem does not exist',
  );
});
