import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/language/model/json.ts';
import {
  filledTitleLengthMax,
  moneyTextOrNull,
  shortFields,
  type Title,
  titleText,
} from '../../../src/language/model/title.ts';
import { resolveRecord } from '../../../src/language/spec/payload.ts';
import { compile } from '../../../src/pipeline.ts';

const text = `
action payment.create in money_out "Pay {amount} to {payee.name}, {note} {{really}" {
  amount: money(currency) 0.01..
  currency: "USD" | "JPY" | "KWD"
  payee: { name: string, secret_code?: secret string }
  note?: string | null
}
group money_out
policy all on payment.create { allow any }
`;

function titleIn(source: string): Title {
  const { set, diagnostics } = compile({
    files: [{ path: 'a.policy', text: source }],
    readListFile: () => ({ code: 'list-file-missing', message: 'there is none' }),
  });
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (set === null) throw new Error(JSON.stringify(errors));
  return set.actions.get('payment.create')!.title!;
}

const title = titleIn(text);
const payload = { amount: 4200, currency: 'USD', payee: { name: 'Staples' }, note: 'paper' };

describe('a list in a title', () => {
  const listed = titleIn(`
action payment.create "Write to {to}, {codes}" { to: [email] ..9, codes?: [integer] ..9 }
policy all on payment.create { allow any }
`);
  const shape = { to: ['ann@example.com'] };

  it.each<[string, JsonObject, string]>([
    ['one element', shape, 'Write to ann@example.com, (no codes)'],
    ['two', { to: ['a@x.example', 'b@x.example'] }, 'Write to a@x.example and b@x.example, (no codes)'],
    ['three numbers', { ...shape, codes: [1, 2, 3] }, 'Write to ann@example.com, 1, 2 and 3'],
    [
      'five',
      { to: ['a@x.example', 'b@x.example', 'c@x.example', 'd@x.example', 'e@x.example'] },
      'Write to a@x.example, b@x.example, c@x.example and 2 more, (no codes)',
    ],
    ['none', { to: [], codes: [] }, 'Write to (no to), (no codes)'],
  ])('shows %s', (_, sent, expected) => {
    expect(titleText(listed, sent)).toBe(expected);
  });

  it('shows the spelling that rules see, beside the one that was sent', () => {
    const sent = { to: ['a@X.example', 'b@x.example'] };
    const seen = { to: ['a@x.example', 'b@x.example'] };
    expect(titleText(listed, sent, seen)).toBe(
      'Write to a@x.example (given as "a@X.example") and b@x.example, (no codes)',
    );
  });
});

describe('a title', () => {
  it.each<[string, JsonObject, string]>([
    ['money with its currency', payload, 'Pay 4,200.00 USD to Staples, paper {really}'],
    [
      'a currency without minor units',
      { ...payload, currency: 'JPY' },
      'Pay 4,200 JPY to Staples, paper {really}',
    ],
    ['more digits than usual', { ...payload, amount: 0.125 }, 'Pay 0.125 USD to Staples, paper {really}'],
    ['three minor digits', { ...payload, currency: 'KWD' }, 'Pay 4,200.000 KWD to Staples, paper {really}'],
    [
      'a field that is absent',
      { amount: 1, currency: 'USD' },
      'Pay 1.00 USD to (no name), (no note) {really}',
    ],
    ['a field that is null', { ...payload, note: null }, 'Pay 4,200.00 USD to Staples, (no note) {really}'],
    [
      'a line end and a turning mark',
      { ...payload, note: 'a\nb\u202e' },
      'Pay 4,200.00 USD to Staples, a\\nb\\u202e {really}',
    ],
    [
      'a long text',
      { ...payload, note: 'x'.repeat(500) },
      `Pay 4,200.00 USD to Staples, ${'x'.repeat(59)}… {really}`,
    ],
    ['a currency that is none', { ...payload, currency: 'usd' }, 'Pay 4200 to Staples, paper {really}'],
    [
      'the prototype of records',
      JSON.parse('{"amount":1,"currency":"USD","payee":{"__proto__":{"name":"x"}}}'),
      'Pay 1.00 USD to (no name), (no note) {really}',
    ],
  ])('shows %s', (_, sent, expected) => {
    expect(titleText(title, sent)).toBe(expected);
  });

  it.each<[string, string, string]>([
    ['an address', 'Pay@Example.COM', 'Mail Pay@example.com (given as "Pay@Example.COM") soon'],
    ['an address in canonical form', 'pay@example.com', 'Mail pay@example.com soon'],
    [
      'a long address',
      `a@${'X'.repeat(59)}.com`,
      `Mail a@${'x'.repeat(57)}… (given as "a@${'X'.repeat(57)}…") soon`,
    ],
    [
      'letters of another script',
      'a@ex\u0430mple.com',
      'Mail a@xn--exmple-4nf.com (given as "a@ex\u0430mple.com") soon',
    ],
  ])('shows %s in the spelling that rules see, beside the one sent', (_, to, expected) => {
    const { engine, set } = compile({
      files: [
        {
          path: 'a.policy',
          text: 'action mail.send "Mail {to} soon" { to: email }\npolicy all on mail.send { allow any }',
        },
      ],
      readListFile: () => ({ code: 'list-file-missing', message: 'there is none' }),
    });
    const sent = { to };
    const traced = engine!.decideTraced({
      action: 'mail.send',
      payload: sent,
      agent: {},
      request: {},
      nowMs: 0,
      meters: {},
      satisfied: { escalate: [], reauth: [] },
    });
    const { title, shape } = set!.actions.get('mail.send')!;
    expect(titleText(title!, sent, traced.payload)).toBe(expected);
    expect(titleText(title!, sent, resolveRecord(shape, sent))).toBe(expected);
  });

  it('leaves the spellings out before it leaves a field out', () => {
    const five = titleIn(
      text.replace(/"Pay.*?"/, `"${Array.from({ length: 5 }, () => '{note}').join(' ')}"`),
    );
    const sent = { ...payload, note: 'Y'.repeat(55) };
    const seen = { ...payload, note: 'y'.repeat(55) };
    expect(titleText(five, sent, seen)).toBe(Array.from({ length: 5 }, () => seen.note).join(' '));
  });

  it('is cut before the field that is too much, and never within one', () => {
    const many = (fields: string, more = '') =>
      titleIn(text.replace(/"Pay.*?"/, `"${fields}"`).replace('note?:', `${more}note?:`));
    const notes = many(Array.from({ length: 9 }, () => '{note}').join(' '));
    const full = 'y'.repeat(60);
    expect(titleText(notes, { ...payload, note: full })).toBe(`${`${full} `.repeat(4)}…`);
    expect(titleText(notes, { ...payload, note: '🎫'.repeat(60) })).toBe(
      `${`${'🎫'.repeat(60)} `.repeat(4)}…`,
    );
    const amount = many(`${'{note}'.repeat(4)}{note}{amount}`);
    const nearly = 'z'.repeat(58);
    expect(titleText(amount, { ...payload, note: nearly })).toBe(`${nearly.repeat(5)}…`);
    expect(titleText(amount, { ...payload, note: 'z'.repeat(57) })).toBe(`${'z'.repeat(285)}4,200.00 USD`);
    const plain = many(`{note}{note}{note}{note}${'w'.repeat(100)}`);
    expect(titleText(plain, { ...payload, note: full })).toBe(`${full.repeat(4)}${'w'.repeat(59)}…`);
  });

  it('stays on one line and short, whatever is sent', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('amount', 'currency', 'payee', 'note'), fc.jsonValue()),
        (sent) => {
          const seen = { ...payload, note: 'seen' };
          const resolved = [{ pointer: '/note', resolved: 'seen' }];
          for (const shown of [
            titleText(title, sent as JsonObject),
            titleText(title, sent as JsonObject, seen),
            shortFields(sent as JsonObject, resolved),
          ]) {
            expect(shown).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
            expect([...shown].length).toBeLessThanOrEqual(filledTitleLengthMax);
          }
        },
      ),
    );
  });
});

describe('short fields stand for a title', () => {
  it.each<[JsonObject, string]>([
    [{ path: '/a', size: 3, isNew: true, more: 'x' }, 'path /a, size 3, isNew true'],
    [{ body: 'x'.repeat(100), to: 'a@example.com', secret: { secret: 'hmac' } }, 'to a@example.com'],
    [{}, ''],
    [{ none: null, blank: ' ' }, ''],
  ])('%j', (sent, expected) => {
    expect(shortFields(sent)).toBe(expected);
  });

  it('in the spelling that rules see, beside the one sent', () => {
    const resolved = [{ pointer: '/to', resolved: 'a@example.com' }];
    expect(shortFields({ to: 'a@EXAMPLE.com', size: 3 }, resolved)).toBe(
      'to a@example.com (given as "a@EXAMPLE.com"), size 3',
    );
    const long = Object.fromEntries(['a', 'b', 'c'].map((one) => [one.repeat(40), 'X'.repeat(38)]));
    const lower = Object.keys(long).map((name) => ({ pointer: `/${name}`, resolved: 'x'.repeat(38) }));
    expect(shortFields(long, lower)).not.toContain('given as');
  });
});

describe('law: an amount is shown as the platform formats it', () => {
  it.each([
    ['USD', 2],
    ['JPY', 0],
    ['KWD', 3],
  ])('%s', (currency, decimalsMin) => {
    const format = new Intl.NumberFormat('en-US', {
      minimumFractionDigits: decimalsMin,
      maximumFractionDigits: 15,
    });
    const cents = fc.integer({ min: -1e12, max: 1e12 }).map((count) => count / 100);
    const any = fc.double({ noNaN: true, noDefaultInfinity: true });
    const amount = fc.oneof(cents, any, fc.maxSafeInteger(), fc.double({ min: 0, max: 1e6, noNaN: true }));
    fc.assert(
      fc.property(amount, (value) => {
        expect(moneyTextOrNull(value, currency)).toBe(`${format.format(value)} ${currency}`);
      }),
      { numRuns: 2_000 },
    );
  });
});
