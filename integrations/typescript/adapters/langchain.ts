// Tools of LangChain (JS) that ask before each execution, in an agent, in a graph or by themselves. INVARIANT: what runs the
// tool itself asks, below every middleware; an interrupt only pauses the graph, and whatever resumes it is not an answer.

import { createGuard, type GuardSettings, isUnavailable, type NotRun } from './guard.ts';

interface CallConfig {
  readonly signal?: AbortSignal;
  /** Pauses the graph; there where the tool runs in one. */
  readonly interrupt?: (value: WritInterrupt) => unknown;
}

type Call = (input: unknown, manager: unknown, config?: CallConfig) => unknown;

/** What the value of an interrupt says. */
export interface WritInterrupt {
  readonly message: string;
  /** Null where the service is away. */
  readonly requestId: string | null;
  readonly url: string | null;
}

/** For `tools` of `createAgent` and of `ToolNode`. */
export function guardTools<Tools extends readonly object[]>(tools: Tools, settings: GuardSettings): Tools {
  const guard = createGuard(settings);
  return tools.map((each) => {
    const { name, _call: call } = each as { readonly name?: unknown; readonly _call?: unknown };
    if (typeof name !== 'string' || typeof call !== 'function')
      throw new TypeError('only tools that run here can be guarded: what runs elsewhere has to ask there');
    const run = (call as Call).bind(each);
    const guarded: Call = async (input, manager, config) => {
      for (;;) {
        const asked = { tool: name, input, signal: config?.signal };
        const done = await guard.execute(asked, () => run(input, manager, config));
        if (done.kind === 'ran') return done.result;
        // What comes back from a pause is not read: the service is asked again.
        if (!pause(done, config?.interrupt)) return told(done, each);
      }
    };
    // The tool as it is, and of its class, but for this.
    return Object.create(each, { _call: { value: guarded } }) as object;
  }) as unknown as Tools;
}

/** False where it is decided, and where nothing can be paused: there is no graph, or it keeps no state. */
function pause(done: NotRun, interrupt: CallConfig['interrupt']): boolean {
  const { decision, message } = done;
  if (interrupt === undefined || (decision.kind !== 'waiting' && !isUnavailable(done))) return false;
  const url = decision.kind === 'waiting' ? decision.url : null;
  try {
    interrupt({ message, requestId: decision.requestId, url });
    return true;
  } catch (error) {
    // What pauses a graph is thrown; whatever else is thrown says that it cannot be paused.
    if (error instanceof Error && error.name === 'GraphInterrupt') throw error;
    return false;
  }
}

/** Told as a result: LangChain ends a run with an error of a tool. */
function told({ message }: NotRun, tool: object): unknown {
  const { responseFormat } = tool as { readonly responseFormat?: unknown };
  return responseFormat === 'content_and_artifact' ? [message, undefined] : message;
}
