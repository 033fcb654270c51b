// What the tools say about arguments that they cannot use. Each message helps to make a better call, and the
// next call works.

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commit, emptyFolder, put, startAuthor } from './server.ts';

const policy = 'action a.read {}\n\npolicy p on a.read {\n  allow all when agent.risk_tier == "low"\n}\n';

/** A workspace with policies, and beside it a folder with a secret. */
function workspace(): string {
  const folder = emptyFolder();
  put(folder, 'inside/policies/a.policy', policy);
  put(folder, 'outside/secret.policy', 'action secret.read {}\n');
  put(folder, 'outside/secret.jsonl', '{"secret": 1}\n');
  return join(folder, 'inside');
}

test('no argument leads out of the workspace, not even by a link', async () => {
  const folder = workspace();
  symlinkSync('../outside', join(folder, 'link'));
  symlinkSync('../outside/secret.jsonl', join(folder, 'log.jsonl'));
  symlinkSync('../../outside/secret.policy', join(folder, 'policies/linked.policy'));
  put(
    folder,
    'named.test.yaml',
    'policies: ../outside\ntests:\n  - { name: n, action: secret.read, expect: DENY }\n',
  );
  put(
    folder,
    'linked.test.yaml',
    'policies: link\ntests:\n  - { name: n, action: secret.read, expect: DENY }\n',
  );
  put(folder, '../outside/secret.test.yaml', 'secret: 1\n');
  put(folder, 'single/b.policy', policy);
  symlinkSync('../../outside/secret.test.yaml', join(folder, 'single/b.test.yaml'));
  const { call } = await startAuthor(folder);
  expect((await call('test', { path: 'single/b.policy' })).text).toContain('leads out of the workspace');
  const paths = [
    '..',
    '../outside',
    '../outside/secret.policy',
    '/etc',
    '/',
    'policies/../../outside',
    'link',
    'link/secret.policy',
  ];
  for (const path of paths)
    for (const [tool, args] of [
      ...['check', 'format', 'test', 'prove', 'diff', 'summary'].map((one) => [one, {}] as const),
      ['suggest', { action: 'a.read' }] as const,
      ['suggest', { case: 'n' }] as const,
    ]) {
      const { isError, text } = await call(tool, { path, ...args });
      expect([tool, path, isError, text]).toEqual([
        tool,
        path,
        true,
        expect.stringContaining('leads out of the workspace'),
      ]);
      expect(text).not.toContain('secret.read');
    }
  for (const args of [{ export: '../outside/secret.jsonl' }, { export: 'log.jsonl' }]) {
    expect((await call('replay', args)).text).toContain('leads out of the workspace');
    for (const tool of ['explain', 'suggest'])
      expect((await call(tool, { ...args, id: 'x' })).text).toContain('leads out of the workspace');
  }
  for (const path of ['named.test.yaml', 'linked.test.yaml'])
    for (const [tool, args] of [
      ['test', {}],
      ['suggest', { case: 'n' }],
    ] as const)
      expect((await call(tool, { path, ...args })).text).toContain('leads out of the workspace');
  expect((await call('replay', { export: 'policies/a.policy', against: '../outside' })).text).toContain(
    'leads out',
  );
  // A link among the policies is a diagnostic, and the set cannot be used.
  const { data, text } = await call('check');
  expect([data.ok, data.diagnostics[0].code]).toEqual([false, 'file-outside']);
  expect(text).not.toContain('secret.read');
});

test('the words of the language, and the pages that a section names, can be looked up', async () => {
  const { call } = await startAuthor(emptyFolder());
  for (const topic of ['reauth', 'sign-in', 'Step-up']) {
    const { data, text } = await call('reference', { topic });
    expect([topic, data.topic]).toEqual([topic, 'language/rules']);
    expect(text).toContain('a step-up: a new sign-in');
  }
  expect((await call('reference', { topic: 'claims' })).data.topic).toBe('language/guarantees');
  expect((await call('reference', { topic: 'silences' })).text).toContain('`reference` diagnostics/silences');
  expect((await call('reference', { topic: 'diagnostics/silences' })).text).toContain('# writ: allow');
});

test('a link that stays in the workspace is followed', async () => {
  const folder = workspace();
  symlinkSync('policies', join(folder, 'alias'));
  const { call } = await startAuthor(folder);
  expect((await call('check', { path: 'alias' })).data).toMatchObject({ path: 'policies', ok: true });
});

const badCalls: readonly (readonly [tool: string, args: object, why: RegExp])[] = [
  ['reference', { topic: 'ruls' }, /there is no topic `ruls`.*language\/rules/s],
  ['reference', { topic: 7 }, /`topic` must be text/],
  ['check', { path: 'missing' }, /`missing` does not exist in the workspace/],
  ['check', { paths: ['policies'] }, /there is no argument `paths`: use path, strict, from/],
  ['check', { strict: 'yes' }, /`strict` must be true or false/],
  ['check', { from: 40 }, /`from` must be less than/],
  ['check', { from: -1 }, /`from` must be at least 0/],
  ['check', { path: 'a\0b' }, /leads out of the workspace/],
  ['format', { path: 'policies', text: policy }, /not both/],
  ['test', { path: 'missing.test.yaml' }, /does not exist/],
  ['decide', {}, /`action` is missing/],
  ['decide', { action: 'a.read', agent: { risk_tier: 'tiny' } }, /risk_tier/],
  ['decide', { action: 'a.read', now: 'yesterday' }, /now/],
  ['decide', { action: 'a.read', unknown: [3] }, /`unknown\[0\]` must be text/],
  ['decide', { action: 'a.read', meters: { nothing: 3 } }, /nothing/],
  ['explain', {}, /give a `request`, or `export` and `id`/],
  ['explain', { request: { payload: {} } }, /action/],
  ['explain', { export: 'none.jsonl', id: 'x' }, /`none.jsonl` does not exist/],
  ['explain', { export: 'policies', id: 'x' }, /not a regular file/],
  ['explain', { export: 'text.txt', id: 'x' }, /has no recorded request `x`/],
  ['suggest', {}, /name one request/],
  ['suggest', { payload: {} }, /name one request/],
  ['suggest', { action: 'a.read', export: 'text.txt', id: 'x' }, /name one request/],
  ['suggest', { export: 'text.txt' }, /name one request/],
  ['suggest', { export: 'text.txt', id: 'x' }, /has no recorded request `x`/],
  ['suggest', { action: 'a.read', agent: { risk_tier: 'tiny' } }, /risk_tier/],
  ['suggest', { case: 'nothing' }, /no case has a name with `nothing`/],
  ['suggest', { case: 'a', action: 'a.read' }, /leave out `action`/],
  ['prove', { on: 'a.read' }, /`on` and `claim` together/],
  ['prove', { on: 'a.read', claim: 'never ever' }, /the policies have errors/],
  ['prove', { on: 'b.read', claim: 'never allow' }, /b\.read/],
  ['diff', { revision: 'nowhere' }, /git knows no revision `nowhere`/],
  ['diff', { revision: '--help' }, /git knows no revision/],
  ['replay', {}, /`export` is missing/],
  ['replay', { export: 'none.jsonl' }, /`none.jsonl` does not exist/],
  ['replay', { export: 'policies' }, /not a regular file/],
  ['replay', { export: 'text.txt', since: 'soon' }, /soon/],
  ['replay', { export: 'text.txt', against: 'nowhere' }, /nowhere/],
  ['summary', { path: 'text.txt' }, /text\.txt/],
];

describe('a bad call', () => {
  test('gets an error, and the server continues', async () => {
    const folder = workspace();
    put(folder, 'text.txt', 'no export\n');
    commit(folder);
    const { call } = await startAuthor(folder);
    for (const [tool, args, why] of badCalls) {
      const { isError, text } = await call(tool, args);
      expect([tool, args, isError, text]).toEqual([tool, args, true, expect.stringMatching(why)]);
      expect(text).not.toContain('internal error');
    }
    expect((await call('check')).data.ok).toBe(true);
  });

  test('of `diff` reports that there is no repository', async () => {
    const { call } = await startAuthor(workspace());
    const { isError, text } = await call('diff');
    expect([isError, text]).toEqual([true, expect.stringContaining('is in no git repository')]);
  });

  test('of a tool that needs policies without errors shows the errors', async () => {
    const folder = workspace();
    put(folder, 'policies/b.policy', 'action b.read { n: strng }\n');
    commit(folder);
    const { call } = await startAuthor(folder);
    for (const [tool, args] of [
      ['decide', { action: 'a.read' }],
      ['explain', { request: { action: 'a.read' } }],
      ['suggest', { action: 'a.read' }],
      ['prove', {}],
      ['diff', {}],
      ['replay', { export: 'policies/b.policy' }],
      ['summary', {}],
    ] as const) {
      const { isError, text } = await call(tool, args);
      expect([tool, isError, text]).toEqual([
        tool,
        true,
        expect.stringMatching(/have errors.*policies\/b\.policy:1/s),
      ]);
    }
  });
});

test('the server does not start without its directory', async () => {
  const folder = emptyFolder();
  writeFileSync(join(folder, 'file'), '');
  mkdirSync(join(folder, 'ok'));
  const { writProcess } = await import('../writ.ts');
  for (const path of ['missing', 'file'])
    expect(await writProcess(['author', join(folder, path)])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('is not a directory'),
    });
});
