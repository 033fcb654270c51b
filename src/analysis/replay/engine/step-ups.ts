// When control owners last stepped up for their agents, and which rules those step-ups satisfy.

import type { AskedRule } from '../../../language/model/asked.ts';
import type { LoggedRequest } from './log.ts';

/** A class, because its state follows the log. */
export class StepUps {
  readonly #atMs = new Map<string, number>();

  note(agentId: string, atMs: number): void {
    this.#atMs.set(agentId, atMs);
  }

  /**
   * Ids of the asked rules that accept an earlier step-up and have a fresh one. If the log waited for a
   * step-up within some seconds, no step-up counted for that time, so neither does one for the same time or
   * less.
   */
  fresh(logged: LoggedRequest, asked: readonly AskedRule[], isFirst: boolean): readonly string[] {
    const { facts, decision } = logged;
    const denied = isFirst ? (decision.requires?.reauth?.withinSeconds ?? 0) : 0;
    return asked.flatMap((rule) => {
      if (rule.kind !== 'reauth' || rule.withinSeconds === null) return [];
      if (facts.satisfied.reauth.includes(rule.rule)) return [rule.rule];
      const isFresh = rule.withinSeconds > denied && this.#isWithin(logged, rule.withinSeconds);
      return isFresh ? [rule.rule] : [];
    });
  }

  #isWithin({ facts: { agent, nowMs } }: LoggedRequest, seconds: number): boolean {
    const atMs = this.#atMs.get(agent.id ?? '');
    return atMs !== undefined && atMs >= nowMs - seconds * 1_000;
  }
}
