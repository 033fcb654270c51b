// A store with records of every kind, and a stream of them to a receiver at a time that the test sets.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Decision } from '../../../src/language/model/decision.ts';
import type { JsonObject } from '../../../src/language/model/json.ts';
import { noTrace } from '../../../src/language/model/trace.ts';
import type { Shape } from '../../../src/language/model/type.ts';
import { createRequestId } from '../../../src/service/requests/record/id.ts';
import { type RequestRecord, requestRow } from '../../../src/service/requests/record/record.ts';
import { type Cursor, cursorsIn } from '../../../src/service/siem/cursor.ts';
import { createDestination } from '../../../src/service/siem/destination.ts';
import { eventOf, type SiemEvent } from '../../../src/service/siem/events/event.ts';
import { allowedFields } from '../../../src/service/siem/events/payload-fields.ts';
import { createPusher, type Pusher, type PusherDeps } from '../../../src/service/siem/pusher.ts';
import type { SiemSettings } from '../../../src/service/siem/siem-settings.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { refusalRecord, startMs, temporaryFolder } from '../store/rows.ts';
import { authority } from './certificates.ts';

const allowed: Decision = {
  outcome: 'ALLOW',
  by: 'payments/small',
  matchedPolicy: 'payments',
  reason: 'the amount 25 is small',
  risk: { low: 10, high: 10 },
  validForSeconds: 600,
  requires: null,
  rules: ['payments/small'],
  withShadow: 'ALLOW',
};
const denied: Decision = { ...allowed, outcome: 'DENY', by: 'payments/large', validForSeconds: null };
const escalated: Decision = { ...denied, outcome: 'ESCALATE', by: 'payments/ask' };

function decided(decision: Decision, change: Partial<RequestRecord> = {}): RequestRecord {
  return {
    id: createRequestId(startMs),
    agentId: 'agent-1',
    actionKey: 'payment.create',
    payload: { amount: 25, vendor: 'Staples', iban: { secret: `hmac-sha256:${'ab'.repeat(32)}` } },
    title: 'Pay 25 to Staples',
    agent: { id: 'agent-1', name: 'buyer' },
    request: { session: 'run 7', user: { id: 'u1', email: 'ann@example.com' } },
    meters: {},
    satisfied: { escalate: [], reauth: [] },
    createdAtMs: startMs,
    decision,
    trace: noTrace,
    policySet: { digest: 'd1', commit: null },
    engine: { writ: '1', unicode: '1', timeZones: '1' },
    key: { id: 'key00001', isReplaced: false },
    isSigned: false,
    clientAddress: '192.0.2.7',
    timing: { decideMicroseconds: 3 },
    idempotency: null,
    status:
      decision.outcome === 'ALLOW' ? 'auto_approved' : decision.outcome === 'DENY' ? 'rejected' : 'pending',
    decidedAtMs: decision.outcome === 'ESCALATE' ? null : startMs,
    expiresAtMs: startMs + 600_000,
    ...change,
  };
}

export async function appendDecision(store: Store, record = decided(allowed)): Promise<RequestRecord> {
  await store.requests.append(requestRow(record), { openMax: 1_000 });
  return record;
}

export async function fill(store: Store, count: number): Promise<void> {
  for (let at = 0; at < count; at++) await appendDecision(store);
}

/** Appends a record of every kind that a store of one lane has. */
export async function fillWithEveryKind(store: Store): Promise<void> {
  for (const decision of [allowed, denied]) await appendDecision(store, decided(decision));
  const { id } = await appendDecision(store, decided(escalated));
  await store.requests.appendRefusal(refusalRecord());
  const state = { status: 'approved', decidedAtMs: startMs, expiresAtMs: startMs + 600_000 } as const;
  const by = { who: 'ann@example.com (u1)', atMs: startMs, state };
  const vote = { person: 'u1', group: 'finance', comment: 'Staples is fine' };
  await store.requests.change({
    requestId: id,
    events: [
      { ...by, what: 'approved', detail: vote },
      { ...by, who: 'system', what: 'decided', detail: { decision: { ...allowed } as never } },
    ],
    from: ['pending'],
    seen: null,
  });
  const changes = [
    ['signed-in', 'u1', { address: '192.0.2.9' }],
    ['password-changed', 'u1', null],
    ['group-changed', 'finance', { members: 2 }],
    ['agent-disabled', 'agent-1', { status: 'disabled' }],
    ['table-row-pushed', 'vendors/1', { vendor: 'Staples' }],
    ['something-new', 'x', { vendor: 'Staples' }],
  ] as const;
  for (const [what, subject, after] of changes)
    await store.documents.write([], { ...author, what, subject, before: null, after });
}

const author = { atMs: startMs, who: 'ann@example.com (u1)' };

const slot = { isOptional: true, isNullable: false, isSigned: false };
/** The shape of the action as the policies declare it now; `vendor_key` has become a secret. */
export const shape: Shape = {
  isOpen: false,
  fields: ['amount', 'vendor', 'iban', 'vendor_key'].map((name) => ({
    ...slot,
    name,
    type: { kind: 'any' },
    isSecret: name === 'vendor_key',
  })),
};

export interface StartedStream {
  readonly store: Store;
  readonly time: { nowMs: number };
  /** Log lines of warnings. */
  readonly warnings: string[];
  /** Another process on the same store. */
  another(change?: Partial<PusherDeps>): Pusher;
  readonly pusher: Pusher;
  cursor(): Promise<Cursor | null>;
  /** Steps until nothing is left to do at once; returns the time until the next look. */
  run(pusher?: Pusher): Promise<number>;
}

export type StreamOptions = Partial<Omit<SiemSettings, 'ca'>> & {
  readonly url: string;
  readonly deps?: Partial<PusherDeps>;
  readonly store?: Store;
};

export async function openRecords(): Promise<Store> {
  const store = await openStore({ path: join(temporaryFolder(), 'writ.db') });
  onTestFinished(() => store.close());
  return store;
}

export function siemSettings(change: Partial<SiemSettings> & { readonly url: string }): SiemSettings {
  return {
    name: 'siem',
    format: 'ocsf',
    body: 'array',
    headers: new Map(),
    start: 'beginning',
    payloadFields: ['amount'],
    recordsMax: 500,
    bytesMax: 1_000_000,
    timeoutMs: 2_000,
    isCompressed: true,
    ca: writtenFile('ca.pem', authority),
    certificate: null,
    key: null,
    skip: null,
    ...change,
  };
}

export function writtenFile(name: string, text: string): string {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, text);
  return path;
}

export function readEvent(paths: readonly string[]) {
  const pick = (action: string, payload: JsonObject) =>
    allowedFields(payload, paths, action === 'payment.create' ? shape : null);
  return (record: Parameters<typeof eventOf>[0]): SiemEvent => eventOf(record, pick);
}

export async function startStream({ deps, store: given, ...options }: StreamOptions): Promise<StartedStream> {
  const store = given ?? (await openRecords());
  const settings = siemSettings(options);
  const time = { nowMs: startMs };
  const warnings: string[] = [];
  let processes = 0;
  const create = (change: Partial<PusherDeps> = {}): Pusher => {
    processes += 1;
    const pusher = createPusher({
      store,
      clock: () => time.nowMs,
      destination: createDestination(settings, {
        version: '0.1.0',
        host: 'writ.example.com',
        now: () => time.nowMs,
      }),
      ...settings,
      eventOf: readEvent(settings.payloadFields),
      holder: `process-${processes}`,
      isShared: true,
      log: {
        info: () => undefined,
        warn: (fields, message) => warnings.push(`${message} ${JSON.stringify(fields)}`),
      },
      chance: () => 1,
      ...deps,
      ...change,
    });
    onTestFinished(() => pusher.close());
    return pusher;
  };
  const pusher = create();
  return {
    store,
    time,
    warnings,
    another: create,
    pusher,
    cursor: async () => (await cursorsIn(store).find(settings.name))?.value ?? null,
    async run(of = pusher) {
      for (;;) {
        const { afterMs } = await of.step();
        if (afterMs > 0) return afterMs;
      }
    },
  };
}
