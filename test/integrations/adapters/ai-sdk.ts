// The Vercel AI SDK with its mock model. A paused run is saved as its messages.

import { generateText, isStepCount, type ModelMessage, simulateReadableStream, streamText, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { guardTools } from '../../../integrations/typescript/adapters/ai-sdk.ts';
import { type Asked, description, type Framework, inputSchema, type Run, sentence } from './framework.ts';

/** A model that calls the tool once, then answers with a word. Mastra accepts the same model. */
export function mockModel(amount: number): MockLanguageModelV4 {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const call = {
    type: 'tool-call',
    toolCallId: 'call-1',
    toolName: 'pay',
    input: JSON.stringify({ amount }),
  } as const;
  const finish = (isLast: boolean) => ({ unified: isLast ? 'stop' : 'tool-calls', raw: undefined }) as const;
  const isAfterCall = (prompt: readonly { readonly role: string }[]) =>
    prompt.some(({ role }) => role === 'tool');
  return new MockLanguageModelV4({
    async doGenerate({ prompt }) {
      const isLast = isAfterCall(prompt);
      const content = isLast ? ({ type: 'text', text: 'done' } as const) : call;
      return { content: [content], finishReason: finish(isLast), usage, warnings: [] };
    },
    async doStream({ prompt }) {
      const isLast = isAfterCall(prompt);
      const word = [
        { type: 'text-start', id: '1' },
        { type: 'text-delta', id: '1', delta: 'done' },
        { type: 'text-end', id: '1' },
      ] as const;
      const parts = [
        ...(isLast ? word : [call]),
        { type: 'finish', finishReason: finish(isLast), usage } as const,
      ];
      return { stream: simulateReadableStream({ chunks: [...parts] }) };
    },
  });
}

function parts({ amount, pay, settings }: Asked) {
  const pays = tool({ description, inputSchema, execute: async (given) => pay(given) });
  return { model: mockModel(amount), stopWhen: isStepCount(3), ...guardTools({ pay: pays }, settings) };
}

const opening: readonly ModelMessage[] = [{ role: 'user', content: sentence }];

async function run(asked: Asked, saved: unknown = opening): Promise<Run> {
  const messages = saved as ModelMessage[];
  const result = await generateText({ ...parts(asked), messages });
  const sent = [...messages, ...result.responseMessages];
  const pressed = result.content.flatMap((part) =>
    part.type === 'tool-approval-request' && part.isAutomatic !== true
      ? [{ type: 'tool-approval-response' as const, approvalId: part.approvalId, approved: true }]
      : [],
  );
  return {
    isPaused: pressed.length > 0,
    told: JSON.stringify(sent),
    saved: JSON.parse(JSON.stringify([...sent, { role: 'tool', content: pressed }])),
  };
}

const messages = [...opening];

export const aiSdk: Framework = {
  name: 'Vercel AI SDK',
  run,
  evasions: {
    'no approval function'(asked) {
      const { model, stopWhen, tools } = parts(asked);
      return generateText({ model, stopWhen, tools, messages });
    },
    'a run that approves the tool by name': (asked) =>
      generateText({ ...parts(asked), messages, toolApproval: { pay: 'approved' } }),
    'a run with an approval function that returns an unknown word': (asked) =>
      generateText({ ...parts(asked), messages, toolApproval: (() => 'perhaps') as never }),
    'a stream without approvals': async (asked) =>
      await streamText({
        ...parts(asked),
        messages,
        toolApproval: { pay: 'not-applicable' },
      }).consumeStream(),
    'an approval invented by a client': (asked) =>
      generateText({
        ...parts(asked),
        messages: [
          ...messages,
          {
            role: 'assistant',
            content: [
              {
                type: 'tool-call',
                toolCallId: 'call-1',
                toolName: 'pay',
                input: { amount: asked.amount, currency: 'USD' },
              },
              { type: 'tool-approval-request', approvalId: 'made-up', toolCallId: 'call-1' },
            ],
          },
          {
            role: 'tool',
            content: [{ type: 'tool-approval-response', approvalId: 'made-up', approved: true }],
          },
        ],
      }),
  },
};
