// Turns membership in lists into conditions. What is known before any request is decided at once.

import type { Expression } from '../../model/expression.ts';
import type { List } from '../../model/policy.ts';
import { constant, definite } from '../condition.ts';
import type { Condition, Term } from '../program.ts';
import { ofSubject } from './term.ts';

type Mentions = Extract<Expression, { kind: 'mentions' }>;

/** Whether the subject is an entry of a declared list. False for an empty list. */
export function inList(subject: Term, list: List): Condition {
  if (list.entries.length === 0) return constant('false');
  if (subject.kind === 'absent') return constant('unknown');
  const mayBeUnknown = subject.mayBeUnknown || subject.sort === 'money';
  return {
    kind: 'in-list',
    subject,
    list: list.name,
    mayBeUnknown,
    cost: (list.ignoringCase ? 10 : 1) + subject.cost,
  };
}

/**
 * Whether the subject is an element of a list. Decided at once when the subject and all elements are
 * constants.
 */
export function inElements(subject: Term, elements: Term): Condition {
  if (elements.kind === 'absent') return constant('unknown');
  if (elements.kind === 'list' && elements.elements.length === 0) return constant('false');
  if (elements.kind === 'text-list' && subject.kind === 'literal')
    return definite(elements.texts.some((text) => text === subject.value));
  const areKnown = elements.kind === 'text-list' || (elements.kind !== 'list' && !elements.mayBeUnknown);
  const mayBeUnknown = subject.mayBeUnknown || !areKnown || subject.sort === 'money';
  // A set of constant texts takes one look-up, and few requests match, so the condition is cheap.
  const cost = subject.cost + (elements.kind === 'text-list' ? 1 : 3 + elements.cost);
  return { kind: 'in-elements', subject, elements, mayBeUnknown, cost };
}

/** Whether a text mentions words that are written out or in a list. */
export function mentionsCondition({ words }: Mentions, subject: Term): Condition {
  if (words.kind === 'words') {
    return { kind: 'mentions-words', words: words.words, ...ofSubject(subject, 80) };
  }
  return { kind: 'mentions-list', list: words.list, ...ofSubject(subject, 80) };
}
