// The verifier for auditors on a month of a real service: it finds every kind of tampering in the table, and raises no
// alarm on what nobody has touched.

import { beforeAll, expect, test } from 'vitest';
import { requirePython } from '../python.ts';
import { type Given, worldOf } from './given.ts';
import { recordMonth } from './month.ts';
import { type Result, runVerifier } from './run-verifier.ts';
import { tampering, untouchedLanes } from './tampering.ts';

beforeAll(requirePython);

const untouched: readonly Given['options'][] = [[], ['--whole'], ['--tolerance', '5']];

test('finds each kind of tampering, and nothing in what is untouched', { timeout: 600_000 }, async () => {
  const world = worldOf(await recordMonth(40));
  const genuine = [
    ...untouched.map((options) => ({ ...world, options: options ?? [] })),
    { ...world, ...untouchedLanes() },
  ];
  const tampered = tampering.map(({ change }): Given => ({ ...world, ...change(world) }));
  const results = await runVerifier([...genuine, ...tampered], world);
  expect(results).toHaveLength(genuine.length + tampered.length);
  for (const result of results.slice(0, genuine.length))
    expect(result).toMatchObject({ ok: true, problems: { counts: {}, first: [] } });
  if (process.env.SHOW)
    console.log(
      tampering
        .map(
          ({ name, finds }, at) =>
            `${finds} | ${name} | ${JSON.stringify(results[genuine.length + at]!.problems.counts)}`,
        )
        .join('\n'),
    );
  const found = tampering.map(({ name, finds }, at) => describe(name, finds, results[genuine.length + at]!));
  expect(found).toEqual(tampering.map(({ name, finds }) => `${name}: ${finds}`));
  expect(new Set(tampering.map(({ name }) => name)).size).toBeGreaterThan(100);
});

/** The expected finding if it is there, else what was found. */
function describe(name: string, finds: string, { ok, problems }: Result): string {
  const isFound = !ok && (problems.counts[finds] ?? 0) > 0;
  return `${name}: ${isFound ? finds : `instead ${JSON.stringify(problems)}`}`;
}
