// The OpenAI Agents SDK with its scripted model. A paused run is saved as the text of its state.

import { Agent, type AgentOutputType, Runner, RunState, tool } from '@openai/agents-core';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents-core/testing';
import { guardTool } from '../../../integrations/typescript/adapters/openai-agents.ts';
import {
  type Asked,
  description,
  type Framework,
  type Given,
  inputSchema,
  type Run,
  sentence,
} from './framework.ts';

const runner = new Runner({ tracingDisabled: true });

interface Twist {
  /** How often the model calls the tool. */
  readonly calls?: number;
  /** Options for `tool()`, applied after the tool was guarded. */
  readonly options?: object;
}

function agentOf({ amount, pay, settings }: Asked, { calls = 1, options = {} }: Twist = {}) {
  const guarded = guardTool(
    { name: 'pay', description, parameters: inputSchema, execute: async (given: Given) => pay(given) },
    settings,
  );
  const called = Array.from({ length: calls }, (_, index) => [
    functionCall('pay', { amount: amount + index }, { callId: `call-${index}` }),
  ]);
  const model = new ScriptedModel([...called, [assistantMessage('done')]] as never);
  return new Agent<unknown, AgentOutputType>({
    name: 'payer',
    model,
    tools: [tool({ ...guarded, ...options })],
  });
}

async function run(asked: Asked, saved?: unknown): Promise<Run> {
  const agent = agentOf(asked);
  const state = saved === undefined ? null : await RunState.fromString(agent, String(saved));
  // A new process starts the script at its beginning; the state holds what the model has said already.
  if (state !== null) agent.model = new ScriptedModel([[assistantMessage('done')]] as never);
  for (const interruption of state?.getInterruptions() ?? []) state?.approve(interruption);
  const result = await runner.run(agent, state ?? sentence);
  return {
    isPaused: result.interruptions.length > 0,
    told: JSON.stringify(result.history),
    saved: result.state.toString(),
  };
}

export const openaiAgents: Framework = {
  name: 'OpenAI Agents SDK',
  run,
  evasions: {
    'a tool declared to need no approval': (asked) =>
      runner.run(agentOf(asked, { options: { needsApproval: false } }), sentence),
    'a tool without a declared need for approval': (asked) =>
      runner.run(agentOf(asked, { options: { needsApproval: async () => undefined } }), sentence),
    'a guardrail without a result': (asked) =>
      runner.run(
        agentOf(asked, { options: { inputGuardrails: [{ name: 'none', run: async () => ({}) }] } }),
        sentence,
      ),
    async 'approved permanently, then called with other arguments'(asked) {
      const agent = agentOf(asked, { calls: 3 });
      const { state } = await runner.run(agent, sentence);
      for (const interruption of state.getInterruptions())
        state.approve(interruption, { alwaysApprove: true });
      await runner.run(agent, state);
    },
  },
};
