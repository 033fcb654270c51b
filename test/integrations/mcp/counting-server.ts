// A server of both protocol eras that writes down every message it gets, and lists the tools that a file
// holds at that moment. It uses no library, so that nothing stands between the tests and the wire.

import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [, , logFile = '', toolsFile = ''] = process.argv;
const modern = 'io.modelcontextprotocol/protocolVersion';
// biome-ignore lint/suspicious/noExplicitAny: it takes whatever comes
type Any = any;

const say = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

function result(method: string, params: Any): object | null {
  const isModern = params?._meta?.[modern] !== undefined;
  const about = { tools: { listChanged: true }, resources: {}, prompts: {} };
  const told = JSON.parse(readFileSync(toolsFile, 'utf8'));
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params.protocolVersion,
        capabilities: about,
        serverInfo: { name: 'counting', version: '1' },
        instructions: told.instructions,
      };
    case 'server/discover':
      if (!isModern) return null;
      return {
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities: about,
        instructions: told.instructions,
        ttlMs: 0,
        cacheScope: 'private',
      };
    case 'tools/list':
      return {
        ...(isModern ? { resultType: 'complete', ttlMs: 0, cacheScope: 'private' } : {}),
        tools: told.tools,
      };
    case 'resources/read':
      return { contents: [{ uri: params.uri, text: 'x' }] };
    case 'prompts/list':
      return { prompts: [{ name: 'greet' }] };
    case 'tools/call':
      return call(params, isModern);
    default:
      return null;
  }
}

function call({ name, arguments: args, inputResponses, requestState }: Any, isModern: boolean): object {
  if (name === 'die') process.exit(3);
  const complete = isModern ? { resultType: 'complete' } : {};
  if (name === 'ask' && inputResponses === undefined)
    return {
      resultType: 'input_required',
      inputRequests: {
        who: {
          method: 'elicitation/create',
          params: { mode: 'url', url: 'https://a.example', message: 'Who?' },
        },
      },
      requestState: 'state of the server',
    };
  const text = JSON.stringify({ name, args, requestState });
  return {
    ...complete,
    content: [{ type: 'text', text }],
    ...(args?.returns !== undefined && { structuredContent: args.returns }),
    ...(args?.fails === true && { isError: true }),
    big: 12345678901234567890n.toString(),
  };
}

createInterface({ input: process.stdin }).on('line', (line) => {
  appendFileSync(logFile, `${line}\n`);
  const { id, method, params } = JSON.parse(line);
  if (method === 'notifications/changed') say({ method: 'notifications/tools/list_changed' });
  if (id === undefined || method === undefined) return;
  // The call is received, and never answered.
  if (params?.name === 'mute') return;
  const found = result(method, params);
  say(found === null ? { id, error: { code: -32601, message: 'no such method' } } : { id, result: found });
});
