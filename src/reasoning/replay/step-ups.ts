// When control owners last stepped up for their agents, and which rules that satisfies.

import type { AskedRule } from '../../language/model/asked.ts';
import type { LoggedRequest } from './log.ts';

/** A class because it follows the log. */
export class StepUps {
  readonly #atMs = new Map<string, number>();

  note(agentId: string, atMs: number): void {
    this.#atMs.set(agentId, atMs);
  }

  /**
   * Ids of the rules that ask for a step-up within some time, and that one satisfies. Where the log waited for one within a
   * time, none was there that counted for it.
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
