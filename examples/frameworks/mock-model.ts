// A model for the AI SDK and for Mastra that needs no network: it calls the tool `send` for each mail in
// turn, then ends.

import { MockLanguageModelV4 } from 'ai/test';
import { mails } from '../mails.ts';

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

export function createMockModel(): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    async doGenerate({ prompt }) {
      const parts = prompt.flatMap(({ role, content }) => (role === 'tool' ? content : []));
      const done = parts.filter(({ type }) => type === 'tool-result').length;
      const mail = mails[done];
      if (mail === undefined) {
        const text = { type: 'text', text: 'That is all.' } as const;
        return { content: [text], finishReason: { unified: 'stop', raw: undefined }, usage, warnings: [] };
      }
      const call = {
        type: 'tool-call',
        toolCallId: `call-${done}`,
        toolName: 'send',
        input: JSON.stringify(mail),
      } as const;
      return {
        content: [call],
        finishReason: { unified: 'tool-calls', raw: undefined },
        usage,
        warnings: [],
      };
    },
  });
}
