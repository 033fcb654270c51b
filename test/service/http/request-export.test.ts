// GET /v1/requests/export: the file holds what the list finds, for whoever may see it, whatever the requests
// contain.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { LogEntry } from '../../../src/analysis/replay/engine/log.ts';
import { openExport } from '../../../src/analysis/replay/read-export.ts';
import { temporaryFolder } from '../store/rows.ts';
import { firstAdmin, personWith, tokenClient } from './person-client.ts';
import { startService } from './service.ts';
import { ask, codeOf } from './written-policies.ts';

test('contains what the list finds, as JSON Lines or CSV, and nothing that the caller may not see', async () => {
  const service = await startService();
  const admin = await firstAdmin(service);
  const ann = await tokenClient(service, admin);
  const payloads = [{ vendor: '=HYPERLINK("x")', note: 'a\r\nb, "c"' }, {}, { amount: 5 }];
  const ids: string[] = [];
  for (const payload of payloads) ids.unshift((await ask(service, 'demo.allow', { payload })).request_id);
  const { request_id: waits } = await ask(service, 'demo.escalate');
  const all = await ann.send('/v1/requests/export');
  expect(all.headers.get('content-type')).toBe('application/jsonl; charset=utf-8');
  const name = /^attachment; filename="writ-requests-\d{4}-\d\d-\d\d\.(jsonl|csv)"$/;
  expect(name.exec(all.headers.get('content-disposition') ?? '')?.[1]).toBe('jsonl');
  const lines = String(all.body)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.map((line) => line.request_id)).toEqual([waits, ...ids]);
  const { recorded, ...shown } = lines.at(-1);
  // An export has no review and no offers, and names nobody besides what is on record.
  const {
    people,
    review,
    standing_offers: offers,
    ...viewed
  } = (await ann.send(`/v1/requests/${ids.at(-1)}`)).body;
  expect([people, review, offers]).toEqual([[], expect.anything(), []]);
  expect(shown).toEqual({ ...viewed, allowed_actions: null });
  expect(recorded).toMatchObject({ decision: { outcome: 'ALLOW' }, meters: {}, events: [] });

  const csv = await ann.send('/v1/requests/export?format=csv&action=demo.allow');
  expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(name.exec(csv.headers.get('content-disposition') ?? '')?.[1]).toBe('csv');
  const rows = rowsOf(String(csv.body));
  expect(rows[0]?.slice(0, 4)).toEqual(['request_id', 'created_at', 'decided_at', 'agent_id']);
  expect(rows.slice(1).map(([id]) => id)).toEqual(ids);
  const [names = [], , , first = []] = rows;
  expect(JSON.parse(first[names.indexOf('payload')] ?? '')).toEqual(payloads[0]);
  expect(rows.every((row) => row.length === names.length)).toBe(true);

  const filtered = await ann.send('/v1/requests/export?format=csv&text=hyperlink');
  expect(
    rowsOf(String(filtered.body))
      .slice(1)
      .map(([id]) => id),
  ).toEqual([ids.at(-1)]);
  const legal = await personWith(service, admin, {
    email: 'leo@example.com',
    roles: ['approver'],
    groups: ['legal'],
  });
  expect((await legal.send('/v1/requests/export')).body).toBeUndefined();
  const finance = await personWith(service, admin, {
    email: 'ben@example.com',
    roles: ['approver'],
    groups: ['finance'],
  });
  expect(JSON.parse(String((await finance.send('/v1/requests/export')).body)).request_id).toBe(waits);
  expect(codeOf(await ann.send('/v1/requests/export?format=xml'))).toEqual([400, 'invalid_query']);
  expect(codeOf(await ann.send('/v1/requests/export?limit=5'))).toEqual([400, 'invalid_query']);
});

test('is a log of decisions and votes in their order', async () => {
  const service = await startService();
  const admin = await firstAdmin(service);
  const ann = await tokenClient(service, admin);
  const allowed = await ask(service, 'demo.allow', { payload: { amount: 5 } });
  const waits = await ask(service, 'demo.escalate');
  const finance = await personWith(service, admin, {
    email: 'ben@example.com',
    roles: ['approver'],
    groups: ['finance'],
  });
  await finance.send(`/v1/requests/${waits.request_id}/reject`, { method: 'POST', body: { comment: 'no' } });
  const path = join(temporaryFolder(), 'requests.jsonl');
  writeFileSync(path, String((await ann.send('/v1/requests/export')).body));
  const log = await openExport(path);
  const entries: LogEntry[] = [];
  for await (const part of log.parts) entries.push(...part.entries);
  expect(log.faults.named).toEqual([]);
  expect(entries).toMatchObject([
    {
      kind: 'request',
      id: allowed.request_id,
      decision: { outcome: 'ALLOW' },
      facts: { payload: { amount: 5 } },
    },
    { kind: 'request', id: waits.request_id, decision: { outcome: 'ESCALATE' } },
    { kind: 'events', requestId: waits.request_id, events: [{ kind: 'rejected', group: 'finance' }] },
  ]);
  const [first, second] = entries.filter((entry) => entry.kind === 'request');
  expect(first?.expiresAtMs).toBe(Date.parse(allowed.expires_at));
  expect(second?.expiresAtMs).toBe(Date.parse(waits.expires_at));
  // A filtered list may leave requests out, so no meter is built from it.
  expect(log.completeSinceMs).toBe(Number.POSITIVE_INFINITY);
});

test('contains each request once over many pages', async () => {
  const service = await startService();
  const ann = await tokenClient(service, await firstAdmin(service));
  const asked = Array.from({ length: 130 }, (_, count) => ask(service, 'demo.allow', { payload: { count } }));
  const ids = (await Promise.all(asked)).map(({ request_id }) => request_id);
  const csv = await ann.send('/v1/requests/export?format=csv');
  const found = rowsOf(String(csv.body))
    .slice(1)
    .map(([id]) => id);
  expect(found.toSorted()).toEqual(ids.toSorted());
});

/** The rows of a CSV text, read by the rules of RFC 4180. */
function rowsOf(text: string): readonly (readonly string[])[] {
  const rows: string[][] = [[]];
  const cell = /("(?:[^"]|"")*"|[^,\r"]*)(,|\r\n|$)/y;
  while (cell.lastIndex < text.length) {
    const [, written = '', end] = cell.exec(text) ?? [];
    rows.at(-1)?.push(written.startsWith('"') ? written.slice(1, -1).replaceAll('""', '"') : written);
    if (end !== ',') rows.push([]);
  }
  return rows.slice(0, -1);
}
