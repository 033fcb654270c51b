// The conformance cases, which every build must pass, the packs' own tests, and details of the language: on
// the compiled function and on the definition.

import { describe, expect, it } from 'vitest';
import { findTests } from '../src/testing/find-test-files.ts';
import { runTestFiles } from '../src/testing/run.ts';

const conformance = await findTests(['test/features/conformance']);
const others = await findTests(['policies', 'test/features']);

describe('conformance', () => {
  it.each([...conformance, ...others])('%s', async (path) => {
    const run = await runTestFiles([path]);
    expect(run.files.map(({ failure }) => failure)).toEqual([null]);
    const failed = run.files.flatMap(({ cases }) => cases.filter(({ outcome }) => outcome !== 'passed'));
    expect(failed).toEqual([]);
  });

  it('has all of its cases', async () => {
    const { files } = await runTestFiles(conformance);
    const expectations = files.flatMap(({ cases }) => cases).length;
    console.log(`conformance: ${files.length} sets, ${expectations} expectations`);
    expect([files.length, expectations]).toEqual([22, 261]);
  });
});
