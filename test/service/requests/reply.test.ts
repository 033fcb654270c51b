// The reply to a repeated POST when the request's lifecycle went on: one of the three fixed statuses, and
// never a grant that is over.

import { expect, test } from 'vitest';
import { noTrace } from '../../../src/language/model/trace.ts';
import type { RequestRecord } from '../../../src/service/requests/record/record.ts';
import { replyView, requestDetail } from '../../../src/service/requests/record/reply.ts';
import { freshState, type RequestState } from '../../../src/service/requests/record/request-state.ts';
import type { RequestStatus } from '../../../src/service/store/contract/records.ts';
import { startMs } from '../store/rows.ts';
import { allowed, escalated } from './policies.ts';

const record: RequestRecord = {
  id: 'id',
  agentId: 'agent-1',
  actionKey: 'payment.create',
  payload: {},
  agent: {},
  request: {},
  meters: {},
  satisfied: { escalate: [], reauth: [] },
  createdAtMs: startMs,
  decision: escalated,
  trace: noTrace,
  policySet: { digest: 'd', commit: null },
  engine: { writ: '1', unicode: '1', timeZones: '1' },
  key: { id: 'key00001', isReplaced: false },
  isSigned: false,
  clientAddress: '192.0.2.7',
  timing: { decideMicroseconds: 0 },
  idempotency: null,
  status: 'approved',
  decidedAtMs: startMs + 5,
  expiresAtMs: startMs + 1000,
};

/** A request whose last event has this status; once it is approved the second decision counts. */
function stateAs(status: RequestStatus): RequestState {
  const decision = status === 'approved' ? allowed : escalated;
  return { ...freshState(record), status, decision };
}

test.each([
  ['approved', 999, 'ALLOW', 'auto_approved', 'approved'],
  ['approved', 1000, 'DENY', 'rejected', 'expired'],
  ['pending', 999, 'ESCALATE', 'pending', 'pending'],
  ['pending', 1000, 'DENY', 'rejected', 'expired'],
  ['consumed', 10, 'DENY', 'rejected', 'consumed'],
  ['expired', 10, 'DENY', 'rejected', 'expired'],
] as const)('%s, %i ms on: %s, %s, in detail %s', (status, afterMs, decision, replied, detailed) => {
  const nowMs = startMs + afterMs;
  expect(replyView(stateAs(status), nowMs)).toMatchObject({ decision, status: replied });
  expect(requestDetail(stateAs(status), nowMs).status).toBe(detailed);
});

test('a request that people refused is a DENY when repeated', () => {
  expect(replyView(stateAs('rejected'), startMs)).toMatchObject({
    decision: 'DENY',
    status: 'rejected',
  });
});
