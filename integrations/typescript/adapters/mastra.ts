// Guards tools of Mastra, which then ask before each execution: `createTool(guardTool({ ... }, settings))`.
// INVARIANT: `execute` itself asks, with the arguments that it gets, below the hooks of agents and of runs;
// suspending only pauses, and the data of a resumption are not an answer.

import type { PendingDecision } from '../client.ts';
import { createGuard, type GuardSettings, isUnavailable, type NotRun, NotRunError } from './guard.ts';

/** The options of `createTool()` that are used. */
export interface ToolDefinition {
  readonly id: string;
  // biome-ignore lint/suspicious/noExplicitAny: takes any arguments, and so any function
  readonly execute?: (...args: any[]) => unknown;
}

type Suspend = (payload: object) => Promise<unknown>;

interface SuspendContext {
  readonly suspend?: Suspend;
  /** The data with which the tool last paused; present when the run is resumed. */
  readonly suspendPayload?: object;
}

interface ExecuteContext extends SuspendContext {
  readonly abortSignal?: AbortSignal;
  readonly agent?: SuspendContext;
  readonly workflow?: SuspendContext;
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
      const [given, context] = args as readonly [unknown, ExecuteContext?];
      const pausing = context?.agent ?? context?.workflow ?? context ?? {};
      // A resumed call gets its arguments as they were before the tool's schema transformed them, so the kept
      // ones are used.
      const input = isOwn(pausing.suspendPayload) ? pausing.suspendPayload.input : given;
      const call = { tool, input, signal: context?.abortSignal };
      const done = await guard.execute(call, () => execute(input, ...args.slice(1)));
      if (done.kind === 'ran') return done.result;
      const payload = pauseWith(done, input, pausing);
      if (payload === null || pausing.suspend === undefined) throw new NotRunError(done);
      return await pausing.suspend(payload);
    },
  };
}

/** The data with which a run is suspended. */
export interface MastraPause {
  readonly requestId: string;
  readonly for: PendingDecision['for'];
  readonly until: string;
  readonly url: string;
  /** The arguments with which the tool was to run. */
  readonly input: unknown;
}

/**
 * The data for a pause; null when the call does not pause. A run that is resumed while the service is away
 * pauses again with the same data.
 */
function pauseWith(done: NotRun, input: unknown, { suspendPayload }: SuspendContext): MastraPause | null {
  if (isUnavailable(done)) return isOwn(suspendPayload) ? suspendPayload : null;
  if (done.decision.kind === 'denied') return null;
  const { requestId, for: what, until, url } = done.decision;
  return { requestId, for: what, until: until.toISOString(), url, input };
}

/** Whether the guard made the data of a pause: a tool may also have suspended by itself, with other data. */
function isOwn(payload: object | undefined): payload is MastraPause {
  return payload !== undefined && 'requestId' in payload && 'url' in payload && 'input' in payload;
}
