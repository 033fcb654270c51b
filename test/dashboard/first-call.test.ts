// The first request of a new agent, and the command line that sends it.

import { execFile, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import {
  curlLine,
  exportLine,
  hookLines,
  type KnownAction,
  mcpLines,
  pythonLines,
  sampleRequest,
  typescriptLines,
} from '../../src/dashboard/parts/dialog/first-call.ts';
import { writ } from '../cli/writ.ts';
import { python } from '../integrations/python/python.ts';
import { shareService } from '../service/http/service.ts';

const today = '2026-03-02';

function sampled(fields: Readonly<Record<string, string>>): unknown {
  const entries = Object.entries(fields).map(([name, type]) => ({ path: `payload.${name}`, type }));
  return sampleRequest([{ key: 'demo.act', fields: entries }], today).payload;
}

test.each([
  ['"USD"', 'USD'],
  ['"EUR" | "USD"', 'EUR'],
  ['string 1..200', 'example'],
  ['string ..3', 'exa'],
  ['string 10..20', 'examplexxx'],
  ['secret string 8..200', 'examplex'],
  ['integer 1..1000', 120],
  ['integer 1..20', 20],
  ['integer 500..', 500],
  ['number 0.01..', 120],
  ['money(currency) 0.01..', 120],
  ['boolean', false],
  ['date', today],
  ['email', 'ann@example.com'],
])('a field of type %s', (type, value) => {
  expect(sampled({ field: type })).toEqual({ field: value });
});

test('what may be absent is left out', () => {
  expect(sampled({ a: 'boolean', b: 'string 1..9 | null (may be absent)' })).toEqual({ a: false });
});

describe('which action', () => {
  const plain: KnownAction = { key: 'a.plain', fields: [] };
  const odd: KnownAction = { key: 'b.odd', fields: [{ path: 'payload.items', type: 'list of string' }] };
  const told: KnownAction = { key: 'c.told', fields: [{ path: 'payload.n', type: 'integer 1..' }] };
  const payment: KnownAction = { key: 'payment.create', fields: [] };

  test('payments come first', () =>
    expect(sampleRequest([plain, told, payment], today).action_key).toBe('payment.create'));
  test('then one with fields', () =>
    expect(sampleRequest([plain, odd, told], today).action_key).toBe('c.told'));
  test('then any that can be made up', () =>
    expect(sampleRequest([odd, plain], today).action_key).toBe('a.plain'));
  test('else the first, empty', () =>
    expect(sampleRequest([odd], today)).toEqual({ action_key: 'b.odd', payload: {} }));
  test('and without policies a name', () => expect(sampleRequest([], today).payload).toEqual({}));
});

test('whatever the action is called, the line is one command with the body as data', () => {
  const request = { action_key: `it's "$(echo here)" \`x\` \\ !`, payload: { vendor: "O'Neill" } };
  const line = curlLine('http://localhost:8181', { key: 'writ_key', askedFor: 'a9e2' }, request);
  const script = `curl() { for one in "$@"; do printf '%s\\0' "$one"; done; }\n${line}`;
  const given = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
  expect(given.slice(0, 8)).toEqual([
    '-sS',
    'http://localhost:8181/v1/authorize',
    '-H',
    'Content-Type: application/json',
    '-H',
    'X-Agent-API-Key: writ_key',
    '-H',
    'X-Writ-Agent: a9e2',
  ]);
  expect(given[8]).toBe('-d');
  expect(JSON.parse(given[9] ?? '')).toEqual(request);
  expect(given).toHaveLength(10);
});

describe('the lines of a program', () => {
  const service = shareService();
  const repository = join(import.meta.dirname, '../..');
  const request = {
    action_key: 'demo.allow',
    payload: { amount: 120, vendor: 'O\'Neill "& Sons"', is_new: true },
  };
  const run = async (command: string, args: readonly string[]): Promise<string> => {
    const env = {
      ...process.env,
      WRIT_API_KEY: service().apiKey,
      PYTHONPATH: join(repository, 'integrations/python'),
    };
    return (await promisify(execFile)(command, [...args], { cwd: repository, env })).stdout;
  };
  const lines = (of: typeof pythonLines) => of(service().url, { key: service().apiKey }, request);

  test('in Python ask, and go on when granted', async () => {
    expect(await run(python, ['-c', lines(pythonLines)])).toBe('granted\n');
  });

  test('in TypeScript ask, and go on when granted', async () => {
    const args = ['--input-type=module', '-e', lines(typescriptLines)];
    expect(await run(process.execPath, args)).toBe('granted\n');
  });

  test('are about five for each way', () => {
    for (const text of [lines(pythonLines), lines(typescriptLines), mcpLines('u'), hookLines('u')])
      expect(text.split('\n').length).toBeLessThanOrEqual(5);
    expect(exportLine("it's")).toBe(`export WRIT_API_KEY='it'\\''s'`);
  });

  test('of the proxy and the hook name existing commands and options', async () => {
    const commands = [...`${mcpLines('u')}\n${hookLines('u')}`.matchAll(/^writ (\w+ \w+)(.*)$/gm)];
    expect(commands.length).toBe(5);
    for (const [, command = '', rest = ''] of commands) {
      const help = (await writ([...command.split(' '), '--help'])).stdout;
      const own = rest.split(' -- ')[0] ?? '';
      for (const [option] of own.matchAll(/--[a-z-]+/g)) expect(help, command).toContain(option);
    }
  });
});
