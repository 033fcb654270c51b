// An agent on Mastra. Replace the mock model by a model of your provider, and use a storage that survives a
// restart.

import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { InMemoryStore } from '@mastra/core/storage';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { guardTool } from '../../integrations/typescript/adapters/mastra.ts';
import { connectFromEnvironment, createPeople, send, task } from '../mails.ts';
import { createMockModel } from './mock-model.ts';

const writ = connectFromEnvironment();
const people = createPeople(writ);

const sendMail = createTool(
  guardTool(
    {
      id: 'send',
      description: 'Sends a mail',
      inputSchema: z.object({ to: z.string(), text: z.string() }),
      execute: send,
    },
    { writ, as: 'mail', onWait: people.onWait },
  ),
);

const assistant = new Agent({
  id: 'assistant',
  name: 'assistant',
  instructions: 'You send mails.',
  model: createMockModel() as never,
  tools: { send: sendMail },
});
// Mastra keeps a paused run in its storage.
new Mastra({ agents: { assistant }, storage: new InMemoryStore(), logger: false });

let result = await assistant.generate(task);
while (result.finishReason === 'suspended') {
  await people.haveDecided();
  const { runId = '', suspendPayload } = result;
  // Resuming only continues the run: the tool asks the service again.
  result = await assistant.resumeGenerate(
    { decided: true },
    { runId, toolCallId: suspendPayload.toolCallId },
  );
}
