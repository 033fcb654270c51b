// LAW: a record without its trace is what the whole record says but for it, whatever payloads and traces hold.

import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { parseWithoutTrace } from '../../src/service/replay/record-text.ts';

vi.setConfig({ testTimeout: 120_000 });

const trace = { rules: [['p/r', 'allow', 0, []]], paths: [], truths: 't', values: [] };
const decision = { outcome: 'ALLOW', by: 'p/r' };

/** What could be taken for the place of the trace or of the decision. */
const lure = fc.constantFrom<unknown>(
  { trace },
  { decision },
  { a: 1, trace, decision },
  { a: 1, trace, b: { c: 2, decision } },
  { a: { b: 1, trace }, decision },
  ',"trace":{"rules":[',
  ',"decision":{"outcome":',
  [
    { a: 1, trace },
    { a: 1, decision },
  ],
);
const nested = fc.letrec<{ readonly value: unknown }>((tie) => ({
  value: fc.oneof(
    lure,
    fc.integer(),
    fc.string(),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'trace', 'decision', 'x'), tie('value')),
  ),
})).value;

test('law: nothing but the trace is left out', () => {
  fc.assert(
    fc.property(nested, nested, nested, fc.boolean(), (payload, seen, resolved, hasTrace) => {
      const own = { payload, request: {}, isSigned: false };
      const traced = hasTrace ? { ...trace, values: [[seen], 'absent'] } : [];
      const rest = { resolved, decision, agent: { id: 'a' }, meters: {} };
      const text = JSON.stringify({ ...own, trace: traced, ...rest });
      const { trace: _, ...expected } = JSON.parse(text);
      const { trace: __, ...read } = parseWithoutTrace(text) as { readonly trace?: unknown };
      // The trace is not cut out alone where texts follow that rules saw otherwise.
      const { resolved: ___, ...without } = expected;
      expect('resolved' in read ? expected : without).toEqual(read);
    }),
    { numRuns: 20_000 },
  );
});
