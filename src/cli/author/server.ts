// Answers the messages of a client of the Model Context Protocol, in both of its eras. INVARIANT: every request
// gets one answer, unless the client has cancelled it; no message ends the server.

import {
  completed,
  type Era,
  eraOf,
  versionOf,
  versionsWithSessions,
} from '../../../integrations/mcp/protocol/eras.ts';
import {
  errorAnswer,
  errorCodes,
  type Id,
  isObject,
  isRequest,
  isResponse,
  type JsonObject,
  type Message,
  member,
  type RpcNotification,
  type RpcRequest,
  readFromClient,
  resultAnswer,
} from '../../../integrations/mcp/protocol/messages.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { promptList, readPrompt } from './prompts.ts';
import { listResources, readResource, resourceTemplates } from './resources.ts';
import type { ToolThread } from './tool-thread.ts';

export interface AuthorServerOptions {
  readonly tools: ToolThread;
  readonly send: (message: Message) => void;
  /** Milliseconds between two reports on a running call. */
  readonly progressMs: number;
}

export interface AuthorServer {
  /** Takes a line of the client; resolves when it is answered. */
  readonly receive: (line: Uint8Array) => Promise<void>;
}

/** Versions without sessions. */
const statelessVersions = ['2026-07-28'];

const serverInfo = { name: 'writ', title: 'Writ: write policies', version: manifest.version };

const capabilities = { tools: {}, resources: {}, prompts: {} };

const instructions =
  'Writ decides what autonomous agents may do, by policies in `*.policy` files. This server checks policies; write the files with your own tools, in the directory of this server. Begin with `reference` and the topic `workflow`. After each edit call `check`, then `test`, `prove`, and at the end `diff` and `summary`.';

/** An answer that is an error of the protocol. A class because it is thrown. */
class ProtocolError extends Error {
  readonly code: number;
  readonly data: JsonObject | undefined;

  constructor(code: number, message: string, data?: JsonObject) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

const unsupportedVersion = -32022;

export function createAuthorServer({ tools, send, progressMs }: AuthorServerOptions): AuthorServer {
  const running = new Map<Id, AbortController>();

  async function receive(line: Uint8Array): Promise<void> {
    const read = readFromClient(line);
    if (!read.ok) return send(read.answer);
    const { message } = read;
    // This server asks its clients nothing, so a response answers nothing.
    if (isResponse(message)) return;
    if (!isRequest(message)) return takeNotification(message);
    const { id } = message;
    try {
      const result = await resultOf(message);
      if (result !== null) send(resultAnswer(id, result));
    } catch (error) {
      send(errorOf(id, error));
    }
  }

  function takeNotification({ method, params }: RpcNotification): void {
    const id = member(params, 'requestId');
    if (method === 'notifications/cancelled') running.get(id as Id)?.abort();
  }

  /** The result of a request; null when the client has cancelled it. */
  async function resultOf(request: RpcRequest): Promise<JsonObject | null> {
    const { method, params = {} } = request;
    if (method === 'initialize') return welcome(params);
    const era = eraOf(params);
    const version = versionOf(params);
    if (version !== null && !statelessVersions.includes(version))
      throw new ProtocolError(unsupportedVersion, `the version ${JSON.stringify(version)} is not supported`, {
        supported: statelessVersions,
        requested: version,
      });
    const result = method === 'tools/call' ? await callTool(request) : await answerTo(method, params, era);
    return result === null ? null : inEra(era, method, result);
  }

  async function answerTo(method: string, params: JsonObject, era: Era): Promise<JsonObject> {
    if (method === 'ping' && era === 'sessions') return {};
    if (method === 'server/discover' && era === 'stateless')
      return { supportedVersions: statelessVersions, capabilities, instructions };
    if (method === 'tools/list') return { tools: (await tools.tools()) as unknown as JsonObject[] };
    const lookedUp = lookUp(method, params);
    if (lookedUp === undefined)
      throw new ProtocolError(errorCodes.methodNotFound, `there is no method ${method}`);
    return lookedUp;
  }

  /** A call can be cancelled from its arrival on, also while the tools are loaded. */
  async function callTool({ id, params = {} }: RpcRequest): Promise<JsonObject | null> {
    if (running.has(id)) throw invalid(`a request with the id ${JSON.stringify(id)} is running`);
    const cancelled = new AbortController();
    running.set(id, cancelled);
    try {
      return await callWithin(params, cancelled.signal);
    } finally {
      running.delete(id);
    }
  }

  async function callWithin(params: JsonObject, signal: AbortSignal): Promise<JsonObject | null> {
    const { name, arguments: args = {} } = params;
    const known = await tools.tools();
    if (!known.some((tool) => tool.name === name))
      throw invalid(
        `there is no tool ${JSON.stringify(name ?? null)}: use ${known.map((tool) => tool.name).join(', ')}`,
      );
    if (!isObject(args)) throw invalid('`arguments` is not an object');
    const { onStage, end } = reportProgress(member(params, '_meta', 'progressToken'));
    return await tools.call({ tool: name as string, args, signal, onStage }).finally(end);
  }

  /** Reports on a call until it ends, if the client has asked for reports. */
  function reportProgress(progressToken: unknown) {
    const start = performance.now();
    let message = 'running';
    const isAsked = typeof progressToken === 'string' || typeof progressToken === 'number';
    const report = (): void => {
      const progress = (performance.now() - start) / 1_000;
      const params = { progressToken: progressToken as Id, progress, message };
      send({ jsonrpc: '2.0', method: 'notifications/progress', params });
    };
    const timer = isAsked ? setInterval(report, progressMs) : undefined;
    return {
      onStage: (stage: string) => {
        message = stage;
      },
      end: () => clearInterval(timer),
    };
  }

  return { receive };
}

function welcome(params: JsonObject): JsonObject {
  const { protocolVersion: wanted } = params;
  const version = versionsWithSessions.find((one) => one === wanted) ?? versionsWithSessions.at(-1)!;
  return { protocolVersion: version, capabilities, serverInfo, instructions };
}

/** What needs no tool; undefined for a method that this server does not have. */
function lookUp(method: string, params: JsonObject): JsonObject | undefined {
  switch (method) {
    case 'resources/list': {
      const { cursor } = params;
      const page = cursor === undefined || typeof cursor === 'string' ? listResources(cursor) : null;
      if (page === null) throw invalid('this server has not given that `cursor`');
      return page;
    }
    case 'resources/templates/list':
      return { resourceTemplates: [...resourceTemplates] };
    case 'resources/read': {
      const { uri } = params;
      const contents = typeof uri === 'string' ? readResource(uri) : null;
      if (contents === null)
        throw new ProtocolError(resourceNotFound, 'there is no such resource', { uri: uri ?? null });
      return contents;
    }
    case 'prompts/list':
      return { prompts: [...promptList] };
    case 'prompts/get': {
      const { name, arguments: given = {} } = params;
      const read = isObject(given) ? readPrompt(name, given) : { fault: '`arguments` is not an object' };
      if ('fault' in read) throw invalid(read.fault);
      return read.prompt;
    }
    default:
      return undefined;
  }
}

const resourceNotFound = -32002;

/** Methods whose results a client may keep; what they list does not change while the server runs. */
const lasting = new Set([
  'server/discover',
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
]);

const keptMs = 3_600_000;

function inEra(era: Era, method: string, result: JsonObject): JsonObject {
  if (era === 'sessions') return result;
  const kept = lasting.has(method) ? { ttlMs: keptMs, cacheScope: 'public' } : {};
  return { ...completed(era, result), ...kept, _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo } };
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(errorCodes.invalidParams, message);
}

function errorOf(id: Id, error: unknown): Message {
  if (error instanceof ProtocolError) return errorAnswer(id, error.code, error.message, error.data);
  return errorAnswer(id, errorCodes.internal, error instanceof Error ? error.message : String(error));
}
