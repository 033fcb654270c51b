// Reminders over HTTP: who is reminded of a pending request, when, and that it happens once, on record.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import type { AppDeps } from '../../../src/service/http/app.ts';
import {
  createRequestEvents,
  type RequestNotice,
} from '../../../src/service/requests/record/request-events.ts';
import { workingHoursOf } from '../../../src/service/settings/working-hours.ts';
import { startMailServer } from '../webhooks/mail-server.ts';
import { firstAdmin, personWith } from './person-client.ts';
import { startService } from './service.ts';
import { ask, give, look } from './written-policies.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const policies = `
approvers finance "Finance"
approvers legal "Legal"
approvers security "Security"
action pay.send, pay.two, pay.both, pay.late { vendor: string }
policy pay on pay.* {
  allow all for 10m
  escalate one to finance within 8h when action.key == "pay.send"
  escalate two to finance needs 2 within 8h when action.key == "pay.two"
  escalate both to finance and legal within 8h when action.key == "pay.both"
  escalate late to finance within 4h then to security within 4h when action.key == "pay.late"
}
`;

async function start(deps: Partial<AppDeps> = {}) {
  const clock = { nowMs: Date.now() };
  const notices: RequestNotice[] = [];
  const requestEvents = createRequestEvents();
  requestEvents.subscribe((notice) => {
    if (notice.kind === 'reminded') notices.push(notice);
  });
  const service = await startService({
    startsWith: policies,
    requestEvents,
    clock: () => clock.nowMs,
    reminders: { everyMs: 10 },
    fallbacks: { everyMs: 10 },
    ...deps,
  });
  const admin = await firstAdmin(service);
  const person = (name: string, group: string) =>
    personWith(service, admin, { email: `${name}@example.com`, roles: ['approver'], groups: [group] });
  const pay = async (action = 'pay.send') =>
    (await ask(service, action, { payload: { vendor: 'Staples' } })).request_id;
  return {
    service,
    clock,
    notices,
    pay,
    root: await personWith(service, admin, { email: 'root@example.com', roles: ['admin'] }),
    fay: await person('fay', 'finance'),
    finn: await person('finn', 'finance'),
    lea: await person('lea', 'legal'),
    sam: await person('sam', 'security'),
  };
}

const ids = (...people: readonly { readonly person: { readonly id: string } }[]) =>
  people.map(({ person: { id } }) => id).toSorted();
const told = (notices: readonly RequestNotice[]) => notices.map(({ reminder }) => reminder!.told.toSorted());

/** Many times as long as between two looks. */
const looks = () => sleep(150);

test('everybody who is asked and has not voted is reminded once, an hour before the end', async () => {
  const { service, clock, notices, pay, fay, finn } = await start();
  const startMs = clock.nowMs;
  const id = await pay('pay.two');
  await give(fay, id, 'approve');
  clock.nowMs = startMs + 7 * hourMs - 1;
  await looks();
  expect(notices).toEqual([]);
  clock.nowMs += 1;
  await expect.poll(() => told(notices)).toEqual([ids(finn)]);
  clock.nowMs += 30 * minuteMs;
  await looks();
  expect(told(notices)).toEqual([ids(finn)]);
  const end = new Date(startMs + 8 * hourMs).toISOString();
  expect((await finn.send(`/v1/requests/${id}`)).body.reminders).toEqual([
    { at: expect.any(String), people: 1, ends_at: end, ends_with_fallback: false },
  ]);
  expect((await look(service, id)).body.reminders).toEqual([]);
  expect((await give(finn, id, 'approve')).body.status).toBe('approved');
  expect(await verifyChain(service.store)).toMatchObject({ kind: 'whole' });
});

test('groups whose approval is there are not reminded, nor people whose vote would change nothing', async () => {
  const { clock, notices, pay, fay, lea } = await start();
  const id = await pay('pay.both');
  await give(fay, id, 'approve');
  clock.nowMs += 7 * hourMs;
  await expect.poll(() => told(notices)).toEqual([ids(lea)]);
});

test('those who are asked first are reminded before the fallback, and everybody before the end', async () => {
  const { clock, notices, pay, fay, finn, sam } = await start();
  const id = await pay('pay.late');
  clock.nowMs += 3 * hourMs;
  await expect.poll(() => told(notices)).toEqual([ids(fay, finn)]);
  expect(notices[0]?.reminder?.endsWithFallback).toBe(true);
  clock.nowMs += hourMs;
  await expect.poll(async () => (await sam.send(`/v1/requests/${id}`)).status).toBe(200);
  clock.nowMs += 3 * hourMs - 1_000;
  await looks();
  expect(notices).toHaveLength(1);
  clock.nowMs += 1_000;
  await expect.poll(() => told(notices)).toEqual([ids(fay, finn), ids(fay, finn, sam)]);
  expect(notices[1]?.reminder?.endsWithFallback).toBe(false);
});

test('a stand-in is reminded like the person', async () => {
  const { root, clock, notices, pay, fay, finn, lea } = await start();
  const until = new Date(clock.nowMs + 20 * hourMs).toISOString();
  const body = { stand_in: 'lea@example.com', group: 'finance', until };
  const { id } = (await fay.send('/v1/stand-ins', { method: 'POST', body })).body;
  await root.send(`/v1/stand-ins/${id}/confirm`, { method: 'POST' });
  const request = await pay('pay.two');
  clock.nowMs += 7 * hourMs;
  await expect.poll(() => told(notices)).toEqual([ids(fay, finn, lea)]);
  expect((await give(lea, request, 'approve')).body.status).toBe('pending');
});

test('working hours of a group move its reminder, and no other', async () => {
  const utc = (ms: number) => new Date(ms).toISOString().slice(11, 16);
  const workingHours = workingHoursOf(
    `finance=mon-sun ${utc(Date.now())}-${utc(Date.now() + 4 * hourMs)} UTC`,
  )!;
  const { clock, notices, pay, fay, finn, lea } = await start({ workingHours });
  const startMs = clock.nowMs;
  await pay('pay.both');
  clock.nowMs = startMs + 3 * hourMs;
  await looks();
  expect(notices).toEqual([]);
  clock.nowMs = startMs + 4 * hourMs;
  await expect.poll(() => told(notices)).toEqual([ids(fay, finn)]);
  clock.nowMs = startMs + 7 * hourMs;
  await expect.poll(() => told(notices)).toEqual([ids(fay, finn), ids(lea)]);
});

test('nobody is reminded of a request that is decided, stopped, or where reminders are off', async () => {
  const { service, clock, notices, pay, fay } = await start();
  const decided = await pay();
  await give(fay, decided, 'approve');
  await pay();
  const set = (status: 'active' | 'disabled') =>
    service.store.agents.setStatus({ agentId: service.agent.id, status, atMs: clock.nowMs, who: 'admin' });
  await set('disabled');
  clock.nowMs += 7 * hourMs;
  await looks();
  expect(notices).toEqual([]);
  await set('active');
  clock.nowMs += minuteMs;
  await expect.poll(() => notices.length).toBe(1);

  const off = await start({ reminderBeforeMs: 0 });
  await off.pay();
  off.clock.nowMs += 7 * hourMs + 50 * minuteMs;
  await looks();
  expect(off.notices).toEqual([]);
});

test('mail goes to the people who are reminded, and to nobody else', async () => {
  const mail = await startMailServer();
  const smtp = { url: mail.url, from: 'writ@example.com' };
  const { clock, pay, fay, finn } = await start({ smtp });
  const id = await pay('pay.two');
  await give(fay, id, 'approve');
  clock.nowMs += 7 * hourMs;
  const reminders = () => mail.taken.filter(({ text }) => text.includes('is pending'));
  await expect.poll(() => reminders().map(({ to }) => to)).toEqual([[`RCPT TO:<${finn.person.email}>`]]);
  expect(reminders()[0]?.text).toContain(`/approvals/${id}`);
});
