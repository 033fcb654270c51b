// What every store must do with a search: it finds requests by their words, in the records at that moment,
// and counts them.

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RequestRow } from '../../../src/service/store/contract/records.ts';
import {
  holdsText,
  searchTermsOfRequest,
  wantedText,
} from '../../../src/service/store/contract/search-text.ts';
import type { RequestFilter, RequestPosition, Store } from '../../../src/service/store/contract/store.ts';
import type { Place } from './contract.ts';
import { everything, requestRow, startMs } from './rows.ts';

const limits = { openMax: 1_000 };

function rowWith(payload: unknown, change: Partial<RequestRow> = {}, decision: object = {}): RequestRow {
  const record = {
    payload,
    agent: { name: 'buyer-1' },
    decision: { matchedPolicy: 'pay', reason: 'Fine', ...decision },
  };
  return requestRow({ ...change, recordJson: JSON.stringify(record) });
}

export function describeSearch(name: string, createPlace: () => Promise<Place>): void {
  describe(`${name}: search`, () => {
    let place: Place;
    let store: Store;
    beforeAll(async () => {
      place = await createPlace();
      store = await place.open();
    }, 60_000);
    afterAll(async () => {
      await store.close();
      await place.remove();
    });

    async function idsOf(filter: Partial<RequestFilter>, countMax = 50): Promise<readonly string[]> {
      const found: string[] = [];
      let after: RequestPosition | null = null;
      do {
        const page = await store.requests.list({ ...everything, ...filter, after, countMax });
        expect(page.unsearched).toBe(0);
        expect(page.items.length).toBeLessThanOrEqual(countMax);
        found.push(...page.items.map(({ row }) => row.id));
        after = page.next;
      } while (after !== null);
      return found;
    }
    const search = (text: string) => idsOf({ text: wantedText(text) });

    test('finds words by their beginnings, in whatever case and writing, and what is quoted as it stands', async () => {
      const staples = rowWith({
        vendor: 'Staples',
        note: 'Q4 laptops for Käthe',
        amount: 4200,
        ref: '4BFC1120-9a01-4c5b-8001-1234567890ab',
      });
      const written = rowWith({ vendor: 'STAPLES "East"', amount: 1234.5, to: 'Anna.Lee@Example.com' });
      const others = rowWith(
        { поставщик: 'Ёлка и Ко', 供应商: '北京办公用品有限公司', list: [100, 200], flag: true },
        { actionKey: 'vendor_bank.change' },
        { reason: 'Above 4,200.00 USD', requires: { approvals: [{ group: 'finance', needs: 1 }] } },
      );
      for (const row of [staples, written, others]) await store.requests.append(row, limits);
      const cases: readonly (readonly [string, readonly RequestRow[]])[] = [
        ['staples', [written, staples]],
        ['STAP', [written, staples]],
        ['"stap"', []],
        ['taples', []],
        ['stap q4', [staples]],
        ['q4 stap', [staples]],
        ['"q4 laptops"', [staples]],
        ['"laptops q4"', []],
        ['“staples east”', [written]],
        ['kathe', [staples]],
        ['KÄTHE', [staples]],
        ['4200', [others, staples]],
        ['4,200.00', [others, staples]],
        ['42', [others, staples]],
        ['"42"', []],
        ['1234.5', [written]],
        ['anna.lee@example.com', [written]],
        ['lee@example', [written]],
        ['anna@example.com', []],
        ['"vendor":"staples"', [written, staples]],
        ['ёлка', [others]],
        ['ПОСТАВЩИК', [others]],
        ['елка ко', [others]],
        ['办公用品', [others]],
        ['公', [others]],
        ['用办', []],
        ['"北京" 公司', [others]],
        ['100200', []],
        ['vendor_bank.ch', [others]],
        ['true', [others]],
        ['finance', [others]],
        [staples.id, [staples]],
        [written.id.slice(0, -6).toUpperCase(), [written]],
        ['4bfc1120-9a01-4c5b', [staples]],
        ['9a01', []],
        ['buyer-1', [others, written, staples]],
        ['nowhere', []],
        ["staples' OR words MATCH 'x* -NOT", []],
      ];
      for (const [text, rows] of cases)
        expect([text, await search(text)]).toEqual([text, rows.map(({ id }) => id)]);
      expect(await store.requests.count({ ...everything, text: wantedText('staples') })).toEqual({
        count: 2,
        isWhole: true,
      });
      expect(wantedText(' .,- ')).toEqual([]);
      const both = { text: wantedText('staples'), actionKey: 'payment.create', untilMs: startMs };
      expect(await idsOf(both, 1)).toEqual([written.id, staples.id]);
      expect(await idsOf({ ...both, actionKey: 'vendor_bank.change' })).toEqual([]);
      expect(await idsOf({ ...both, untilMs: startMs - 1 })).toEqual([]);
      expect(
        await idsOf({
          ...both,
          seenBy: { owner: null, asked: { groups: ['finance'], owner: null }, giver: null },
        }),
      ).toEqual([]);
    });

    test('finds whatever holds the words, whatever they are, and counts it', async () => {
      const texts = fc.array(
        fc.constantFrom(
          'pay',
          'payment',
          'Bücher',
          '東京都',
          'a@b.c',
          '1,000',
          '1000.50',
          'x_y',
          '"',
          'İZMİR',
          '𝔘𝔫',
          'no-1',
        ),
        { minLength: 1, maxLength: 5 },
      );
      const rows = fc
        .sample(texts, { numRuns: 60, seed: 3 })
        .map((text) => rowWith({ [text.join(' ')]: text }));
      await Promise.all(rows.map((row) => store.requests.append(row, limits)));
      const all = (await idsOf({ ...everything })).toReversed();
      const byId = new Map(rows.map((row) => [row.id, searchTermsOfRequest(row)]));
      const separators = fc.constantFrom(' ', '', '.', '"', ' "');
      await fc.assert(
        fc.asyncProperty(texts, separators, async (parts, separator) => {
          const wanted = wantedText(parts.join(separator));
          if (wanted.length === 0) return;
          const expected = all.filter((id) => holdsText(byId.get(id) ?? [], wanted)).toReversed();
          const found = (await idsOf({ text: wanted }, 7)).filter((id) => byId.has(id));
          expect(found).toEqual(expected);
          const { count } = await store.requests.count({ ...everything, text: wanted });
          expect(count).toBeGreaterThanOrEqual(expected.length);
        }),
        { numRuns: 60 },
      );
      // A text of a payload finds its own request.
      for (const row of rows.slice(0, 10)) {
        const [text = ''] = Object.keys((JSON.parse(row.recordJson) as { payload: object }).payload);
        const wanted = wantedText(text.replaceAll('"', ' '));
        if (wanted.length > 0) expect(await idsOf({ text: wanted })).toContain(row.id);
      }
    });

    test('counts what a list finds', async () => {
      for (const filter of [
        {},
        { actionKey: 'vendor_bank.change' },
        { status: 'expired' as const },
        { policy: 'pay' },
      ]) {
        const found = await idsOf(filter);
        expect(await store.requests.count({ ...everything, ...filter })).toEqual({
          count: found.length,
          isWhole: true,
        });
      }
    });

    test('what another process has stored is found at once, by each', async () => {
      const other = await place.open();
      try {
        const row = rowWith({ vendor: 'Zweitausendeins' });
        await other.requests.append(row, limits);
        expect(await search('zweitausend')).toEqual([row.id]);
        const asked = { ...everything, text: wantedText('zweitausend'), after: null, countMax: 5 };
        expect((await other.requests.list(asked)).items.map(({ row }) => row.id)).toEqual([row.id]);
      } finally {
        await other.close();
      }
    });
  });
}
