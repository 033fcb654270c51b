// Programs in Python that tests run, with the package `writ` from its sources.

import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Service } from '../../service/http/service.ts';

const run = promisify(execFile);
/** The folder of the package, for PYTHONPATH. */
export const sources = join(import.meta.dirname, '../../../integrations/python');

/** Debian's Python, which has the packages that Debian installs; another one on the path may not. */
export const python = process.env.TEST_PYTHON || '/usr/bin/python3';

const modules = ['cryptography', 'jwt', 'mypy', 'pip', 'setuptools', 'venv', 'wheel'];

/** The packages of Debian that bring Python and these modules. */
export const packages = [
  'python3',
  'python3-cryptography',
  'python3-jwt',
  'python3-mypy',
  'python3-pip',
  'python3-setuptools',
  'python3-wheel',
];

export function isReady(): boolean {
  const check = `import sys
from importlib.util import find_spec
assert sys.version_info >= (3, 9) and all(map(find_spec, ${JSON.stringify(modules)}))`;
  return spawnSync(python, ['-c', check]).status === 0;
}

/** Throws where `test/integrations/python/install.ts` has not run. */
export function requirePython(): void {
  if (!isReady()) throw new Error('Python is not ready: run node test/integrations/python/install.ts');
}

const start = `
import asyncio, inspect, json, sys, time
import writ
given = json.load(sys.stdin)
runs = []
def tool(n):
    runs.append(n)
    return n * 2
async def atool(n):
    await asyncio.sleep(0)
    return tool(n)
def connect(**settings):
    kind = getattr(writ, given.get('kind', 'Writ'))
    return kind(given['url'], given['key'], **{'wait': 0, 'timeout': 1, **settings})
def guarded(client, action, **settings):
    return client.guard(action, **settings)(tool if isinstance(client, writ.Writ) else atool)
def do(value):
    async def main():
        return await value
    return asyncio.run(main()) if inspect.isawaitable(value) else value
def outcome(work):
    try:
        return ['ran', do(work())]
    except writ.WritError as error:
        return [type(error).__name__, str(error)]
def kind_of(work):
    try:
        return do(work()) and 'ran'
    except Exception as error:
        return type(error).__name__
def say(value):
    print(json.dumps(value))
`;

/**
 * What a program says with `say`. It begins with `writ`, the values `given`, the tools `tool` and `atool`, whose calls
 * are in `runs`, and functions for both clients: `given.kind` names that of `connect()`.
 */
export async function inPython(given: unknown, program: string) {
  const running = run(python, ['-B', '-c', `${start}\n${program}`], {
    timeout: 60_000,
    maxBuffer: 2 ** 26,
    env: { ...process.env, PYTHONPATH: sources },
  });
  running.child.stdin?.end(JSON.stringify(given));
  return JSON.parse((await running).stdout);
}

/** What a client needs of a service. */
export function settingsOf({ url, apiKey: key }: Service) {
  return { url, key };
}
