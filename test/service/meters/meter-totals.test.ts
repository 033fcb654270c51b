// The totals of all meters: which are unknown, which are kept apart, and how a meter's past joins what was
// entered meanwhile.

import { describe, expect, it } from 'vitest';
import type { MeterDefinition, MeterEntry } from '../../../src/language/model/metering.ts';
import { fromNumber } from '../../../src/language/value/decimal.ts';
import { createMeterTotals } from '../../../src/service/meters/meter-totals.ts';

const spent: MeterDefinition = { id: 'spent', aggregate: 'amounts', over: { kind: 'last', seconds: 1 } };
const at = { nowMs: 0, requestId: null };

function entry(amount: number, key: string | null = 'agent-1', definition = spent): MeterEntry {
  return { definition, key, contribution: { isCertain: true, value: fromNumber(amount) } };
}

function exactly(amount: number) {
  return { low: fromNumber(amount), high: fromNumber(amount) };
}

describe('the book of meters', () => {
  it('knows nothing of a meter whose past is not filled in', () => {
    const book = createMeterTotals();
    expect(book.read(entry(5), at)).toBeNull();
    book.fill(spent, []);
    expect(book.isFilled('spent')).toBe(true);
    expect(book.read(entry(5), at)).toEqual(exactly(5));
  });

  it('keeps keys and definitions apart', () => {
    const book = createMeterTotals();
    const other = { ...spent, id: 'other' };
    book.fill(spent, []);
    book.fill(other, []);
    book.grant('r1', [entry(5), entry(7, 'agent-1', other)], 0);
    expect(book.read(entry(1), at)).toEqual(exactly(6));
    expect(book.read(entry(1, 'agent-2'), at)).toEqual(exactly(1));
    expect(book.read(entry(1, 'agent-1', other), at)).toEqual(exactly(8));
  });

  it('knows no reading without a key, and enters nothing', () => {
    const book = createMeterTotals();
    book.fill(spent, []);
    book.grant('r1', [entry(5, null)], 0);
    expect(book.read(entry(5, null), at)).toBeNull();
  });

  it('reads for a request that it does not count', () => {
    const book = createMeterTotals();
    book.fill(spent, []);
    book.grant('r1', [entry(5)], 0);
    expect(book.read({ ...entry(0), contribution: null }, at)).toEqual(exactly(5));
  });

  it('joins the past and what came while it was read, each request once', () => {
    const book = createMeterTotals();
    book.grant('new', [entry(5)], 10);
    book.reserve('waiting', [entry(100)]);
    const value = fromNumber(5);
    const past = (requestId: string, grantedAtMs: number | null) => ({
      requestId,
      key: 'agent-1',
      grantedAtMs,
      contribution: { isCertain: true, value },
    });
    book.fill(spent, [past('old', 1), past('new', 10), past('older-waiting', null), past('waiting', null)]);
    expect(book.read(entry(1), { nowMs: 10, requestId: null })).toEqual({
      low: fromNumber(11),
      high: fromNumber(116),
    });
  });

  it('turns a reservation into a grant, or gives it back', () => {
    const book = createMeterTotals();
    book.fill(spent, []);
    book.reserve('a', [entry(5)]);
    book.reserve('b', [entry(7)]);
    expect(book.read(entry(1), at)).toEqual({ low: fromNumber(1), high: fromNumber(13) });
    expect(book.read(entry(5), { nowMs: 0, requestId: 'a' })).toEqual({
      low: fromNumber(5),
      high: fromNumber(12),
    });
    book.grant('a', [entry(5)], 0);
    book.release('b');
    expect(book.read(entry(1), at)).toEqual(exactly(6));
    book.revoke('a', [entry(5)]);
    expect(book.read(entry(1), at)).toEqual(exactly(1));
  });

  it('lets a grant that is not used go, whichever part of the past shows it', () => {
    const contribution = { isCertain: true, value: fromNumber(5) };
    const past = (requestId: string) => ({ requestId, key: 'agent-1', grantedAtMs: 1, contribution });
    const entered = [{ definition: 'spent', key: 'agent-1' }];
    const book = createMeterTotals();
    book.fillPart(spent, [past('shown before'), past('stays')]);
    book.grant('new', [entry(5)], 1);
    for (const id of ['shown before', 'shown after', 'new']) book.withdraw(id, 1, entered);
    book.fill(spent, [past('shown after'), past('new'), past('stays too')]);
    expect(book.read(entry(1), { nowMs: 10, requestId: null })).toEqual(exactly(11));
    book.withdraw('stays', 1, [...entered, ...entered, { definition: 'no such', key: 'agent-1' }]);
    book.withdraw('nothing', 1, entered);
    expect(book.read(entry(1), { nowMs: 10, requestId: null })).toEqual(exactly(6));
  });

  it('forgets meters that are not in use, whose past must then be filled in again', () => {
    const book = createMeterTotals();
    book.fill(spent, []);
    book.tidy(new Set(['spent']), 0);
    expect(book.isFilled('spent')).toBe(true);
    book.tidy(new Set(), 0);
    expect(book.read(entry(5), at)).toBeNull();
  });
});
