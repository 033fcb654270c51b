// A turn of a granted call is good for one try, for as long as the state that carries it.

import { expect, test } from 'vitest';
import { createRequestStates, createTakenTurns } from '../../../integrations/mcp/calls/gate.ts';

const hourMs = 60 * 60_000;
const scope = { caller: 'a', method: 'tools/call', params: {} };

test('no turn passes twice, whenever its state is shown, and turns make room once their states have ended', () => {
  let now = 0;
  const clock = () => now;
  const states = createRequestStates(clock);
  const turns = createTakenTurns(clock, 3);
  const sealed = states.seal(
    { kind: 'granted', resultFields: null, requestId: 'r', turn: 't', state: null },
    scope,
  );
  const shown = () => {
    const state = states.open(sealed, scope);
    return state?.kind === 'granted' && turns.take(state.turn);
  };
  now = hourMs - 1;
  expect(shown()).toBe(true);
  for (now of [hourMs - 1, hourMs, 2 * hourMs - 2, 2 * hourMs, 9 * hourMs]) expect(shown()).toBe(false);
});

test('beyond the most that are remembered, turns are refused until earlier ones are forgotten', () => {
  let now = 0;
  const turns = createTakenTurns(() => now, 2);
  expect(['a', 'b', 'c', 'a'].map((turn) => turns.take(turn))).toEqual([true, true, false, false]);
  now = hourMs;
  expect(['c', 'd', 'e', 'c'].map((turn) => turns.take(turn))).toEqual([true, true, false, false]);
});
