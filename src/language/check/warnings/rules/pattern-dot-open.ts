// Warns of an unescaped dot between letters in a pattern for an address. `api.example.com` as a pattern also
// matches `apixexample.com`, which anybody may register; a literal dot is meant.

import { warning } from '../../messages/problem.ts';
import type { ConditionScope } from '../engine/rule-subjects.ts';
import { addressOf } from './text-unanchored.ts';

/** Matches a dot after a letter or digit and before what may be the rest of a host. */
const openDot = /(?:^|[^\\])[\p{L}\p{N})\]-]\.(?=[\p{L}\p{N}(])/u;

export function patternDotOpen({ enforced, env }: ConditionScope): void {
  for (const { node } of enforced.flatMap(({ parts }) => parts)) {
    if (node.kind !== 'matches' || addressOf(node.subject) === null || !hasOpenDot(node.pattern)) continue;
    env.report(
      warning('pattern-dot-open', node.span, 'a dot of this pattern matches any character', {
        help: 'write `\\.`, or compare the host whole',
      }),
    );
  }
}

/** Whether a pattern has a dot that stands for any character; a dot in brackets stands for itself. */
function hasOpenDot(pattern: string): boolean {
  return openDot.test(pattern.replace(/\[[^\]]*\]/g, '[]'));
}
