// Finds a test case of the workspace by its name.

import { position } from '../../../language/diagnostic/render.ts';
import { readPolicyText } from '../../../service/policies/read-policies.ts';
import { findTests, testEnding } from '../../../testing/find-test-files.ts';
import { readTestFile } from '../../../testing/read-test-file.ts';
import type { TestCase, TestFile } from '../../../testing/test-file.ts';
import { UsageError } from '../../output/output.ts';
import { text } from './schema.ts';
import { policiesInWorkspace, refuseOutside } from './workspace.ts';

export const caseField = text('the name of a test case, or a part that only its name has');

export interface FoundCase {
  readonly file: TestFile;
  readonly one: TestCase;
}

/** The place of the test files for a path: the tests of one policy file are the file beside it. */
export function testsInWorkspace(path: string | undefined): string {
  return policiesInWorkspace(policiesInWorkspace(path).replace(/\.policy$/, testEnding));
}

/** Throws a UsageError unless exactly one case has the name, or else contains it. */
export async function findCase(path: string | undefined, name: string): Promise<FoundCase> {
  const files = await readTestFiles(testsInWorkspace(path));
  const all = files.flatMap((file) => file.cases.map((one) => ({ file, one })));
  const equal = all.filter(({ one }) => one.name === name);
  const named = equal.length > 0 ? equal : all.filter(({ one }) => one.name.includes(name));
  const [found] = named;
  if (found === undefined)
    throw new UsageError(`no case has a name with \`${name}\`: \`test\` lists failed cases`);
  if (named.length > 1)
    throw new UsageError(`several cases have a name with \`${name}\`: ${placesOf(named)}`);
  const { diagnostics, path: file, policies } = found.file;
  if (diagnostics.length > 0) throw new UsageError(`\`${file}\` has mistakes: \`test\` shows them`);
  refuseOutside(policies);
  return found;
}

async function readTestFiles(place: string): Promise<readonly TestFile[]> {
  const read = await Promise.all((await findTests([place])).map((path) => readPolicyText(path)));
  return read.flatMap((source) => ('text' in source ? [readTestFile(source)] : []));
}

const shownMax = 10;

function placesOf(named: readonly FoundCase[]): string {
  const places = named.slice(0, shownMax).map(({ file, one }) => {
    return `\`${one.name}\` (${file.path}:${position(file.text, one.span.start).line})`;
  });
  const more = named.length > shownMax ? `, and ${named.length - shownMax} more` : '';
  return `${places.join(', ')}${more}`;
}
