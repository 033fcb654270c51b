// How the tests run, beside what `npm test` says in its own line.

import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The folders of long tests, by their parts of a path. */
const longOnes = [
  'browser',
  'distributed',
  'package',
  'laws',
  'integrations',
  'cli',
  'http',
  'policies',
  'store',
  'acceptance',
  'lsp',
];

/** Starts with the folders of long tests, so that no worker is left alone with one at the end. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) =>
      longOnes.some((folder) => moduleId.includes(`/test/${folder}/`));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

// A worker runs one file after the other and keeps what it has loaded: modules, threads with policies, a command line. A
// file leaves behind nothing of its own. A service starts two threads, and other work may share the machine.
export default defineConfig({
  test: {
    globalSetup: 'test/before-all.ts',
    isolate: false,
    sequence: { sequencer: LongFirst },
    // Servers, browsers and faults on a machine that stands still for a while: what is wrong fails each time.
    retry: 2,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
