// Takes the place of the program Claude Code, which needs an account, and speaks the same protocol to the
// SDK. Calls the session's hooks before and after each tool call, calls the tool unless a hook forbids it,
// and repeats calls that wait for people.

import { EventEmitter } from 'node:events';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { mails } from '../mails.ts';

interface Message {
  readonly type: string;
  readonly request_id?: string;
  readonly request?: { readonly subtype: string; readonly hooks?: Readonly<Record<string, readonly Hook[]>> };
  readonly response?: { readonly request_id: string; readonly response?: HookReply };
}

interface Hook {
  readonly hookCallbackIds: readonly string[];
}

interface HookReply {
  readonly hookSpecificOutput?: {
    readonly permissionDecision?: string;
    readonly permissionDecisionReason?: string;
  };
}

/** Returns a process for the option `spawnClaudeCodeProcess` of `query`. */
export function spawnStandIn() {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const waiting = new Map<string, (reply: HookReply) => void>();
  let hooks: Readonly<Record<string, readonly Hook[]>> = {};
  const say = (message: object) => stdout.write(`${JSON.stringify(message)}\n`);

  const ask = (request: object): Promise<HookReply> =>
    new Promise((resolve) => {
      const id = `request-${waiting.size}`;
      waiting.set(id, resolve);
      say({ type: 'control_request', request_id: id, request });
    });

  const tell = (event: string, input: object, id: string) => {
    const [callback] = hooks[event]?.[0]?.hookCallbackIds ?? [];
    const told = { hook_event_name: event, tool_name: 'mcp__mail__send', tool_input: input, tool_use_id: id };
    return ask({ subtype: 'hook_callback', callback_id: callback, input: told, tool_use_id: id });
  };

  async function call(input: object, id: string): Promise<void> {
    for (;;) {
      const { hookSpecificOutput: said } = await tell('PreToolUse', input, id);
      if (said === undefined) break;
      if (said.permissionDecisionReason?.includes('Make the same call again') !== true)
        return console.log(`not sent: ${said.permissionDecisionReason}`);
      await pause(500);
    }
    const message = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'send', arguments: input },
    };
    await ask({ subtype: 'mcp_message', server_name: 'mail', message });
    await tell('PostToolUse', input, id);
  }

  createInterface({ input: stdin }).on('line', async (line) => {
    const { type, request_id: id, request, response } = JSON.parse(line) as Message;
    if (type === 'control_response') waiting.get(response?.request_id ?? '')?.(response?.response ?? {});
    if (type === 'control_request') {
      hooks = request?.hooks ?? hooks;
      const known = { commands: [], models: [], account: {}, hook_on_failure_supported: true };
      say({ type: 'control_response', response: { subtype: 'success', request_id: id, response: known } });
    }
    if (type !== 'user') return;
    for (const [index, mail] of mails.entries()) await call({ ...mail }, `toolu_${index}`);
    say({
      type: 'result',
      subtype: 'success',
      is_error: false,
      result: 'That is all.',
      session_id: 'session-1',
    });
  });

  return Object.assign(new EventEmitter(), {
    stdin,
    stdout,
    killed: false,
    exitCode: null,
    kill: () => stdout.end() !== undefined,
  });
}
