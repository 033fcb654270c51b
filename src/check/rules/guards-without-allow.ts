// A guard on actions that nothing allows never meets a grant: an `allow` is missing, or the guard is left over.

import { warning } from '../problem.ts';
import type { Checked } from './warn.ts';

export function guardsWithoutAllow({ enforced, env }: Checked): void {
  const allowed = new Set(enforced.flatMap(({ rule, actions }) => (rule.effect === 'allow' ? actions : [])));
  for (const { rule, actions, name } of enforced) {
    const isGuard = rule.effect === 'deny' || rule.effect === 'escalate' || rule.effect === 'reauth';
    if (!isGuard || actions.some((key) => allowed.has(key))) continue;
    const message = `no \`allow\` grants what \`${rule.name}\` guards`;
    env.report(
      warning('guard-without-allow', name, message, {
        help: 'all its requests are refused by default: add an `allow`, or remove the guard',
      }),
    );
  }
}
