// Warns of a `deny` that compares free text exactly with a list. Another spelling passes: `ACME` is not on a
// list that holds `Acme`.

import { warning } from '../../messages/problem.ts';
import type { ConditionScope } from '../engine/rule-subjects.ts';

export function denyListExact({ enforced, env }: ConditionScope): void {
  for (const { rule, parts } of enforced) {
    if (rule.effect !== 'deny') continue;
    for (const { node, polarity } of parts) {
      if (node.kind !== 'in-list' || polarity !== 1 || node.subject.kind !== 'field') continue;
      const { type } = node.subject;
      const isFree = type.kind === 'text' && type.of === 'string' && type.values === null;
      const list = env.query('list', node.list);
      if (!isFree || type.patterns.length > 0 || list === undefined || list.ignoringCase) continue;
      const message = `\`${node.list}\` is compared exactly: another spelling of an entry passes`;
      env.report(
        warning('deny-list-exact', node.span, message, {
          help: `write \`list ${node.list} ignoring case ...\``,
        }),
      );
    }
  }
}
