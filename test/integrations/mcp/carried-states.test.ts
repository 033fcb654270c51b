// The state that a client brings back opens for its own caller and call, for an hour, and unchanged.

import { expect, test } from 'vitest';
import { type CarriedState, createRequestStates, stateKeptMs } from '../../../integrations/mcp/calls/gate.ts';

const scope = { caller: 'a', method: 'tools/call', params: { name: 'pay', arguments: { n: 1 } } };
const state: CarriedState = { kind: 'wait', requestId: 'r-1' };

function rig() {
  let nowMs = 0;
  const states = createRequestStates(() => nowMs);
  const wait = (ms: number) => {
    nowMs += ms;
  };
  return { states, wait, sealed: states.seal(state, scope) };
}

test('a state is valid for an hour', () => {
  const { states, wait, sealed } = rig();
  wait(stateKeptMs - 1);
  expect(states.open(sealed, scope)).toEqual(state);
  wait(1);
  expect(states.open(sealed, scope)).toBeNull();
});

test('a retry may have answers and other metadata', () => {
  const { states, sealed } = rig();
  const params = { ...scope.params, _meta: { a: 1 }, inputResponses: {}, requestState: sealed };
  expect(states.open(sealed, { ...scope, params })).toEqual(state);
});

test.each([
  ['another caller', { caller: 'b' }],
  ['another method', { method: 'prompts/get' }],
  ['other arguments', { params: { name: 'pay', arguments: { n: 2 } } }],
  ['more of a call', { params: { ...scope.params, task: {} } }],
])('it does not open for %s', (_what, more) => {
  const { states, sealed } = rig();
  expect(states.open(sealed, { ...scope, ...more })).toBeNull();
});

test('a changed state, and one of another process, are refused', () => {
  const { states, sealed } = rig();
  const [head = '', body = '', code = ''] = sealed.split('.');
  const other = Buffer.from(Buffer.from(body, 'base64url').toString().replace('r-1', 'r-2')).toString(
    'base64url',
  );
  const texts = [
    '',
    head,
    `${head}.${body}`,
    `${head}.${body}.`,
    `${head}.${other}.${code}`,
    `x.${body}.${code}`,
    `${sealed}.`,
  ];
  for (const text of texts) expect([text, states.open(text, scope)]).toEqual([text, null]);
  expect(createRequestStates(() => 0).open(sealed, scope)).toBeNull();
});
