// A small MCP server that keeps notes in memory. It knows nothing of policies.

import { createInterface } from 'node:readline';

const notes = new Map([['/team/lunch', 'Noon']]);

const path = { type: 'string' };
const tools = [
  {
    name: 'read',
    description: 'Reads a note',
    inputSchema: { type: 'object', properties: { path }, required: ['path'] },
  },
  {
    name: 'write',
    description: 'Writes a note',
    inputSchema: {
      type: 'object',
      properties: { path, text: { type: 'string' } },
      required: ['path', 'text'],
    },
  },
  {
    name: 'erase',
    description: 'Erases a note',
    inputSchema: { type: 'object', properties: { path }, required: ['path'] },
  },
];

interface Call {
  readonly name: string;
  readonly arguments: { readonly path: string; readonly text: string };
}

function call({ name, arguments: { path, text } }: Call): string {
  if (name === 'write') notes.set(path, text);
  if (name === 'erase') notes.delete(path);
  return notes.get(path) ?? 'no such note';
}

function answer(method: string, params: Call & { readonly protocolVersion: string }): object {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'notes', version: '1' },
      };
    case 'tools/list':
      return { tools };
    case 'tools/call':
      return { content: [{ type: 'text', text: call(params) }] };
    default:
      return {};
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: answer(method, params) })}\n`);
});
