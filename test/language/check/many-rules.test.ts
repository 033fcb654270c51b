// Warnings that compare rules of the same actions: few rules are compared directly, many through an index
// over the whole set. Both ways find the same.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { check } from '../../../src/language/check/check.ts';
import type { checkCodes } from '../../../src/language/diagnostic/check-codes.ts';
import { parse } from '../../../src/language/syntax/parse.ts';
import type { PolicyFile } from '../../../src/language/syntax/tree/tree.ts';

const folder = new URL('./cases', import.meta.url).pathname;

const ofGroups: ReadonlySet<string> = new Set<keyof typeof checkCodes>([
  'guard-without-allow',
  'rule-never-decides',
  'rule-duplicated',
  'limit-per-session',
  'rule-implied',
  'guard-stops-short',
]);

/** More rules than are compared directly; each only adds to risk. */
const many = Array.from(
  { length: 520 },
  (_, at) => `  risk filler_${at} +${at + 1} when agent.name == "${at}"`,
);
const fillers = parse({
  path: 'fillers.policy',
  text: `policy fillers on * {\n${many.join('\n')}\n}\n`,
}).file;

function found(files: readonly PolicyFile[]): readonly string[] {
  const { diagnostics } = check(files, () => ({ code: 'list-file-missing', message: '' }));
  return diagnostics
    .filter(({ code, span }) => span.file === 'case.policy' && ofGroups.has(code))
    .map(({ code, span, message }) => `${code} ${span.start} ${message}`);
}

it('in every golden case that has such warnings', () => {
  const codes = new Set<string>();
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.policy'))) {
    const text = readFileSync(join(folder, name), 'utf8').replaceAll(/^#!.*$/gm, '');
    const { file } = parse({ path: 'case.policy', text });
    const few = found([file]);
    if (few.length > 0 || name.startsWith('ok-')) expect(found([file, fillers]), name).toEqual(few);
    for (const one of few) codes.add(one.split(' ')[0] ?? '');
  }
  expect(codes).toEqual(ofGroups);
});
