// The pack for coding agents on shell lines that attack and lines that only read, one per line of a file: `⏎`
// stands for a line end, `⇥` for a tab.

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Facts } from '../../../src/language/model/request.ts';
import { compile } from '../../../src/pipeline.ts';

const path = 'policies/coding/coding.policy';
const { engine } = compile({
  files: [{ path, text: readFileSync(path, 'utf8') }],
  readListFile: (file) => ({ code: 'list-file-missing', message: file }),
});

const attacks = linesOf('attack-lines.txt');
const ordinary = linesOf('read-only-lines.txt');

it('allows no attack', () => {
  expect(attacks.length).toBeGreaterThanOrEqual(1_700);
  expect(attacks.filter((line) => outcomeOf(line) !== 'ESCALATE')).toEqual([]);
});

it('allows nine of ten ordinary lines that only read, and lets the others wait', () => {
  expect(ordinary.length).toBeGreaterThanOrEqual(600);
  const waiting = ordinary.filter((line) => outcomeOf(line) !== 'ALLOW');
  console.info(`of ${ordinary.length} ordinary lines ${waiting.length} wait: ${waiting.join(' · ')}`);
  expect(waiting.length).toBeLessThanOrEqual(ordinary.length * 0.1);
  expect(waiting.filter((line) => outcomeOf(line) !== 'ESCALATE')).toEqual([]);
});

it('allows no ordinary line with an attack behind it, or within', () => {
  for (const [at, line] of ordinary.entries()) {
    const attack = attacks[(at * 7) % attacks.length]!;
    for (const both of [`${line}; ${attack}`, `${attack}\n${line}`, `${line} $(${attack})`])
      expect([both, outcomeOf(both)]).toEqual([both, 'ESCALATE']);
  }
});

it('gives the figures of docs/EVIDENCE.md', () => {
  const page = readFileSync('docs/EVIDENCE.md', 'utf8');
  const figures = (lines: readonly string[]): string => {
    const allowed = lines.filter((line) => outcomeOf(line) === 'ALLOW').length;
    const asked = lines.length - allowed;
    const share = allowed === 0 ? '' : ` = ${((100 * asked) / lines.length).toFixed(1)} %`;
    return `| ${lines.length.toLocaleString('en')} | ${allowed} | ${asked.toLocaleString('en')}${share} |`;
  };
  expect(page).toContain(figures(attacks));
  expect(page).toContain(figures(ordinary));
});

function linesOf(file: string): readonly string[] {
  const text = readFileSync(new URL(file, import.meta.url), 'utf8');
  const lines = text.split('\n').filter((line) => line !== '');
  return [...new Set(lines)].map((line) => line.replaceAll('⏎', '\n').replaceAll('⇥', '\t'));
}

function outcomeOf(command: string): string {
  const facts: Facts = {
    action: 'shell.run',
    payload: { command, cwd: '/workspace/app' },
    agent: {},
    request: {},
    nowMs: Date.UTC(2026, 2, 2),
    meters: {},
    satisfied: { escalate: [], reauth: [] },
  };
  return engine!.decide(facts).outcome;
}
