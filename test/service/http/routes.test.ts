// Routes are constants in lists, and the documents about routes match the code.

import { globSync, readFileSync } from 'node:fs';
import Fastify from 'fastify';
import { describe, expect, test } from 'vitest';
import { requireDocumented } from '../../../src/service/http/contract/openapi.ts';
import { describedRoutes } from '../../../src/service/http/resources/all-routes.ts';
import { managementRoutes } from '../../../src/service/http/resources/management.ts';
import { checksInOrder } from '../../../src/service/http/resources/requests/authorize-handler.ts';

describe('a route of the management API', () => {
  const constants = globSync('src/service/http/resources/**/*.ts').flatMap((file) =>
    [
      ...readFileSync(file, 'utf8').matchAll(
        /^const (\w+) = \w*[rR]oute(?:<[\s\S]*?>)?\(\{[\s\S]*?\bid: '(\w+)'/gm,
      ),
    ].map(([, name, id]) => ({ name, id })),
  );

  test('is found by the name of its operation', () => {
    expect(constants.filter(({ name, id }) => name !== id)).toEqual([]);
  });

  test('is in the list of routes', () => {
    expect(constants.map(({ id }) => id).toSorted()).toEqual(
      managementRoutes.map(({ operation }) => operation.id).toSorted(),
    );
  });
});

describe('a service whose routes are not those of the list', () => {
  const [authorize] = describedRoutes(1_000);
  const handler = async () => 'yes';

  test('accepts no unlisted route, unless the route says that it is not listed', () => {
    const app = Fastify();
    requireDocumented(app, [authorize!]);
    expect(() => app.get('/stranger', handler)).toThrow('GET /stranger is missing from the list of routes');
    app.get('/file', { config: { isDocumented: false } }, handler);
  });

  test('does not start while a listed route is missing', async () => {
    const app = Fastify();
    requireDocumented(app, [authorize!]);
    await expect(app.ready()).rejects.toThrow('POST /v1/authorize');
  });
});

test('the order of checks is the same in the docs, the OpenAPI document and the code', () => {
  const order = checksInOrder.map(({ check, status }) => `${check} (${status})`).join(', ');
  const page = readFileSync('docs/service/authorize.md', 'utf8');
  const [, list = ''] = /the first check that fails makes the reply:\n\n((?:\d\. .*\n)+)/.exec(page) ?? [];
  const lines = list.trim().split('\n');
  expect(lines.map((line) => line.replace(/^\d\. /, '')).join(', ')).toBe(order);
  const sentence = `Checks run in this order, and the first failed check is the reply: ${order}.`;
  const [authorize] = describedRoutes(1_000);
  expect(authorize?.operation.description).toContain(sentence);
});
