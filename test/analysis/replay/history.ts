// Random histories of a service on a real store: requests, votes, step-ups, releases, waits that end, and restarts.

import { join } from 'node:path';
import type { Decision } from '../../../src/language/model/decision.ts';
import { createRandom } from '../../../src/language/value/random.ts';
import { requestRecord } from '../../../src/service/requests/record/record.ts';
import type { DecidedDetail } from '../../../src/service/requests/record/request-state.ts';
import type { AgentRow, RequestRow } from '../../../src/service/store/contract/records.ts';
import { activeOf } from '../../service/requests/active-of.ts';
import { approverOf } from '../../service/requests/bystanders.ts';
import { begin, type World } from '../../service/requests/metered.ts';
import { agentRow, startMs, temporaryFolder } from '../../service/store/rows.ts';

export const policyText = `
  action pay.send { amount: money(currency) 0.01.., currency: "USD", to: string, token?: secret string }
  action pay.hold { amount: number }
  approvers finance "Finance"
  approvers security "Security"
  meter spent = sum(payload.amount) in USD of pay.send per agent over 24h
  meter calls = count() of pay.* per owner over 6h
  meter payees = distinct(payload.to) of pay.send per agent over 24h
  meter fresh = count() of pay.send since pay.hold per agent over 12h
  policy budget on pay.send {
    allow all for 2h because "{payload.amount} to {payload.to}"
    deny beyond when spent > 900 USD
    deny spread when payees > 6
    deny unheld when fresh > 9
    escalate large to finance within 1h when payload.amount > 50 USD
    escalate shared to finance needs 2 within 3h when payload.amount > 70 USD
    escalate strange to security within 2h when payload.to == "odd"
    escalate own to finance except payload.to within 2h when payload.to ends with "@example.com"
    reauth owner_there within 30m when payload.to == "far"
    reauth this_one when payload.amount == 66 USD
  }
  policy holds on pay.hold {
    allow all after approval by security when payload.amount > 10
    allow small when payload.amount <= 10 and calls < 12
  }`;

export interface History {
  readonly path: string;
  readonly asked: number;
}

const [minuteMs, hourMs] = [60 * 1000, 60 * 60 * 1000];
const everybody = ['finance', 'security'];

const people = [
  approverOf(everybody, { id: 'p1', email: 'ann@example.com' }),
  approverOf(everybody, { id: 'p2', email: 'ben@example.com' }),
  approverOf(everybody, { id: 'p3', email: 'owner@example.com' }),
];

export interface HistoryOptions {
  /** Extra time that passes now and then. */
  readonly pauseMs?: number;
  readonly folder?: string;
}

/** Makes a history; the same seed gives the same history. */
export async function makeHistory(
  seed: number,
  steps: number,
  { pauseMs = 0, folder = temporaryFolder() }: HistoryOptions = {},
): Promise<History> {
  const random = createRandom(seed);
  const path = join(folder, 'writ.db');
  const owned = (name: string): AgentRow => agentRow({ name, controlOwner: 'owner@example.com' });
  const agents = [owned('one'), owned('two')];
  const world: World = { nowMs: startMs, active: activeOf(policyText) };
  let service = await begin(path, world, agents[0]!);
  const ids: string[] = [];

  const ask = async () => {
    const by = random.pick(agents);
    const session = random.chance(0.5) ? 's1' : null;
    if (random.chance(0.2)) {
      const { request_id } = await service.ask({ amount: random.below(20) }, { action: 'pay.hold', by });
      ids.push(request_id);
      return;
    }
    const to = random.pick(['a', 'b', 'c', 'd', 'odd', 'far', 'ben@example.com', 'f']);
    const amount = random.chance(0.1) ? 66 : 1 + random.below(90);
    const token = random.chance(0.3) ? { token: 'hidden' } : {};
    const payload = random.chance(0.05) ? { amount } : { amount, currency: 'USD', to, ...token };
    ids.push((await service.ask(payload, { by, session })).request_id);
  };
  const chosen = (): string => ids[Math.max(0, ids.length - 1 - random.below(12))]!;
  const vote = async (what: 'approve' | 'reject') => {
    const group = random.chance(0.5) ? null : random.pick(everybody);
    await service.requestChanges[what](chosen(), { caller: random.pick(people), group, comment: '' });
  };
  const step = async (): Promise<unknown> => {
    const what = random.below(100);
    if (ids.length === 0 || what < 45) return await ask();
    if (what < 68) return await vote('approve');
    if (what < 72) return await vote('reject');
    if (what < 77) return await service.requestChanges.stepUp(chosen(), { ...people[2]!, passkey: null });
    if (what < 80) return await service.requestChanges.stepUpAgent(random.pick(agents).id, people[2]!);
    if (what < 86) {
      const report = { executed: random.chance(0.3), by: { person: people[0]! }, mayRelease: true };
      return await service.requestChanges.report(chosen(), report);
    }
    if (what < 98) {
      world.nowMs +=
        random.pick([1, minuteMs, 10 * minuteMs, hourMs, 3 * hourMs]) + random.below(2) * pauseMs;
      // Expired waits are swept a while later, or at once.
      if (random.chance(0.3)) return null;
      for (const id of await service.store.requests.expireDue(world.nowMs, 100))
        service.metering.settle(id, null);
      return null;
    }
    await service.end();
    service = await begin(path, world, agents[0]!);
    return null;
  };

  for (let at = 0; at < steps; at += 1) await step();
  await service.end();
  return { path, asked: ids.length };
}

/** All decisions of each request, as recorded. */
export function recordedDecisions(
  row: RequestRow,
  events: readonly { readonly what: string; readonly detail: unknown }[],
): readonly Decision[] {
  const again = events.filter(({ what }) => what === 'decided');
  return [requestRecord(row).decision, ...again.map(({ detail }) => (detail as DecidedDetail).decision)];
}
