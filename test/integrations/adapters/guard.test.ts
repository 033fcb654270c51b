// The common part of the adapters: the decided call is the one that runs, and an announced decision serves
// one execution.

import { describe, expect, test, vi } from 'vitest';
import { createGuard, type GuardSettings } from '../../../integrations/typescript/adapters/guard.ts';
import { type Decision, UnreachableError } from '../../../integrations/typescript/client.ts';

const inAnHour = new Date(Date.now() + 3_600_000);
const allowed: Decision = { kind: 'allowed', requestId: 'r', expiresAt: inAnHour };

function guardOf(decision: unknown, more: Partial<GuardSettings> = {}) {
  const authorize = vi.fn(async () => {
    if (decision instanceof Error) throw decision;
    return decision as Decision;
  });
  const report = vi.fn(async () => undefined);
  return { guard: createGuard({ writ: { authorize, report }, as: 'mail', ...more }), authorize, report };
}

const call = { tool: 'send', input: { to: 'bo' } };

describe('what is asked', () => {
  test('the action is that of the tool name, or the given one', async () => {
    const { guard, authorize } = guardOf(allowed, { actions: { post: 'letter.send' } });
    for (const tool of ['send', 'post', 'constructor']) await guard.execute({ ...call, tool }, () => 1);
    const asked = ['mail.send', 'letter.send', 'mail.constructor'];
    expect(authorize.mock.calls.map(([action]: unknown[]) => action)).toEqual(asked);
  });

  test('the payload is the arguments of the tool, or what the given function returns', async () => {
    const { guard, authorize } = guardOf(allowed);
    await guard.execute({ tool: 'send', input: 'text' }, () => 1);
    const other = guardOf(allowed, { payload: (tool, input) => ({ tool, input }) });
    await other.guard.execute(call, () => 1);
    expect(authorize.mock.calls[0]?.slice(1, 2)).toEqual([{ input: 'text' }]);
    expect(other.authorize.mock.calls[0]?.slice(1, 2)).toEqual([{ tool: 'send', input: { to: 'bo' } }]);
  });

  test.each([
    ['a date', { at: new Date() }, 'at'],
    ['a map', { to: [new Map()] }, 'to.0'],
    ['a number that is none', { n: Number.NaN }, 'n'],
    ['a large integer', { n: 1n }, 'n'],
    ['a function', { send() {} }, 'send'],
    ['a hole in a list', { to: [undefined] }, 'to.0'],
    ['an object with a text of its own', { to: { toJSON: () => 'bo' } }, 'to.toJSON'],
  ])('%s, of which the policies would hear something else, runs nothing', async (_, input, place) => {
    const { guard, authorize } = guardOf(allowed);
    const work = vi.fn();
    const done = await guard.execute({ tool: 'send', input }, work);
    expect(done).toMatchObject({ kind: 'not-run', decision: { policy: 'arguments' } });
    expect(done).toMatchObject({ message: expect.stringContaining(`not JSON: ${place}`) });
    expect([work.mock.calls.length, authorize.mock.calls.length]).toEqual([0, 0]);
  });

  test('arguments that change while people decide run nothing', async () => {
    const input = { to: 'bo' };
    const authorize = async () => {
      input.to = 'eve';
      return allowed;
    };
    const guard = createGuard({ writ: { authorize, report: async () => undefined }, as: 'mail' });
    const work = vi.fn();
    const done = await guard.execute({ tool: 'send', input }, work);
    expect(done).toMatchObject({ kind: 'not-run', decision: { policy: 'changed' } });
    expect(work).not.toHaveBeenCalled();
  });
});

describe('what was told ahead', () => {
  test('serves one execution of the same call', async () => {
    const { guard, authorize, report } = guardOf(allowed);
    expect(await guard.ahead(call)).toBeNull();
    await guard.execute({ ...call, input: { to: 'eve' } }, () => 1);
    expect(authorize).toHaveBeenCalledTimes(2);
    await guard.execute(call, () => 1);
    expect(authorize).toHaveBeenCalledTimes(2);
    await guard.execute(call, () => 1);
    expect(authorize).toHaveBeenCalledTimes(3);
    expect(report).toHaveBeenCalledTimes(3);
  });

  test('ends with the grant, and after a minute', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    for (const [afterMs, expiresAt] of [
      [61_000, inAnHour],
      [2_000, new Date(Date.now() + 1_000)],
    ] as const) {
      const { guard, authorize } = guardOf({ ...allowed, expiresAt });
      await guard.ahead(call);
      vi.setSystemTime(Date.now() + afterMs);
      await guard.execute(call, () => 1);
      expect(authorize).toHaveBeenCalledTimes(2);
    }
    vi.useRealTimers();
  });

  test('is reported once if the framework executes the tool', async () => {
    const { guard, report } = guardOf(allowed);
    await guard.ahead(call);
    await guard.executed(call);
    await guard.executed(call);
    expect(report.mock.calls).toEqual([['r', true]]);
  });

  test('is not kept for a pending request', async () => {
    const { guard, authorize } = guardOf({
      kind: 'waiting',
      requestId: 'r',
      for: 'approval',
      until: inAnHour,
      message: 'This call waits for people.',
      url: '',
    });
    expect(await guard.ahead(call)).toMatchObject({
      message: expect.stringContaining('This call waits for people.'),
    });
    await guard.execute(call, () => 1);
    expect(authorize).toHaveBeenCalledTimes(2);
  });
});

test.each([undefined, null, {}, { kind: 'perhaps' }, { kind: 'Allowed' }, 'allowed', true])(
  'a client that says %j runs nothing',
  async (decision) => {
    const { guard } = guardOf(decision);
    const work = vi.fn();
    expect(await guard.ahead(call)).toMatchObject({ decision: { kind: 'denied' } });
    expect(await guard.execute(call, work)).toMatchObject({ decision: { kind: 'denied' } });
    expect(work).not.toHaveBeenCalled();
  },
);

test('an unreachable service is an error, which the model does not see as a decision', async () => {
  const { guard } = guardOf(new UnreachableError('http://127.0.0.1', null));
  const done = await guard.execute(call, () => 1);
  expect(done).toMatchObject({ decision: { policy: 'unreachable' } });
  expect(done).toMatchObject({ message: expect.stringContaining('there is no decision about this call') });
});

test('a call that was aborted gets no result', async () => {
  const stopped = new DOMException('stop', 'AbortError');
  await expect(guardOf(stopped).guard.execute(call, () => 1)).rejects.toBe(stopped);
});
