// A client on a wire, the proxy, a counting server and the real service; only the server is a separate
// process.

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { onTestFinished } from 'vitest';
import { createHttpProxy, type ProxySettings, runStdioProxy } from '../../../integrations/mcp/proxy.ts';
import type { Service } from '../../service/http/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test looks into what it got
export type Got = any;

export interface CountingServer {
  readonly settings: Pick<ProxySettings, 'server'>;
  /** The messages that the server got, in order. */
  readonly log: () => readonly Got[];
  /** The calls that the server carried out. */
  readonly calls: () => readonly Got[];
  readonly tell: (tools: readonly object[], instructions?: string) => void;
}

export const tool = (name: string, more: object = {}) => ({
  name,
  description: `${name} of the server`,
  inputSchema: { type: 'object', properties: { path: { type: 'string', description: 'where' } } },
  ...more,
});

export function countingServer(...tools: readonly object[]): CountingServer {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-'));
  const [logFile, toolsFile] = [join(folder, 'log'), join(folder, 'tools.json')];
  const tell = (those: readonly object[], instructions = 'Be kind.') =>
    writeFileSync(toolsFile, JSON.stringify({ tools: those, instructions }));
  writeFileSync(logFile, '');
  tell(tools);
  const command = [process.execPath, join(import.meta.dirname, 'counting-server.ts'), logFile, toolsFile];
  const log = () =>
    readFileSync(logFile, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  return {
    settings: { server: { kind: 'command', command, environment: process.env } },
    log,
    calls: () => log().filter(({ method }) => method === 'tools/call'),
    tell,
  };
}

export function proxySettings(
  { url }: Pick<Service, 'url'>,
  { settings }: CountingServer,
  changes: Partial<ProxySettings> = {},
): ProxySettings {
  return {
    as: 'files',
    locked: null,
    holdMs: 0,
    pass: new Set(),
    warn: () => undefined,
    prefix: '',
    isCoaz: false,
    service: url,
    agent: null,
    session: null,
    areReceiptsSent: false,
    ...settings,
    ...changes,
  };
}

export interface Wire {
  /** All text that has arrived. */
  readonly text: () => string;
  readonly got: readonly Got[];
  sendText(text: string): void;
  notify(method: string, params?: object): void;
  respond(id: unknown, result: object): void;
  ask(method: string, params?: object, id?: number): Promise<Got>;
  /** The first message that fits, among those that have arrived and those to come. */
  next(fits: (message: Got) => boolean): Promise<Got>;
  close(): void;
}

/** Opens a wire, which is closed when the test has finished unless `isKept` is set. */
export function openWire(settings: ProxySettings, key: string, isKept = false): Wire {
  const [input, output] = [new PassThrough(), new PassThrough()];
  runStdioProxy({ settings, key, input, output, onEnd: () => undefined });
  const got: Got[] = [];
  const waiting = new Set<() => void>();
  let all = '';
  let read = 0;
  output.on('data', (chunk: Buffer) => {
    all += chunk.toString();
    for (let end = all.indexOf('\n', read); end >= 0; end = all.indexOf('\n', read)) {
      got.push(JSON.parse(all.slice(read, end)));
      read = end + 1;
    }
    for (const look of waiting) look();
  });
  const next = (fits: (message: Got) => boolean) =>
    new Promise<Got>((resolve) => {
      const look = () => {
        const found = got.find(fits);
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  const send = (message: object) => input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  let count = 0;
  const wire: Wire = {
    text: () => all,
    got,
    sendText: (text) => input.write(`${text}\n`),
    notify: (method, params) => send({ method, ...(params === undefined ? {} : { params }) }),
    respond: (id, result) => send({ id, result }),
    ask(method, params = {}, id) {
      count += 1;
      const own = id ?? count;
      send({ id: own, method, params });
      return next((message) => message.id === own && message.method === undefined);
    },
    next,
    close: () => input.end(),
  };
  if (!isKept) onTestFinished(wire.close);
  return wire;
}

/** The address of a proxy for clients over HTTP, open until the test has finished. */
export async function listenForClients(
  settings: ProxySettings,
  sharedKey: string | null = null,
  limits = { ofCallerMax: 4, max: 32 },
): Promise<URL> {
  const server = createHttpProxy({ settings, sharedKey, limits, origins: [], hosts: [] });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return new URL(`http://127.0.0.1:${(server.address() as Got).port}/mcp`);
}

/** Opens a session of the protocol. */
export async function initialize(wire: Wire, capabilities: object = {}): Promise<Got> {
  const clientInfo = { name: 'test', version: '1' };
  const opened = await wire.ask('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo });
  wire.notify('notifications/initialized');
  return opened;
}

/** Fields that each request of the later protocol era carries. */
export const modern = (clientCapabilities: object = {}) => ({
  _meta: {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': clientCapabilities,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  },
});

export const textOf = ({ result }: Got): string => result.content[0].text;
