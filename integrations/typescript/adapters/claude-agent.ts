// Guards the Claude Agent SDK: hooks that ask before every tool call of a session, whatever executes it, and
// a wrapper for tools of the program itself. INVARIANT: a hook that cannot decide denies, whatever
// `onFailure` is; nobody at a terminal is asked.

import { createGuard, type GuardSettings, type NotRun, type ToolCall } from './guard.ts';

export interface ClaudeSettings extends Omit<GuardSettings, 'as'> {
  /** The first word of the actions of built-in tools; `claude_code` by default. */
  readonly as?: string;
  /**
   * What happens to a call that still waits for people after `wait`: `defer` ends a run so that it can be
   * resumed. `deny` by default.
   */
  readonly whileWaiting?: 'deny' | 'defer';
}

/** The fields of a hook's input that are read. */
interface HookInput {
  readonly hook_event_name: string;
  readonly tool_name?: string;
  readonly tool_input?: unknown;
  /** What the tool returned, in events after a tool. */
  readonly tool_response?: unknown;
}

interface HookOutput {
  readonly hookSpecificOutput?: {
    readonly hookEventName: 'PreToolUse';
    readonly permissionDecision: 'deny' | 'defer';
    readonly permissionDecisionReason: string;
  };
}

interface HookMatcher {
  readonly hooks: ((
    input: HookInput,
    toolUseId: string | undefined,
    options: { readonly signal: AbortSignal },
  ) => Promise<HookOutput>)[];
  /** Seconds for the hook to answer. */
  readonly timeout: number;
  readonly onFailure: 'block';
}

/** A tool of `createSdkMcpServer`, with the members that are used. */
export interface SdkTool {
  readonly name: string;
  // biome-ignore lint/suspicious/noExplicitAny: takes any arguments, and so any function
  readonly handler: (...args: any[]) => Promise<unknown>;
}

export interface ClaudeGuard {
  /** The value for `options.hooks` of `query`. */
  readonly hooks: Readonly<Record<'PreToolUse' | 'PostToolUse' | 'PostToolUseFailure', HookMatcher[]>>;
  /** For `tools` of `createSdkMcpServer`; `server` is the server's name in `mcpServers`. */
  readonly tool: <Tool extends SdkTool>(server: string, tool: Tool) => Tool;
}

const timeoutMs = 60_000;

export function guardClaude(settings: ClaudeSettings): ClaudeGuard {
  const guard = createGuard({ as: 'claude_code', ...settings });
  const { wait = 0, whileWaiting = 'deny' } = settings;
  const timeout = Math.ceil((wait + timeoutMs) / 1000);
  const matchers = (hook: HookMatcher['hooks'][number]): HookMatcher[] => [
    { hooks: [hook], timeout, onFailure: 'block' },
  ];
  const reported = (isError: boolean) =>
    matchers(async ({ tool_name: tool = '', tool_input: input, tool_response: response }) => {
      await guard.executed(callOf(tool, input), response, isError);
      return {};
    });

  return {
    hooks: {
      PreToolUse: matchers(async ({ tool_name: tool, tool_input: input }, _, { signal }) => {
        if (typeof tool !== 'string') return answer('deny', 'Not run: the hook received no tool name.');
        try {
          const refusal = await guard.ahead({ ...callOf(tool, input), signal });
          if (refusal === null) return {};
          return answer(refusal.decision.kind === 'waiting' ? whileWaiting : 'deny', refusal.message);
        } catch (error) {
          return answer('deny', `Not run: there is no decision about this call (${error}).`);
        }
      }),
      PostToolUse: reported(false),
      PostToolUseFailure: reported(true),
    },
    tool: (server, tool) => ({
      ...tool,
      async handler(...args: readonly unknown[]) {
        const call = callOf(`mcp__${server}__${tool.name}`, args[0]);
        const done = await guard.execute(call, () => tool.handler(...args));
        return done.kind === 'ran' ? done.result : toolResult(done);
      },
    }),
  };
}

/** The call of a tool. A tool `read` of a server `files` is the action `files.read`, as through the proxy. */
function callOf(tool: string, input: unknown): ToolCall {
  const [, server, name] = /^mcp__(.+?)__(.+)$/s.exec(tool) ?? [];
  return { tool, input, ...(server === undefined ? {} : { action: `${server}.${name}` }) };
}

/**
 * The answer for a call that may not go on. For other calls the answer is empty, because the person's own
 * rules decide about them, too.
 */
function answer(word: 'deny' | 'defer', reason: string): HookOutput {
  return {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: word,
      permissionDecisionReason: reason,
    },
  };
}

function toolResult({ message }: NotRun): object {
  return { isError: true, content: [{ type: 'text', text: message }] };
}
