// `writ requests --follow` with a service that is away for a while, and the scripts that complete commands in
// a shell.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { firstAdmin, tokenClient } from '../service/http/person-client.ts';
import { authorize, startService } from '../service/http/service.ts';
import { writ } from './writ.ts';

const entry = join(import.meta.dirname, '../../src/cli/writ.js');

/** A relay to a service that can be cut, and fixed at the same address. */
async function openRelay(port: number) {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => other.destroy());
      socket.pipe(other);
    }
  });
  const open = async (at: number) => {
    server.listen(at, '127.0.0.1');
    await once(server, 'listening');
  };
  const cut = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  await open(0);
  onTestFinished(cut);
  const { port: own } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${own}`, cut, fix: () => open(own) };
}

function follow(env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [entry, 'requests', '--follow', '--json'], {
    env: { ...process.env, ...env },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (chunk: Buffer) => {
      written[name] += chunk.toString();
    });
  const ids = () =>
    written.stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line).request_id as string);
  return { child, ids, errors: () => written.stderr };
}

test('requests are printed once as they arrive, also after the service was unreachable', async () => {
  const service = await startService();
  const { headers } = await tokenClient(service, await firstAdmin(service));
  const relay = await openRelay(service.port);
  const ask = async () => ((await (await authorize(service)).json()) as { request_id: string }).request_id;
  const [older, first] = [await ask(), await ask()];
  const env = { WRIT_URL: relay.url, WRIT_TOKEN: (headers.authorization ?? '').replace('Bearer ', '') };
  const { child, ids, errors } = follow(env);
  await expect.poll(ids).toEqual([older, first]);
  const second = await ask();
  await expect.poll(ids).toEqual([older, first, second]);
  relay.cut();
  await expect.poll(errors).toMatch(/does not answer .*Trying again\.\n$/);
  const third = await ask();
  await relay.fix();
  await expect.poll(ids).toEqual([older, first, second, third]);
  expect(errors()).toMatch(/Trying again\.\nthe service answers again\n$/);
  child.kill('SIGINT');
  expect(await once(child, 'close')).toEqual([null, 'SIGINT']);
  const wrong = await writ(['requests', '--follow', '--to', '2026-01-01T00:00:00Z'], { env });
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--follow cannot be combined')]);
});

describe('writ completion', () => {
  test('supports zsh and fish, and refuses unknown shells', async () => {
    expect((await writ(['completion', 'zsh'])).stdout).toContain('bashcompinit\n_writ_commands() {');
    const powershell = (await writ(['completion', 'powershell'])).stdout;
    expect(powershell).toContain(
      "    'writ completion' = @('bash', 'zsh', 'fish', 'powershell', '--help', '-h')\n",
    );
    expect(powershell).toContain(
      "    'writ requests --decision' = @('ALLOW', 'ESCALATE', 'REAUTH_REQUIRED', 'DENY')\n",
    );
    const keys = [...powershell.matchAll(/^ {4}('writ[^=]*) = @/gm)].map(([, key = '']) => key.toLowerCase());
    // PowerShell refuses a table with a key twice, in any letter case; there are three tables.
    expect(keys.filter((key, at) => keys.indexOf(key) !== at && / -/.test(key))).toEqual([]);
    const fish = (await writ(['completion', 'fish'])).stdout;
    expect(fish).toContain(
      "complete -c writ -n '__fish_use_subcommand' -f -a serve -d 'start the service'\n",
    );
    expect(fish).toContain("-l decision -x -a 'ALLOW ESCALATE REAUTH_REQUIRED DENY'");
    expect(await writ(['completion', 'nushell'])).toMatchObject({ code: 2, stdout: '' });
  });
});
