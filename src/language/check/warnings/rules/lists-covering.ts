// Warns of a declared list that holds every value of an enumeration: `in` the list is true for every request,
// `not in` for none.

import type { Expression } from '../../../model/expression.ts';
import type { List } from '../../../model/policy.ts';
import { fold } from '../../../value/text.ts';
import { warning } from '../../messages/problem.ts';
import type { ConditionScope } from '../engine/rule-subjects.ts';

export function listsCovering({ enforced, env }: ConditionScope): void {
  for (const { node } of enforced.flatMap(({ parts }) => parts)) {
    const list = node.kind === 'in-list' ? env.query('list', node.list) : undefined;
    if (node.kind !== 'in-list' || list === undefined || !holdsAll(list, node.subject)) continue;
    env.report(
      warning(
        'always-true',
        node.span,
        `\`${list.name}\` has every value of the field: this is the same for every request`,
        {
          help: 'remove the test, or take values off the list',
        },
      ),
    );
  }
}

function holdsAll({ entries, ignoringCase }: List, subject: Expression): boolean {
  const { type } = subject;
  if (subject.kind !== 'field' || subject.isSigned || type.kind !== 'text' || type.values === null)
    return false;
  const spelling = (text: string): string => (ignoringCase ? fold(text) : text);
  const held = new Set(entries.map((entry) => (typeof entry === 'string' ? spelling(entry) : '')));
  return type.values.every((value) => held.has(spelling(value)));
}
