// A decided request into its row and back: the fast writer produces what JSON.stringify would.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  noTrace,
  type Trace,
  type TraceForm,
  type TraceValue,
  tracedRules,
} from '../../../src/language/model/trace.ts';
import { engineVersions } from '../../../src/service/requests/record/engine-versions.ts';
import {
  decisionRecord,
  type RequestRecord,
  requestRecord,
  requestRow,
} from '../../../src/service/requests/record/record.ts';
import { readTrace, traceText } from '../../../src/service/requests/record/stored-trace.ts';

const json = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ noUnicodeString: false }), {
  noNullPrototype: true,
  maxKeys: 4,
});
/** Traces as the engine makes them: rules name the places of what they read, and each rule has a letter. */
const form: fc.Arbitrary<TraceForm> = fc.record({
  rules: fc.array(
    fc.tuple(
      fc.constantFrom('p/a', 'p/b', 'q/"c"'),
      fc.constantFrom('allow' as const, 'deny' as const, 'risk' as const),
      fc.constantFrom(0, -10, 100),
      fc.constantFrom([], [0], [1, 0]),
    ),
    { maxLength: 4, minLength: 1 },
  ),
  paths: fc.constantFrom(['payload.amount', 'payload."odd name"'], ['now', 'risk']),
});
const values: readonly TraceValue[] = [
  ...[[1], ['a"b'], [null], [['x', 'and 3 more']], [{ missing: 'absent' }]],
  'absent',
  'secret',
] as TraceValue[];
const written: fc.Arbitrary<Trace> = form.chain((one) =>
  fc.record({
    form: fc.constant(one),
    truths: fc.string({
      unit: fc.constantFrom(...'futFUT'),
      minLength: one.rules.length,
      maxLength: one.rules.length,
    }),
    values: fc.tuple(fc.constantFrom(...values), fc.constantFrom(...values)),
  }),
);
const trace: fc.Arbitrary<Trace> = fc.oneof(fc.constant(noTrace), written);
const agents = ['a', 'b'].map((id) => ({
  id,
  name: `"${id}\\`,
  risk_tier: 'low' as const,
  control_owner: '\u2028',
  tags: ['é'],
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

/** Most requests are decided on exactly the texts that were sent. */
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

test('law: a stored trace is read back unchanged', () => {
  fc.assert(
    fc.property(trace, (each) => {
      expect(readTrace(JSON.parse(traceText(each)))).toEqual(each);
    }),
    { numRuns: 2_000 },
  );
});

test('a reading that rules share is written once, and the rules of an action are no part of what differs', () => {
  const rules = [
    ['p/a', 'allow', 0, [0]],
    ['p/b', 'allow', 0, [0], 'shadow'],
  ] as const;
  const shared = (value: number): Trace => ({
    form: { rules, paths: ['payload.amount'] },
    truths: 'Tu',
    values: [[value]],
  });
  const head = '{"rules":[["p/a","allow",0,[0]],["p/b","allow",0,[0],"shadow"]],"paths":["payload.amount"]';
  expect(traceText(shared(1))).toBe(`${head},"truths":"Tu","values":[[1]]}`);
  expect(traceText(shared(2))).toBe(`${head},"truths":"Tu","values":[[2]]}`);
  const reads = { 'payload.amount': { value: 1 } };
  expect(tracedRules(shared(1))).toEqual([
    { rule: 'p/a', effect: 'allow', truth: 'true', points: 0, isShadow: false, isSatisfied: true, reads },
    { rule: 'p/b', effect: 'allow', truth: 'unknown', points: 0, isShadow: true, isSatisfied: false, reads },
  ]);
});

test('a trace whose letters are not those of truths is refused', () => {
  const kept = { rules: [['p/a', 'allow', 0, []]], paths: [], truths: 'x', values: [] } as const;
  expect(() => readTrace(kept)).toThrow('instead of a truth value');
});
