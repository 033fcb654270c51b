// Reads what a server tells about itself now, as a client without any abilities.

import { createQuestions } from '../calls/questions.ts';
import { metaNames } from '../protocol/eras.ts';
import { isResponse, type JsonObject, member, type RpcResponse } from '../protocol/messages.ts';
import type { OpenUpstream } from '../servers/shared-upstream.ts';
import { type AskServer, readTools } from './catalogue.ts';
import type { LiveServer } from './lock.ts';

export class SilentServer extends Error {}

const latestWithSessions = '2025-11-25';
const latest = '2026-07-28';
const waitMs = 60_000;
/**
 * Milliseconds to wait for an answer in the stateless era, when the server has answered in the era of
 * sessions.
 */
const laterEraWaitMs = 5_000;

/**
 * Reads the server in both eras of the protocol, because some servers list tools in one era only. What a
 * server tells in both eras is taken from the era of sessions. Throws when the server cannot be asked.
 */
export async function readServer(open: OpenUpstream, source: readonly string[]): Promise<LiveServer> {
  const questions = createQuestions();
  const server = open(
    {
      onMessage(message) {
        if (isResponse(message)) questions.settle(message);
      },
      onEnd: (why) => questions.end(why),
    },
    () => null,
  );
  const askWithin = (ms: number): AskServer => {
    return (method, params) => within(ms, questions.ask(server.send, method, params));
  };
  try {
    const opened = await askWithin(waitMs)('initialize', {
      protocolVersion: latestWithSessions,
      capabilities: {},
      clientInfo: { name: 'writ', version: '0' },
    });
    if (opened.result === undefined) {
      const { read, error } = await readStateless(askWithin(waitMs), source);
      if (read === null) throw new SilentServer(`the server reports: ${opened.error?.message}; ${error}`);
      return read;
    }
    server.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    const listing = await readOpened(askWithin(waitMs), opened.result, {
      source,
      params: {},
      server: member(opened.result, 'serverInfo'),
    });
    const { read } = await readStateless(askWithin(laterEraWaitMs), source).catch(onlySilence);
    return read === null ? listing : { ...listing, tools: together(listing.tools, read.tools) };
  } finally {
    server.close();
  }
}

interface ReadStateless {
  /** The server as read; null when it does not speak the stateless era. */
  readonly read: LiveServer | null;
  readonly error?: string | undefined;
}

async function readStateless(ask: AskServer, source: readonly string[]): Promise<ReadStateless> {
  const _meta = {
    [metaNames.version]: latest,
    [metaNames.capabilities]: {},
    [infoName]: { name: 'writ', version: '0' },
  };
  const { result, error } = await ask('server/discover', { _meta });
  if (result === undefined) return { read: null, error: error?.message };
  const server = member(result, '_meta', serverName);
  return { read: await readOpened(ask, result, { source, params: { _meta }, server }) };
}

/**
 * Treats silence as null, because a server of the era of sessions may not answer a request that it does not
 * know.
 */
function onlySilence(error: unknown): ReadStateless {
  if (error instanceof SilentServer) return { read: null };
  throw error;
}

function together(tools: readonly JsonObject[], more: readonly JsonObject[]): readonly JsonObject[] {
  const names = new Set(tools.map(({ name }) => name));
  return [...tools, ...more.filter(({ name }) => !names.has(name))];
}

const infoName = 'io.modelcontextprotocol/clientInfo';
const serverName = 'io.modelcontextprotocol/serverInfo';

interface OpenServer {
  readonly source: readonly string[];
  readonly params: JsonObject;
  readonly server: unknown;
}

async function readOpened(
  ask: AskServer,
  result: JsonObject,
  { source, params, server }: OpenServer,
): Promise<LiveServer> {
  const instructions = member(result, 'instructions');
  const hasTools = member(result, 'capabilities', 'tools') !== undefined;
  const tools = hasTools ? (await readTools(ask, params)).tools : new Map<string, JsonObject | null>();
  const twice = [...tools].find(([, definition]) => definition === null);
  if (twice !== undefined) throw new SilentServer(`the server lists ${twice[0]} twice`);
  return {
    source,
    server: (server ?? {}) as JsonObject,
    instructions: typeof instructions === 'string' ? instructions : null,
    tools: [...tools.values()].filter((definition) => definition !== null),
  };
}

async function within(ms: number, answer: Promise<RpcResponse>): Promise<RpcResponse> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<RpcResponse>((_resolve, reject) => {
    timer = setTimeout(() => reject(new SilentServer('the server does not answer')), ms);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
