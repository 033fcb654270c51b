// Runs Claude Code itself behind its hook, with the service and the settings that `writ hook install` writes.
// A local server plays the model, so no account is needed. Each printed row shows how often the tool ran.
// `npm run claude-code` fetches Claude Code (430 MB unpacked, under a licence of its own).

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startExampleService } from '../examples/service.ts';

const claude = join(
  import.meta.dirname,
  '../examples/claude-agent-sdk/node_modules/@anthropic-ai/claude-agent-sdk-linux-x64/claude',
);
const writ = join(import.meta.dirname, '../src/cli/writ.js');
const folder = mkdtempSync(join(tmpdir(), 'writ-claude-code-'));
const runMsMax = 120_000;

interface Block {
  readonly type: string;
  readonly text?: string;
  /** The output of the tool, in a block that holds a tool's result. */
  readonly content?: unknown;
}

interface Message {
  readonly role: string;
  readonly content: string | readonly Block[];
}

const call = /CALL (\{.*\}) END/;

/**
 * Returns the events of the model's answer: first the tool call that the last prompt asks for, then "Done."
 * when the tool's result is there.
 */
function answerTo(messages: readonly Message[]): readonly [event: string, data: object][] {
  const blocks = messages.flatMap(({ content }) =>
    typeof content === 'string' ? [{ type: 'text', text: content }] : content,
  );
  const at = blocks.findLastIndex(({ text = '' }) => call.test(text));
  const wanted = call.exec(blocks[at]?.text ?? '')?.[1];
  const isOver = wanted === undefined || blocks.slice(at).some(({ type }) => type === 'tool_result');
  const { name = '', input = {} } = isOver ? {} : (JSON.parse(wanted) as { name: string; input: object });
  const id = `toolu_${blocks.length}`;
  const start = isOver ? { type: 'text', text: '' } : { type: 'tool_use', id, name, input: {} };
  const delta = isOver
    ? { type: 'text_delta', text: 'Done.' }
    : { type: 'input_json_delta', partial_json: JSON.stringify(input) };
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'stand-in', content: [] };
  return [
    ['message_start', { message: Object.assign(message, { stop_reason: null, usage }) }],
    ['content_block_start', { index: 0, content_block: start }],
    ['content_block_delta', { index: 0, delta }],
    ['content_block_stop', { index: 0 }],
    ['message_delta', { delta: { stop_reason: isOver ? 'end_turn' : 'tool_use' }, usage }],
    ['message_stop', {}],
  ];
}

/** The latest tool result that Claude Code has sent to the model, as JSON. */
let lastResult = '';

async function speak(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = Buffer.concat(await request.toArray()).toString();
  if (request.method !== 'POST' || request.url?.startsWith('/v1/messages') !== true) {
    response.writeHead(404).end();
    return;
  }
  const { messages } = JSON.parse(body) as { messages: readonly Message[] };
  for (const { content } of messages)
    for (const block of typeof content === 'string' ? [] : content)
      if (block.type === 'tool_result') lastResult = JSON.stringify(block.content);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const [event, data] of answerTo(messages)) {
    response.write(`event: ${event}\ndata: ${JSON.stringify(Object.assign({ type: event }, data))}\n\n`);
  }
  response.end();
}

interface Ran {
  readonly session: string;
  readonly stop: string;
}

interface Run {
  readonly settings: string;
  readonly key: string;
  readonly args: readonly string[];
}

async function runClaude({ settings, key, args }: Run): Promise<Ran> {
  const { port } = model.address() as AddressInfo;
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    CLAUDE_CONFIG_DIR: join(folder, 'claude'),
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
    ANTHROPIC_API_KEY: 'none-is-needed',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    WRIT_API_KEY: key,
    WRIT_AGENT: '',
  };
  const flags = [
    '-p',
    '--output-format',
    'json',
    '--settings',
    settings,
    '--allowedTools',
    'Bash,Read,Write,mcp__web__fetch,mcp__web__send',
  ];
  const child: ChildProcess = spawn(claude, [...args, ...flags], {
    env,
    cwd: folder,
    timeout: runMsMax,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  const [out, err] = await Promise.all(
    [child.stdout, child.stderr].map(async (stream) => Buffer.concat(await stream!.toArray()).toString()),
  );
  await ended;
  try {
    const { session_id, stop_reason } = JSON.parse(out ?? '') as { session_id: string; stop_reason: string };
    return { session: session_id, stop: stop_reason };
  } catch {
    throw new Error(`Claude Code said no JSON:\n${out}\n${err}`);
  }
}

/**
 * Writes the settings of `writ hook install`, with `query` added to the address and another timeout. Returns
 * the path of the file.
 */
function settingsFor(url: string, query = '', timeoutSeconds = 60): string {
  const file = join(folder, 'settings.json');
  rmSync(file, { force: true });
  execFileSync(process.execPath, [writ, 'hook', 'install', 'claude-code', '--url', url, '--file', file]);
  const text = readFileSync(file, 'utf8')
    .replace('/v1/hooks/claude-code', `/v1/hooks/claude-code${query}`)
    .replace('"timeout": 60', `"timeout": ${timeoutSeconds}`);
  writeFileSync(file, text);
  return file;
}

/**
 * Faulty answers, by description; a server in place of the service gives each answer while one call of Claude
 * Code runs.
 */
const broken: Readonly<Record<string, (response: ServerResponse) => void>> = {
  'the service answers 500': (response) => response.writeHead(500).end(),
  'the service answers half a body': (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 });
    response.write('{"hookSpecificOutput":', () => response.destroy());
  },
  'the service answers HTML': (response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Sign in</p>'),
  'the service answers an unknown word': (response) => {
    const hookSpecificOutput = { hookEventName: 'PreToolUse', permissionDecision: 'perhaps' };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ hookSpecificOutput }));
  },
  'the service does not answer in time': () => undefined,
};

async function inPlaceOfService(
  answer: (response: ServerResponse) => void,
  use: (url: string) => Promise<unknown>,
): Promise<void> {
  const server = createServer((request, response) => request.resume().once('end', () => answer(response)));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  server.closeAllConnections();
  server.close();
}

function promptFor(name: string, input: object): string {
  return `CALL ${JSON.stringify({ name, input })} END`;
}

const counter = join(folder, 'counter');
const timesRun = () => (existsSync(counter) ? readFileSync(counter, 'utf8').split('\n').length - 1 : 0);
const counting = (word: string) =>
  promptFor('Bash', { command: `echo ${word} >> ${counter}`, description: 'Counts' });

function tell(what: string, found: string, expected: string): void {
  if (found !== expected) process.exitCode = 1;
  console.log(`${found === expected ? 'as expected' : 'OTHERWISE  '} ${what}: ${found}`);
}

/** A server of MCP tools that write down each call, and the policies that decide about them by what `fetch` returned. */
const [toolCalls, toolList] = [join(folder, 'calls'), join(folder, 'tools')];
const flow = `
approvers support "Support"
action web.fetch { returns: { trusted: boolean } } result { trusted: boolean }
action web.send { to: string }
meter untrusted = count() of web.fetch when not result.trusted per session over 8h
policy web on web.fetch { allow all }
policy mail on web.send { allow all  escalate after_untrusted to support when untrusted > 0 }
`;

/** How often `send` ran after pages with these properties were fetched in the same session. */
async function mailsAfter(url: string, key: string, trusted: boolean): Promise<string> {
  const command = join(import.meta.dirname, '../test/integrations/mcp/counting-server.ts');
  const tools = ['fetch', 'send'].map((name) => ({ name, inputSchema: { type: 'object' } }));
  writeFileSync(toolCalls, '');
  writeFileSync(toolList, JSON.stringify({ tools, instructions: '' }));
  const web = { command: process.execPath, args: [command, toolCalls, toolList] };
  const servers = ['--strict-mcp-config', '--mcp-config', JSON.stringify({ mcpServers: { web } })];
  const settings = settingsFor(url, '?wait=0');
  const fetched = promptFor('mcp__web__fetch', { returns: { trusted } });
  const { session } = await runClaude({ settings, key, args: [fetched, ...servers] });
  const mail = promptFor('mcp__web__send', { to: 'kim' });
  await runClaude({ settings, key, args: ['--resume', session, mail, ...servers] });
  const ran = readFileSync(toolCalls, 'utf8')
    .split('\n')
    .filter((line) => line.includes('"tools/call"'));
  return ran.map((line) => JSON.parse(line).params.name).join(', ');
}

const model = createServer((request, response) => void speak(request, response));
await once(model.listen(0, '127.0.0.1'), 'listening');
const service = await startExampleService();
try {
  const key = await service.addAgent('claude-code');
  const note = join(folder, 'note');
  writeFileSync(note, 'Lunch is at noon.');
  await runClaude({
    settings: settingsFor(service.url),
    key,
    args: [promptFor('Read', { file_path: note })],
  });
  tell('ALLOW', lastResult.includes('Lunch is at noon.') ? 'ran' : 'did not run', 'ran');

  const outside = join(folder, 'outside');
  const write = promptFor('Write', { file_path: outside, content: 'x' });
  await runClaude({ settings: settingsFor(service.url, '?wait=0'), key, args: [write] });
  tell('DENY', existsSync(outside) ? 'ran' : 'did not run', 'did not run');

  await runClaude({ settings: settingsFor(service.url, '?wait=0'), key, args: [counting('waiting')] });
  tell('ESCALATE, held', `${timesRun()} times`, '0 times');

  const settings = settingsFor(service.url, '?wait=0&escalate=defer');
  const deferred = await runClaude({ settings, key, args: [counting('deferred')] });
  tell('ESCALATE, deferred', `${deferred.stop}, ${timesRun()} times`, 'tool_deferred, 0 times');
  await service.approveAll();
  await runClaude({ settings, key, args: ['--resume', deferred.session] });
  tell('approved, resumed', `${timesRun()} times`, '1 times');
  await runClaude({ settings, key, args: ['--resume', deferred.session, 'Go on.'] });
  tell('resumed again', `${timesRun()} times`, '1 times');

  await runClaude({ settings: settingsFor(service.url), key: `${key}0`, args: [counting('key')] });
  tell('a wrong key', `${timesRun()} times`, '1 times');
  await runClaude({ settings: settingsFor('http://127.0.0.1:1'), key, args: [counting('away')] });
  tell('the service is away', `${timesRun()} times`, '1 times');

  for (const [what, answer] of Object.entries(broken)) {
    await inPlaceOfService(answer, (url) =>
      runClaude({ settings: settingsFor(url, '', 3), key, args: [counting('broken')] }),
    );
    tell(what, `${timesRun()} times`, '1 times');
  }

  mkdirSync(join(folder, 'policies'));
  writeFileSync(join(folder, 'policies/flow.policy'), flow);
  const second = await startExampleService(0, join(folder, 'policies'));
  try {
    const other = await second.addAgent('reader');
    const [trusted, untrusted] = ['a mail after a trusted page', 'a mail after an untrusted page'];
    tell(trusted, await mailsAfter(second.url, other, true), 'fetch, send');
    tell(untrusted, await mailsAfter(second.url, other, false), 'fetch');
  } finally {
    await second.stop();
  }

  writeFileSync(join(folder, 'none.json'), '{}');
  await runClaude({ settings: join(folder, 'none.json'), key, args: [counting('alone')] });
  tell('without the hook', `${timesRun()} times`, '2 times');
} finally {
  model.closeAllConnections();
  model.close();
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
}
