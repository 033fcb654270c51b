// A window against its definition: the same requests enter and leave both, at times that also go back, and
// every reading equals a walk over all entries.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Aggregate,
  type Contribution,
  isMeterRestart,
  meterRestart,
} from '../../../src/language/model/metering.ts';
import { meterReading } from '../../../src/language/spec/meters.ts';
import { type Decimal, fromNumber, parseDecimal } from '../../../src/language/value/decimal.ts';
import { grantCountsAt, type MeterWindow } from '../../../src/language/value/meter-window.ts';
import { Window } from '../../../src/service/meters/window.ts';

interface Entry {
  readonly requestId: string;
  /** When the request was granted; null while it is pending. */
  atMs: number | null;
  readonly contribution: Contribution;
}

/** The reading by the definition: all entries that count, one by one. */
function readingOf(
  entries: readonly Entry[],
  aggregate: Aggregate,
  { nowMs, over, current }: { nowMs: number; over: MeterWindow; current: Contribution | null },
): { low: Decimal; high: Decimal } | null {
  const requests = entries.map(({ atMs, contribution }) => ({ grantedAtMs: atMs, contribution }));
  const meter = {
    aggregate: aggregate === 'values' ? 'distinct' : 'sum',
    over,
  } as const;
  return meterReading(meter, requests, { nowMs, current });
}

const hourMs = 3_600_000;

function last(seconds: number): MeterWindow {
  return { kind: 'last', seconds };
}

const anyWindow = fc.constantFrom<MeterWindow>(
  last(24 * 3_600),
  { kind: 'calendar', period: 'day', zone: 'Europe/Berlin' },
  { kind: 'calendar', period: 'week', zone: 'America/New_York' },
  { kind: 'calendar', period: 'month', zone: 'Asia/Tokyo' },
);

const anyAmount = fc
  .record({
    coefficient: fc.integer({ min: -99_999, max: 99_999 }),
    exponent: fc.integer({ min: -6, max: 6 }),
  })
  .map(({ coefficient, exponent }) => parseDecimal(`${coefficient}e${exponent}`)!);

function anyContribution(aggregate: Aggregate): fc.Arbitrary<Contribution> {
  return fc.record({
    isCertain: fc.boolean(),
    value: fc.oneof(
      { weight: 20, arbitrary: aggregate === 'amounts' ? anyAmount : fc.constantFrom('a', 'b', 'c', 'd') },
      { weight: 1, arbitrary: fc.constant(null) },
    ),
  });
}

type Step =
  | { readonly kind: 'reserve' | 'grant'; readonly contribution: Contribution }
  | { readonly kind: 'approve' | 'release' | 'revoke'; readonly which: number }
  | { readonly kind: 'read'; readonly current: Contribution | null }
  | { readonly kind: 'read-own'; readonly which: number; readonly isPending: boolean }
  | { readonly kind: 'wait'; readonly ms: number };

function anySteps(aggregate: Aggregate): fc.Arbitrary<readonly Step[]> {
  const contribution = anyContribution(aggregate);
  const which = fc.nat(1_000);
  return fc.array(
    fc.oneof(
      fc.record({ kind: fc.constantFrom('reserve' as const, 'grant' as const), contribution }),
      fc.record({
        kind: fc.constantFrom('reserve' as const, 'grant' as const),
        contribution: fc.constant(meterRestart),
      }),
      fc.record({ kind: fc.constantFrom('approve' as const, 'release' as const, 'revoke' as const), which }),
      fc.record({ kind: fc.constant('read' as const), current: fc.option(contribution) }),
      fc.record({ kind: fc.constant('read-own' as const), which, isPending: fc.boolean() }),
      fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: -hourMs, max: 4 * hourMs }) }),
    ),
    { maxLength: 120 },
  );
}

describe.each(['amounts', 'values'] as const)('a window of %s', (aggregate) => {
  it('reads what its definition reads', () => {
    fc.assert(
      fc.property(anyWindow, anySteps(aggregate), (over, steps) => {
        const window = new Window({ aggregate, over });
        let entries: Entry[] = [];
        // The night before clocks are put forward in Berlin, and two days before a month ends.
        let nowMs = Date.UTC(2026, 2, 28, 20);
        const pick = (which: number, isPending: boolean): Entry | undefined => {
          const fitting = entries.filter(({ atMs }) => (atMs === null) === isPending);
          return fitting[which % Math.max(1, fitting.length)];
        };
        for (const [index, step] of steps.entries()) {
          const requestId = `request-${index}`;
          switch (step.kind) {
            case 'reserve':
              entries.push({ requestId, atMs: null, contribution: step.contribution });
              window.reserve(requestId, step.contribution);
              break;
            case 'grant':
              entries.push({ requestId, atMs: nowMs, contribution: step.contribution });
              window.grant({ requestId, atMs: nowMs, contribution: step.contribution });
              break;
            case 'approve': {
              const entry = pick(step.which, true);
              if (entry === undefined) break;
              entry.atMs = nowMs;
              window.grant({ ...entry, atMs: nowMs });
              break;
            }
            case 'release':
            case 'revoke': {
              const entry = pick(step.which, step.kind === 'release');
              if (entry === undefined) break;
              entries = entries.filter((one) => one !== entry);
              if (step.kind === 'release') window.release(entry.requestId);
              // With its time an entry is found at once; the result is the same entry.
              else window.revoke(entry.requestId, index % 2 === 0 ? entry.atMs : null);
              break;
            }
            case 'read':
              expect(window.read({ nowMs, current: step.current, requestId: null })).toEqual(
                readingOf(entries, aggregate, { nowMs, over, current: step.current }),
              );
              break;
            case 'read-own': {
              const own = pick(step.which, step.isPending);
              if (own === undefined) break;
              const others = entries.filter((one) => one !== own);
              const current = own.contribution;
              const asking = { requestId: own.requestId, grantedAtMs: own.atMs ?? undefined };
              expect(window.read({ nowMs, current, ...asking })).toEqual(
                readingOf(others, aggregate, { nowMs, over, current }),
              );
              break;
            }
            case 'wait':
              nowMs += step.ms;
              break;
          }
        }
        const end = { nowMs, current: null };
        expect(window.read({ ...end, requestId: null })).toEqual(
          readingOf(entries, aggregate, { ...end, over }),
        );
        const isCounted = grantCountsAt(over, nowMs);
        const restarts = entries.filter(({ contribution }) => isMeterRestart(contribution));
        const restartMs = Math.max(
          ...restarts.map(({ atMs }) => (atMs !== null && isCounted(atMs) ? atMs : -1)),
        );
        expect(window.isEmpty(nowMs)).toBe(
          entries
            .filter(
              ({ contribution, atMs }) => isMeterRestart(contribution) || atMs === null || atMs >= restartMs,
            )
            .every(({ atMs }) => atMs !== null && !isCounted(atMs)),
        );
      }),
      { numRuns: 400 },
    );
  });
});

describe('a window', () => {
  const one: Contribution = { isCertain: true, value: fromNumber(1) };

  it('counts an entry to the last millisecond before its time is over', () => {
    const window = new Window({ aggregate: 'amounts', over: last(1) });
    window.grant({ requestId: 'a', atMs: 5_000, contribution: one });
    const at = (nowMs: number) => window.read({ nowMs, current: null, requestId: null })?.high;
    expect([at(5_000), at(5_999), at(6_000), at(5_999), at(4_000)]).toEqual(
      [1, 1, 0, 1, 1].map((count) => fromNumber(count)),
    );
  });

  it('keeps no more than its time and a day', () => {
    const window = new Window({ aggregate: 'amounts', over: last(3_600) });
    for (let index = 0; index < 100_000; index++) {
      window.grant({ requestId: String(index), atMs: index * 10_000, contribution: one });
      window.read({ nowMs: index * 10_000, current: null, requestId: null });
    }
    // One entry every ten seconds: 360 an hour.
    expect(window.read({ nowMs: 99_999 * 10_000, current: null, requestId: null })?.low).toEqual(
      fromNumber(360),
    );
    expect(window.size).toBeLessThan(360 * 25 + 1_000);
  });

  it('counts again what it had counted once the clock is set back by a day', () => {
    const window = new Window({ aggregate: 'amounts', over: last(3_600) });
    for (let index = 0; index < 1_000; index++)
      window.grant({ requestId: String(index), atMs: index, contribution: one });
    const at = (nowMs: number) => window.read({ nowMs, current: null, requestId: null })?.low;
    expect([at(25 * hourMs - 1), at(999)]).toEqual([fromNumber(0), fromNumber(1_000)]);
  });

  it('starts anew at a restart, and may have while one is pending', () => {
    const window = new Window({ aggregate: 'amounts', over: last(3_600) });
    const ends = (nowMs: number, requestId: string | null = null, grantedAtMs?: number) => {
      const reading = window.read({ nowMs, current: null, requestId, grantedAtMs });
      return [reading?.low, reading?.high].map((end) => Number(end?.coefficient));
    };
    window.grant({ requestId: 'a', atMs: 1, contribution: one });
    window.grant({ requestId: 'b', atMs: 2, contribution: one });
    window.reserve('anew', meterRestart);
    expect(ends(2)).toEqual([0, 2]);
    // The request itself does not restart the meter that it reads.
    expect(ends(2, 'anew')).toEqual([2, 2]);
    window.approve('anew', 2);
    expect(ends(3)).toEqual([0, 1]);
    // Nor does it once it is granted.
    expect(ends(3, 'anew', 2)).toEqual([2, 2]);
    expect(ends(3)).toEqual([0, 1]);
    window.grant({ requestId: 'late', atMs: 3, contribution: meterRestart });
    expect(ends(4)).toEqual([0, 0]);
    window.revoke('late', 3);
    window.revoke('anew');
    expect(ends(4)).toEqual([2, 2]);
  });

  it('is exact where doubles and decimals are not', () => {
    const window = new Window({ aggregate: 'amounts', over: last(3_600) });
    const amount = (text: string): Contribution => ({ isCertain: true, value: parseDecimal(text)! });
    const enter = (requestId: string, text: string) =>
      window.grant({ requestId, atMs: 0, contribution: amount(text) });
    enter('large', '1e30');
    enter('small', '1e-10');
    const at = () => window.read({ nowMs: 0, current: null, requestId: null });
    expect(at()).toBeNull();
    window.revoke('large');
    expect(at()?.low).toEqual(parseDecimal('1e-10'));
  });
});
