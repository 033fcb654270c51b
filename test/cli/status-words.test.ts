// The command line and the dashboard have one word for each status of a request.

import { expect, it } from 'vitest';
import { requestStatusText } from '../../src/api/request-status.ts';
import { type PrintedRequest, requestText } from '../../src/cli/support/request-text.ts';
import { requestStatuses } from '../../src/service/store/contract/records.ts';

it.each(requestStatuses)('%s has a word that is not its name in the API', (status) => {
  expect(requestStatusText(status)).toMatch(/^[A-Z][a-z]+( [a-z]+)*$/);
});

it('separates an expired grant from an unanswered request', () => {
  expect(requestStatusText('expired', 'ALLOW')).toBe('Grant over');
  expect(requestStatusText('expired', 'ESCALATE')).toBe('Unanswered');
  expect(requestStatusText('new_status')).toBe('new_status');
});

it('equals the status in the list of requests', () => {
  const request = {
    request_id: 'r1',
    decision: 'ALLOW',
    status: 'consumed',
    expires_at: '2026-03-02T10:00:00Z',
    created_at: '2026-03-02T09:00:00Z',
    agent: { name: 'buyer' },
    title: '',
    message: '',
    reason: '',
    requires: null,
    approvals: [],
    comments: [],
    fallbacks: [],
    reminders: [],
    step_ups: [],
  } as unknown as PrintedRequest;
  expect(requestText(request)).toMatch(/^r1 {2}ALLOW, used until \d{4}-\d\d-\d\d \d\d:\d\d \S+\n/);
});
