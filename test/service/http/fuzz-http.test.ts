// A few thousand of the random requests of test/e2e/acceptance/fuzz-http.ts, with a new seed each time.

import { expect, test } from 'vitest';
import type { OpenApiDocument, OperationObject } from '../../../src/service/http/contract/openapi.ts';
import { createCases } from '../../e2e/acceptance/fuzz-cases.ts';
import { fuzzHttp } from '../../e2e/acceptance/fuzz-http.ts';

const seed = Math.trunc(Math.random() * 2 ** 31);

test(`random requests and bytes (seed ${seed}): no crash, no 5xx, nothing allowed that is not strict JSON`, async () => {
  const report = await fuzzHttp({ requests: 3_000, seed });
  expect(report.failures).toEqual([]);
  // The random requests include good and bad requests.
  expect(report.allowed).toBeGreaterThan(100);
  expect(Object.keys(report.statuses)).toEqual(
    expect.arrayContaining(['200', '400', '401', '404', '405', '431']),
  );
});

test('a case depends only on its seed and number', () => {
  const target = { apiKey: 'key', document: smallDocument };
  const [first, again, other] = [createCases(7, target), createCases(7, target), createCases(8, target)];
  const bytes = (cases: typeof first) => Array.from({ length: 50 }, (_, index) => cases.next(index).bytes);
  expect(bytes(first)).toEqual(bytes(again));
  expect(bytes(first)).not.toEqual(bytes(other));
});

const operation: OperationObject = {
  operationId: 'authorize',
  parameters: [
    { name: 'Prefer', in: 'header', required: false, schema: { type: 'string' }, example: 'wait=0' },
  ],
  security: [{ agentKey: [] }],
  requestBody: {
    content: { 'application/json': { schema: { properties: {} }, examples: { one: { value: { a: 1 } } } } },
  },
  responses: {},
};

const smallDocument: OpenApiDocument = {
  openapi: '3.1.0',
  info: {},
  paths: { '/v1/authorize': { post: operation } },
  components: {},
};
