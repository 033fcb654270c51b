// Guards the Claude Agent SDK: hooks that ask before every tool call of a session, whatever executes it, and
// a wrapper for tools of the program itself. INVARIANT: a hook that cannot decide denies, whatever
// `onFailure` is; nobody at a terminal is asked.

import { createGuard, type Guard, type GuardSettings, type NotRun, type ToolCall } from './guard.ts';

export interface ClaudeSettings extends Omit<GuardSettings, 'as'> {
  /** The first word of the actions of built-in tools; `claude_code` by default. */
  readonly as?: string;
  /**
   * What happens to a call that still waits for people after `wait`: `defer` ends a run so that it can be
   * resumed. `deny` by default.
   */
  readonly whileWaiting?: 'deny' | 'defer';
  /**
   * Clients of delegations, by the type of the sub-agent, as in `agents` of `query`. If given, a sub-agent of any
   * other type runs no tool; by default sub-agents ask with `writ`.
   */
  readonly subAgents?: Readonly<Record<string, GuardSettings['writ']>>;
}

/** The fields of a hook's input that are read. */
interface HookInput {
  readonly hook_event_name: string;
  readonly tool_name?: string;
  readonly tool_input?: unknown;
  /** Present if a sub-agent calls the tool, with its type. */
  readonly agent_id?: string;
  readonly agent_type?: string;
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
  const guards = createGuards(settings);
  const { wait = 0, whileWaiting = 'deny' } = settings;
  const timeout = Math.ceil((wait + timeoutMs) / 1000);
  const matchers = (hook: HookMatcher['hooks'][number]): HookMatcher[] => [
    { hooks: [hook], timeout, onFailure: 'block' },
  ];
  const reported = (isError: boolean) =>
    matchers(async (given) => {
      const { tool_name: tool = '', tool_input: input, tool_response: response } = given;
      await guards.of(given)?.executed(callOf(tool, input), response, isError);
      return {};
    });

  return {
    hooks: {
      PreToolUse: matchers(async (given, _, { signal }) => {
        const { tool_name: tool, tool_input: input } = given;
        if (typeof tool !== 'string') return answer('deny', 'Not run: the hook received no tool name.');
        const guard = guards.of(given);
        if (guard === null)
          return answer('deny', `Not run: nothing is delegated to the sub-agent \`${given.agent_type}\`.`);
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
        const done = await guards.holding(call).execute(call, () => tool.handler(...args));
        return done.kind === 'ran' ? done.result : toolResult(done);
      },
    }),
  };
}

interface Guards {
  /** The guard of whoever calls a tool; null for a sub-agent to which nothing is delegated. */
  of(input: HookInput): Guard | null;
  /** The guard that has asked ahead for the call, whoever that was for; otherwise the agent's own. */
  holding(call: ToolCall): Guard;
}

function createGuards({ subAgents, ...settings }: ClaudeSettings): Guards {
  const guardWith = (writ: GuardSettings['writ']) => createGuard({ as: 'claude_code', ...settings, writ });
  const own = guardWith(settings.writ);
  const delegated = new Map(Object.entries(subAgents ?? {}).map(([type, writ]) => [type, guardWith(writ)]));
  return {
    of: ({ agent_id: id, agent_type: type = '' }) =>
      id === undefined || subAgents === undefined ? own : (delegated.get(type) ?? null),
    holding: (call) => [own, ...delegated.values()].find((guard) => guard.holds(call)) ?? own,
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
