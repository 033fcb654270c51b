// Reads the cases of test files, to tell which of them a change of policies breaks.

import { readFile } from 'node:fs/promises';
import { findTests, testEnding } from '../../testing/find-test-files.ts';
import { readTestFile } from '../../testing/read-test-file.ts';
import type { TestCase } from '../../testing/test-file.ts';

/** The cases of the test files among the paths and under directories; files that cannot be read have none. */
export async function readCases(paths: readonly string[]): Promise<readonly TestCase[]> {
  const files = (await findTests(paths)).filter((file) => file.endsWith(testEnding));
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')));
  return files.flatMap((path, at) => readTestFile({ path, text: texts[at]! }).cases);
}
