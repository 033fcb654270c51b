// An agent on the OpenAI Agents SDK. Leave out `model` to use OpenAI's default model.

import { Agent, Runner, tool } from '@openai/agents-core';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents-core/testing';
import { z } from 'zod';
import { guardTool } from '../../integrations/typescript/adapters/openai-agents.ts';
import { connectFromEnvironment, createPeople, mails, send, task } from '../mails.ts';

const writ = connectFromEnvironment();
const people = createPeople(writ);

const sendMail = tool(
  guardTool(
    {
      name: 'send',
      description: 'Sends a mail',
      parameters: z.object({ to: z.string(), text: z.string() }),
      execute: send,
    },
    { writ, as: 'mail', onWait: people.onWait },
  ),
);

const calls = mails.map((mail, index) => [functionCall('send', { ...mail }, { callId: `call-${index}` })]);
const model = new ScriptedModel([...calls, [assistantMessage('That is all.')]] as never);
const agent = new Agent({ name: 'assistant', model, tools: [sendMail] });
const runner = new Runner({ tracingDisabled: true });

let result = await runner.run(agent, task);
while (result.interruptions.length > 0) {
  await people.haveDecided();
  // The approval only resumes the run: the tool asks the service again.
  for (const interruption of result.interruptions) result.state.approve(interruption);
  result = await runner.run(agent, result.state);
}
