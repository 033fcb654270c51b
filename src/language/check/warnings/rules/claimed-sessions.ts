// Warns of limits that are per session alone. The agent states its own session, so it passes such a limit by
// stating another one.

import { warning } from '../../messages/problem.ts';
import type { ExaminedRule, GroupRule } from '../engine/examined.ts';
import { lazily } from '../engine/lazily.ts';

export function claimedSessions({ rules: all, env }: ExaminedRule): GroupRule {
  const limited = lazily(() => {
    const limiting = all().filter(({ meterReads }) => meterReads.some(({ isPerSession }) => !isPerSession));
    return new Set(limiting.flatMap(({ actions }) => actions));
  });
  return ({ rules, actions }) => {
    const perSession = rules.flatMap(({ meterReads }) =>
      meterReads.filter(({ isPerSession }) => isPerSession),
    );
    if (perSession.length === 0 || actions.every((key) => limited().has(key))) return;
    for (const { read } of perSession) {
      const message = `\`${read.meter}\` counts per session, which the agent chooses`;
      env.report(
        warning('limit-per-session', read.span, message, { help: 'add a limit per `agent` or `owner`' }),
      );
    }
  };
}
