// Meters over random histories of calls, results, restarts of meters and restarts of the service: each
// recorded reading equals a walk over all grants, with the results reported by then.

import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/language/model/json.ts';
import type { Facts, MeterReading } from '../../../src/language/model/request.ts';
import { type MeteredRequest, meterReading, meterShare } from '../../../src/language/spec/meters.ts';
import { formatDecimal } from '../../../src/language/value/decimal.ts';
import { createRandom, type RandomSource } from '../../../src/language/value/random.ts';
import { compile } from '../../../src/pipeline.ts';
import { recordedFacts } from '../../../src/service/requests/approvals/decide-again.ts';
import { tries } from '../../support/tries.ts';
import { agentRow, startMs, temporaryFolder } from '../store/rows.ts';
import { activeOf } from './active-of.ts';
import { begin, type World } from './metered.ts';

const text = `
  action web.fetch { host: string } result { bytes: integer -9..99, labels: [string], from?: string }
  action web.look { host: string } result { bytes: integer 0..9, labels: [string], from?: string }
  action mail.send {}
  action session.cleared {}
  action session.reset {}
  meter bytes = sum(result.bytes) of web.* per session over 1h
  meter labelled = count() of web.fetch when "x" in result.labels since session.* per session over 2h
  meter origins = distinct(result.from) of web.* when result has from since session.cleared per session over 1h
  meter fetched = count() of web.* since session.reset per agent over 1h
  policy p on web.*, mail.send, session.* { allow all }
  policy reads on web.*, mail.send, session.* { shadow deny none when bytes > 5 or labelled > 0 or origins > 1 or fetched > 3 }`;
const { set } = compile({
  files: [{ path: 'a.policy', text }],
  readListFile: () => ({ code: 'list-file-missing', message: 'there is none' }),
});

interface Granted {
  readonly id: string;
  readonly facts: Facts;
  readonly atMs: number;
  result: JsonObject | null;
}

function readingsOf(
  asked: Facts,
  nowMs: number,
  granted: readonly Granted[],
): Record<string, MeterReading | null> {
  const readings = [...set!.meters.values()].map((meter) => {
    const { key, contribution: current } = meterShare(set!, meter, asked);
    const requests = granted.flatMap(({ facts, atMs, result }): MeteredRequest[] => {
      const share = meterShare(set!, meter, result === null ? facts : { ...facts, result });
      const isOwn = key !== null && share.key === key;
      return isOwn && share.contribution !== null
        ? [{ grantedAtMs: atMs, contribution: share.contribution }]
        : [];
    });
    return [meter.name, key === null ? null : meterReading(meter, requests, { nowMs, current })] as const;
  });
  return Object.fromEntries(readings);
}

function randomResult(random: RandomSource): JsonObject {
  const whole = { bytes: random.below(10), labels: random.some(['x', 'y'], 0.5) };
  return random.chance(0.5) ? { ...whole, from: random.pick(['a', 'b']) } : whole;
}

const actions = ['web.fetch', 'web.fetch', 'web.look', 'mail.send', 'session.cleared', 'session.reset'];

test.each([1, 2, 3, 4, 5])('reads what its definition reads, history %i', async (seed) => {
  const random = createRandom(seed);
  const path = join(temporaryFolder(), 'writ.db');
  const agent = agentRow();
  const world: World = { nowMs: startMs, active: activeOf(text) };
  let service = await begin(path, world, agent);
  const granted: Granted[] = [];
  const seen = { known: 0, uncertain: 0, unknown: 0, reported: 0 };
  for (let step = 0; step < tries(80); step += 1) {
    world.nowMs += random.pick([0, 1, 1, 60_000, 900_000]);
    const open = granted.filter(({ result, facts }) => result === null && facts.action.startsWith('web.'));
    const one = open.at(random.below(Math.max(1, open.length)));
    if (random.chance(0.1)) await service.metering.tidy(world.active);
    if (random.chance(0.06)) {
      await service.end();
      // The clock may be behind after a start.
      if (random.chance(0.3)) world.nowMs -= 90_000;
      service = await begin(path, world, agent, { snapshotEntries: random.pick([1, 2, 5]) });
    } else if (one !== undefined && random.chance(0.45)) {
      const result = randomResult(random);
      const report = { executed: true, result, by: { agent }, mayRelease: false };
      expect((await service.requestChanges.report(one.id, report)).kind).toBe('changed');
      one.result = result;
      seen.reported += 1;
    } else {
      const action = random.pick(actions);
      const payload: JsonObject = action.startsWith('web.') ? { host: 'a' } : {};
      const session = random.pick(['s-1', 's-1', 's-2']);
      const { request_id: id, decision } = await service.ask(payload, { action, session });
      expect(decision).toBe('ALLOW');
      const record = await service.record(id);
      const facts = recordedFacts(record);
      for (const [name, reading] of Object.entries(readingsOf(facts, world.nowMs, granted))) {
        const found = record.meters[name];
        if (reading === null) expect(found).toHaveProperty('unknown');
        else expect(found).toEqual({ low: formatDecimal(reading.low), high: formatDecimal(reading.high) });
        const isCertain = reading !== null && formatDecimal(reading.low) === formatDecimal(reading.high);
        seen[reading === null ? 'unknown' : isCertain ? 'known' : 'uncertain'] += 1;
      }
      granted.push({ id, facts, atMs: world.nowMs, result: null });
    }
  }
  expect(Object.entries(seen).filter(([, count]) => count < 5)).toEqual([]);
});
