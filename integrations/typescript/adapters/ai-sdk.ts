// Guards tools of the Vercel AI SDK (`ai`), which then ask before each execution. INVARIANT: `execute` itself
// asks; `toolApproval` only pauses a run, and a button in a chat only resumes it.

import { createGuard, type GuardSettings, NotRunError } from './guard.ts';

interface ExecuteOptions {
  readonly abortSignal?: AbortSignal;
}

type Execute = (input: unknown, options: ExecuteOptions) => unknown;

export type ToolApproval =
  | { readonly type: 'not-applicable' }
  | { readonly type: 'denied' | 'user-approval'; readonly reason: string };

export interface GuardedTools<Tools> {
  readonly tools: Tools;
  /** The value for `toolApproval` of `generateText`, `streamText` or an agent. */
  readonly toolApproval: (options: {
    readonly toolCall: { readonly toolName: string; readonly input: unknown };
  }) => Promise<ToolApproval>;
}

export function guardTools<Tools extends object>(tools: Tools, settings: GuardSettings): GuardedTools<Tools> {
  const guard = createGuard(settings);

  const guarded =
    (tool: string, execute: Execute): Execute =>
    async (input, options) => {
      const call = { tool, input, signal: options?.abortSignal };
      const done = await guard.execute(call, () => lastOf(execute(input, options)));
      if (done.kind === 'not-run') throw new NotRunError(done);
      return done.result;
    };

  const entries = Object.entries(tools).map(([name, tool]: [string, { readonly execute?: unknown }]) => {
    if (typeof tool.execute !== 'function')
      throw new TypeError(`the tool ${name} has no \`execute\`: what runs elsewhere has to ask there`);
    return [name, { ...tool, execute: guarded(name, tool.execute.bind(tool) as Execute) }] as const;
  });

  return {
    tools: Object.fromEntries(entries) as Tools,
    async toolApproval({ toolCall: { toolName, input } }) {
      if (!Object.hasOwn(tools, toolName)) return { type: 'denied', reason: `${toolName} is not guarded` };
      const refusal = await guard.ahead({ tool: toolName, input });
      if (refusal === null) return { type: 'not-applicable' };
      const type = refusal.decision.kind === 'waiting' ? 'user-approval' : 'denied';
      return { type, reason: refusal.message };
    },
  };
}

/** The last output of a tool that yields partial results; the grant is used up when the tool has ended. */
async function lastOf(output: unknown): Promise<unknown> {
  const whole = await output;
  if (typeof whole !== 'object' || whole === null || !(Symbol.asyncIterator in whole)) return whole;
  let last: unknown;
  for await (const part of whole as AsyncIterable<unknown>) last = part;
  return last;
}
