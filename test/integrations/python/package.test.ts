// The package for Python as people get it: a wheel, built without a network, installed into an empty environment, and
// used from there; its types; and that it is of this version.

import { execFile } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { startService } from '../../service/http/service.ts';
import { temporaryFolder } from '../../service/store/rows.ts';
import { python, requirePython, sources } from './python.ts';

const run = promisify(execFile);

beforeAll(requirePython);

async function buildWheel(): Promise<string> {
  const folder = temporaryFolder();
  const env = { ...process.env, PYTHON: python };
  const { stdout } = await run(process.execPath, ['src/packaging/package/wheel.ts', folder], { env });
  expect(readdirSync(folder)).toEqual([`writ-${manifest.version}-py3-none-any.whl`]);
  return stdout.trim();
}

test('is installed from a wheel, and asks the service', async () => {
  const wheel = await buildWheel();
  const place = join(temporaryFolder(), 'environment');
  await run(python, ['-m', 'venv', '--without-pip', place]);
  const inPlace = join(place, 'bin/python');
  await run(python, [
    '-m',
    'pip',
    '--isolated',
    '--python',
    inPlace,
    'install',
    '--no-index',
    '--quiet',
    wheel,
  ]);
  const service = await startService();
  const program = `
import importlib.metadata, importlib.resources, writ
from pathlib import Path
client = writ.Writ()
print(writ.__version__, importlib.metadata.version('writ'), client.run('demo.allow', {}, lambda grant: 'ran'),
      Path(writ.__file__).with_name('py.typed').exists(), importlib.metadata.requires('writ'))`;
  const env = { PATH: process.env.PATH, WRIT_URL: service.url, WRIT_API_KEY: service.apiKey };
  const { stdout } = await run(inPlace, ['-B', '-c', program], { cwd: temporaryFolder(), env });
  const { version } = manifest;
  expect(stdout).toBe(`${version} ${version} ran True ["cryptography ; extra == 'receipts'"]\n`);
  const help = await run(join(place, 'bin/writ-verify'), ['--help'], { cwd: temporaryFolder(), env });
  expect(help.stdout).toMatch(/^usage: writ-verify /);
});

test('is written in the syntax of Python 3.9', async () => {
  const program = `
import ast, pathlib, sys
for path in pathlib.Path(sys.argv[1]).glob('**/*.py'):
    ast.parse(path.read_text(), str(path), feature_version=(3, 9))
    print(path.name)`;
  const { stdout } = await run(python, ['-c', program, sources]);
  expect(stdout.split('\n')).toEqual(expect.arrayContaining(['client.py', 'writ_verify.py']));
});

const typed = `
from typing import AsyncGenerator, Generator
import writ
client = writ.Writ("http://x", "k")
aclient = writ.AsyncWrit("http://x", "k")

@client.guard("a.b")
def plain(to: str) -> int: return 1
@client.guard("a.b", lambda amount: {"amount": amount}, wait=0, result=lambda number: {"n": number})
async def later(amount: int) -> str: return ""
@aclient.guard("a.b")
async def alater(amount: int) -> str: return ""
@aclient.guard("a.b")
def threaded(amount: int) -> str: return ""
@aclient.guard("a.b")
async def stream(amount: int) -> AsyncGenerator[int, None]: yield 1

reveal_type(plain("x"))
plain(1)
async def main() -> None:
    reveal_type(await later(1))
    reveal_type(await alater(1))
    reveal_type(await threaded(1))
    await threaded("1")
    async for one in stream(1): reveal_type(one)
    async def work(grant: writ.AllowedDecision) -> str: return grant.request_id
    reveal_type(await aclient.run("a.b", {}, work))
    reveal_type(client.run("a.b", {}, lambda grant: grant.request_id))
    decision = await aclient.authorize("a.b", {})
    if isinstance(decision, writ.AllowedDecision): reveal_type(decision)
    elif isinstance(decision, writ.DeniedDecision): reveal_type(decision.change)
    else: reveal_type(decision)
`;

test('has types that a strict checker accepts, and that a program sees', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'typed.py'), typed);
  const options = ['--strict', '--no-error-summary', '--cache-dir', join(folder, 'cache')];
  const files = [
    join(sources, 'writ'),
    join(sources, 'writ_verify.py'),
    join(import.meta.dirname, '../../../examples/python-async.py'),
    'typed.py',
  ];
  const env = { ...process.env, MYPYPATH: sources };
  const failed = await run(python, ['-m', 'mypy', ...options, ...files], { env, cwd: folder }).catch(
    (error: { readonly stdout: string }) => error,
  );
  const lines = failed.stdout.trimEnd().split('\n');
  expect(lines.map((line) => line.replace(/^.*?(?:Revealed type is |error: )/, ''))).toEqual([
    '"builtins.int"',
    expect.stringMatching(/incompatible type "int"; expected "str"/),
    '"builtins.str"',
    '"builtins.str"',
    '"builtins.str"',
    expect.stringMatching(/incompatible type "str"; expected "int"/),
    '"builtins.int"',
    '"builtins.str"',
    '"builtins.str"',
    '"writ.decisions.AllowedDecision"',
    '"Union[builtins.str, None]"',
    '"writ.decisions.PendingDecision"',
  ]);
});
