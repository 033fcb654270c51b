// Rows to store in tests, with new ids at each call, and a folder to store them in.

import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createApiKey } from '../../../src/service/agents/keys.ts';
import { createRequestId } from '../../../src/service/requests/record/id.ts';
import type {
  AgentRow,
  KeyRow,
  RefusalRecord,
  RequestRow,
} from '../../../src/service/store/contract/records.ts';
import { anyRequest, type RequestFilter } from '../../../src/service/store/contract/store.ts';

export const startMs = Date.parse('2026-03-02T10:00:00Z');

/** A new folder, removed when the test ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'writ-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function agentRow(change: Partial<AgentRow> = {}): AgentRow {
  const id = randomUUID();
  return {
    id,
    name: `buyer-${id}`,
    riskTier: 'low',
    controlOwner: 'ops@example.com',
    tags: ['purchasing', 'eu'],
    status: 'active',
    signing: 'off',
    sealedSigningSecret: null,
    ratePerMinute: null,
    burst: null,
    tellsChange: false,
    createdAtMs: startMs,
    changedAtMs: startMs,
    version: 1,
    ...change,
  };
}

export function keyRow(agentId: string, change: Partial<KeyRow> = {}): KeyRow {
  const { id, digest } = createApiKey();
  return { id, agentId, digest, createdAtMs: startMs, notAfterMs: null, lastUsedAtMs: null, ...change };
}

export function requestRow(change: Partial<RequestRow> = {}): RequestRow {
  return {
    id: createRequestId(startMs),
    agentId: 'agent-1',
    actionKey: 'payment.create',
    outcome: 'ALLOW',
    createdAtMs: startMs,
    idempotency: null,
    status: 'auto_approved',
    decidedAtMs: startMs,
    expiresAtMs: startMs + 600_000,
    recordJson: `{"payload":{"vendor":"Staples \\u0000 東京","filler":"${'-'.repeat(500)}"}}`,
    ...change,
  };
}

export function pendingRow(change: Partial<RequestRow> = {}): RequestRow {
  return requestRow({ status: 'pending', decidedAtMs: null, ...change });
}

export function refusalRecord(change: Partial<RefusalRecord> = {}): RefusalRecord {
  return {
    id: createRequestId(startMs),
    agentId: 'agent-1',
    keyId: 'abcdefgh',
    atMs: startMs,
    httpStatus: 400,
    code: 'invalid_body',
    detail: 'the body is not JSON',
    clientAddress: '192.0.2.7',
    bodyDigest: 'b1',
    ...change,
  };
}

/** A filter that matches every request. */
export const everything: RequestFilter = { ...anyRequest, nowMs: startMs };
