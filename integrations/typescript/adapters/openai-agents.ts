// Guards tools of the OpenAI Agents SDK, which then ask before each execution: `tool(guardTool({ ... },
// settings))`. INVARIANT: `execute` itself asks, with the arguments that it gets; `needsApproval` only makes
// the interruption, and approving that, even permanently, only resumes the run.

import { createGuard, type GuardSettings } from './guard.ts';

/** The options of `tool()` that are used. */
export interface ToolOptions {
  readonly name?: string;
  // biome-ignore lint/suspicious/noExplicitAny: takes any arguments, and so any function
  readonly execute: (...args: any[]) => unknown;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly needsApproval?: boolean | ((...args: any[]) => Promise<boolean>);
}

export function guardTool<Options extends ToolOptions>(options: Options, settings: GuardSettings): Options {
  const guard = createGuard(settings);
  const { execute, needsApproval = false } = options;
  const tool = options.name ?? execute.name;

  return {
    ...options,
    name: tool,
    async needsApproval(...args: readonly unknown[]) {
      const [, input] = args;
      const refusal = await guard.ahead({ tool, input });
      if (refusal?.decision.kind === 'waiting') return true;
      return typeof needsApproval === 'function' ? (await needsApproval(...args)) !== false : needsApproval;
    },
    async execute(...args: readonly unknown[]) {
      const [input, , details] = args as readonly [unknown, unknown?, { readonly signal?: AbortSignal }?];
      const call = { tool, input, signal: details?.signal };
      const done = await guard.execute(call, () => execute(...args));
      // The refusal is a result, because the SDK puts "please try again" before an error.
      return done.kind === 'ran' ? done.result : done.message;
    },
  };
}
