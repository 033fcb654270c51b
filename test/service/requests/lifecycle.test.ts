// The table of a request's lifecycle, cell by cell, compared with its rules in words.

import { describe, expect, test } from 'vitest';
import { outcomes } from '../../../src/language/model/decision.ts';
import {
  lifecycle,
  lifecycleEvents,
  nextStatus,
  statusAt,
} from '../../../src/service/requests/record/lifecycle.ts';
import { type RequestStatus, requestStatuses } from '../../../src/service/store/contract/records.ts';

const grants: readonly RequestStatus[] = ['auto_approved', 'approved'];
const ended: readonly RequestStatus[] = ['rejected', 'expired', 'consumed', 'withdrawn'];

test('names every state and every event', () => {
  expect(Object.keys(lifecycle).toSorted()).toEqual([...requestStatuses].toSorted());
  for (const row of Object.values(lifecycle)) expect(row).toHaveLength(lifecycleEvents.length);
});

describe.each(requestStatuses)('%s', (status) => {
  test.each(['approve', 'step-up'] as const)('%s: only a wait is decided again', (event) => {
    const next = outcomes.map((outcome) => nextStatus(status, event, outcome));
    expect(next).toEqual(
      status === 'pending' ? ['approved', 'pending', 'pending', 'rejected'] : [null, null, null, null],
    );
    expect(nextStatus(status, event)).toBe(status === 'pending' ? 'pending' : null);
  });

  test('reject: only a wait, and for good', () => {
    expect(nextStatus(status, 'reject')).toBe(status === 'pending' ? 'rejected' : null);
  });

  test('deadline: what waits or is granted is over, what is over stays', () => {
    expect(nextStatus(status, 'deadline')).toBe(ended.includes(status) ? null : 'expired');
  });

  test('outcome: only a grant is used', () => {
    expect(nextStatus(status, 'outcome')).toBe(grants.includes(status) ? 'consumed' : null);
  });

  test('take: only what people approved', () => {
    expect(nextStatus(status, 'take')).toBe(status === 'approved' ? 'consumed' : null);
  });

  test('withdraw: only a wait', () => {
    expect(nextStatus(status, 'withdraw')).toBe(status === 'pending' ? 'withdrawn' : null);
  });

  test('ends by itself at its end and not before', () => {
    expect(statusAt({ status, expiresAtMs: 10 }, 9)).toBe(status);
    expect(statusAt({ status, expiresAtMs: 10 }, 10)).toBe(ended.includes(status) ? status : 'expired');
  });

  test('is never granted once it is over', () => {
    for (const event of lifecycleEvents) {
      for (const outcome of outcomes) {
        const next = nextStatus(status, event, outcome);
        if (ended.includes(status)) expect(next).toBeNull();
        if (next === 'approved') expect([status, outcome]).toEqual(['pending', 'ALLOW']);
      }
    }
  });
});
