// The lifecycle of a request, written down a second time, apart from the table that the service uses: a
// change of any cell there fails this test.

import { expect, test } from 'vitest';
import { nextStatus } from '../../../src/service/requests/record/lifecycle.ts';
import { requestStatuses } from '../../../src/service/store/contract/records.ts';

// A decision on a `pending` request by an approval or a step-up: the decision of the present policies, and
// the resulting status.
const decided = {
  ALLOW: 'approved',
  DENY: 'rejected',
  ESCALATE: 'pending',
  REAUTH_REQUIRED: 'pending',
} as const;

/** All transitions that are possible; any other is impossible. */
const happens: readonly string[] = [
  'pending: reject leads to rejected',
  'pending: deadline leads to expired',
  'auto_approved: deadline leads to expired',
  'auto_approved: outcome leads to consumed',
  'approved: deadline leads to expired',
  'approved: outcome leads to consumed',
  'approved: take leads to consumed',
  'pending: withdraw leads to withdrawn',
];

test('what leads where without a decision is this, and nothing else', () => {
  const found = requestStatuses.flatMap((status) =>
    (['reject', 'deadline', 'outcome', 'take', 'withdraw'] as const).flatMap((event) => {
      const next = nextStatus(status, event);
      return next === null ? [] : [`${status}: ${event} leads to ${next}`];
    }),
  );
  expect(found.toSorted()).toEqual(happens.toSorted());
});

test('an approval and a step-up have a wait decided again, and nothing else', () => {
  for (const status of requestStatuses) {
    for (const event of ['approve', 'step-up'] as const) {
      for (const [outcome, next] of Object.entries(decided)) {
        const found = nextStatus(status, event, outcome as keyof typeof decided);
        expect([status, event, outcome, found]).toEqual([
          status,
          event,
          outcome,
          status === 'pending' ? next : null,
        ]);
      }
      expect(nextStatus(status, event, null)).toBe(status === 'pending' ? 'pending' : null);
    }
  }
});

test('there are these states and no others', () => {
  expect(requestStatuses.toSorted()).toEqual(
    ['pending', 'auto_approved', 'approved', 'rejected', 'expired', 'consumed', 'withdrawn'].toSorted(),
  );
});
