// Sub-agents of frameworks, whose tools are guarded with the client of a delegation: they run what was passed on, and
// are refused the rest, which their agent may do.

import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { tool as langchainTool } from '@langchain/core/tools';
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { Agent, type AgentOutputType, Runner, tool } from '@openai/agents-core';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents-core/testing';
import { createAgent, fakeModel } from 'langchain';
import { describe, expect, test } from 'vitest';
import { guardClaude } from '../../../integrations/typescript/adapters/claude-agent.ts';
import { guardTools } from '../../../integrations/typescript/adapters/langchain.ts';
import { guardTool } from '../../../integrations/typescript/adapters/openai-agents.ts';
import { connect, type Writ } from '../../../integrations/typescript/client.ts';
import { startService } from '../../service/http/service.ts';
import { inputSchema } from './framework.ts';

const startsWith = `
action shop.pay { amount: number, currency?: string }
policy shop on shop.pay { allow all }
`;

type Say = readonly unknown[];

function agentOf(name: string, script: readonly Say[], more: object = {}): Agent<unknown, AgentOutputType> {
  const model = new ScriptedModel([...script, [assistantMessage('done')]] as never);
  return new Agent<unknown, AgentOutputType>({ name, model, ...more });
}

/** A tool that pays, and the amounts that it has paid. */
function payTool(writ: Writ) {
  const paid: number[] = [];
  const execute = async ({ amount }: { readonly amount: number }) => {
    paid.push(amount);
    return 'paid';
  };
  const description = 'Pays an amount';
  const options = { name: 'pay', description, parameters: inputSchema, execute };
  return { paid, tool: tool(guardTool(options as never, { writ, as: 'shop' })) };
}

test('OpenAI Agents SDK: a hand-off with tools of a delegated client', async () => {
  const { writ, client } = await connected();
  const { paid, tool: pay } = payTool(client);
  const calls = [5, 50].map((amount) => [functionCall('pay', { amount }, { callId: `pay-${amount}` })]);
  const payer = agentOf('payer', calls, { tools: [pay] });
  const outer = agentOf('assistant', [[functionCall('transfer_to_payer', {}, { callId: 'hand-off' })]], {
    handoffs: [payer],
  });
  const result = await new Runner({ tracingDisabled: true }).run(outer, 'Pay 5, then 50.');
  expect(paid).toEqual([5]);
  expect(JSON.stringify(result.history)).toContain('Outside the delegation `payer`');
  expect(await writ.authorize('shop.pay', { amount: 50 })).toMatchObject({ kind: 'allowed' });
});

/** A client of an agent and one of a sub-agent, which may pay up to 5. */
async function connected() {
  const { url, apiKey: key } = await startService({ startsWith });
  const writ = connect({ url, key, wait: 0 });
  const until = new Date(Date.now() + 600_000);
  const { client } = await writ.delegate({
    name: 'payer',
    actions: ['shop.pay'],
    when: 'payload.amount <= 5',
    until,
  });
  return { writ, client };
}

test('LangGraph: a subgraph with tools of a delegated client', async () => {
  const { writ, client } = await connected();
  const paid: number[] = [];
  const pays = langchainTool(
    async ({ amount }: { readonly amount: number }) => {
      paid.push(amount);
      return 'paid';
    },
    { name: 'pay', description: 'Pays an amount', schema: inputSchema },
  );
  const model = [5, 50]
    .reduce(
      (calling, amount) => calling.respondWithTools([{ name: 'pay', args: { amount }, id: `${amount}` }]),
      fakeModel(),
    )
    .respond(new AIMessage('done'));
  const payer = createAgent({ model, tools: guardTools([pays], { writ: client, as: 'shop' }) });
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('payer', payer.graph)
    .addEdge(START, 'payer')
    .compile();
  const { messages } = await graph.invoke({ messages: [new HumanMessage('Pay 5, then 50.')] });
  expect(paid).toEqual([5]);
  expect(JSON.stringify(messages)).toContain('Outside the delegation `payer`');
  expect(await writ.authorize('shop.pay', { amount: 50 })).toMatchObject({ kind: 'allowed' });
});

describe('Claude Agent SDK', () => {
  const { signal } = new AbortController();
  const callOf = (amount: number, by: object) => ({
    hook_event_name: 'PreToolUse',
    tool_name: 'mcp__shop__pay',
    tool_input: { amount, currency: 'USD' },
    ...by,
  });
  const payer = { agent_id: 'a-1', agent_type: 'payer' };

  test('a sub-agent asks with the client of its type, and one of another type runs nothing', async () => {
    const { writ, client } = await connected();
    const { hooks } = guardClaude({ writ, subAgents: { payer: client } });
    const told = async (amount: number, by: object) => {
      const asked = await hooks.PreToolUse[0]!.hooks[0]!(callOf(amount, by), 'toolu_1', { signal });
      return asked.hookSpecificOutput?.permissionDecisionReason ?? 'runs';
    };
    expect(await told(5, payer)).toBe('runs');
    expect(await told(50, payer)).toContain('Outside the delegation `payer`');
    for (const by of [{}, { agent_type: 'payer' }]) expect(await told(50, by)).toBe('runs');
    for (const agent_type of ['reader', 'constructor', undefined])
      expect(await told(5, { agent_id: 'a-2', ...(agent_type && { agent_type }) })).toMatch(
        /^Not run: nothing is delegated to the sub-agent/,
      );
  });

  test('an own tool runs under the grant that the hook has got for a sub-agent, and reports it', async () => {
    const { writ, client } = await connected();
    const asked: string[] = [];
    const noted = (name: string, of: Writ): Pick<Writ, 'authorize' | 'report'> => ({
      authorize: (...args) => {
        asked.push(`${name} asks`);
        return of.authorize(...args);
      },
      report: (...args) => {
        asked.push(`${name} reports`);
        return of.report(...args);
      },
    });
    const guard = guardClaude({ writ: noted('agent', writ), subAgents: { payer: noted('payer', client) } });
    const own = guard.tool('shop', { name: 'pay', handler: async (_: object) => ({ content: [] }) });
    await guard.hooks.PreToolUse[0]!.hooks[0]!(callOf(5, payer), 'toolu_1', { signal });
    await own.handler({ amount: 5, currency: 'USD' });
    expect(asked).toEqual(['payer asks', 'payer reports']);
  });
});
