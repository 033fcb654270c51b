// Known ways around permission lists, for each host: what its documentation makes of a call, and what the imported policies
// decide.

import { expect, test } from 'vitest';
import { type ImportSource, settingsOf } from '../../../src/cli/commands/import.ts';
import { importFiles } from '../../../src/cli/import/import-files.ts';
import { loadPolicies } from '../../../src/embedded/policies.ts';
import { folders } from './cases.ts';
import { type Call, claudeDecides } from './reference/claude.ts';
import { codexDecides, codexRules, cursorDecides, geminiDecides } from './reference/others.ts';
import type { Effect } from './reference/shell-text.ts';

interface Trap {
  readonly tool: string;
  readonly value: string;
  readonly host: Effect;
  readonly writ: 'ALLOW' | 'ESCALATE' | 'DENY';
}

interface Host {
  readonly source: ImportSource;
  readonly file: string;
  readonly text: string;
  readonly decides: (call: Call) => Effect;
  readonly action: (tool: string) => string;
  readonly fieldOf: Readonly<Record<string, string>>;
  readonly traps: readonly Trap[];
}

function trap(tool: string, value: string, host: Effect, writ: Trap['writ']): Trap {
  return { tool, value, host, writ };
}

const claude = {
  permissions: {
    allow: [
      'Bash(npm test:*)',
      'Bash(git log *)',
      'Bash(ls:*)',
      'Edit(/src/**)',
      'WebFetch(domain:docs.example.com)',
    ],
    deny: ['Bash(rm -rf:*)', 'Bash(curl:*)', 'Read(./.env)', 'Edit(//work/project/src/gen/**)'],
  },
};
const codex =
  'prefix_rule(pattern=["git", ["log", "status"]])\nprefix_rule(pattern=["rm"], decision="forbidden")';
const gemini = { tools: { allowed: ['run_shell_command(git log)'], exclude: ['run_shell_command(rm)'] } };
const cursor = {
  permissions: { allow: ['Shell(ls)', 'Shell(git)', 'Read(src/**)'], deny: ['Shell(rm)', 'Read(src/*.key)'] },
};

const hosts: Readonly<Record<string, Host>> = {
  'Claude Code': {
    source: 'claude-settings',
    file: 'settings.json',
    text: JSON.stringify(claude),
    decides: (call) => claudeDecides(claude, call),
    action: (tool) => `claude_code.${tool}`,
    fieldOf: { Bash: 'command', Read: 'file_path', Edit: 'file_path', WebFetch: 'url' },
    traps: [
      trap('Bash', 'npm test', 'allow', 'ALLOW'),
      trap('Bash', 'npm test -- --watch', 'allow', 'ALLOW'),
      trap('Bash', 'npm test && git log -p', 'allow', 'ALLOW'),
      trap('Bash', 'npm test && touch x', 'ask', 'ESCALATE'),
      trap('Bash', 'npm test; rm -rf x', 'deny', 'DENY'),
      trap('Bash', 'npm tests', 'ask', 'ESCALATE'),
      trap('Bash', 'npm  test', 'ask', 'ESCALATE'),
      trap('Bash', 'npm test $(touch x)', 'ask', 'ESCALATE'),
      trap('Bash', 'npm test > ../x', 'ask', 'ESCALATE'),
      trap('Bash', 'npm test "it && is"', 'allow', 'ESCALATE'),
      trap('Bash', 'npm test "two words"', 'allow', 'ALLOW'),
      trap('Bash', 'timeout 5 npm test', 'allow', 'ESCALATE'),
      trap('Bash', 'FOO=1 rm -rf x', 'deny', 'DENY'),
      trap('Bash', '/bin/rm -rf x', 'ask', 'DENY'),
      trap('Bash', 'r""m -rf x', 'ask', 'DENY'),
      trap('Bash', 'sudo rm x -rf', 'ask', 'DENY'),
      trap('Bash', 'echo "$(rm -rf x)"', 'deny', 'DENY'),
      trap('Bash', 'RM -RF x', 'ask', 'ESCALATE'),
      trap('Bash', 'cat .env', 'deny', 'DENY'),
      trap('Bash', 'cat ./a/../.env', 'deny', 'DENY'),
      trap('Bash', 'ls | xargs curl', 'deny', 'DENY'),
      trap('Bash', 'ls .env', 'allow', 'ESCALATE'),
      trap('Read', '/work/project/src/../.env', 'deny', 'DENY'),
      trap('Read', '/work/project/.ENV', 'allow', 'DENY'),
      trap('Read', '/work/project2/a', 'ask', 'ESCALATE'),
      trap('Edit', '/work/project/src/../package.json', 'ask', 'ESCALATE'),
      trap('Edit', '/work/project/src/gen/a.ts', 'deny', 'DENY'),
      trap('WebFetch', 'https://docs.example.com.evil.example/', 'ask', 'ESCALATE'),
      trap('WebFetch', 'https://docs.example.com@evil.example/', 'ask', 'DENY'),
      trap('WebFetch', 'https://DOCS.example.com/a', 'allow', 'ALLOW'),
    ],
  },
  Codex: {
    source: 'codex',
    file: 'default.rules',
    text: codex,
    decides: (call) => codexDecides(codexRules(codex), call),
    action: (tool) => `codex.${tool}`,
    fieldOf: { Bash: 'command' },
    traps: [
      trap('Bash', 'git log && git status', 'allow', 'ALLOW'),
      trap('Bash', 'git -C . log', 'ask', 'ESCALATE'),
      trap('Bash', 'git log > x', 'ask', 'ESCALATE'),
      trap('Bash', 'git log *.ts', 'ask', 'ESCALATE'),
      trap('Bash', 'git log | rm x', 'deny', 'DENY'),
      trap('Bash', 'r"m" x', 'deny', 'DENY'),
      trap('Bash', 'rm $x', 'ask', 'DENY'),
    ],
  },
  'Gemini CLI': {
    source: 'gemini',
    file: 'settings.json',
    text: JSON.stringify(gemini),
    decides: (call) => geminiDecides(gemini, call),
    action: (tool) => `gemini.${tool}`,
    fieldOf: { run_shell_command: 'command' },
    traps: [
      trap('run_shell_command', 'git log -p', 'allow', 'ALLOW'),
      trap('run_shell_command', 'git logs', 'ask', 'ESCALATE'),
      trap('run_shell_command', 'git log || ls', 'ask', 'ESCALATE'),
      trap('run_shell_command', 'git log && rm x', 'deny', 'DENY'),
      trap('run_shell_command', 'env rm x', 'ask', 'DENY'),
    ],
  },
  Cursor: {
    source: 'cursor',
    file: 'cli.json',
    text: JSON.stringify(cursor),
    decides: (call) => cursorDecides(cursor, call),
    action: (tool) => `cursor.${tool}`,
    fieldOf: { Shell: 'command', Read: 'file_path' },
    traps: [
      trap('Shell', 'ls -l', 'allow', 'ALLOW'),
      trap('Shell', 'ls && git log', 'allow', 'ALLOW'),
      trap('Shell', 'ls && touch x', 'allow', 'ESCALATE'),
      trap('Shell', 'ls; rm -rf x', 'allow', 'DENY'),
      trap('Shell', 'rm x', 'deny', 'DENY'),
      trap('Read', '/work/project/src/../x', 'ask', 'ESCALATE'),
      trap('Read', '/work/project/src/a.key', 'deny', 'DENY'),
      trap('Read', '/work/project/src/a.ts', 'allow', 'ALLOW'),
    ],
  },
};

test.each(Object.entries(hosts))('%s', async (_, { source, file, text, decides, action, fieldOf, traps }) => {
  const { policy } = await importFiles(settingsOf(source, { file, text, folders }));
  const policies = await loadPolicies([{ path: 'import.policy', text: policy }]);
  const found = traps.map(({ tool, value }) => {
    const { decision } = policies.decide({ action: action(tool), payload: { [fieldOf[tool]!]: value } });
    return `${tool} ${value}: ${decides({ tool, value })}, ${decision}`;
  });
  expect(found).toEqual(traps.map(({ tool, value, host, writ }) => `${tool} ${value}: ${host}, ${writ}`));
});
