// The options that all parts of `writ mcp` share: the name of the server, and where the server is.

import type { Command } from 'commander';
import type { ServerTarget } from '../../../integrations/mcp/proxy.ts';
import { UsageError } from '../output/output.ts';

export interface ServerOptions {
  readonly as: string;
  readonly url?: string;
  readonly header?: readonly string[];
}

export function withServerOptions(command: Command): Command {
  return command
    .argument('[server...]', 'after `--`: the command that starts the server')
    .requiredOption('--as <name>', 'the name of the server: its actions are NAME.TOOL')
    .option('--url <address>', 'the address of the server (streamable HTTP)')
    .option('--header <line...>', '`Name: value` or `Name: env:VARIABLE`, sent to the server at `--url`');
}

/** The environment of this process, without the secrets that only this process may know. */
export function environmentOfServer(): NodeJS.ProcessEnv {
  const { WRIT_API_KEY: key, WRIT_TOKEN: token, ...environment } = process.env;
  return environment;
}

export function nameOfServer({ as }: ServerOptions): string {
  if (!/^[a-z][a-z0-9_]*$/.test(as))
    throw new UsageError(`\`${as}\` is not a name: use lower-case letters, digits and _`);
  return as;
}

export function serverTarget(command: readonly string[], { url, header = [] }: ServerOptions): ServerTarget {
  const isCommand = command.length > 0;
  if (isCommand === (url !== undefined))
    throw new UsageError('name the server: `--url ADDRESS`, or its command after `--`');
  if (isCommand && header.length > 0) throw new UsageError('`--header` requires `--url`');
  if (isCommand) return { kind: 'command', command, environment: environmentOfServer() };
  return { kind: 'url', url: addressOf(url ?? ''), headers: Object.fromEntries(header.map(headerOf)) };
}

/** Where a server is, as the lock file keeps it. Headers are left out, because they may be secret. */
export function sourceOf(target: ServerTarget): readonly string[] {
  return target.kind === 'command' ? target.command : [target.url.href];
}

export function addressOf(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new UsageError(`\`${text}\` is not an address such as https://crm.example.com/mcp`);
  return url;
}

function headerOf(line: string): readonly [string, string] {
  const [, name = '', value = ''] = /^([\w-]+):\s*(.*)$/.exec(line) ?? [];
  if (name === '')
    throw new UsageError(`\`${line}\` is not a header such as \`Authorization: env:CRM_TOKEN\``);
  const variable = /^env:(\w+)$/.exec(value)?.[1];
  if (variable === undefined) return [name.toLowerCase(), value];
  const held = process.env[variable];
  if (held === undefined || held === '') throw new UsageError(`the variable ${variable} is not set`);
  return [name.toLowerCase(), held];
}
