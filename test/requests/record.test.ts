// A decided request into its row and back: what is written in a hurry says what JSON.stringify would write.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ReadValue, TracedRule } from '../../src/model/trace.ts';
import { decisionRecord, type RequestRecord, requestRecord, requestRow } from '../../src/requests/record.ts';
import { createTraceWriter, readTrace } from '../../src/requests/trace-text.ts';
import { engineVersions } from '../../src/requests/versions.ts';

const json = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ noUnicodeString: false }), {
  noNullPrototype: true,
  maxKeys: 4,
});
const values: readonly ReadValue[] = [
  ...[{ value: 1 }, { value: 'a"b' }, { value: null }, { value: ['x', 'and 3 more'] }],
  ...[{ value: { missing: 'absent' } }, { missing: 'absent' }, { missing: 'secret' }],
] as const;

/** As the engine makes them: rules that read the same path hold the very same value, or nearly so. */
const trace: fc.Arbitrary<readonly TracedRule[]> = fc.array(
  fc.record({
    rule: fc.constantFrom('p/a', 'p/b', 'q/"c"'),
    effect: fc.constantFrom('allow', 'deny', 'risk'),
    truth: fc.constantFrom('true', 'false', 'unknown'),
    points: fc.constantFrom(0, -10, 100),
    isShadow: fc.boolean(),
    isSatisfied: fc.boolean(),
    reads: fc.dictionary(
      fc.constantFrom('payload.amount', 'payload."odd name"', 'now', 'risk'),
      fc.constantFrom(...values),
      { noNullPrototype: true, maxKeys: 3 },
    ),
  }),
  { maxLength: 4 },
);
const agents = ['a', 'b'].map((id) => ({
  ...{ id, name: `"${id}\\`, risk_tier: 'low' as const, control_owner: '\u2028', tags: ['é'] },
}));
const satisfied = { escalate: [], reauth: [] };
const meters = {};
const policySet = { digest: 'd', commit: null };

const resolved = fc.array(fc.record({ pointer: fc.string(), resolved: fc.string() }), {
  minLength: 1,
  maxLength: 2,
});

const decided = fc.record({
  id: fc.uuid(),
  agentId: fc.string(),
  actionKey: fc.string(),
  createdAtMs: fc.nat(),
  idempotency: fc.constant(null),
  status: fc.constantFrom('auto_approved' as const, 'pending' as const),
  decidedAtMs: fc.option(fc.nat()),
  expiresAtMs: fc.nat(),
  payload: json as fc.Arbitrary<RequestRecord['payload']>,
  agent: fc.constantFrom(...agents),
  request: fc.record({ ip: fc.string(), signed: fc.boolean() }),
  meters: fc.constant(meters),
  satisfied: fc.constant(satisfied),
  decision: json.map((rest) => ({ ...rest, outcome: 'ALLOW' }) as unknown as RequestRecord['decision']),
  trace,
  policySet: fc.constantFrom(policySet, { digest: 'e', commit: 'c' }),
  engine: fc.constant(engineVersions),
  key: fc.record({ id: fc.string(), isReplaced: fc.boolean() }),
  isSigned: fc.boolean(),
  clientAddress: fc.string(),
  timing: fc.record({ decideMicroseconds: fc.nat() }),
});

/** Most requests are decided on the very texts that were sent. */
const record: fc.Arbitrary<RequestRecord> = fc.oneof(
  decided,
  fc.tuple(decided, resolved).map(([one, texts]) => ({ ...one, resolved: texts })),
);

test('law: the row holds all that is not a column', () => {
  fc.assert(
    fc.property(record, (each) => {
      const { id, agentId, actionKey, createdAtMs, idempotency, status, decidedAtMs, expiresAtMs, ...kept } =
        each;
      const row = requestRow(each);
      expect(decisionRecord(row.recordJson)).toEqual(JSON.parse(JSON.stringify(kept)));
      const { trace: short, ...parts } = JSON.parse(row.recordJson) as { readonly trace: unknown };
      const { trace: _, ...others } = kept;
      expect(short).toBeDefined();
      expect(parts).toEqual(JSON.parse(JSON.stringify(others)));
      expect(row).toMatchObject({
        id,
        agentId,
        actionKey,
        createdAtMs,
        idempotency,
        status,
        decidedAtMs,
        expiresAtMs,
      });
      expect(requestRecord(row)).toEqual(JSON.parse(JSON.stringify(each)));
    }),
  );
});

test('law: traces of one action come back, however many others of it were written before', () => {
  const write = createTraceWriter();
  fc.assert(
    fc.property(fc.constantFrom('pay', 'refund'), trace, (actionKey, each) => {
      expect(readTrace(JSON.parse(write(actionKey, each)))).toEqual(each);
    }),
    { numRuns: 2_000 },
  );
});

test('a reading that rules share is written once, and the rules of an action are no part of what differs', () => {
  const write = createTraceWriter();
  const shared = (value: number) => {
    const read = { value };
    return ['p/a', 'p/b'].map((rule, at) => ({
      ...{ rule, effect: 'allow', truth: at === 0 ? 'true' : 'unknown', points: 0, isShadow: at === 1 },
      ...{ isSatisfied: at === 0, reads: { 'payload.amount': read } },
    })) as readonly TracedRule[];
  };
  const head = '{"rules":[["p/a","allow",0,[0]],["p/b","allow",0,[0],"shadow"]],"paths":["payload.amount"]';
  expect(write('pay', shared(1))).toBe(`${head},"truths":"Tu","values":[[1]]}`);
  expect(write('pay', shared(2))).toBe(`${head},"truths":"Tu","values":[[2]]}`);
});

test('a trace whose letters are not those of truths is refused', () => {
  const kept = { rules: [['p/a', 'allow', 0, []]], paths: [], truths: 'x', values: [] } as const;
  expect(() => readTrace(kept)).toThrow('where a truth has to stand');
});
