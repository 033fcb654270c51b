// A session is what the agent claims: a limit per session alone is passed by claiming another one.

import type { Expression } from '../../model/expression.ts';
import type { Meter } from '../../model/policy.ts';
import { warning } from '../problem.ts';
import type { Checked, RuleInPolicy } from './warn.ts';

export function claimedSessions({ enforced, set, env }: Checked): void {
  const metersIn = ({
    parts,
  }: RuleInPolicy): readonly { readonly meter: Meter; readonly read: Expression }[] =>
    parts.flatMap(({ node }) => {
      const meter = node.kind === 'meter' ? set.meters.get(node.meter) : undefined;
      return meter === undefined ? [] : [{ meter, read: node }];
    });
  const limited = new Set(
    enforced.flatMap((one) => (metersIn(one).some(({ meter }) => !isPerSession(meter)) ? one.actions : [])),
  );
  for (const one of enforced) {
    if (one.actions.every((key) => limited.has(key))) continue;
    for (const { meter, read } of metersIn(one)) {
      if (!isPerSession(meter)) continue;
      env.report(
        warning(
          'limit-per-session',
          read.span,
          `\`${meter.name}\` counts per session, which the agent chooses`,
          {
            help: 'add a limit per `agent` or `owner`',
          },
        ),
      );
    }
  }
}

function isPerSession({ per }: Meter): boolean {
  return per.some(({ kind }) => kind === 'session');
}
