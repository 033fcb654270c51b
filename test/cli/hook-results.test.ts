// What tools of coding agents return reaches the policies: a page is fetched, the hook after the tool reports what it
// returned, and the next call is decided by that. The command and the service are processes of their own.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addPeople } from '../../examples/service.ts';
import { answerHook } from '../../src/cli/hook/answer-hook.ts';
import { type DialectName, dialectNames, dialects } from '../../src/cli/hook/dialects.ts';
import { type Service, startService, temporary } from '../e2e/acceptance/service.ts';
import { writProcess } from './writ.ts';

const policyText = `
approvers security "Security"
action web.fetch { url: string } result { trusted: boolean, note?: string }
action mail.send { to: string }
action cursor.Shell { command: string, cwd?: string } result { output: string }
meter untrusted = count() of web.fetch when not result.trusted per session over 8h
meter loud = count() of cursor.Shell when result.output == "loud" per session over 8h
policy web on web.fetch, cursor.Shell { allow all }
policy mail on mail.send {
  allow all
  escalate after_untrusted to security within 4h when untrusted > 0 or loud > 0
}
`;

const started = { policies: temporary('policies'), data: temporary('hook-results') };
let service: Service;
let key: string;

beforeAll(async () => {
  writeFileSync(join(started.policies, 'flow.policy'), policyText);
  service = await startService(started);
  const [, token = ''] = /\/setup#token=(\S+)/.exec(service.output()) ?? [];
  key = await (await addPeople(service.url, token))('coder');
});

afterAll(() => service.end('SIGKILL'));

/** The structured content of a page, as a server of tools returns it. */
type Page = object | string | undefined;

interface HostEvents {
  /** Before a tool of a server. */
  readonly before: (at: At) => object;
  /** After it; `page` is its structured content. */
  readonly after: (at: At, page: Page) => object;
}

interface At {
  readonly session: string;
  readonly server: string;
  readonly tool: string;
  readonly input: object;
  readonly id: string;
}

const toolUse = ({ session, server, tool, input, id }: At, hook_event_name: string) => ({
  session_id: session,
  hook_event_name,
  tool_name: `mcp__${server}__${tool}`,
  tool_input: input,
  tool_use_id: id,
});
const geminiTool = ({ session, server, tool, input }: At, hook_event_name: string) => ({
  session_id: session,
  hook_event_name,
  tool_name: `mcp_${server}_${tool}`,
  tool_input: input,
  mcp_context: { server_name: server, tool_name: tool },
});
const cursorTool = ({ session, server, tool, input }: At, hook_event_name: string) => ({
  conversation_id: session,
  hook_event_name,
  tool_name: tool,
  tool_input: JSON.stringify(input),
  mcp_server_name: server,
});
const resultOf = (page: Page) => ({ content: [{ type: 'text', text: 'hello' }], structuredContent: page });

const hosts: Readonly<Record<DialectName, HostEvents>> = {
  claude: {
    before: (at) => toolUse(at, 'PreToolUse'),
    after: (at, page) => ({ ...toolUse(at, 'PostToolUse'), tool_response: page && JSON.stringify(page) }),
  },
  codex: {
    before: (at) => toolUse(at, 'PreToolUse'),
    after: (at, page) => ({ ...toolUse(at, 'PostToolUse'), tool_response: page && resultOf(page) }),
  },
  gemini: {
    before: (at) => geminiTool(at, 'BeforeTool'),
    after: (at, page) => ({
      ...geminiTool(at, 'AfterTool'),
      tool_response: page && { llmContent: [{ text: JSON.stringify(page) }], returnDisplay: 'a page' },
    }),
  },
  cursor: {
    before: (at) => cursorTool(at, 'beforeMCPExecution'),
    after: (at, page) => ({
      ...cursorTool(at, 'afterMCPExecution'),
      result_json: page && JSON.stringify(resultOf(page)),
      duration: 12,
    }),
  },
};

/** Servers whose text is their structured content: Gemini CLI passes on nothing else. */
const texts: Readonly<Record<DialectName, readonly string[]>> = {
  claude: [],
  codex: [],
  gemini: ['web.fetch'],
  cursor: [],
};

let sessions = 0;

interface RunOptions {
  readonly isInProcess?: boolean;
  readonly url?: string;
  readonly jsonText?: readonly string[];
}

/** One session of a host, whose hooks run as processes. */
function sessionOf(name: DialectName, options: RunOptions = {}) {
  const { isInProcess = false, url, jsonText = texts[name] } = options;
  sessions += 1;
  const session = `${name}-${sessions}`;
  const { before, after } = hosts[name];
  const fetched = (id: string): At => ({ session, server: 'web', tool: 'fetch', input: { url: 'u' }, id });
  const sent: At = { session, server: 'mail', tool: 'send', input: { to: 'kim' }, id: 'mail' };
  let mails = 0;
  const run = (event: object, more: readonly string[] = []) =>
    isInProcess || url !== undefined
      ? answerHook(
          {
            dialect: dialects[name],
            url: url ?? service.url,
            key,
            agent: undefined,
            session: null,
            jsonText,
            waitMs: 0,
            withinMs: 20_000,
            isDeferring: false,
            isApart: false,
            isAfter: more.includes('--after'),
          },
          Readable.from([JSON.stringify(event)]),
        )
      : writProcess(
          ['hook', '--dialect', name, '--url', service.url, '--wait', '0', ...more].concat(
            jsonText.flatMap((action) => ['--json-text', action]),
          ),
          { stdin: JSON.stringify(event), env: { WRIT_API_KEY: key } },
        );
  return {
    session,
    run,
    asks: async (id: string) => expect((await run(before(fetched(id)))).code).toBe(0),
    returns: (id: string, page: Page) => run(after(fetched(id), page), ['--after']),
    mails: async (): Promise<'ALLOW' | 'ESCALATE' | 'DENY'> => {
      mails += 1;
      const { code, stderr } = await run(before({ ...sent, id: `mail-${mails}` }));
      if (code === 0) return 'ALLOW';
      return /needs 1 approval by security/.test(stderr) ? 'ESCALATE' : 'DENY';
    },
  };
}

describe.each(dialectNames)('%s', (name) => {
  test.each([
    ['an untrusted page', { trusted: false }, 'ESCALATE'],
    ['a trusted page', { trusted: true }, 'ALLOW'],
  ])('the mail after %s is decided by it', async (_, page, decision) => {
    const { asks, returns, mails } = sessionOf(name);
    await asks('toolu_1');
    expect(await returns('toolu_1', page)).toEqual({ code: 0, stdout: '{}\n', stderr: '' });
    expect(await mails()).toBe(decision);
  });

  test.each([
    ['of another type', { trusted: 'yes' }],
    ['that is too large', { trusted: true, note: 'x'.repeat(70_000) }],
    ['that is larger than an event may be', { trusted: true, note: 'x'.repeat(1_100_000) }],
    ['that is missing', undefined],
  ])('a result %s leaves the meter unknown', async (_, page) => {
    const { asks, returns, mails } = sessionOf(name, { isInProcess: true });
    await asks('toolu_1');
    expect(await returns('toolu_1', page)).toMatchObject({ code: 0, stdout: '{}' });
    expect(await mails()).toBe('ESCALATE');
  });

  test('two equal concurrent calls are each reported', async () => {
    const { asks, returns, mails } = sessionOf(name, { isInProcess: true });
    await Promise.all(['toolu_1', 'toolu_2'].map(asks));
    await returns('toolu_1', { trusted: true });
    expect(await mails()).toBe('ESCALATE');
    await returns('toolu_2', { trusted: true });
    expect(await mails()).toBe('ALLOW');
    await asks('toolu_3');
    await asks('toolu_4');
    await Promise.all(['toolu_3', 'toolu_4'].map((id) => returns(id, { trusted: true })));
    expect(await mails()).toBe('ALLOW');
  });

  test('exit code 0 whatever happens to the report, and it grants nothing', async () => {
    const { run, returns, mails } = sessionOf(name, { isInProcess: true });
    const unasked = await returns('toolu_never', { trusted: true });
    expect(unasked).toMatchObject({
      code: 0,
      stdout: '{}',
      stderr: expect.stringMatching(/^The result was not reported/),
    });
    expect(
      (await sessionOf(name, { url: 'http://127.0.0.1:1' }).returns('toolu_1', { trusted: true })).code,
    ).toBe(0);
    const odd = [
      {},
      [],
      'text',
      { hook_event_name: dialects[name].after.names[0] },
      { hook_event_name: 'Stop' },
    ];
    for (const event of odd) expect((await run(event as object, ['--after'])).code).toBe(0);
    expect(await mails()).toBe('ALLOW');
    // An event before a tool is decided, also by the hook after the tool; without `--after`, an odd event is refused.
    const write = hosts[name].before({ session: 's', server: 'web', tool: 'undeclared', input: {}, id: 'x' });
    expect((await run(write, ['--after'])).code).toBe(2);
    expect((await run({ hook_event_name: 'Stop' })).code).toBe(2);
  });
});

test('if the service is killed before the report, the mail stays pending until the report is stored', async () => {
  const all = dialectNames.map((name) => sessionOf(name, { isInProcess: true }));
  for (const { asks } of all) await asks('toolu_1');
  const { url } = service;
  await service.end('SIGKILL');
  for (const { returns } of all) expect((await returns('toolu_1', { trusted: true })).code).toBe(0);
  service = await startService(started);
  expect(service.url).not.toBe(url);
  for (const { mails, returns } of all) {
    expect(await mails()).toBe('ESCALATE');
    await returns('toolu_1', { trusted: true });
    expect(await mails()).toBe('ALLOW');
  }
});

describe('a text that a tool returned', () => {
  test.each([
    ['claude', { tool_response: [{ type: 'text', text: '{"trusted":true}' }] }],
    ['codex', { tool_response: { content: [{ type: 'text', text: '{"trusted":true}' }] } }],
    ['codex', { tool_response: '{"trusted":true}' }],
    ['gemini', { tool_response: { llmContent: '{"trusted":true}', returnDisplay: '' } }],
    ['cursor', { result_json: '{"trusted":true}' }],
  ] as const)('is not read as fields: %s %j', async (name, response) => {
    const { asks, run, session, mails } = sessionOf(name, { isInProcess: true, jsonText: [] });
    await asks('toolu_1');
    const at = { session, server: 'web', tool: 'fetch', input: { url: 'u' }, id: 'toolu_1' };
    await run({ ...hosts[name].after(at, {}), ...response });
    expect(await mails()).toBe('ESCALATE');
  });
});

test('reports the output of a Cursor command, whose event has no folder', async () => {
  const { run, session, mails } = sessionOf('cursor', { isInProcess: true });
  const command = { conversation_id: session, command: 'make' };
  expect((await run({ ...command, hook_event_name: 'beforeShellExecution', cwd: '/work' })).code).toBe(0);
  expect(await mails()).toBe('ESCALATE');
  const after = {
    ...command,
    hook_event_name: 'afterShellExecution',
    workspace_roots: ['/work'],
    duration: 1,
  };
  expect((await run({ ...after, output: 'quiet' })).stderr).toBe('');
  expect(await mails()).toBe('ALLOW');
});
