// The conformance cases, which every build must pass, the packs' own tests, and details of the language: on
// the compiled function and on the definition.

import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findTests } from '../src/tools/testing/find.ts';
import { runTestFiles } from '../src/tools/testing/run.ts';

const conformance = '../shared/conformance';

const folders = [conformance, 'policies', 'test/language'].filter((folder) => existsSync(folder));
const files = await findTests(folders);

describe('conformance', () => {
  it.each([...files])('%s', async (path) => {
    const run = await runTestFiles([path]);
    expect(run.files.map(({ failure }) => failure)).toEqual([null]);
    const failed = run.files.flatMap(({ cases }) => cases.filter(({ outcome }) => outcome !== 'passed'));
    expect(failed).toEqual([]);
  });
});
