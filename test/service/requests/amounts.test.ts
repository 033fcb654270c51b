// Amounts in payloads, found by the shape that an action declares: their places, with the currency beside
// them.

import { expect, it } from 'vitest';
import type { Shape } from '../../../src/language/model/type.ts';
import { compile } from '../../../src/pipeline.ts';
import { amountsIn, amountsMax } from '../../../src/service/requests/amounts.ts';

const text = `
action a.b {
  total: money(currency), currency: string, count: number,
  lines: [{ price: money(code), code: string, "a/b"?: { fee: money(c), c: string } }],
  hidden?: secret money(currency)
}
policy p on a.b { allow all }
`;

function shape(): Shape {
  const { set, diagnostics } = compile({
    files: [{ path: 'a.policy', text }],
    readListFile: () => ({ code: 'list-file-missing', message: '' }),
  });
  if (set === null) throw new Error(JSON.stringify(diagnostics));
  return set.actions.get('a.b')!.shape;
}

it('tells each amount with its own currency, and nothing of what is none', () => {
  const lines = [
    { price: 5, code: 'JPY', 'a/b': { fee: 0.125, c: 'KWD' } },
    { price: 5, code: 'EUR' },
    { price: '5', code: 'EUR' },
    { price: 5, code: 'euro' },
    null,
  ];
  const payload = { total: -4200, currency: 'USD', count: 3, lines, hidden: 7 };
  expect(amountsIn(payload, shape())).toEqual([
    { pointer: '/lines/0/a~1b/fee', value: 0.125, text: '0.125 KWD' },
    { pointer: '/lines/0/price', value: 5, text: '5 JPY' },
    { pointer: '/lines/1/price', value: 5, text: '5.00 EUR' },
    { pointer: '/total', value: -4200, text: '-4,200.00 USD' },
  ]);
  const many = Array.from({ length: 500 }, () => ({ price: 1, code: 'EUR' }));
  expect(amountsIn({ lines: many }, shape())).toHaveLength(amountsMax);
  expect(amountsIn({ total: [1], currency: { a: 1 }, lines: 'x' }, shape())).toEqual([]);
});
