// Runs one command as another user of the machine, for tests that start as root: node as-user.ts UID GID hook ARGS, or
// `read FILE` and `connect SOCKET PATH` for what a curious user would try. Modules are loaded before the user changes,
// so that the sources need not be readable for all.

import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { Command } from 'commander';
import { defineHook } from '../../src/cli/commands/hook.ts';
import { UsageError } from '../../src/cli/output/output.ts';

const [, , uid = '', gid = '', what = '', ...args] = process.argv;
if (process.getuid?.() === 0) {
  process.setgroups?.([]);
  process.setgid?.(Number(gid));
  process.setuid?.(Number(uid));
}

try {
  if (what === 'read') process.stdout.write(readFileSync(args[0] ?? ''));
  else if (what === 'connect') process.stdout.write(await said(args[0] ?? '', args[1] ?? ''));
  else await hook();
} catch (error) {
  process.stderr.write(`error: ${(error as Error).message}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}

async function hook(): Promise<void> {
  const command = new Command('hook').exitOverride();
  defineHook(command, (code) => {
    process.exitCode = code;
  });
  await command.parseAsync(args, { from: 'user' });
}

/** What the socket answers to a request with what is on standard input. */
async function said(socketPath: string, target: string): Promise<string> {
  const [method = 'GET', path = '/'] = target.split(' ');
  const body = await text(process.stdin);
  return await new Promise((done, failed) => {
    const sent = request({ socketPath, method, path }, (response) => done(text(response)));
    sent.on('error', failed);
    sent.end(body);
  });
}
