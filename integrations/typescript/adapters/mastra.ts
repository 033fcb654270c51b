// Tools of Mastra that ask before each execution: `createTool(guardTool({ ... }, settings))`. INVARIANT: `execute` itself
// asks, with the arguments that it is given, below the hooks of agents and of runs; suspending only pauses, and the data of
// a resumption are not an answer.

import { createGuard, type GuardSettings, NotRunError } from './guard.ts';

/** What `createTool()` takes, as far as this reads it. */
export interface ToolDefinition {
  readonly id: string;
  // biome-ignore lint/suspicious/noExplicitAny: takes any arguments, and so any function
  readonly execute?: (...args: any[]) => unknown;
}

type Suspend = (payload: object) => Promise<unknown>;

interface ExecuteContext {
  readonly abortSignal?: AbortSignal;
  readonly suspend?: Suspend;
  readonly agent?: { readonly suspend?: Suspend };
  readonly workflow?: { readonly suspend?: Suspend };
}

export function guardTool<Definition extends ToolDefinition>(
  definition: Definition,
  settings: GuardSettings,
): Definition {
  const guard = createGuard(settings);
  const { id: tool, execute } = definition;
  if (execute === undefined)
    throw new TypeError(`the tool ${tool} has no \`execute\`: what runs elsewhere has to ask there`);

  return {
    ...definition,
    async execute(...args: readonly unknown[]) {
      const [input, context] = args as readonly [unknown, ExecuteContext?];
      const call = { tool, input, signal: context?.abortSignal };
      const done = await guard.execute(call, () => execute(...args));
      if (done.kind === 'ran') return done.result;
      const suspend = context?.agent?.suspend ?? context?.workflow?.suspend ?? context?.suspend;
      if (done.decision.kind === 'denied' || suspend === undefined) throw new NotRunError(done);
      const { requestId, for: what, until, url } = done.decision;
      return await suspend({ requestId, for: what, until: until.toISOString(), url });
    },
  };
}
