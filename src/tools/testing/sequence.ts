// The facts of a case. One that stands in a sequence finds the meters as the requests before it leave them: what is granted
// counts, what waits for people is reserved until they answer or the wait is over. INVARIANT: meters count as in the service,
// since they are those of the service.

import type { Decision } from '../../language/model/decision.ts';
import type { MeterUse } from '../../language/model/metering.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import type { Facts, Reading } from '../../language/model/request.ts';
import type { Compiled } from '../../pipeline.ts';
import { createMeterTotals, type MeterTotals } from '../../service/meters/meter-totals.ts';
import { validSeconds } from '../../service/requests/record/validity.ts';
import { toFacts } from './situation.ts';
import type { PeoplesAnswer, TestCase } from './test-file.ts';
import type { Report } from './yaml.ts';

interface Tried {
  readonly set: PolicySet;
  readonly engine: NonNullable<Compiled['engine']>;
}

/** Null with at least one report where a name is not one of the set. */
export function caseFacts(
  { situation, before }: TestCase,
  { set, engine }: Tried,
  report: Report,
): Facts | null {
  if (before === null) return toFacts(situation, set, report);
  const counted = new CountedMeters(engine);
  for (const [at, past] of before.entries()) {
    const given = toFacts(past.situation, set, report);
    if (given === null) return null;
    const { facts, uses } = counted.read(given);
    counted.enter({ id: String(at), uses, nowMs: facts.nowMs }, engine.decide(facts), past.answer);
  }
  const given = toFacts(situation, set, report);
  return given && counted.read(given).facts;
}

export function waitsForPeople({ outcome }: Decision): boolean {
  return outcome === 'ESCALATE' || outcome === 'REAUTH_REQUIRED';
}

interface Entering {
  readonly id: string;
  readonly uses: readonly MeterUse[];
  readonly nowMs: number;
}

/** A class because it holds what was counted. */
class CountedMeters {
  readonly #engine: Tried['engine'];
  readonly #totals: MeterTotals = createMeterTotals();
  /** When those end that wait, by id. */
  readonly #waits = new Map<string, number>();

  constructor(engine: Tried['engine']) {
    this.#engine = engine;
    for (const definition of engine.meters) this.#totals.fill(definition, []);
  }

  /** With each meter as it stands at the request's time. */
  read(given: Facts): { readonly facts: Facts; readonly uses: readonly MeterUse[] } {
    const { nowMs } = given;
    for (const [id, endMs] of this.#waits) {
      if (endMs > nowMs) continue;
      this.#totals.release(id);
      this.#waits.delete(id);
    }
    const uses = this.#engine.entries(given);
    const meters: Record<string, Reading> = {};
    for (const use of uses) {
      const reading = this.#totals.read(use, { nowMs, requestId: null });
      for (const name of reading === null ? [] : use.names) meters[name] = reading!;
    }
    return { facts: { ...given, meters }, uses };
  }

  enter({ id, uses, nowMs }: Entering, decision: Decision, answer: PeoplesAnswer | null): void {
    if (decision.outcome === 'ALLOW') this.#totals.grant(id, uses, nowMs);
    if (!waitsForPeople(decision)) return;
    if (answer === 'approved') this.#totals.grant(id, uses, nowMs);
    if (answer !== null) return;
    this.#totals.reserve(id, uses);
    this.#waits.set(id, nowMs + validSeconds(decision) * 1_000);
  }
}
