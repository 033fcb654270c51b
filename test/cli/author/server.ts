// `writ author` as clients start it: with the official client, which checks each answer against the schema of
// its tool, and with plain lines for what no client sends.

import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, onTestFinished } from 'vitest';

const entry = resolve('src/cli/writ.js');

// biome-ignore lint/suspicious/noExplicitAny: a test looks into what it got
export type Got = any;

export interface ToolAnswer {
  readonly text: string;
  /** The structured content; null when the call has failed. */
  readonly data: Got;
  readonly isError: boolean;
}

export interface AuthorClient {
  readonly client: Client;
  readonly tools: readonly Got[];
  readonly pid: number;
  /** Calls a tool, and checks the size and the schema of its answer. */
  readonly call: (tool: string, args?: object) => Promise<ToolAnswer>;
}

export function emptyFolder(): string {
  return mkdtempSync(join(tmpdir(), 'writ-author-'));
}

export function put(folder: string, file: string, text: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}

/** Commits everything in the folder. */
export function commit(folder: string): void {
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: folder, stdio: 'pipe' });
  git('init', '--quiet');
  git('add', '--all');
  git('-c', 'user.name=ann', '-c', 'user.email=ann@example.com', 'commit', '--quiet', '--message', 'one');
}

export async function startAuthor(folder: string): Promise<AuthorClient> {
  const client = new Client({ name: 'test', version: '1' });
  const args = [entry, 'author', folder];
  const transport = new StdioClientTransport({ command: process.execPath, args, stderr: 'inherit' });
  await client.connect(transport);
  onTestFinished(() => client.close());
  const { tools } = await client.listTools();
  const ajv = new Ajv2020();
  const validators = new Map(tools.map((tool) => [tool.name, ajv.compile(tool.outputSchema ?? false)]));
  return {
    client,
    tools,
    pid: transport.pid ?? 0,
    async call(name, given = {}) {
      const result: Got = await client.callTool({ name, arguments: { ...given } });
      const [{ text }] = result.content;
      expect(Buffer.byteLength(text), text).toBeLessThanOrEqual(8_192);
      if (result.isError === true) return { text, data: null, isError: true };
      expect(Buffer.byteLength(JSON.stringify(result.structuredContent))).toBeLessThanOrEqual(16_384);
      const validate = validators.get(name);
      expect([validate?.(result.structuredContent), validate?.errors]).toEqual([true, null]);
      return { text, data: result.structuredContent, isError: false };
    },
  };
}

export interface PlainServer {
  readonly child: ChildProcessWithoutNullStreams;
  readonly write: (...lines: readonly (string | object)[]) => void;
  /** Everything that the server has sent. */
  readonly messages: readonly Got[];
  /** The answer to a request. */
  readonly answer: (id: number | string | null) => Promise<Got>;
  /** Closes the input; resolves to the exit code. */
  readonly end: () => Promise<number | null>;
}

export function startPlain(folder: string, ...options: readonly string[]): PlainServer {
  const child = spawn(process.execPath, [entry, 'author', folder, ...options]);
  child.stderr.pipe(process.stderr);
  onTestFinished(() => void child.kill());
  const messages: Got[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => messages.push(JSON.parse(line)));
  const answers = (id: number | string | null) =>
    messages.filter((one) => one.id === id && one.method === undefined);
  return {
    child,
    messages,
    write(...lines) {
      for (const line of lines)
        child.stdin.write(
          `${typeof line === 'string' ? line : JSON.stringify({ jsonrpc: '2.0', ...line })}\n`,
        );
    },
    async answer(id) {
      await expect.poll(() => answers(id).length).toBeGreaterThan(0);
      expect(answers(id)).toHaveLength(1);
      return answers(id)[0];
    },
    async end() {
      child.stdin.end();
      const [code] = child.exitCode === null ? await once(child, 'exit') : [child.exitCode];
      return code;
    },
  };
}
