// LAW, on random policy sets: print(parse(x)) parses to the same tree, and prints to itself.

import { isDeepStrictEqual } from 'node:util';
import { hasErrors } from '../../src/language/diagnostic/diagnostic.ts';
import { parse } from '../../src/language/syntax/parse.ts';
import { printFile } from '../../src/language/syntax/print/print.ts';
import { createRandom } from '../../src/language/value/random.ts';
import { withoutPlaces } from '../language/syntax/nodes.ts';
import type { Case } from './cases.ts';
import { randomSet } from './policies.ts';

export interface FormatRun {
  readonly files: number;
  readonly findings: readonly (Case & { readonly seed: number })[];
}

export function formatKeepsTrees(sets: number, seed: number): FormatRun {
  const findings: FormatRun['findings'][number][] = [];
  let files = 0;
  for (let setSeed = seed; setSeed < seed + sets; setSeed++) {
    const generated = randomSet(createRandom(setSeed));
    for (const file of generated.files) {
      files++;
      const problem = formatProblem(file.text);
      if (problem === null) continue;
      findings.push({ files: [file], lists: generated.lists, problem, facts: null, seed: setSeed });
    }
  }
  return { files, findings };
}

function formatProblem(text: string): string | null {
  const { file } = parse({ path: 'x.policy', text });
  const printed = printFile(file);
  const again = parse({ path: 'x.policy', text: printed });
  if (hasErrors(again.diagnostics)) return 'what is printed has errors';
  if (!isDeepStrictEqual(withoutPlaces(again.file), withoutPlaces(file))) return 'is printed to another tree';
  return printFile(again.file) === printed ? null : 'is printed otherwise when printed again';
}
