// Guards tools of LangChain (JS), which then ask before each execution, in an agent, in a graph or alone.
// INVARIANT: the function that runs the tool asks, below every middleware; an interrupt only pauses the
// graph, and the value that resumes it is not an answer.

import { createGuard, type GuardSettings, isUnavailable, type NotRun } from './guard.ts';

interface CallConfig {
  readonly signal?: AbortSignal;
  /** Pauses the graph; absent when the tool does not run in one. */
  readonly interrupt?: (value: WritInterrupt) => unknown;
}

type Call = (input: unknown, manager: unknown, config?: CallConfig) => unknown;

/** The value of an interrupt. */
export interface WritInterrupt {
  readonly message: string;
  /** The id of the request; null when the service is away. */
  readonly requestId: string | null;
  readonly url: string | null;
}

/**
 * Returns guarded tools for `tools` of `createAgent` and of `ToolNode`. Throws a TypeError for a tool that
 * does not run in this process.
 */
export function guardTools<Tools extends readonly object[]>(tools: Tools, settings: GuardSettings): Tools {
  const guard = createGuard(settings);
  return tools.map((each) => {
    const { name, _call: call } = each as { readonly name?: unknown; readonly _call?: unknown };
    if (typeof name !== 'string' || typeof call !== 'function')
      throw new TypeError('only tools that run here can be guarded: what runs elsewhere has to ask there');
    const run = (call as Call).bind(each);
    const guarded: Call = async (input, manager, config) => {
      for (;;) {
        const toolCall = { tool: name, input, signal: config?.signal };
        const done = await guard.execute(toolCall, () => run(input, manager, config));
        if (done.kind === 'ran') return done.result;
        // The value that ends a pause is not read: the service is asked again.
        if (!pause(done, config?.interrupt)) return toToolMessage(done, each);
      }
    };
    // The same tool, of the same class, with only this method replaced.
    return Object.create(each, { _call: { value: guarded } }) as object;
  }) as unknown as Tools;
}

/**
 * Pauses the graph. False when the call is decided, or when nothing can be paused: there is no graph, or the
 * graph keeps no state.
 */
function pause(done: NotRun, interrupt: CallConfig['interrupt']): boolean {
  const { decision, message } = done;
  if (interrupt === undefined || (decision.kind !== 'waiting' && !isUnavailable(done))) return false;
  const url = decision.kind === 'waiting' ? decision.url : null;
  try {
    interrupt({ message, requestId: decision.requestId, url });
    return true;
  } catch (error) {
    // Only a `GraphInterrupt` pauses a graph; any other error means that the graph cannot be paused.
    if (error instanceof Error && error.name === 'GraphInterrupt') throw error;
    return false;
  }
}

/** The refusal as a result, because LangChain ends a run when a tool throws an error. */
function toToolMessage({ message }: NotRun, tool: object): unknown {
  const { responseFormat } = tool as { readonly responseFormat?: unknown };
  return responseFormat === 'content_and_artifact' ? [message, undefined] : message;
}
