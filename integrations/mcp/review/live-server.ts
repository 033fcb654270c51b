// What a server says about itself now, read as a client would read it that can do nothing.

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

/** Throws where the server cannot be asked. */
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
  const ask: AskServer = (method, params) => within(questions.ask(server.send, method, params));
  try {
    const opened = await ask('initialize', {
      protocolVersion: latestWithSessions,
      capabilities: {},
      clientInfo: { name: 'writ', version: '0' },
    });
    if (opened.result !== undefined) {
      server.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
      return await readOpened(ask, opened.result, {
        source,
        params: {},
        server: member(opened.result, 'serverInfo'),
      });
    }
    const _meta = {
      [metaNames.version]: latest,
      [metaNames.capabilities]: {},
      [infoName]: { name: 'writ', version: '0' },
    };
    const { result, error } = await ask('server/discover', { _meta });
    if (result === undefined)
      throw new SilentServer(`the server says: ${opened.error?.message}; ${error?.message}`);
    return await readOpened(ask, result, {
      source,
      params: { _meta },
      server: member(result, '_meta', serverName),
    });
  } finally {
    server.close();
  }
}

const infoName = 'io.modelcontextprotocol/clientInfo';
const serverName = 'io.modelcontextprotocol/serverInfo';

interface Opened {
  readonly source: readonly string[];
  readonly params: JsonObject;
  readonly server: unknown;
}

async function readOpened(
  ask: AskServer,
  result: JsonObject,
  { source, params, server }: Opened,
): Promise<LiveServer> {
  const instructions = member(result, 'instructions');
  const hasTools = member(result, 'capabilities', 'tools') !== undefined;
  const found = hasTools ? (await readTools(ask, params)).tools : new Map<string, JsonObject | null>();
  const twice = [...found].find(([, definition]) => definition === null);
  if (twice !== undefined) throw new SilentServer(`the server lists ${twice[0]} twice`);
  return {
    source,
    server: (server ?? {}) as JsonObject,
    instructions: typeof instructions === 'string' ? instructions : null,
    tools: [...found.values()].filter((definition) => definition !== null),
  };
}

async function within(answer: Promise<RpcResponse>): Promise<RpcResponse> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<RpcResponse>((_resolve, reject) => {
    timer = setTimeout(() => reject(new SilentServer('the server does not answer')), waitMs);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
