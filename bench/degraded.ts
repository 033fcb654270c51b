// Measures requests with something missing, with many policies on one pattern. Either the field that most
// rules are filed under is withheld or has another type, or the fact that the rules name is unknown. Half of
// the policies name an agent and a band of amounts, half a band and a currency.

import { link } from '../src/language/emit/link.ts';
import type { Json, JsonObject } from '../src/language/model/json.ts';
import type { Facts } from '../src/language/model/request.ts';
import { rotate, timeCalls } from '../src/measure/clock.ts';
import type { Figure } from '../src/measure/figure.ts';
import { programOf } from './from-model.ts';
import type { ModelTest } from './policy-model.ts';
import { toFacts } from './policy-text.ts';
import { createWorkload, type Workload } from './workloads.ts';

export type DegradedFigures = Readonly<Record<'normal' | 'withheld' | 'mistyped' | 'unknown', Figure>>;

export function measureDegraded(policies: number, rounds: number): DegradedFigures {
  const workload = namingAgents(createWorkload('wild', policies));
  const engine = link(programOf(workload));
  const normal = workload.requests.map((request): Facts => {
    const facts = toFacts(request);
    return { ...facts, agent: { ...facts.agent, name: request.payload.vendor } };
  });
  const withPayload = (change: (payload: JsonObject) => JsonObject): readonly Facts[] =>
    normal.map((facts) => ({ ...facts, payload: change(facts.payload) }));
  const variants = {
    normal,
    withheld: withPayload(({ amount: _, ...rest }) => rest),
    mistyped: withPayload((payload) => ({ ...payload, amount: 'a lot' as Json })),
    unknown: normal.map((facts) => ({ ...facts, agent: {} })),
  };
  const timed = (requests: readonly Facts[]) => () =>
    timeCalls(() => {
      for (const facts of requests) engine.decide(facts);
    }, requests.length);
  return rotate(
    {
      normal: timed(variants.normal),
      withheld: timed(variants.withheld),
      mistyped: timed(variants.mistyped),
      unknown: timed(variants.unknown),
    },
    rounds,
  );
}

/**
 * Returns the workload with agents in place of vendors, and a narrow band in place of each bound with no
 * upper end. Three of four rules refuse, because a refusal counts even while its condition is unknown.
 */
function namingAgents(workload: Workload) {
  const bands = workload.rules.flatMap(({ tests }) => tests.filter(({ kind }) => kind === 'amount-between'));
  const rules = workload.rules.map((rule, at) => {
    const tests = rule.tests.flatMap((test): readonly ModelTest[] => {
      if (test.kind === 'amount-from') return [bands[at % bands.length]!];
      return test.kind === 'vendor-is' ? [{ kind: 'agent-is', agent: test.vendor }] : [test];
    });
    return { ...rule, effect: at % 4 === 1 ? ('allow' as const) : ('deny' as const), tests };
  });
  return { ...workload, rules };
}
