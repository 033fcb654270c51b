// Tools of Mastra that ask before each execution: `createTool(guardTool({ ... }, settings))`. INVARIANT: `execute` itself
// asks, with the arguments that it is given, below the hooks of agents and of runs; suspending only pauses, and the data of
// a resumption are not an answer.

import { createGuard, type GuardSettings, isUnavailable, type NotRun, NotRunError } from './guard.ts';

/** What `createTool()` takes, as far as this reads it. */
export interface ToolDefinition {
  readonly id: string;
  // biome-ignore lint/suspicious/noExplicitAny: takes any arguments, and so any function
  readonly execute?: (...args: any[]) => unknown;
}

type Suspend = (payload: object) => Promise<unknown>;

interface Pausing {
  readonly suspend?: Suspend;
  /** What the tool last paused with; present where the run is resumed. */
  readonly suspendPayload?: object;
}

interface ExecuteContext extends Pausing {
  readonly abortSignal?: AbortSignal;
  readonly agent?: Pausing;
  readonly workflow?: Pausing;
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
      const pausing = context?.agent ?? context?.workflow ?? context ?? {};
      const payload = pauseWith(done, pausing);
      if (payload === null || pausing.suspend === undefined) throw new NotRunError(done);
      return await pausing.suspend(payload);
    },
  };
}

/** Null where it is no pause. A run that was resumed while the service is away pauses as it did before. */
function pauseWith(done: NotRun, { suspendPayload }: Pausing): object | null {
  if (isUnavailable(done)) return suspendPayload ?? null;
  if (done.decision.kind === 'denied') return null;
  const { requestId, for: what, until, url } = done.decision;
  return { requestId, for: what, until: until.toISOString(), url };
}
