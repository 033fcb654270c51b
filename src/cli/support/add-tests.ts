// Turns requests that refute claims into cases of the test files beside the policies, each once.

import { readFile, writeFile } from 'node:fs/promises';
import { shownPath } from '../../analysis/findings/display-path.ts';
import type { JudgedClaim } from '../../analysis/findings/guarantee-results.ts';
import type { SourceOf } from '../../language/diagnostic/render.ts';
import { claimText } from '../../reasoning/prove/report/wording.ts';
import { addCases } from '../../testing/adding/add-cases.ts';
import { type AddedCase, claimedCase } from '../../testing/adding/claimed-case.ts';
import { fileError } from '../output/file-error.ts';
import { UsageError } from '../output/output.ts';
import { replaceFile } from '../output/replace-file.ts';

interface Place {
  readonly root: string | null;
  readonly sourceOf: SourceOf;
}

/**
 * Adds the cases, and returns a line for each file about what was written. `file` is true for the file beside
 * each guarantee.
 */
export async function addTests(
  judged: readonly JudgedClaim[],
  { root, sourceOf }: Place,
  file: string | true,
): Promise<readonly string[]> {
  const refuted = judged.flatMap(({ guarantee, claim, counterexample }) =>
    counterexample === null
      ? []
      : [{ guarantee: guarantee.name, claim, claimText: claimText(claim, sourceOf), ...counterexample }],
  );
  const pathOf = (policy: string): string =>
    file === true ? shownPath(root, policy.replace(/\.policy$/, '.test.yaml')) : file;
  if (root === null && file === true && refuted.length > 0)
    throw new UsageError('the policies come from a bundle: say which file the tests are added to');
  const byFile = Map.groupBy(refuted, ({ claim }) => pathOf(claim.span.file));
  const lines: string[] = [];
  for (const [path, own] of byFile) lines.push(await addTo(path, own.map(claimedCase)));
  return lines;
}

async function addTo(path: string, cases: readonly AddedCase[]): Promise<string> {
  const before = await textOf(path);
  const made = addCases({ path, text: before ?? '' }, cases);
  if (made === null)
    throw new UsageError(`${path}: its tests cannot be added to: \`writ test\` says what is wrong`);
  const { text, added } = made;
  if (before === null) await create(path, text);
  else if (added.length > 0) await replaceFile(path, text);
  const there = cases.length - added.length;
  return `${path}: ${added.length} added${there === 0 ? '' : `, ${there} there already`}\n`;
}

/** The text of a file; null when there is no such file. */
async function textOf(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new UsageError(`cannot read ${path}: ${fileError(error)}`);
  }
}

async function create(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { flag: 'wx' });
  } catch (error) {
    throw new UsageError(`cannot write ${path}: ${fileError(error)}`);
  }
}
