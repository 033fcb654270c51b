// `writ mcp wrap`: puts the proxy in front of every server that a client's configuration names. Fields of an
// entry that the command does not know stay unchanged. Secrets of headers move into the environment, where
// other users of the machine do not see them.

import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isObject, type Json, type JsonObject } from '../../../integrations/mcp/protocol/messages.ts';
import { isPointKey } from '../client/key-file.ts';
import { readCommentedJson, writeCommentedJson } from '../output/commented-json.ts';
import { fileError } from '../output/file-error.ts';
import { type ExitCode, exitCodes, print, printError, UsageError } from '../output/output.ts';
import { replaceFile } from '../output/replace-file.ts';
import { entryFile, type Launcher, launcherIn } from './launcher.ts';

export interface WrapOptions {
  readonly service?: string;
  readonly keyFile: string;
  readonly lock?: string;
  readonly dryRun?: boolean;
}

/** The sections in which clients keep their servers. */
const sections = ['mcpServers', 'servers'] as const;

export async function wrapConfiguration(path: string, options: WrapOptions): Promise<ExitCode> {
  const text = textIn(path);
  const whole = configurationIn(path, text);
  refusePointKey(options.keyFile);
  const section = sections.find((name) => isObject(whole[name]));
  if (section === undefined)
    throw new UsageError(`${path} names no servers: it has no \`${sections.join('` or `')}\``);
  const servers = Object.entries(whole[section] as JsonObject);
  const launch = launcherIn(dirname(resolve(path)));
  const wrapped = servers.map(
    ([name, entry]) => [name, isObject(entry) ? wrapEntry(name, entry, options, launch) : entry] as const,
  );
  const changed = writeCommentedJson(text, { ...whole, [section]: Object.fromEntries(wrapped) });
  if (options.dryRun === true) print(changed);
  else await replaceFile(path, changed);
  const count = wrapped.filter(([, entry], at) => entry !== servers[at]?.[1]).length;
  printError(
    `writ mcp: ${count} of ${servers.length} servers of ${path} ${options.dryRun === true ? 'would use' : 'use'} the proxy\n`,
  );
  if (count > 0 && !launch.isShared)
    printError(
      `${path} now names the writ of this machine: before you share the file, install the package writ in its folder and run the command again\n`,
    );
  return exitCodes.ok;
}

function textIn(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${fileError(error)}`);
  }
}

function configurationIn(path: string, text: string): JsonObject {
  let value: unknown;
  try {
    value = readCommentedJson(text);
  } catch (error) {
    throw new UsageError(`${path} cannot be read as JSON: ${(error as Error).message}`);
  }
  if (!isObject(value)) throw new UsageError(`${path} is not a JSON object`);
  return value;
}

/**
 * The client starts a wrapped server as its own user, so the agent can read what the proxy reads. Throws a UsageError
 * when that would be the key of an enforcement point. A file that is not there yet, or that its owner alone reads, says
 * nothing.
 */
function refusePointKey(path: string): void {
  let key: string;
  try {
    key = readFileSync(path, 'utf8').trim();
  } catch {
    return;
  }
  if (isPointKey(key))
    throw new UsageError(
      `${path} contains an enforcement point's key, and the client would start the proxy as the agent's user, so the agent could read it: run \`writ mcp --listen\` as another user, and give the client its address`,
    );
}

/** Whether an entry starts the proxy already, by either launcher. */
function isWrapped(command: Json | undefined, argv: readonly string[]): boolean {
  if (argv[0] === entryFile && argv[1] === 'mcp') return true;
  return command === 'npx' && argv.slice(0, 3).join(' ') === '--no writ mcp';
}

function wrapEntry(name: string, entry: JsonObject, options: WrapOptions, launch: Launcher): JsonObject {
  const { command, args = [], url, headers, type, env, ...rest } = entry;
  const argv = Array.isArray(args) ? args.map(String) : [];
  if (isWrapped(command, argv)) return entry;
  const before = [
    ...launch.args,
    'mcp',
    '--as',
    asOf(name),
    '--key-file',
    launch.pathOf(options.keyFile),
    ...chosen(options, launch),
  ];
  const environment = isObject(env) ? env : {};
  if (typeof command === 'string')
    return {
      ...rest,
      ...withType(type),
      command: launch.command,
      args: [...before, '--', command, ...argv],
      ...withEnv(environment),
    };
  if (typeof url !== 'string') return entry;
  const sent = Object.entries(isObject(headers) ? headers : {}).map(
    ([header, value], at) => [header, `WRIT_HEADER_${at + 1}`, value] as const,
  );
  const lines = sent.flatMap(([header, variable]) => ['--header', `${header}: env:${variable}`]);
  const secrets = Object.fromEntries(sent.map(([, variable, value]) => [variable, value]));
  return {
    ...rest,
    ...withType(type === undefined ? undefined : 'stdio'),
    command: launch.command,
    args: [...before, '--url', url, ...lines],
    ...withEnv({ ...environment, ...secrets }),
  };
}

function chosen({ service, lock }: WrapOptions, { pathOf }: Launcher): readonly string[] {
  return [
    ...(service === undefined ? [] : ['--service', service]),
    ...(lock === undefined ? [] : ['--lock', pathOf(lock)]),
  ];
}

function withType(type: Json | undefined): JsonObject {
  return type === undefined ? {} : { type };
}

function withEnv(env: JsonObject): JsonObject {
  return Object.keys(env).length === 0 ? {} : { env };
}

/** Turns a server's name into a plain word, because the keys of its actions begin with that word. */
function asOf(name: string): string {
  const word = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '');
  return /^[a-z]/.test(word) ? word : `server_${word}`;
}
