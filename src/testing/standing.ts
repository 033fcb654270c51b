// Standing approvals of tests: those that a case gives, and those that people give in a sequence. A later request
// is covered if it has the same keys, as in the service. INVARIANT: an unknown key is not covered, and a use too
// many is not covered either.

import { nearestOf } from '../language/diagnostic/suggest.ts';
import type { Decision } from '../language/model/decision.ts';
import type { PolicySet, StandingScope } from '../language/model/policy.ts';
import type { Facts } from '../language/model/request.ts';
import { type StandingValue, standingValues } from '../language/model/rule-requirement.ts';
import type { GivenStanding, StandingAnswer } from './test-file.ts';
import type { Report } from './yaml.ts';

/** The scope of each rule that has a `standing` clause, by `policy/rule`. */
export type StandingScopes = ReadonlyMap<string, StandingScope>;

export function standingScopes({ policies }: Pick<PolicySet, 'policies'>): StandingScopes {
  return new Map(
    policies
      .flatMap(({ rules }) => rules)
      .flatMap(({ id, requirement }) =>
        requirement?.kind === 'approval' && requirement.standing !== undefined
          ? [[id, requirement.standing] as const]
          : [],
      ),
  );
}

/** Whether the rule allows what the case gives; reports why not. */
export function isStandingOf(
  { rule, keys, span }: GivenStanding,
  scopes: StandingScopes,
  report: Report,
): boolean {
  const scope = scopes.get(rule);
  if (scope === undefined) {
    const nearest = nearestOf(rule, [...scopes.keys()]);
    const help = nearest === null ? undefined : `did you mean \`${nearest}\``;
    report(span, `no rule \`${rule}\` allows a standing approval`, help);
    return false;
  }
  const names = [...keys.keys()].sort();
  if (names.join() === scope.per.join()) return true;
  const all = scope.per.length === 0 ? 'none' : scope.per.map((key) => `\`${key}\``).join(', ');
  report(span, `the keys of \`${rule}\` are others`, `it has ${all}`);
  return false;
}

/** Whether a standing approval that a case gives covers its request. */
export function isCovered({ keys, untilMs }: GivenStanding, facts: Facts): boolean {
  const isOver = untilMs !== null && facts.nowMs >= untilMs;
  return !isOver && hasValues(facts, [...keys.keys()], [...keys.values()]);
}

function hasValues(facts: Facts, per: readonly string[], expected: readonly StandingValue[]): boolean {
  const values = standingValues({ per }, facts);
  return values !== null && JSON.stringify(values) === JSON.stringify(expected);
}

interface StandingApproval {
  readonly rule: string;
  readonly agent: string;
  readonly per: readonly string[];
  readonly values: readonly StandingValue[];
  readonly untilMs: number;
  readonly times: number | null;
  /** Until when each request holds a use: for ever after a grant, which is null. */
  readonly uses: Map<string, number | null>;
}

/** The standing approvals that people give in a sequence, with their uses. A class, because it holds them. */
export class StandingApprovals {
  readonly #scopes: StandingScopes;
  readonly #given: StandingApproval[] = [];

  constructor(scopes: StandingScopes) {
    this.#scopes = scopes;
  }

  /** Returns a standing approval for each rule that a decision asks, if one covers the request. */
  covering({ rules }: Decision, facts: Facts): readonly StandingApproval[] {
    return rules.flatMap((rule) => this.#given.find((one) => one.rule === rule && covers(one, facts)) ?? []);
  }

  use(approvals: readonly StandingApproval[], id: string, untilMs: number | null): void {
    for (const { uses } of approvals) uses.set(id, untilMs);
  }

  /** Enters what people give for the rules that a decision asks. Reports a choice that no rule allows. */
  give(answer: StandingAnswer, { decision, facts }: Asked, report: Report): boolean {
    const offers = decision.rules.flatMap((rule) => {
      const scope = this.#scopes.get(rule);
      const values = scope === undefined ? null : standingValues(scope, facts);
      return scope === undefined || values === null ? [] : [{ rule, scope, values }];
    });
    const problem = problemOf(answer, offers);
    if (problem !== null) report(answer.span, problem);
    if (problem !== null) return false;
    for (const { rule, scope, values } of offers) {
      const seconds = Math.min(answer.seconds ?? scope.seconds, scope.seconds);
      const counts = [answer.times, scope.times].filter((times) => times !== null);
      const times = counts.length === 0 ? null : Math.min(...counts);
      const untilMs = facts.nowMs + seconds * 1_000;
      this.#given.push({
        rule,
        agent: agentOf(facts),
        per: scope.per,
        values,
        untilMs,
        times,
        uses: new Map(),
      });
    }
    return true;
  }
}

interface Asked {
  readonly decision: Decision;
  readonly facts: Facts;
}

function problemOf(
  { seconds, times }: Pick<StandingAnswer, 'seconds' | 'times'>,
  offers: readonly { readonly scope: StandingScope }[],
): string | null {
  if (offers.length === 0) return 'no rule that asks here allows a standing approval of this request';
  const longest = Math.max(...offers.map(({ scope }) => scope.seconds));
  if (seconds !== null && seconds > longest) return '`for` is longer than the rule allows';
  const most = Math.max(...offers.map(({ scope }) => scope.times ?? Number.POSITIVE_INFINITY));
  return times !== null && times > most ? `\`times\` is ${most} at most` : null;
}

function covers({ agent, per, values, untilMs, times, uses }: StandingApproval, facts: Facts): boolean {
  if (agent !== agentOf(facts) || facts.nowMs >= untilMs || !hasValues(facts, per, values)) return false;
  const held = [...uses.values()].filter((heldUntilMs) => heldUntilMs === null || heldUntilMs > facts.nowMs);
  return times === null || held.length < times;
}

/** A standing approval ends with any change of the agent. */
function agentOf({ agent }: Facts): string {
  return JSON.stringify(agent);
}
