// LangChain's agent with its fake model. A paused run is saved in the checkpointer.

import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { Command, MemorySaver } from '@langchain/langgraph';
import {
  type AgentMiddleware,
  createAgent,
  createMiddleware,
  fakeModel,
  humanInTheLoopMiddleware,
  toolRetryMiddleware,
} from 'langchain';
import { guardTools } from '../../../integrations/typescript/adapters/langchain.ts';
import {
  type Asked,
  description,
  type Framework,
  type Given,
  inputSchema,
  type Run,
  sentence,
} from './framework.ts';

function toolOf({ pay, settings }: Asked) {
  const pays = tool(async (given: Given) => pay(given), { name: 'pay', description, schema: inputSchema });
  return guardTools([pays], settings)[0]!;
}

function agentOf(
  asked: Asked,
  checkpointer: MemorySaver | false,
  middleware: readonly AgentMiddleware[] = [],
) {
  const model = fakeModel()
    .respondWithTools([{ name: 'pay', args: { amount: asked.amount }, id: 'call-1' }])
    .respond(new AIMessage('done'));
  const kept = checkpointer === false ? {} : { checkpointer };
  return createAgent({ model, tools: [toolOf(asked)], middleware: [...middleware], ...kept });
}

const config = { configurable: { thread_id: 'thread-1' } };
const opening = { messages: [new HumanMessage(sentence)] };

async function run(asked: Asked, saved?: unknown): Promise<Run> {
  const checkpointer = saved === undefined ? new MemorySaver() : (saved as MemorySaver);
  const agent = agentOf(asked, checkpointer);
  const state: { readonly messages: readonly unknown[]; readonly __interrupt__?: readonly unknown[] } =
    saved === undefined
      ? await agent.invoke(opening, config)
      : await agent.invoke(new Command({ resume: 'go on' }), config);
  return {
    isPaused: state.__interrupt__ !== undefined,
    told: JSON.stringify(state.messages),
    saved: checkpointer,
  };
}

const middlewares: Readonly<Record<string, AgentMiddleware>> = {
  'a human-in-the-loop middleware with another name for the tool': humanInTheLoopMiddleware({
    interruptOn: { pays: true },
  } as never),
  'a middleware that retries': toolRetryMiddleware({ maxRetries: 2, initialDelayMs: 1 }),
  'a middleware that calls the tool directly': createMiddleware({
    name: 'direct',
    wrapToolCall: async ({ tool: called, toolCall }) =>
      await (called as { invoke: (call: object) => Promise<never> }).invoke({
        ...toolCall,
        type: 'tool_call',
      }),
  }),
};

export const langchain: Framework = {
  name: 'LangChain',
  run,
  evasions: {
    ...Object.fromEntries(
      Object.entries(middlewares).map(([name, middleware]) => [
        name,
        (asked: Asked) => agentOf(asked, new MemorySaver(), [middleware]).invoke(opening, config),
      ]),
    ),
    'a graph that cannot pause': (asked) => agentOf(asked, false).invoke(opening),
    'the tool alone, without a graph': (asked) => toolOf(asked).invoke({ amount: asked.amount }),
    async "resumed with a person's answer from a chat"(asked) {
      const agent = agentOf(asked, new MemorySaver());
      await agent.invoke(opening, config);
      await agent.invoke(new Command({ resume: { decisions: [{ type: 'approve' }] } }), config);
    },
  },
};
