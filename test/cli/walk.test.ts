// `writ explain --step`: the whole walk at once without a terminal, and step by step with keys in a terminal.

import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import type { DecisionStep } from '../../src/analysis/decision-steps.ts';
import { decisionWalkText, walkByKeys } from '../../src/cli/support/walk-folders.ts';
import { createFolder } from '../service/policies/folder.ts';
import { writ } from './writ.ts';

const root = join(import.meta.dirname, '../..');
const request = {
  action: 'payment.create',
  payload: { amount: 1500, currency: 'USD', vendor: 'Staples' },
  now: '2026-03-02T15:00:00Z',
};
const step = (given: object, ...args: readonly string[]) =>
  writ(['explain', '-', '--policies', 'policies/payments', '--step', ...args], {
    cwd: root,
    stdin: JSON.stringify({ ...request, ...given }),
  });

describe('a walk through a decision', () => {
  it('goes from the gate to grants and guards to the decision, and explains unknown conditions', async () => {
    const { code, stdout } = await step({});
    expect(code).toBe(0);
    const places = [
      'The gate opens: `payment.create` is declared',
      'allow vendor_payments/known_vendor payments.policy:34\n  true    payload.vendor in known_vendors and',
      '  → It is true, so it may grant.\n',
      '  → It is false, so it grants nothing.\n',
      'True: vendor_payments/known_vendor.\n',
      '  true    payload.amount > small_limit\n            payload.amount = 1500 USD\n            small_limit = 1000 USD\n  → It is true, so it asks for approval by 2 of finance.\n',
      '    unknown agent.risk_tier in ["high", "critical"]\n            because agent.risk_tier: the registry has no such attribute\n',
      '\nESCALATE by vendor_payments/large_payment: Payments over 1000 USD need two people from finance\n',
    ].map((text) => stdout.indexOf(text));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });

  it('shows that a guard applies if it is unknown, and that an allow does not', async () => {
    const text = `action a.b { n: integer } policy p on a.b {
      allow tagged when "x" in agent.tags  allow small when payload.n < 5  deny marked when "y" in agent.tags }`;
    const cwd = createFolder({ 'policies/a.policy': text });
    const stdin = JSON.stringify({ action: 'a.b', payload: { n: 1 } });
    const { stdout } = await writ(['explain', '-', '--step'], { cwd, stdin });
    expect(stdout).toContain('→ It is unknown, so it grants nothing: an `allow` must be true.');
    expect(stdout).toContain('→ It is unknown, so the request is refused: a guard acts unless it is false.');
    expect(stdout).toContain('\nDENY by p/marked');
  });

  it('shows approvals', async () => {
    const { stdout } = await step({ satisfied: { escalate: ['vendor_payments/large_payment'] } });
    expect(stdout).toContain('so it asks for approval by 2 of finance, which has been given');
  });

  it('ends at the gate if that refuses', async () => {
    const { stdout } = await step({ payload: { amount: 'much' } });
    expect(stdout).toMatch(/^The gate refuses: .*\/amount.*\n\nDENY by invalid_payload: /);
  });

  it('is JSON, each step with its rule and place', async () => {
    const { stdout } = await step({}, '--json');
    const { decision, steps } = JSON.parse(stdout);
    expect(decision.outcome).toBe('ESCALATE');
    expect(steps.at(0)).toMatchObject({ kind: 'gate', rule: null });
    expect(steps.at(1)).toMatchObject({
      kind: 'rule',
      rule: { id: 'vendor_payments/known_vendor', file: 'payments.policy', line: 34 },
    });
    expect(steps.at(3)).toMatchObject({ kind: 'condition', depth: 2, truth: 'true', value: null, why: null });
    expect(steps.at(-1)).toMatchObject({ kind: 'decision' });
  });
});

describe('by keys', () => {
  const made = (kind: DecisionStep['kind'], text: string): DecisionStep => ({
    kind,
    depth: 0,
    text,
    truth: null,
    value: null,
    why: null,
    rule: null,
    location: null,
  });
  const steps = [
    made('gate', 'g'),
    made('rule', 'r1'),
    made('condition', 'c1'),
    made('outcome', 'o1'),
    made('rule', 'r2'),
    made('condition', 'c2'),
    made('decision', 'd'),
  ];

  async function shownBy(keys: string): Promise<readonly string[]> {
    const input = Object.assign(new PassThrough(), { setRawMode: vi.fn() });
    const shown: string[] = [];
    input.end(keys);
    await walkByKeys(steps, { input, output: { write: (text: string) => shown.push(text) > 0 } });
    expect(input.setRawMode.mock.calls).toEqual([[true], [false]]);
    return shown.slice(1).map((text) => text.trim());
  }

  it('shows one step for Enter, up to the next rule for `r`, and all for `a`', async () => {
    expect(await shownBy('')).toEqual(['g']);
    expect(await shownBy('\r \n')).toEqual(['g', 'r1', 'c1', 'o1']);
    expect(await shownBy('\rr')).toEqual(['g', 'r1', 'c1', 'o1']);
    expect(await shownBy('\rrr')).toEqual(['g', 'r1', 'c1', 'o1', 'r2', 'c2']);
    const all = decisionWalkText(steps).trim().split(/\s+/);
    expect(await shownBy('a')).toEqual(all);
    expect(await shownBy('aaa\r')).toEqual(all);
  });

  it('ends at `q`, and at any key that ends a program, and passes over others', async () => {
    for (const key of ['q', '\u0003', '\u0004', '\u001B'])
      expect(await shownBy(`x${key}\r\r`)).toEqual(['g']);
  });
});
