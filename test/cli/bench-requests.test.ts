// The packs' files of requests equal the cases of their tests, one line for each case without standing
// approvals, for which a request has no form. UPDATE_GOLDEN=1 writes the files.

import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { formatDecimal } from '../../src/language/value/decimal.ts';
import { readRequestLines } from '../../src/measure/read-requests.ts';
import { readTestFile } from '../../src/testing/read-test-file.ts';
import type { Amount, Situation, TestCase } from '../../src/testing/test-file.ts';

it.each(['payments', 'banking', 'slack', 'coding'])(
  '%s/requests.jsonl holds the cases of its tests',
  (name) => {
    const folder = `policies/${name}`;
    const path = `${folder}/${name}.test.yaml`;
    const all = readTestFile({ path, text: readFileSync(path, 'utf8') }).cases;
    const cases = all.filter((one) => !hasStanding(one));
    const file = `${folder}/requests.jsonl`;
    const expected = cases.map(({ situation }) => `${JSON.stringify(toRequest(situation))}\n`).join('');
    if (process.env.UPDATE_GOLDEN === '1') writeFileSync(file, expected);
    const bytes = readFileSync(file);
    expect(bytes.toString()).toBe(expected);
    const { lines, mistakes } = readRequestLines(bytes, file);
    expect(mistakes).toEqual([]);
    expect(lines.map(({ situation }) => withoutPlaces(situation))).toEqual(
      cases.map(({ situation }) => withoutPlaces(situation)),
    );
  },
);

function hasStanding({ situation, answer, before }: TestCase): boolean {
  const answers = [answer, ...(before ?? []).map((past) => past.answer)];
  return situation.standing.length > 0 || answers.some((one) => one?.kind === 'standing');
}

function toRequest(situation: Situation): object {
  const { action, payload, agent, request, nowMs, meters, satisfied } = situation;
  const parts = {
    agent,
    request,
    meters: Object.fromEntries(meters.map(({ meter, low, high }) => [meter, [amount(low), amount(high)]])),
    satisfied: Object.fromEntries(
      [...Map.groupBy(satisfied, ({ kind }) => kind)].map(([kind, all]) => [
        kind,
        all.map(({ rule }) => rule),
      ]),
    ),
  };
  const given = Object.entries(parts).filter(([, part]) => Object.keys(part).length > 0);
  const now = new Date(nowMs).toISOString().replace('.000Z', 'Z');
  return { action_key: action, payload, ...Object.fromEntries(given), now };
}

function amount({ amount: number, currency }: Amount): number | string {
  const text = formatDecimal(number);
  return currency === null ? Number(text) : `${text} ${currency}`;
}

/** A situation without the places in the file where its facts were written. */
function withoutPlaces(situation: Situation): unknown {
  return JSON.parse(
    JSON.stringify(situation, (key, value) => {
      if (key === 'span') return undefined;
      return typeof value === 'bigint' ? String(value) : value;
    }),
  );
}
