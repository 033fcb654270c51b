// docs/COMPARED.md: each feature that it lists as present or partly present names existing tests, and only
// the features in this file are missing.

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { faultOfNamedTest } from './named-test.ts';

const missing = ['environments (test, production)'];

const rows = readFileSync('docs/COMPARED.md', 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| point'))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, point = '', answer = '', tests = '']) => ({ point, answer, tests: tests.split('; ') }));

it('says yes, part or no of each point', () => {
  expect(rows.length).toBe(61);
  expect(rows.filter(({ answer }) => !/^(yes|part: |no: )/.test(answer))).toEqual([]);
  expect(rows.filter(({ answer }) => answer.startsWith('no')).map(({ point }) => point)).toEqual(missing);
});

it('names tests that are there', () => {
  const faults = rows
    .filter(({ answer }) => !answer.startsWith('no'))
    .flatMap(({ tests }) => tests.map(faultOfNamedTest))
    .filter((fault) => fault !== null);
  expect(faults).toEqual([]);
});
