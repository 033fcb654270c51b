// `writ mcp run`, which is also `writ mcp` alone: runs the proxy over the standard streams or on an address.

import type { Server } from 'node:http';
import { createInspector, type Inspect } from '../../../integrations/mcp/calls/inspection.ts';
import { createHttpProxy, type ProxySettings, runStdioProxy } from '../../../integrations/mcp/proxy.ts';
import type { KeySource } from '../../../integrations/typescript/credential.ts';
import { tokenFile } from '../../../integrations/typescript/token-file.ts';
import { serviceAddress } from '../client/api-client.ts';
import { isPointKey, keyIn } from '../client/key-file.ts';
import { type ExitCode, exitCodes, printError, UsageError } from '../output/output.ts';
import { lockedServer } from './review-server.ts';
import {
  addressOf,
  environmentOfServer,
  nameOfServer,
  type ServerOptions,
  serverTarget,
} from './server-options.ts';

export interface ProxyOptions extends ServerOptions {
  readonly service?: string;
  readonly keyFile?: string;
  readonly lock?: string;
  readonly hold: string;
  readonly agent?: string;
  readonly session?: string;
  readonly receipts?: boolean;
  readonly plans?: boolean;
  readonly prefix: string;
  readonly coaz?: boolean;
  readonly pass?: readonly string[];
  readonly inspect?: string;
  readonly inspectTimeout: string;
  readonly listen?: string;
  readonly sharedKey?: boolean;
  readonly sessions: string;
  readonly sessionsOfCaller: string;
  readonly origin?: readonly string[];
  readonly host?: readonly string[];
}

export async function runProxy(command: readonly string[], options: ProxyOptions): Promise<ExitCode> {
  const settings = settingsOf(command, options);
  if (options.lock === undefined) settings.warn("without --lock, clients see the server's texts unreviewed");
  if (options.listen !== undefined) {
    await listen(settings, options, options.listen);
    return exitCodes.ok;
  }
  const key = keySourceOf(options);
  if (options.keyFile === undefined && typeof key === 'string' && isPointKey(key))
    throw new UsageError(
      "an enforcement point's key must not be in the environment of a program that an agent starts: use --key-file with a file that only the proxy's user can read",
    );
  return await runOnStreams(settings, key);
}

function settingsOf(command: readonly string[], options: ProxyOptions): ProxySettings {
  const as = nameOfServer(options);
  return {
    as,
    locked: options.lock === undefined ? null : lockedServer(options.lock, as),
    holdMs: holdOf(options) * 1000,
    pass: new Set(options.pass ?? []),
    ...inspectOf(options),
    arePlansOffered: options.plans === true,
    warn: (line) => printError(`writ mcp: ${line}\n`),
    prefix: prefixOf(options),
    isCoaz: options.coaz === true,
    service: serviceAddress(options.service === undefined ? {} : { url: options.service }),
    agent: options.agent ?? process.env.WRIT_AGENT ?? null,
    session: options.session ?? null,
    areReceiptsSent: options.receipts === true,
    server: serverTarget(command, options),
  };
}

/** The detector that `--inspect` names; an address, or a program with its arguments. */
function inspectOf({ inspect, inspectTimeout }: ProxyOptions): { readonly inspect?: Inspect } {
  if (inspect === undefined) return {};
  const seconds = Number(inspectTimeout);
  if (!/^\d{1,2}$/.test(inspectTimeout) || seconds < 1 || seconds > 60)
    throw new UsageError(`\`--inspect-timeout ${inspectTimeout}\` is not a number of seconds from 1 to 60`);
  const command = inspect.split(' ').filter((part) => part !== '');
  if (command.length === 0) throw new UsageError('--inspect is empty: name a program or an address');
  const target = /^https?:\/\//.test(inspect) ? { url: addressOf(inspect) } : { command };
  return {
    inspect: createInspector({ target, environment: environmentOfServer(), timeoutMs: seconds * 1_000 }),
  };
}

function holdOf({ hold }: ProxyOptions): number {
  const seconds = Number(hold);
  if (/^\d+$/.test(hold) && seconds <= 3600) return seconds;
  throw new UsageError(`\`--hold ${hold}\` is not a number of seconds up to 3600`);
}

function prefixOf({ prefix }: ProxyOptions): string {
  const isFit = prefix === '' || /^([a-z0-9-]+\.)+[a-z0-9-]+\/$/.test(prefix);
  const [, second = ''] = prefix.split('.');
  if (isFit && !/^(mcp|modelcontextprotocol)\/?$/.test(second)) return prefix;
  throw new UsageError(`\`--prefix ${prefix}\` is not a prefix such as com.example/`);
}

/** The key, or the token in the file that WRIT_TOKEN_FILE names. */
function keySourceOf(options: ProxyOptions): KeySource {
  const { WRIT_API_KEY: key = '', WRIT_TOKEN_FILE: file = '' } = process.env;
  return options.keyFile === undefined && key === '' && file !== '' ? tokenFile(file) : keyOf(options);
}

function keyOf({ keyFile }: ProxyOptions): string {
  const key = keyFile === undefined ? process.env.WRIT_API_KEY : keyIn(keyFile);
  if (key === undefined || key === '')
    throw new UsageError(
      'the key of an agent or an enforcement point is missing: set WRIT_API_KEY or use --key-file',
    );
  return key;
}

/** Milliseconds for what is still under way when the proxy ends. */
const endMs = 3_000;

/** Resolves when the client ends, or the server. A proxy without its server could only refuse, so it ends, too. */
function runOnStreams(settings: ProxySettings, key: KeySource): Promise<ExitCode> {
  return new Promise((resolve) => {
    runStdioProxy({
      settings,
      key,
      input: process.stdin,
      output: process.stdout,
      onEnd(why) {
        // Standard input may never end, and people may take their time. Reports are on their way by then.
        process.stdin.destroy();
        setTimeout(() => process.exit(), endMs).unref();
        if (why !== null) settings.warn(`${why}, so the proxy ends`);
        resolve(why === null ? exitCodes.ok : exitCodes.wrong);
      },
    });
  });
}

function countOf(option: string, text: string): number {
  const count = Number(text);
  if (/^\d{1,4}$/.test(text) && count > 0) return count;
  throw new UsageError(`\`${option} ${text}\` is not a number from 1 to 9999`);
}

async function listen(settings: ProxySettings, options: ProxyOptions, address: string): Promise<void> {
  const [, host = '', port = ''] = /^(?:\[?([^\]]*?)\]?:)?(\d{1,5})$/.exec(address) ?? [];
  if (port === '') throw new UsageError(`\`--listen ${address}\` is not an address such as 127.0.0.1:8282`);
  const server = createHttpProxy({
    settings,
    sharedKey: options.sharedKey === true ? keyOf(options) : null,
    origins: options.origin ?? [],
    hosts: options.host ?? [],
    limits: {
      ofCallerMax: countOf('--sessions-of-caller', options.sessionsOfCaller),
      max: countOf('--sessions', options.sessions),
    },
  });
  await begin(server, Number(port), host === '' ? '127.0.0.1' : host);
  const at = server.address();
  const hostAndPort =
    typeof at === 'object' && at !== null
      ? `${at.family === 'IPv6' ? `[${at.address}]` : at.address}:${at.port}`
      : '';
  settings.warn(`listening on http://${hostAndPort}/mcp`);
  await new Promise<void>((resolve) => {
    server.on('close', resolve);
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.once(signal, () => {
        server.close();
        server.closeAllConnections();
      });
  });
}

function begin(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(new UsageError(`cannot listen: ${error.message}`)));
    server.listen(port, host, resolve);
  });
}
