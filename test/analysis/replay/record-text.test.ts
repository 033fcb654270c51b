// LAW: the parts that are read from a record's text equal those of the whole record, whatever payloads and
// traces hold.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RecordTexts } from '../../../src/analysis/replay/record-text.ts';

const trace = { rules: [['p/r', 'allow', 0, []]], paths: [], truths: 't', values: [] };
const decision = { outcome: 'ALLOW', by: 'p/r' };

/** Values that could be mistaken for the place of the trace or of the decision. */
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

const names = [
  ...['payload', 'request', 'decision', 'agent', 'meters', 'satisfied', 'policySet'],
  ...['rows', 'chain'],
] as const;

function partsOf(record: object): object {
  return Object.fromEntries(names.map((name) => [name, (record as Record<string, unknown>)[name]]));
}

test('law: each member is what the whole record says, whatever was read before', () => {
  const texts = new RecordTexts();
  fc.assert(
    fc.property(
      fc.record({ payload: nested, seen: nested, between: nested, last: nested }),
      fc.record({ request: nested, agent: nested, meters: nested, policySet: nested }),
      fc.shuffledSubarray(['request', 'decision', 'agent', 'meters', 'satisfied', 'policySet', 'engine'], {
        minLength: 5,
      }),
      fc.record({ rows: nested, chain: nested }, { requiredKeys: [] }),
      fc.boolean(),
      ({ payload, seen, between, last }, some, order, rare, isOrdinary) => {
        const own = { payload, request: some.request, key: between, isSigned: false };
        const traced = { ...trace, values: [[seen], 'absent'] };
        const { agent, meters, policySet } = some;
        const rest = { evaluation: between, decision, agent, meters, satisfied: {}, policySet, engine: last };
        const record: Record<string, unknown> = { ...own, trace: traced, ...rare, ...rest };
        const shuffled = Object.fromEntries(order.map((name) => [name, record[name]]));
        const text = JSON.stringify(isOrdinary ? record : { payload, ...shuffled });
        expect(partsOf(texts.read(text) as object)).toEqual(partsOf(JSON.parse(text)));
      },
    ),
    { numRuns: 4_000 },
  );
});

test('what is no JSON is a SyntaxError, wherever it is cut', () => {
  const record = { payload: {}, request: {}, key: {}, trace, decision, agent: {}, meters: {} };
  const text = JSON.stringify({ ...record, satisfied: {}, policySet: {}, engine: {} });
  const texts = new RecordTexts();
  expect(texts.read(text)).toMatchObject({ decision, payload: {} });
  const skipped = [text.indexOf('"key":') + 6, text.indexOf('"decision":') - 1];
  for (let length = 0; length < text.length; length += 1) {
    const broken = text.slice(0, length) + text.slice(length + 1);
    const isJson = isJsonText(broken);
    if (!isJson && (length < skipped[0]! || length > skipped[1]!))
      expect(() => texts.read(broken), broken).toThrow(SyntaxError);
    expect(() => texts.read(text.slice(0, length))).toThrow(SyntaxError);
  }
});

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
