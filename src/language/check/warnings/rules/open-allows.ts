// Warns of an `allow` without condition on an action that changes something: it opens when one of the guards
// that limit it is deleted. Also warns of an `allow` over a wildcard, which opens for actions that are
// declared later.

import type { PolicyDeclaration } from '../../../syntax/tree/tree.ts';
import { warning } from '../../messages/problem.ts';
import type { ConditionScope } from '../engine/rule-subjects.ts';

/** First words of the last segment in the keys of actions that only read; the page of the warning lists them. */
export const readingVerbs: ReadonlySet<string> = new Set(
  'read get list view search find show describe query fetch count check lookup'.split(' '),
);

export function openAllows({ enforced, declaration, env }: ConditionScope): void {
  for (const { rule, actions, name } of enforced) {
    if (rule.effect !== 'allow' || rule.requirement !== null) continue;
    const changing = actions.find((key) => !isReading(key));
    if (changing === undefined || rule.condition.kind !== 'literal') continue;
    env.report(
      warning('allow-unconditional', name, `\`${rule.name}\` allows \`${changing}\` without condition`, {
        help: 'only guards limit it: add a condition with `when`, or write `after approval by ...`; the page lists the verbs of keys that only read',
      }),
    );
  }
  if (declaration !== null) reportWildcards(declaration, env.report);
}

/** Whether the action only reads, by the first word of the key's last segment, as in `mail.get_thread`. */
export function isReading(key: string): boolean {
  const [word = ''] = key.slice(key.lastIndexOf('.') + 1).split(/[_-]|(?=[A-Z])/);
  return readingVerbs.has(word.toLowerCase());
}

function reportWildcards(policy: PolicyDeclaration, report: ConditionScope['env']['report']): void {
  const wildcard = policy.patterns.find(({ text }) => text.includes('*'));
  const allow = policy.rules.find((rule) => rule.effect === 'allow' && !rule.isShadow);
  if (wildcard === undefined || allow === undefined || policy.isShadow) return;
  report(
    warning(
      'allow-wildcard',
      allow.name.span,
      `\`${allow.name.text}\` also allows actions that are declared later, if \`${wildcard.text}\` matches them`,
      {
        help: 'name the actions, or a group that each action joins on purpose',
        related: [{ span: wildcard.span, message: 'the pattern' }],
      },
    ),
  );
}
