// Diagnostics about declarations, one function each: names, types, groups, patterns, policies and rules.

import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import type { Span } from '../../diagnostic/span.ts';
import { didYouMean } from '../../diagnostic/suggest.ts';
import type { Type } from '../../model/type.ts';
import type {
  Declaration,
  GuaranteeClauseNode,
  Metadata,
  NameNode,
  NumberLiteral,
  Path,
  Pattern,
  RuleNode,
  TextLiteral,
  ThenClause,
} from '../../syntax/tree/tree.ts';
import { dependencyDepthMax } from './dependencies.ts';
import { foreignType } from './foreign-names.ts';
import { earlier, error, warning } from './problem.ts';
import { typeText } from './type-text.ts';

type Kind = Declaration['kind'];

const articles = {
  action: 'an action',
  type: 'a type',
  group: 'a group of actions',
  approvers: 'an approval group',
  list: 'a list',
  table: 'a table',
  hours: 'hours',
  let: 'a let',
  meter: 'a meter',
  policy: 'a policy',
  guarantee: 'a guarantee',
} satisfies Record<Kind, string>;

/** Returns the kind of a declaration with its article. */
export function article(kind: Kind): string {
  return articles[kind];
}

// Names

export function nameDeclaredTwice(name: NameNode, first: NameNode): Diagnostic {
  return error('name-declared-twice', name.span, `\`${name.text}\` is declared twice`, {
    help: 'all declarations of a policy set share one namespace: rename one of them',
    ...earlier(first.span, 'first declared here'),
  });
}

export function nameReserved(name: NameNode, reason: string): Diagnostic {
  return error('name-taken', name.span, `\`${name.text}\` may not be declared: it ${reason}`, {
    help: 'choose another name',
  });
}

export function unknownName(name: NameNode, kind: Kind, candidates: readonly string[]): Diagnostic {
  const message = `no ${articles[kind].replace(/^an? /, '')} is named \`${name.text}\``;
  const suggestion = didYouMean(name, candidates);
  return error('unknown-name', name.span, message, {
    help: `declare it: \`${kind} ${name.text}${restOfDeclaration[kind] ?? ''}\``,
    ...suggestion,
  });
}

/** What the help text adds after the name, for kinds that need more than a name to be a declaration. */
const restOfDeclaration: Partial<Record<Kind, string>> = {
  approvers: ' "who they are"',
  list: ' = [...]',
  table: ' = { ... }',
};

export function nameOfOtherKind(name: NameNode, otherKind: Kind, expected: Kind): Diagnostic {
  const message = `\`${name.text}\` is ${articles[otherKind]}, not ${articles[expected]}`;
  return error('name-of-other-kind', name.span, message, {
    help: `name ${articles[expected]}, which \`${expected}\` declares`,
  });
}

export function ruleDeclaredTwice(name: NameNode, first: NameNode): Diagnostic {
  return error('rule-declared-twice', name.span, `the policy has two rules named \`${name.text}\``, {
    help: 'a decision names its rule: give each its own name',
    ...earlier(first.span, 'the first one'),
  });
}

export function actionDeclaredTwice(key: NameNode, first: NameNode): Diagnostic {
  return error('action-declared-twice', key.span, `action \`${key.text}\` is declared twice`, {
    help: 'an action has one shape: remove one of the keys',
    ...earlier(first.span, 'first declared here'),
  });
}

export function groupNamedTwice(
  name: Pick<NameNode, 'text' | 'span'>,
  first: { readonly span: Span },
): Diagnostic {
  return warning('group-named-twice', name.span, `\`${name.text}\` is named twice`, {
    help: 'remove one of them',
    ...earlier(first.span, 'first named here'),
  });
}

export function letCyclic(name: NameNode, path: readonly string[]): Diagnostic {
  const way = path.map((step) => `\`${step}\``).join(' reads ');
  return error('let-cyclic', name.span, `\`${name.text}\` depends on itself: ${way}`, {
    help: 'a let is replaced by its expression, so it cannot refer to itself: break the circle',
  });
}

/** Reports a chain of declarations, each referring to the next, that is too long. */
export function tooDeepDeclaration(name: NameNode): Diagnostic {
  const message = `\`${name.text}\` refers to declarations that refer to others, more than ${dependencyDepthMax} deep`;
  return error('declaration-too-deep', name.span, message, { help: 'say it with fewer steps' });
}

// Types

export function unknownType(name: NameNode, candidates: readonly string[]): Diagnostic {
  return error('unknown-type', name.span, `no type is named \`${name.text}\``, {
    help: `declare it: \`type ${name.text} = ...\``,
    ...didYouMean(name, candidates),
    ...foreignType(name),
  });
}

export function typeRecursive(name: NameNode): Diagnostic {
  return error('type-recursive', name.span, `type \`${name.text}\` contains itself`, {
    help: 'payloads have a fixed depth: write out the levels that occur',
  });
}

export function typeTooLarge(name: NameNode, fieldsMax: number): Diagnostic {
  const message = `\`${name.text}\` has more than ${fieldsMax} fields, including those of nested types`;
  return error('type-too-large', name.span, message, {
    help: 'payloads of this size are checked too slowly',
  });
}

export function fieldDeclaredTwice(name: NameNode, first: NameNode): Diagnostic {
  return error('field-declared-twice', name.span, `field \`${name.text}\` is declared twice`, {
    help: 'remove one of them',
    ...earlier(first.span, 'first declared here'),
  });
}

export function unionInvalid(span: Span): Diagnostic {
  return error('union-unfit', span, 'a union joins texts, or one type and `null`', {
    help: 'write `"a" | "b"` for an enumeration, `T | null` for a value that may be null',
  });
}

export function enumerationValueTwice(text: TextLiteral): Diagnostic {
  return error(
    'enumeration-value-twice',
    text.span,
    `\`"${text.value}"\` is listed twice in the enumeration`,
    {
      help: 'remove one of them',
    },
  );
}

export function patternOnOtherType(span: Span, type: Type): Diagnostic {
  return error('pattern-on-other-type', span, `\`matches\` narrows \`string\`, not \`${typeText(type)}\``, {
    help: "write `string matches 're'`",
  });
}

export function regexInvalid(
  pattern: { readonly span: Span; readonly value: string },
  why: string,
): Diagnostic {
  return error('regex-invalid', pattern.span, `\`${pattern.value}\` is not a pattern: ${why}`, {
    help: 'patterns are RE2: no look-around, no references back',
  });
}

export function rangeNotAllowed(span: Span, type: Type): Diagnostic {
  return error('range-not-allowed', span, `\`${typeText(type)}\` takes no range`, {
    help: 'ranges bound numbers, money, dates and times, the length of texts and lists',
  });
}

export function rangeBoundMismatch(span: Span, bounds: 'count' | 'amount'): Diagnostic {
  const expected =
    bounds === 'count' ? 'a length: a whole number, not negative' : 'an amount: a number without a currency';
  const help =
    bounds === 'count'
      ? 'write such as `1..200`'
      : 'the currency has its own field: write a range such as `0.01..`';
  return error('range-bound-mismatch', span, `the bound must be ${expected}`, { help });
}

export function rangeEmpty(span: Span): Diagnostic {
  return error('range-empty', span, 'the range is empty: its low end is above its high end', {
    help: 'swap the ends',
  });
}

export function moneyInList(span: Span): Diagnostic {
  return error('money-in-list', span, 'money in a list has no field for its currency', {
    help: 'make the elements records: `[{ amount: money(currency), currency: "USD" }]`',
  });
}

export function currencyFieldUnfit(span: Span, name: string): Diagnostic {
  const message = `\`${name}\` must be a field of the amount's record, or, in a payload, of one around it: a text, not secret, and there whenever the amount is`;
  return error('currency-field-unfit', span, message, {
    help: `declare \`${name}: "USD"\` or another text in the same record`,
  });
}

export function currencyFieldInList(span: Span, name: string): Diagnostic {
  const message = `\`${name}\` is in a record of a list around the amount, so rules could not know which one is meant`;
  return error('currency-field-unfit', span, message, {
    help: `declare \`${name}\` in the record of the amount, or in a record that is in no list`,
  });
}

// Patterns

export function patternMatchesNothing(pattern: Pattern, candidates: readonly string[]): Diagnostic {
  const message = `no declared action matches \`${pattern.text}\``;
  const isWild = pattern.text.includes('*');
  const write = (name: string): string => (pattern.isQuoted ? JSON.stringify(name) : name);
  return error('pattern-matches-nothing', pattern.span, message, {
    help: 'a rule that never applies protects nothing: declare the action, or fix the pattern',
    ...(isWild ? {} : didYouMean(pattern, candidates, write)),
  });
}

export function patternContained(inner: Pattern, outer: Pattern): Diagnostic {
  return warning('pattern-contained', inner.span, `\`${inner.text}\` is contained in \`${outer.text}\``, {
    help: 'remove it',
    ...earlier(outer.span, 'this matches all that it matches'),
  });
}

export function resultFieldUnfit(name: NameNode): Diagnostic {
  return error('result-field-unfit', name.span, `\`${name.text}\` of a result is secret or signed`, {
    help: 'a result is recorded as it is, and comes without a signature of its own',
  });
}

export function policyMatchesNothing(name: NameNode): Diagnostic {
  return error('policy-matches-nothing', name.span, `policy \`${name.text}\` covers no action`, {
    help: '`except` takes out all that its patterns match',
  });
}

// Policies and rules

export function metadataTwice(second: Metadata, first: Metadata): Diagnostic {
  return error('owner-twice', second.span, 'the policy has two owners', {
    help: 'name one',
    ...earlier(first.span, 'the first one'),
  });
}

export function peopleUnfit(node: NumberLiteral): Diagnostic {
  return error('needs-unfit', node.span, `\`needs ${node.text}\` is not a number of people`, {
    help: 'write a whole number of at least 1',
  });
}

export function oneOwner(node: NumberLiteral): Diagnostic {
  return error(
    'needs-unfit',
    node.span,
    `\`needs ${node.text}\` can never be met: an agent has one control owner`,
    {
      help: 'remove `needs`, or add a rule that also asks a group',
    },
  );
}

export function fewPeople(node: NumberLiteral, whom: string, people: number): Diagnostic {
  const count = people === 1 ? 'one person' : `${people} people`;
  const message = `\`needs ${node.text}\` can never be met: \`${whom}\` is ${count}`;
  return error('needs-unfit', node.span, message, {
    help: 'remove `needs`, or add a rule that also asks a group',
  });
}

export function approversMixed(span: Span): Diagnostic {
  return error(
    'approvers-mixed',
    span,
    'whom this asks is not clear: it joins approvers by `and` and by `or`',
    {
      help: 'write a rule for each part between `and`; each rule then needs its own approval',
    },
  );
}

export function chatLimitUnfit({ span, text }: NumberLiteral): Diagnostic {
  return error('chat-limit-unfit', span, `\`${text}\` is not a risk`, {
    help: 'write a whole number from 0 to 100, or leave out `by chat`: the group then never decides by chat',
  });
}

export function fallbackOfSeveral(span: Span): Diagnostic {
  return error('fallback-unfit', span, 'a fallback is one approver, or several joined by `or`', {
    help: 'write `or`: what is missing can then be approved by any of them',
  });
}

export function fallbackWithoutApproval({ span }: ThenClause): Diagnostic {
  return error('fallback-unfit', span, '`then` names approvers, but the rule asks for a step-up', {
    help: 'remove it, or write a rule that asks for approval',
  });
}

export function claimOfSeveral(span: Span): Diagnostic {
  return error('approvers-mixed', span, 'a claim is about one approver, or several joined by `or`', {
    help: 'write a claim for each of them',
  });
}

/** `why` continues the message after the expression. */
export function approverUnfit({ span }: { readonly span: Span }, text: string, why: string): Diagnostic {
  return error('approver-unfit', span, `\`${text}\` cannot name the approver: it ${why}`, {
    help: 'name a group, a column of a table such as `staff[payload.employee].manager`, or a field that an enforcement point vouches for: `manager: signed by "gateway" email`',
  });
}

/** `other` is a value that names no group; null when it is only known from a file or a request. */
export function approverMixed(
  { span }: { readonly span: Span },
  text: string,
  { group, other }: { readonly group: string; readonly other: string | null },
): Diagnostic {
  const alternative = other === null ? 'any text' : `\`${other}\`, which is no approval group`;
  const message = `\`${text}\` may be the approval group \`${group}\`, or ${alternative}`;
  return error('approver-unfit', span, message, {
    help: 'let all its values name groups, or all of them people; for a column: `approver: "finance" | "cfo"`',
  });
}

export function needsWithoutApproval(span: Span): Diagnostic {
  return error('needs-without-approval', span, '`needs` counts approvals, but the rule asks for a step-up', {
    help: 'remove it',
  });
}

export function exceptWithoutApproval(span: Span): Diagnostic {
  const message = '`except` says who may not approve, but the rule asks for a step-up';
  return error('except-unfit', span, message, { help: 'remove it' });
}

/** `why` continues the message after the path. */
export function exceptUnfit({ span }: Path, path: string, why: string): Diagnostic {
  const message = `who may not approve is named by a text of the payload or by \`request.user.email\`, and \`${path}\` ${why}`;
  return error('except-unfit', span, message, {
    help: 'write a field with the address or the id of a person, such as `except payload.asked_by.id`',
  });
}

export function pointsUnfit(node: NumberLiteral): Diagnostic {
  return error('points-unfit', node.span, `\`${node.text}\` is not a number of risk points`, {
    help: 'write a whole number other than zero, with its sign: `+30`, `-10`',
  });
}

export function guardLowersRisk(points: NumberLiteral, { effect, name }: RuleNode): Diagnostic {
  const message = `\`${effect}\` rule \`${name.text}\` lowers risk`;
  return error('guard-lowers-risk', points.span, message, {
    help: `a guard may raise risk only; let a \`risk\` rule of its own say \`${points.text}\``,
  });
}

export function unapprovedMisplaced(claim: GuaranteeClauseNode): Diagnostic {
  return error('unapproved-misplaced', claim.span, '`unapproved` belongs to `never allow` and `allow only`', {
    help: 'write `never allow unapproved` or `allow unapproved only when`',
  });
}
