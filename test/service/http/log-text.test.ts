// The log as people read it at a terminal.

import { expect, test } from 'vitest';
import { formattedLog, logText } from '../../../src/service/http/log-text.ts';

const at = new Date(2026, 2, 2, 10, 41, 7).getTime();
const line = (fields: object) => `${JSON.stringify({ time: at, pid: 1, hostname: 'vm', ...fields })}\n`;

test.each([
  [{ level: 30, msg: 'listening' }, '10:41:07 info  listening\n'],
  [
    { level: 40, msg: 'retrying', detail: 'no answer', seconds_left: 3, store: 'writ.db' },
    '10:41:07 warn  retrying  detail="no answer"  seconds_left=3  store=writ.db\n',
  ],
  [
    {
      level: 40,
      msg: 'no mail',
      err: { type: 'Error', message: 'refused', stack: 'Error: refused\n    at a (b:1:2)' },
    },
    '10:41:07 warn  no mail: refused\n',
  ],
  [
    {
      level: 50,
      msg: 'failed',
      err: { type: 'Error', message: 'refused', stack: 'Error: refused\n    at a (b:1:2)' },
    },
    '10:41:07 error failed: refused\n    at a (b:1:2)\n',
  ],
])('%j', (fields, text) => expect(logText(line(fields), false)).toBe(text));

test('lines that are not JSON stay unchanged', () =>
  expect(logText('a warning of Node\n', false)).toBe('a warning of Node\n'));

test('the level has a colour', () => {
  expect(logText(line({ level: 40, msg: 'a' }), true)).toBe('10:41:07 \u001b[33mwarn \u001b[39m a\n');
});

test.each([
  ['auto', true, 'text'],
  ['auto', false, 'json'],
  ['text', false, 'text'],
  ['json', true, 'json'],
] as const)('%s on a terminal: %s is %s', (format, isTTY, expected) => {
  const lines: string[] = [];
  formattedLog(format, { isTTY, write: (text) => lines.push(text) }).write(
    line({ level: 30, msg: 'listening' }),
  );
  expect(lines[0]?.startsWith('{') ? 'json' : 'text').toBe(expected);
});
