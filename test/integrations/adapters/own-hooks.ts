// What the frameworks' own hooks make of doubt, without an adapter: the hook that approves a tool gives each
// answer that is not a clear yes. Returns how often the tool ran.

import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { tool as langchainTool } from '@langchain/core/tools';
import { MemorySaver } from '@langchain/langgraph';
import { Agent as MastraAgent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { InMemoryStore } from '@mastra/core/storage';
import { createTool } from '@mastra/core/tools';
import { Agent, tool as openaiTool, Runner } from '@openai/agents-core';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents-core/testing';
import { tool as aiTool, generateText, isStepCount } from 'ai';
import {
  type AgentMiddleware,
  createAgent,
  createMiddleware,
  fakeModel,
  humanInTheLoopMiddleware,
} from 'langchain';
import { mockModel } from './ai-sdk.ts';
import { description, type Given, inputSchema, sentence } from './framework.ts';

export interface OwnHook {
  /** The package that `package.json` pins. */
  readonly package: string;
  readonly hook: string;
  readonly says: string;
  readonly run: (pay: (given: Given) => string) => Promise<unknown>;
}

const fail = () => {
  throw new Error('the approver is away');
};

type Pay = (given: Given) => string;

function ai(says: string, toolApproval: unknown): OwnHook {
  const run = (pay: Pay) => {
    const pays = aiTool({ description, inputSchema, execute: async (given) => pay(given) });
    const model = mockModel(5);
    const stopWhen = isStepCount(3);
    return generateText({
      model,
      stopWhen,
      prompt: sentence,
      tools: { pay: pays },
      toolApproval: toolApproval as never,
    });
  };
  return { package: 'ai', hook: '`toolApproval`', says, run };
}

const runner = new Runner({ tracingDisabled: true });

function openaiAgent(pay: Pay, options: object, calls = 1) {
  const called = Array.from({ length: calls }, (_, index) => [
    functionCall('pay', { amount: index }, { callId: `call-${index}` }),
  ]);
  const pays = {
    name: 'pay',
    description,
    parameters: inputSchema,
    execute: async (given: Given) => pay(given),
  };
  const model = new ScriptedModel([...called, [assistantMessage('done')]] as never);
  return new Agent({ name: 'payer', model, tools: [openaiTool({ ...pays, ...options } as never)] });
}

function openai(hook: string, says: string, options: object): OwnHook {
  const run = (pay: Pay) => runner.run(openaiAgent(pay, options), sentence);
  return { package: '@openai/agents-core', hook, says, run };
}

const guardrail = (answer: unknown) => ({ inputGuardrails: [{ name: 'one', run: async () => answer }] });

const openaiSticky: OwnHook = {
  package: '@openai/agents-core',
  hook: '`approve(…, { alwaysApprove: true })`',
  says: 'yes to one call; the model then makes two others',
  async run(pay) {
    const agent = openaiAgent(pay, { needsApproval: true }, 3);
    const { state, interruptions } = await runner.run(agent, sentence);
    for (const each of interruptions) state.approve(each, { alwaysApprove: true });
    await runner.run(agent, state);
  },
};

function langchain(hook: string, says: string, middleware: AgentMiddleware): OwnHook {
  const run = (pay: Pay) => {
    const pays = langchainTool(async (given: Given) => pay(given), {
      name: 'pay',
      description,
      schema: inputSchema,
    });
    const model = fakeModel()
      .respondWithTools([{ name: 'pay', args: { amount: 5 }, id: 'call-1' }])
      .respond(new AIMessage('done'));
    const agent = createAgent({
      model,
      tools: [pays],
      middleware: [middleware],
      checkpointer: new MemorySaver(),
    });
    return agent.invoke({ messages: [new HumanMessage(sentence)] }, { configurable: { thread_id: '1' } });
  };
  return { package: 'langchain', hook, says, run };
}

const wrapper = (wrapToolCall: unknown) =>
  createMiddleware({ name: 'one', wrapToolCall: wrapToolCall as never });

interface MastraHooks {
  readonly tool?: object;
  readonly agent?: object;
  readonly run?: object;
}

function mastra(
  hook: string,
  says: string,
  { tool = {}, agent: ofAgent = {}, run: ofRun = {} }: MastraHooks,
): OwnHook {
  const run = async (pay: Pay) => {
    const pays = createTool({
      id: 'pay',
      description,
      inputSchema,
      execute: async (given) => pay(given),
      ...tool,
    });
    const agent = new MastraAgent({
      id: 'payer',
      name: 'payer',
      instructions: 'Pay',
      model: mockModel(5) as never,
      tools: { pay: pays },
      ...ofAgent,
    });
    new Mastra({ agents: { payer: agent }, storage: new InMemoryStore(), logger: false });
    await agent.generate(sentence, ofRun);
  };
  return { package: '@mastra/core', hook, says, run };
}

const deny = { hooks: { beforeToolCall: async () => ({ proceed: false, output: 'no' }) } };

export const ownHooks: readonly OwnHook[] = [
  ai('an unknown word', () => 'perhaps'),
  ai('nothing', () => undefined),
  ai('`null`', () => null),
  ai('an object with another shape', () => ({ approved: false })),
  ai('an exception', fail),
  ai('no, for a misspelt tool', { pays: 'denied' }),
  openai('`needsApproval`', 'nothing', { needsApproval: async () => undefined }),
  openai('`needsApproval`', 'an exception', { needsApproval: async () => fail() }),
  openai('`inputGuardrails`', 'an empty object', guardrail({})),
  openai('`inputGuardrails`', 'an unknown word', guardrail({ behavior: { type: 'deny' } })),
  openai('`inputGuardrails`', 'an exception', {
    inputGuardrails: [{ name: 'one', run: async () => fail() }],
  }),
  openaiSticky,
  langchain(
    '`humanInTheLoopMiddleware`',
    'ask, for a misspelt tool',
    humanInTheLoopMiddleware({ interruptOn: { pays: true } } as never),
  ),
  langchain(
    '`wrapToolCall`',
    'nothing',
    wrapper(async () => undefined),
  ),
  langchain(
    '`wrapToolCall`',
    'an exception',
    wrapper(async () => fail()),
  ),
  mastra('`requireApproval`', 'nothing', { tool: { requireApproval: () => undefined } }),
  mastra('`requireApproval`', 'an exception', { tool: { requireApproval: fail } }),
  mastra('`beforeToolCall`', 'an unknown word', {
    agent: { hooks: { beforeToolCall: async () => ({ proceed: 'no' }) } },
  }),
  mastra('`beforeToolCall`', 'an exception', { agent: { hooks: { beforeToolCall: async () => fail() } } }),
  mastra('`beforeToolCall` of the agent', 'no, but the run has its own hook', {
    agent: deny,
    run: { hooks: { beforeToolCall: async () => undefined } },
  }),
];
