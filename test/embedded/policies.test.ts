// The engine inside a program: what it decides, what it refuses, and how it follows a directory.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { loadPolicies } from '../../src/embedded/index.ts';
import { temporaryFolder } from '../service/store/rows.ts';

const text = (limit: number) => `
approvers finance "Finance"
action order.place { amount: number, vendor: string }
meter spent = sum(payload.amount) of order.place per agent over 24h
policy orders on order.place {
  allow small for 10m when payload.amount <= ${limit} because "Small"
  escalate much to finance within 4h when spent > 100
}
`;
const place = [{ path: 'a.policy', text: text(50) }];
const question = {
  action: 'order.place',
  payload: { amount: 20, vendor: 'Staples' },
  agent: { id: 'a' },
  meters: { spent: 20 },
};

describe('policies in a program', () => {
  test('decide, and say why', async () => {
    const policies = await loadPolicies(place);
    expect(policies.actions).toEqual(['order.place']);
    expect(policies.decide(question)).toEqual({
      decision: 'ALLOW',
      reason: 'Small',
      matchedPolicy: 'orders',
      rule: 'orders/small',
      riskScore: 0,
      validForSeconds: 600,
      requires: null,
    });
    const { decision, rules } = policies.explain({ ...question, meters: { spent: '120.5' } });
    expect(decision).toBe('ESCALATE');
    expect(rules.map(({ rule, truth }) => [rule, truth])).toEqual([
      ['orders/much', 'true'],
      ['orders/small', 'true'],
    ]);
    const approved = { ...question, meters: { spent: 120 }, satisfied: { escalate: ['orders/much'] } };
    expect(policies.decide(approved).decision).toBe('ALLOW');
  });

  test('decide alike where no text becomes a function', async () => {
    const make = vi.spyOn(globalThis, 'Function').mockImplementation(function refuse() {
      throw new EvalError('code generation from strings disallowed for this context');
    });
    onTestFinished(() => make.mockRestore());
    const policies = await loadPolicies(place);
    expect(policies.decide(question)).toMatchObject({ decision: 'ALLOW', rule: 'orders/small' });
    expect(policies.explain(question).rules).toHaveLength(2);
    expect(policies.decide({ ...question, payload: { amount: 20 } })).toMatchObject({
      rule: 'invalid_payload',
    });
    expect(make.mock.calls).toEqual([['return 1;']]);
  });

  test('grant nothing on what is not said', async () => {
    const policies = await loadPolicies(place);
    expect(policies.decide({ ...question, meters: {} }).decision).not.toBe('ALLOW');
    expect(policies.decide({ ...question, meters: { spent: [20, 200] } }).decision).not.toBe('ALLOW');
    expect(policies.decide({ ...question, payload: { amount: 20 } })).toMatchObject({
      rule: 'invalid_payload',
    });
    expect(policies.decide({ ...question, action: 'other' })).toMatchObject({ rule: 'undeclared_action' });
  });

  test.each([
    [{ ...question, action: 3 }, /key of an action/],
    [{ ...question, payload: [] }, /must be an object/],
    [{ ...question, meters: { spent: 'much' } }, /the reading of `spent`/],
  ])('refuse what is no question: %j', async (wrong, message) => {
    const policies = await loadPolicies(place);
    expect(() => policies.decide(wrong as never)).toThrow(message);
  });

  test('with a mistake are refused, with its place', async () => {
    const wrong = [{ path: 'a.policy', text: text(50).replace('payload.amount <=', 'amount <=') }];
    await expect(loadPolicies(wrong)).rejects.toThrow(/a\.policy:\d+/);
    await expect(loadPolicies(join(temporaryFolder(), 'nowhere'))).rejects.toThrow(/nowhere/);
    await expect(loadPolicies(temporaryFolder())).rejects.toThrow(/no `.policy` file/);
  });

  test('follow their directory; what cannot be used changes nothing', async () => {
    const folder = join(temporaryFolder(), 'policies');
    mkdirSync(folder);
    const write = (content: string) => writeFileSync(join(folder, 'a.policy'), content);
    write(text(10));
    const policies = await loadPolicies(folder);
    const refused = vi.fn();
    const following = await policies.follow({ onRefused: refused });
    onTestFinished(following.stop);
    const decision = () => policies.decide(question).decision;
    expect(decision()).toBe('DENY');
    write(text(50));
    await expect.poll(decision).toBe('ALLOW');
    write('policy');
    await expect.poll(() => refused.mock.calls.length).toBeGreaterThan(0);
    expect(decision()).toBe('ALLOW');
    await expect(policies.reload()).rejects.toThrow(/a\.policy/);
    write(text(10));
    await expect.poll(decision).toBe('DENY');
    await expect((await loadPolicies(place)).follow()).rejects.toThrow(TypeError);
  });
});
