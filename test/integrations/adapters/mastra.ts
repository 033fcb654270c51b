// Mastra's agent with the mock model of the AI SDK. A paused run is saved in the storage.

import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { InMemoryStore } from '@mastra/core/storage';
import { createTool } from '@mastra/core/tools';
import { guardTool } from '../../../integrations/typescript/adapters/mastra.ts';
import { mockModel } from './ai-sdk.ts';
import {
  type Asked,
  description,
  type Framework,
  type Given,
  inputSchema,
  type Run,
  sentence,
} from './framework.ts';

function toolOf({ pay, settings }: Asked, options: object = {}) {
  const definition = { id: 'pay', description, inputSchema, execute: async (given: Given) => pay(given) };
  return createTool({ ...guardTool(definition, settings), ...options });
}

interface Kept {
  readonly storage: InMemoryStore;
  readonly runId?: string | undefined;
}

function agentOf(asked: Asked, storage: InMemoryStore, options: object = {}) {
  const pay = toolOf(asked, options);
  const agent = new Agent({
    id: 'payer',
    name: 'payer',
    instructions: 'Pay',
    // The types also require a stream, which Mastra adds by itself.
    model: mockModel(asked.amount) as never,
    tools: { pay },
  });
  new Mastra({ agents: { payer: agent }, storage, logger: false });
  return agent;
}

const fresh = (asked: Asked, options: object = {}) => agentOf(asked, new InMemoryStore(), options);

async function run(asked: Asked, saved?: unknown): Promise<Run> {
  const { storage, runId }: Kept = saved === undefined ? { storage: new InMemoryStore() } : (saved as Kept);
  const agent = agentOf(asked, storage);
  const result =
    runId === undefined
      ? await agent.generate(sentence)
      : await agent.resumeGenerate({ pressed: true }, { runId, toolCallId: 'call-1' });
  const {
    finishReason,
    response,
    runId: now,
  } = result as {
    readonly finishReason: string;
    readonly response?: { readonly messages?: unknown };
    readonly runId?: string;
  };
  return {
    isPaused: finishReason === 'suspended',
    told: JSON.stringify(response?.messages ?? []),
    saved: { storage, runId: now ?? runId },
  };
}

export const mastra: Framework = {
  name: 'Mastra',
  run,
  evasions: {
    "hooks of the run instead of the agent's hooks": (asked) =>
      fresh(asked).generate(sentence, {
        hooks: { beforeToolCall: async () => ({ proceed: 'yes' }) as never },
      }),
    'a run without approvals': (asked) => fresh(asked).generate(sentence, { requireToolApproval: false }),
    'a tool without a declared need for approval': (asked) =>
      fresh(asked, { requireApproval: () => undefined }).generate(sentence),
    async 'approved in the framework'(asked) {
      const agent = fresh(asked, { requireApproval: true });
      const { runId = '' } = await agent.generate(sentence);
      await agent.approveToolCallGenerate({ runId, toolCallId: 'call-1' });
    },
    'the tool alone, without an agent': async (asked) =>
      await toolOf(asked).execute?.({ amount: asked.amount } as never, {} as never),
  },
};
