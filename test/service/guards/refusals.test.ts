// The HTTP status of each refusal, written down a second time, apart from the table that the service uses.
// Clients act on the status: they do not repeat a request after a 4xx other than 408 and 429. So this test
// must notice a changed status.

import { expect, test } from 'vitest';
import { type ProblemCode, problems } from '../../../src/service/http/contract/problem.ts';

const refusals: Readonly<Record<number, readonly string[]>> = {
  400: [
    'body_too_large',
    'idempotency_mismatch',
    'incomplete_body',
    'invalid_body',
    'invalid_denial_binding',
    'invalid_envelope',
    'invalid_header',
    'invalid_json',
    'invalid_query',
    'malformed_request',
    'not_requestable',
    'unsupported_content_type',
  ],
  401: [
    'code_needed',
    'code_used',
    'invalid_api_key',
    'invalid_dpop_proof',
    'invalid_signature',
    'invalid_token',
    'missing_api_key',
    'not_signed_in',
    'wrong_credentials',
  ],
  403: [
    'agent_disabled',
    'agent_not_assigned',
    'agent_revoked',
    'cross_site_request',
    'delegated_key',
    'delegation_ended',
    'identity_not_mapped',
    'not_allowed',
    'point_not_active',
    'proof_needed',
    'second_factor_missing',
    'second_factor_new',
    'session_needed',
    'sso_only',
    'stopped',
  ],
  404: ['link_not_valid', 'not_found', 'request_not_found', 'unknown_route', 'unknown_task'],
  405: ['method_not_allowed'],
  408: ['request_timeout'],
  409: ['conflict', 'duplicate_request', 'invalid_task_state'],
  410: ['expired_denial'],
  422: ['invalid_proposal'],
  429: [
    'playground_busy',
    'rate_limited',
    'too_many_attempts',
    'too_many_failures',
    'too_many_in_flight',
    'too_many_open_requests',
    'too_many_proposals',
    'too_many_streams',
    'too_many_waits',
  ],
  431: ['headers_too_large'],
  500: ['internal_error', 'record_failed'],
  503: ['issuer_keys_unknown', 'playground_failed', 'store_busy', 'too_many_connections'],
};

test('each refusal has its status', () => {
  const codes = Object.keys(problems) as ProblemCode[];
  const found = Object.groupBy(codes.toSorted(), (code) => problems[code].status);
  expect(found).toEqual(refusals);
});
