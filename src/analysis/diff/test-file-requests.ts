// Reads the requests of test files as facts of one set. People know these requests, so examples are chosen
// close to them.

import { readFileSync } from 'node:fs';
import type { PolicySet } from '../../language/model/policy.ts';
import type { SampleFacts } from '../../reasoning/diff/nearest.ts';
import { findTests } from '../../testing/find-test-files.ts';
import { readTestFile } from '../../testing/read-test-file.ts';
import { toFacts } from '../../testing/situation.ts';

/** The requests of the test files under a path. Whatever cannot be read is skipped. */
export async function testFileRequests(path: string, set: PolicySet): Promise<readonly SampleFacts[]> {
  const files = (await findTests([path])).filter((file) => file.endsWith('.test.yaml'));
  return files.flatMap((file) => {
    const { cases } = readTestFile({ path: file, text: textOf(file) });
    return cases.flatMap(({ name, situation }): readonly SampleFacts[] => {
      const facts = set.actions.has(situation.action) ? toFacts(situation, set, () => undefined) : null;
      return facts === null ? [] : [{ name, facts }];
    });
  });
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
