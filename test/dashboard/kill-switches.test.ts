// Which kill switch stops an agent as a whole.

import { expect, test } from 'vitest';
import { type KillSwitch, killSwitchFor } from '../../src/api/applicable-kill-switch.ts';

const agent = { id: 'a1', risk_tier: 'high' };
const of = (...scopes: readonly string[]) => scopes.map((scope) => ({ scope }) as KillSwitch);

test.each<[string, readonly string[], string | null]>([
  ['none', [], null],
  ['its own', ['agent:a1'], 'agent:a1'],
  ['its tier', ['tier:low', 'tier:high'], 'tier:high'],
  ['everything', ['all'], 'all'],
  ['the narrowest first', ['all', 'tier:high', 'agent:a1'], 'agent:a1'],
  ['another agent', ['agent:a2', 'agent:a11'], null],
  ['an area of actions', ['area:payment'], null],
])('%s', (_, scopes, found) => {
  expect(killSwitchFor(agent, of(...scopes))?.scope ?? null).toBe(found);
});
