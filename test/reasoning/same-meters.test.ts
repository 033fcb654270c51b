// Meters that are written differently and count the same are one meter to a comparison, so rewriting a set
// without a change of meaning has no findings. LAW: a meter written in another order counts the same.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Facts } from '../../src/language/model/request.ts';
import { nothingSatisfied } from '../../src/language/model/request.ts';
import { meterShare } from '../../src/language/spec/meters.ts';
import { checkSources } from '../../src/pipeline.ts';
import { meterMeanings } from '../../src/reasoning/diff/declarations.ts';
import { diffPolicies } from '../../src/reasoning/diff/diff.ts';

function setOf(text: string) {
  const { set, diagnostics } = checkSources({
    files: [{ path: 'a.policy', text }],
    readListFile: () => ({ code: 'list-file-missing', message: 'there is none' }),
  });
  if (set === null)
    throw new Error(JSON.stringify(diagnostics.filter(({ severity }) => severity === 'error')));
  return set;
}

const declared = `
  list firms = ["acme", "initech"]
  action pay.send { amount: number, fee: number, to: string, kind: "a" | "b" | "c" }`;
const rules = 'policy p on pay.send { allow all  deny much when spent > 900  deny many when calls > 7 }';
const calls = 'meter calls = count() of pay.send when payload.to in firms per agent over 6h';
const withMeter = (when: string, argument = 'payload.amount + payload.fee', more = ''): string =>
  `${declared} ${more}
  meter spent = sum(${argument}) of pay.send when ${when} per agent over 24h
  ${calls} ${rules}`;

const plain = withMeter('payload.kind == "a" and payload.amount > 10 and payload.to in firms');

const tidied: readonly (readonly [name: string, text: string])[] = [
  ['in another order', withMeter('payload.to in firms and payload.kind == "a" and payload.amount > 10')],
  ['in brackets', withMeter('(payload.kind == "a" and (payload.amount > 10 and payload.to in firms))')],
  [
    'with sides turned round',
    withMeter('"a" == payload.kind and 10 < payload.amount and payload.to in firms'),
  ],
  [
    'said twice',
    withMeter('payload.kind == "a" and payload.amount > 10 and payload.to in firms and payload.kind == "a"'),
  ],
  [
    'with a let',
    withMeter(
      'small and payload.to in firms',
      'all',
      'let small = payload.kind == "a" and payload.amount > 10 let all = payload.fee + payload.amount',
    ),
  ],
  [
    'with lets that read lets',
    withMeter(
      'own',
      'payload.amount + payload.fee',
      'let one = payload.kind == "a" let own = payload.to in firms and large and one let large = payload.amount > 10',
    ),
  ],
  [
    'on several lines, with a note',
    plain.replace('meter spent', '\n# What is spent.\nmeter\n  spent').replace(' per agent', '\n  per agent'),
  ],
  ['under another name', plain.replaceAll('spent', 'outgoing')],
  [
    'under another name and in another order',
    withMeter('payload.to in firms and payload.kind == "a" and payload.amount > 10').replaceAll(
      'spent',
      'outgoing',
    ),
  ],
];

test.each(tidied)('a meter %s is the same', (_, text) => {
  for (const [before, after] of [
    [plain, text],
    [text, plain],
  ] as const) {
    const diff = diffPolicies(setOf(before), setOf(after));
    expect(diff.findings.map(({ when }) => when)).toEqual([]);
    expect(diff.limits).toEqual([]);
    expect(diff.meters).toEqual([]);
  }
});

const changed: readonly (readonly [name: string, text: string])[] = [
  ['or in place of and', withMeter('payload.kind == "a" or payload.amount > 10 and payload.to in firms')],
  [
    'another side of a comparison',
    withMeter('payload.kind == "a" and payload.amount < 10 and payload.to in firms'),
  ],
  [
    'a difference turned round',
    withMeter(
      'payload.kind == "a" and payload.amount > 10 and payload.to in firms',
      'payload.fee - payload.amount',
    ),
  ],
  ['a part less', withMeter('payload.kind == "a" and payload.amount > 10')],
  ['another window', plain.replace('over 24h', 'over 23h')],
  ['a list of other entries', plain.replace('"initech"', '"stark"')],
  [
    'a list of other entries, and another name',
    plain.replace('"initech"', '"stark"').replaceAll('spent', 'outgoing'),
  ],
  [
    'a let that says something else',
    withMeter(
      'small and payload.to in firms',
      'payload.amount + payload.fee',
      'let small = payload.kind == "b" and payload.amount > 10',
    ),
  ],
  ['another name and another window', plain.replaceAll('spent', 'outgoing').replace('over 24h', 'over 23h')],
];

test.each(changed)('a meter with %s is another', (_, text) => {
  expect(diffPolicies(setOf(plain), setOf(text)).findings.length).toBeGreaterThan(0);
});

test('of two meters that count alike, none is taken for a third by its name', () => {
  const twice = plain.replace(
    rules,
    `meter third = count() of pay.send when payload.to in firms per agent over 6h
    policy p on pay.send { allow all  deny much when spent > 900  deny many when calls > 7 and third > 3 }`,
  );
  const other = twice.replaceAll('third', 'fourth').replaceAll('calls', 'asked');
  expect(diffPolicies(setOf(twice), setOf(other)).findings.length).toBeGreaterThan(0);
});

const leafTest = fc.constantFrom(
  'payload.amount > 10',
  '3 >= payload.fee',
  'payload.amount + payload.fee == 12',
  '12 == payload.fee * payload.amount',
  'payload.kind == "a"',
  '"b" != payload.kind',
  'payload.to in firms',
  'payload.note == "x"',
  'early',
  'late',
  'agent.risk_tier == "low"',
);
const condition = fc.letrec<{ readonly any: string }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    leafTest,
    fc.array(tie('any'), { minLength: 2, maxLength: 4 }).map((parts) => `(${parts.join(' and ')})`),
    fc.array(tie('any'), { minLength: 2, maxLength: 4 }).map((parts) => `(${parts.join(' or ')})`),
    tie('any').map((part) => `(not ${part})`),
  ),
})).any;
const numbers = fc.constantFrom(0, 1, 2, 3, 4, 6, 11, 12, 1e34, 0.5);

test('law: a meter written in one order counts what it counted, also where something is unknown', () => {
  const text = (when: string): string => `${declared.replace('kind:', 'note?: string, kind:')}
    let early = late or payload.amount > 11
    let late = payload.kind == "c" and not payload.to in firms
    meter spent = sum(payload.fee + payload.amount) of pay.send when ${when.replaceAll('payload.note == "x"', '(payload has note and payload.note == "x")')} per agent over 24h
    policy p on pay.send { allow all }`;
  fc.assert(
    fc.property(
      condition,
      fc.array(
        fc.record({
          payload: fc.record(
            {
              amount: numbers,
              fee: numbers,
              to: fc.constantFrom('acme', 'b'),
              kind: fc.constantFrom('a', 'b', 'c'),
              note: fc.constantFrom('x', 'y'),
            },
            { requiredKeys: ['amount', 'fee', 'to', 'kind'] },
          ),
          agent: fc.record(
            { id: fc.constant('a1'), risk_tier: fc.constantFrom('low', 'high') },
            { requiredKeys: ['id'] },
          ),
        }),
        { minLength: 10, maxLength: 10 },
      ),
      (when, requests) => {
        const set = setOf(text(when));
        const [meter, written] = [set.meters.get('spent')!, meterMeanings(set).get('spent')!];
        for (const { payload, agent } of requests) {
          const facts = {
            action: 'pay.send',
            payload,
            agent,
            request: {},
            nowMs: 0,
            meters: {},
            satisfied: nothingSatisfied,
          };
          expect(meterShare(set, written, facts as Facts)).toEqual(meterShare(set, meter, facts as Facts));
        }
      },
    ),
    { numRuns: 300 },
  );
});
