// The script that `writ completion bash` prints, run by bash.

import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { writ } from '../cli/writ.ts';
import { requireProgram } from './programs.ts';

test('completes commands, options and values in bash', async () => {
  requireProgram(['bash', '--version'], 'bash');
  const { stdout: script } = await writ(['completion', 'bash']);
  const lines = [
    ['writ', 'requ', 'requests'],
    ['writ', 'agents', 'rot', 'rotate'],
    ['writ', 'requests', '--dec', '--decision'],
    ['writ', 'requests', '--decision', 'D', 'DENY'],
    ['writ', 'audit', 'export', '--format', '', 'jsonl csv'],
    ['writ', 'completion', 'f', 'fish'],
    // Options of the command that runs when none is named.
    ['writ', 'mcp', '--key', '--key-file'],
    // A value that is a file: the shell completes it by itself.
    ['writ', 'audit', 'export', '--data', 'v', ''],
  ];
  const tries = lines.map(
    (words) =>
      `try ${words
        .slice(0, -1)
        .map((word) => `'${word}'`)
        .join(' ')}`,
  );
  const program = `${script}
    try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _writ; echo "\${COMPREPLY[*]}"; }
    ${tries.join('\n')}`;
  const ran = spawnSync('bash', ['-c', program], { encoding: 'utf8' });
  expect([ran.stderr, ran.stdout.split('\n').slice(0, -1)]).toEqual(['', lines.map((words) => words.at(-1))]);
});
