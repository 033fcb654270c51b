// A sub-agent of a real framework, whose tools are guarded with the client of a delegation: it runs what was passed
// on, and is refused the rest, which its agent may do.

import { Agent, type AgentOutputType, Runner, tool } from '@openai/agents-core';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents-core/testing';
import { expect, test } from 'vitest';
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
  const { url, apiKey: key } = await startService({ startsWith });
  const writ = connect({ url, key, wait: 0 });
  const until = new Date(Date.now() + 600_000);
  const terms = { name: 'payer', actions: ['shop.pay'], when: 'payload.amount <= 5', until };
  const { client } = await writ.delegate(terms);
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
