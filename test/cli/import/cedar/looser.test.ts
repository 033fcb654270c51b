// No import is looser than Cedar: the policies grant no request that Cedar denies. `npm run import-requests` tries a million.

import { isAuthorized } from '@cedar-policy/cedar-wasm/nodejs';
import { expect, test } from 'vitest';
import type { CedarRequest } from '../../../../src/cli/import/cedar/cedar-wasm.ts';
import { cedarCases, compareSet, type WrittenSet, writeCase } from './cases.ts';

const requestsInAll = Number(process.env.WRIT_IMPORT_REQUESTS ?? 330);
const seed = Number(process.env.WRIT_IMPORT_SEED ?? 11);
const cases = cedarCases();

test.each(cases)('$name is as strict as Cedar', async (one) => {
  const compared = await compareSet(await writeCase(one), {
    requests: Math.ceil(requestsInAll / cases.length),
    seed,
  });
  expect(compared.looser).toEqual([]);
  expect(Math.min(compared.allowed, compared.denied)).toBeGreaterThan(compared.requests / 50);
  // Only calculations can fail, so no request is decided by mistakes in the data.
  if (!['corners', 'trials'].includes(one.name)) expect([...compared.errors]).toEqual([]);
  if (process.env.WRIT_IMPORT_COUNTS !== undefined)
    console.info(
      one.name,
      compared.requests,
      'allowed',
      compared.allowed,
      'stricter',
      [...compared.stricter].map(([rule, { count }]) => [rule, count]),
    );
});

/** What Cedar decides if it first compares the request with the schema, which has the actions itself. */
function decidesChecked(
  { entities, ...request }: CedarRequest,
  { schema, policies }: WrittenSet['source'],
): unknown {
  const call = {
    ...request,
    entities: entities.filter(({ uid }) => uid.type !== request.action.type),
    schema: schema.text,
    validateRequest: true,
    policies: { staticPolicies: Object.fromEntries(policies.map(({ id, text }) => [id, text])) },
  };
  const answer = isAuthorized(structuredClone(call) as Parameters<typeof isAuthorized>[0]);
  return answer.type === 'success' ? answer.response.decision : answer.errors;
}

test('the requests are ones that the schema admits', async () => {
  for (const name of ['documents', 'sales', 'streaming', 'tags', 'taxes']) {
    const written = await writeCase(cases.find((one) => one.name === name)!);
    const { decided } = await compareSet(written, { requests: 60, seed });
    expect(decided.size).toBeGreaterThan(1);
    for (const { cedar, decision } of decided.values())
      expect(decidesChecked(cedar, written.source), JSON.stringify(cedar)).toBe(
        decision === 'ALLOW' ? 'allow' : 'deny',
      );
  }
});

test('finds policies without a guard, with a condition less, and with a wider one', async () => {
  const written = await writeCase(cases.find(({ name }) => name === 'taxes')!);
  const changes: readonly (readonly [string, string])[] = [
    ['each_1.location == payload.resource.location\n      and', ''],
    ['payload.resource.owner == payload.principal.uid', 'true'],
    ['and payload.context.consent.client == payload.resource.owner.uid', ''],
    ['payload.principal.location in', 'payload.resource.location in'],
    ['when not (\n      payload.context has consent', 'when payload.context has consent and not ('],
    ['some each_1 in', 'every each_1 in'],
  ];
  for (const [from, to] of changes) {
    expect(written.policy).toContain(from);
    const policy = written.policy.replace(from, to).replace('and not (\n      and', 'and not (');
    const { looser } = await compareSet(written, { requests: 800, seed, changed: policy });
    expect(looser.length, from).toBeGreaterThan(0);
  }
});
