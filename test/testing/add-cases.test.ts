// A request that refutes a claim becomes a test case: once, unchanged, whatever the defaults of the file are.

import { describe, expect, it } from 'vitest';
import { addCases } from '../../src/testing/adding/add-cases.ts';
import type { AddedCase } from '../../src/testing/adding/case-of-clause.ts';
import { readTestFile } from '../../src/testing/read-test-file.ts';

const path = 'a.test.yaml';

const added: AddedCase = {
  name: 'never_large: never allow when payload.amount > 10',
  facts: {
    action: 'payment.create',
    payload: { amount: 10.5, note: 'a "quoted" text: # and more' },
    agent: { risk_tier: 'low' },
    now: '2026-03-02T10:00:00.000Z',
  },
  expect: { not: 'ALLOW' },
};

const before = `# Kept as it is.
defaults:
  agent: { id: a-1,   tags: [] } # two blanks
  request: { signed: true }
  meters: { paid: 4 }
  satisfied: { reauth: [a/b] }
tests:
    - name: first # with a remark
      action: payment.create
      payload: { amount: 1, vendor: x }
      expect: ALLOW
`;

describe('addCases', () => {
  it('writes what is read as the request that it was, and leaves the other lines', () => {
    const made = addCases({ path, text: before }, [added])!;
    expect(made.text.startsWith(before)).toBe(true);
    const { cases, diagnostics } = readTestFile({ path, text: made.text });
    expect(diagnostics).toEqual([]);
    const { action, payload, agent, now } = added.facts as Record<string, object>;
    expect(cases.at(-1)).toMatchObject({
      name: added.name,
      expectation: { not: 'ALLOW', decision: null },
      situation: {
        action,
        payload,
        agent,
        nowMs: Date.parse(String(now)),
        meters: [],
        satisfied: [],
        request: {},
      },
    });
    expect(Object.keys(cases.at(-1)!.situation.agent)).toEqual(['risk_tier']);
  });

  it('writes it once', () => {
    const once = addCases({ path, text: before }, [added, added])!;
    expect(once.added).toEqual([added]);
    expect(addCases({ path, text: once.text }, [added])).toEqual({ text: once.text, added: [] });
  });

  it.each([
    '',
    'tests:\n- name: a\n  action: x.y\n  expect: DENY',
    'tests:\n  - name: a\n    action: x.y\n    expect: DENY\n\npolicies: "."\n',
  ])('goes on after %j', (text) => {
    const made = addCases({ path, text }, [
      added,
      { ...added, name: 'other', expect: { decision: 'DENY' } },
    ])!;
    const { cases, diagnostics } = readTestFile({ path, text: made.text });
    expect(diagnostics).toEqual([]);
    expect(cases.slice(-2).map(({ name }) => name)).toEqual([added.name, 'other']);
    expect(cases).toHaveLength(text.includes('name') ? 3 : 2);
  });

  it.each([
    'tests: []',
    'tests: [{ name: a, action: x.y, expect: DENY }]',
    'nothing',
    'tests:\n',
    'tests:\n  - name: 1\n    oops: 2\n',
  ])('leaves %j alone', (text) => {
    expect(addCases({ path, text }, [added])).toBeNull();
  });
});
