// The Claude Agent SDK as a session calls it: the hook before a call, the tool unless the hook forbids it,
// the hook after it. The SDK's program has no fake model and is not free software; with `npm run claude` the
// SDK itself calls these functions.

import { guardClaude } from '../../../integrations/typescript/adapters/claude-agent.ts';
import type { Asked, Framework, Given, Run } from './framework.ts';

const signal = new AbortController().signal;

function guarded({ settings, pay }: Asked) {
  const { as, ...others } = settings;
  const guard = guardClaude({ whileWaiting: 'defer', ...others });
  const handler = async (given: Given) => ({ content: [{ type: 'text', text: pay(given) }] });
  return { guard, own: guard.tool(as, { name: 'pay', handler }) };
}

/** The input as the SDK's server passes it on. */
const inputOf = ({ amount }: Asked): Given => ({ amount, currency: 'USD' });

async function run(asked: Asked): Promise<Run> {
  const { guard, own } = guarded(asked);
  const { PreToolUse, PostToolUse } = guard.hooks;
  const { as } = asked.settings;
  const event = { tool_name: `mcp__${as}__pay`, tool_input: inputOf(asked) };
  const before = await PreToolUse[0]!.hooks[0]!({ hook_event_name: 'PreToolUse', ...event }, 'toolu_1', {
    signal,
  });
  const { permissionDecision: word, permissionDecisionReason: told = '' } = before.hookSpecificOutput ?? {};
  if (word !== undefined) return { isPaused: word === 'defer', told, saved: null };
  const result = await own.handler(event.tool_input);
  await PostToolUse[0]!.hooks[0]!({ hook_event_name: 'PostToolUse', ...event }, 'toolu_1', { signal });
  return { isPaused: false, told: JSON.stringify(result), saved: null };
}

export const claudeAgent: Framework = {
  name: 'Claude Agent SDK',
  run,
  evasions: {
    'a session without hooks': (asked) => guarded(asked).own.handler(inputOf(asked)),
    async 'allowed earlier for another call'(asked) {
      const { guard, own } = guarded(asked);
      const input = { tool_name: `mcp__${asked.settings.as}__look`, tool_input: inputOf(asked) };
      await guard.hooks.PreToolUse[0]!.hooks[0]!({ hook_event_name: 'PreToolUse', ...input }, 'toolu_0', {
        signal,
      });
      await own.handler(inputOf(asked));
    },
  },
};
