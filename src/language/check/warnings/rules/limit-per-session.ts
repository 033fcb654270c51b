// Warns of limits that are per session alone. The agent states its own session, so it passes such a limit by
// stating another one. Exempt are rules for requests that an enforcement point sends, since the point states the
// session then.

import type { Meter } from '../../../model/policy.ts';
import { warning } from '../../messages/problem.ts';
import { lazily } from '../engine/lazily.ts';
import type { RuleInPolicy } from '../engine/rule-in-policy.ts';
import type { ExaminedRule, GroupRule } from '../engine/rule-subjects.ts';

export function limitPerSession({ rules: all, set, env }: ExaminedRule): GroupRule {
  const limited = lazily(() => {
    const limiting = all().filter(
      (one) =>
        one.meterReads.some(({ isPerSession }) => !isPerSession) ||
        (one.rule.effect === 'deny' && readsPoint(one)),
    );
    return new Set(limiting.flatMap(({ actions }) => actions));
  });
  return ({ rules, actions }) => {
    const perSession = rules.flatMap((one) =>
      readsPoint(one) ? [] : one.meterReads.filter(({ isPerSession }) => isPerSession),
    );
    if (perSession.length === 0 || actions.every((key) => limited().has(key))) return;
    for (const { read } of perSession) {
      const message = `\`${read.meter}\` counts per session, which the agent chooses`;
      const meter = set.meters.get(read.meter);
      const help = meter !== undefined && isHistory(meter, actions) ? historyHelp : limitHelp;
      env.report(warning('limit-per-session', read.span, message, { help }));
    }
  };
}

const silence =
  'if the agent cannot choose its session, say why above the rule: `# writ: allow limit-per-session because ...`';
const limitHelp = `add a limit per \`agent\` or \`owner\`; ${silence}`;
const historyHelp = `have an enforcement point state the session, and refuse other requests with the name of that point: \`deny direct unless request.point == "NAME"\`; or count per \`agent\`; ${silence}`;

/** Whether the meter is about what a session has done before, such as reading a web page, and no limit. */
function isHistory({ actions: counted, since }: Meter, actions: readonly string[]): boolean {
  return since.length > 0 || !actions.some((key) => counted.includes(key));
}

function readsPoint({ parts }: RuleInPolicy): boolean {
  return parts.some(({ node }) => node.kind === 'fact' && node.fact === 'request.point');
}
