// An agent on the Vercel AI SDK. Replace the mock model by a model of your provider.

import { generateText, isStepCount, type ModelMessage, tool } from 'ai';
import { z } from 'zod';
import { guardTools } from '../../integrations/typescript/adapters/ai-sdk.ts';
import { connectFromEnvironment, createPeople, send, task } from '../mails.ts';
import { createMockModel } from './mock-model.ts';

const writ = connectFromEnvironment();
const people = createPeople(writ);

const { tools, toolApproval } = guardTools(
  {
    send: tool({
      description: 'Sends a mail',
      inputSchema: z.object({ to: z.string(), text: z.string() }),
      execute: send,
    }),
  },
  { writ, as: 'mail', onWait: people.onWait },
);

const model = createMockModel();
const messages: ModelMessage[] = [{ role: 'user', content: task }];
for (;;) {
  const result = await generateText({ model, tools, toolApproval, messages, stopWhen: isStepCount(10) });
  messages.push(...result.responseMessages);
  const waiting = result.content.filter((part) => part.type === 'tool-approval-request' && !part.isAutomatic);
  if (waiting.length === 0) break;
  await people.haveDecided();
  // The approval only resumes the run: the tool asks the service again.
  const content = result.content.flatMap((part) =>
    part.type === 'tool-approval-request' && !part.isAutomatic
      ? [{ type: 'tool-approval-response' as const, approvalId: part.approvalId, approved: true }]
      : [],
  );
  messages.push({ role: 'tool', content });
}
