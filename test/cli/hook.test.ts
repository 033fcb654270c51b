// `writ hook` in four dialects: the tool may run only when the service has granted exactly this call,
// whatever breaks. Also the files that `writ hook install` writes.

import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { answerHook, type HookAnswer } from '../../src/tools/cli/hook/answer-hook.ts';
import { type DialectName, dialectNames, dialects } from '../../src/tools/cli/hook/dialects.ts';
import { listening } from '../http/listening.ts';
import { shareService, temporaryDirectory, wrongKey } from '../http/service.ts';
import { usePolicies } from '../http/written-policies.ts';
import { writProcess } from './writ.ts';

const shared = shareService();

const claudeEvent = (tool: string) => ({
  session_id: 's-1',
  transcript_path: '/tmp/t',
  cwd: '/work',
  hook_event_name: 'PreToolUse',
  tool_name: tool,
  tool_input: { path: 'a' },
  tool_use_id: `toolu_${tool}`,
});

/** A call of a tool of the server `files`, in the format of each host. */
const events: Readonly<Record<DialectName, (tool: string) => object>> = {
  claude: (tool) => claudeEvent(`mcp__files__${tool}`),
  codex: (tool) => claudeEvent(`mcp__files__${tool}`),
  gemini: (tool) => ({
    session_id: 's-1',
    hook_event_name: 'BeforeTool',
    tool_name: `mcp_files_${tool}`,
    tool_input: { path: 'a' },
    mcp_context: { server_name: 'files', tool_name: tool },
  }),
  cursor: (tool) => ({
    conversation_id: 's-1',
    hook_event_name: 'beforeMCPExecution',
    tool_name: `MCP:files:${tool}`,
    tool_input: '{"path":"a"}',
  }),
};

interface Given {
  readonly url?: string;
  readonly key?: string;
  readonly input?: string;
  readonly stream?: Readable;
  readonly withinMs?: number;
  readonly isDeferring?: boolean;
}

function answer(name: DialectName, given: Given = {}): Promise<HookAnswer> {
  const service = shared();
  const { url = service.url, key = service.apiKey, input = JSON.stringify(events[name]('read')) } = given;
  return answerHook(
    {
      dialect: dialects[name],
      url,
      key,
      agent: undefined,
      waitMs: 0,
      withinMs: given.withinMs ?? 20_000,
      isDeferring: given.isDeferring ?? false,
    },
    given.stream ?? Readable.from([input]),
  );
}

const policies = `
approvers finance "Finance"
action files.read, files.write, files.remove { path: string }
action claude_code.Bash, cursor.Shell { command: string, ... }
policy files on files.*, claude_code.*, cursor.* {
  allow reads when action.key != "files.write" because "reading is allowed"
  deny writes when action.key == "files.write" because "nothing is written"
  escalate removal to finance when action.key == "files.remove"
}
`;

describe.each(dialectNames)('%s', (name) => {
  test('0 where it is granted, 2 and why where it is refused or waits', async () => {
    await usePolicies(shared(), policies);
    const [granted, refused, waiting] = await Promise.all(
      ['read', 'write', 'remove'].map((tool) => answer(name, { input: JSON.stringify(events[name](tool)) })),
    );
    expect(granted).toEqual({ code: 0, stdout: dialects[name].allowed, stderr: '' });
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused?.stderr).toContain('policy files: nothing is written. This is a decision');
    expect(waiting).toMatchObject({ code: 2, stdout: '' });
    expect(waiting?.stderr).toMatch(
      /needs 1 approval by finance before .* See http.*\/requests\/.* Make the same call again/,
    );
  });

  test('2 on any doubt', async () => {
    const whole = JSON.stringify(events[name]('read'));
    const twice = whole.replace('{', '{"hook_event_name":"PreToolUse",');
    const inputs = ['', '[]', 'null', whole.slice(0, -1), `${whole}x`, '{}', twice];
    inputs.push(whole.replace(/"(PreToolUse|BeforeTool|beforeMCPExecution)"/, '"Other"'));
    inputs.push(whole.replace(/"tool_input":("[^}]*}"|\{[^}]*\})/, '"tool_input":7'));
    const grant = {
      request_id: '019a0000-0000-7000-8000-000000000000',
      decision: 'ALLOW',
      reason: 'r',
      matched_policy: 'p',
      risk_score: 1,
      status: 'auto_approved',
      message: 'm',
      expires_at: '2030-01-01T00:00:00.000Z',
    };
    const bodies = [
      { ...grant, decision: 'MAYBE' },
      { ...grant, status: 'unheard_of' },
      { ...grant, status: 'pending' },
      { ...grant, expires_at: 'soon' },
      { ...grant, request_id: undefined },
      {},
    ].map((body) => JSON.stringify(body));
    const urls = await Promise.all([
      ...bodies.map((body) => fakeService((reply) => reply.end(body))),
      fakeService((reply) => reply.end('<html>')),
      fakeService((reply) => reply.writeHead(500).end(JSON.stringify(grant))),
      fakeService((reply) => reply.writeHead(302, { location: shared().url }).end()),
      fakeService((reply) => {
        reply.writeHead(200, { 'content-length': '1000' }).write(JSON.stringify(grant));
        setImmediate(() => reply.destroy());
      }),
      fakeService((reply) => reply.destroy()),
    ]);
    const never = new Readable({ read: () => undefined });
    const key = wrongKey(shared().apiKey);
    const answers = await Promise.all([
      ...inputs.map((input) => answer(name, { input })),
      ...urls.map((url) => answer(name, { url })),
      // Nothing listens; no answer ever comes; the input never ends; the key is wrong, or does not fit into a
      // header.
      answer(name, { url: 'http://127.0.0.1:1' }),
      answer(name, { url: await fakeService(() => undefined), withinMs: 300 }),
      answer(name, { stream: never, withinMs: 300 }),
      answer(name, { key }),
      answer(name, { key: 'a\nb' }),
      answer(name, { url: 'no address' }),
    ]);
    for (const [i, { code, stdout, stderr }] of answers.entries())
      expect([i, code, stdout, stderr === '']).toEqual([i, 2, '', false]);
    // A complete grant from the fake service is accepted.
    const good = await fakeService((reply) => reply.end(JSON.stringify(grant)));
    expect((await answer(name, { url: good })).code).toBe(0);
  });
});

/** A service that answers every request in the same way. */
async function fakeService(answerWith: (reply: ServerResponse) => void): Promise<string> {
  return await listening(createServer((_request, reply) => answerWith(reply)));
}

test('a run of Claude Code is put off where that is asked for, and nowhere else', async () => {
  const input = JSON.stringify(events.claude('remove'));
  const { code, stdout } = await answer('claude', { input, isDeferring: true });
  expect([code, JSON.parse(stdout).hookSpecificOutput.permissionDecision]).toEqual([0, 'defer']);
  for (const name of ['codex', 'gemini', 'cursor'] as const)
    expect(
      (await answer(name, { input: JSON.stringify(events[name]('remove')), isDeferring: true })).code,
    ).toBe(2);
});

test("the hosts' own tools are in areas of their own, which no server takes", async () => {
  const bash = { ...claudeEvent('Bash'), tool_input: { command: 'ls' } };
  expect(dialects.claude.read(bash)).toMatchObject({ actionKey: 'claude_code.Bash' });
  expect(dialects.codex.read(bash)).toMatchObject({ actionKey: 'codex.Bash' });
  const shell = { conversation_id: 's', hook_event_name: 'beforeShellExecution', command: 'ls', cwd: '/' };
  expect(dialects.cursor.read(shell)).toMatchObject({
    actionKey: 'cursor.Shell',
    payload: { command: 'ls', cwd: '/' },
  });
  const file = { conversation_id: 's', hook_event_name: 'beforeReadFile', file_path: 'a', content: 'secret' };
  expect(dialects.cursor.read(file)?.payload).toEqual({ file_path: 'a' });
  for (const taken of ['mcp__claude_code__Bash', 'mcp__a.b__c', 'mcp__cursor__Shell'])
    expect(dialects.claude.read(claudeEvent(taken))).toBeNull();
});

describe('the command', () => {
  const run = (args: readonly string[], input: object | string, env: Record<string, string> = {}) =>
    writProcess(['hook', ...args], {
      stdin: typeof input === 'string' ? input : JSON.stringify(input),
      env: { WRIT_URL: shared().url, WRIT_API_KEY: shared().apiKey, ...env },
    });

  test('ends with 0 or 2', async () => {
    const event = events.gemini('read');
    const [granted, away, wrong, unset, none] = await Promise.all([
      run(['--dialect', 'gemini'], event),
      run(['--dialect', 'gemini'], event, { WRIT_URL: 'http://127.0.0.1:1' }),
      run(['--dialect', 'unheard-of'], event),
      run(['--dialect', 'gemini'], event, { WRIT_API_KEY: '' }),
      run([], event),
    ]);
    expect(granted).toEqual({ code: 0, stdout: '{}\n', stderr: '' });
    for (const { code, stdout, stderr } of [away!, wrong!, unset!, none!])
      expect([code, stdout, stderr === '']).toEqual([2, '', false]);
  });

  test('install keeps what stands in the settings, and writes the hook once', async () => {
    const file = join(temporaryDirectory(), 'settings.json');
    const kept = { model: 'm', hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [] }] } };
    writeFileSync(file, JSON.stringify(kept));
    for (let times = 0; times < 2; times += 1)
      expect((await run(['install', 'claude-code', '--file', file], '')).code).toBe(0);
    const settings = JSON.parse(readFileSync(file, 'utf8'));
    expect([settings.model, settings.hooks.PreToolUse[0]]).toEqual(['m', kept.hooks.PreToolUse[0]]);
    expect(settings.hooks.PreToolUse).toHaveLength(2);
    expect(settings.hooks.PreToolUse[1].hooks[0]).toMatchObject({
      url: `${shared().url}/v1/hooks/claude-code`,
      onFailure: 'block',
    });
    writeFileSync(file, '{"hooks": 7}');
    expect((await run(['install', 'gemini', '--file', file], '')).code).toBe(2);
    expect(readFileSync(file, 'utf8')).toBe('{"hooks": 7}');
    const shown = await run(['install', 'cursor', '--dry-run'], '');
    expect(JSON.parse(shown.stdout).hooks.beforeShellExecution[0]).toMatchObject({
      command: expect.stringMatching(/\|\| exit 2$/),
      failClosed: true,
    });
  });

  test('install writes how long people are waited for, and gives the hook longer than that', async () => {
    const shown = async (...args: readonly string[]) => {
      const { code, stdout } = await run(['install', ...args, '--dry-run'], '');
      return code === 0 ? JSON.parse(stdout).hooks : code;
    };
    const [codex, gemini, claude] = await Promise.all([
      shown('codex', '--wait', '300'),
      shown('gemini', '--wait', '300'),
      shown('claude-code', '--wait', '20', '--escalate', 'defer'),
    ]);
    expect(codex.PreToolUse[0].hooks[0]).toMatchObject({
      command: expect.stringMatching(/ --wait 300 \|\| exit 2$/),
      timeout: 310,
    });
    expect(gemini.BeforeTool[0].hooks[0]).toMatchObject({ timeout: 310_000 });
    expect(claude.PreToolUse[0].hooks[0]).toMatchObject({
      url: `${shared().url}/v1/hooks/claude-code?wait=20&escalate=defer`,
      timeout: 30,
    });
    expect(await shown('claude-code', '--wait', '56')).toBe(2);
    expect(await shown('codex', '--escalate', 'defer')).toBe(2);
  });
});
