// An agent on LangChain. Replace the fake model by a chat model, and use a checkpointer that survives a
// restart.

import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { Command, MemorySaver } from '@langchain/langgraph';
import { createAgent, fakeModel } from 'langchain';
import { z } from 'zod';
import { guardTools } from '../../integrations/typescript/adapters/langchain.ts';
import { connectFromEnvironment, createPeople, mails, send, task } from '../mails.ts';

const writ = connectFromEnvironment();
const people = createPeople(writ);

const sendMail = tool(send, {
  name: 'send',
  description: 'Sends a mail',
  schema: z.object({ to: z.string(), text: z.string() }),
});

const model = fakeModel();
for (const args of mails) model.respondWithTools([{ name: 'send', args }]);
model.respond(new AIMessage('That is all.'));

const agent = createAgent({
  model,
  tools: guardTools([sendMail], { writ, as: 'mail', onWait: people.onWait }),
  checkpointer: new MemorySaver(),
});
const config = { configurable: { thread_id: 'mails' } };

let state: object = await agent.invoke({ messages: [new HumanMessage(task)] }, config);
while ('__interrupt__' in state) {
  await people.haveDecided();
  // The command only resumes the run: the tool asks the service again.
  state = await agent.invoke(new Command({ resume: true }), config);
}
