// Warns of pattern characters where they stand for themselves, and of patterns without any: `x == "/etc/*"`,
// `x like "a?c"`, `x matches "abc"`. A guard that is meant as a pattern but compares a text guards almost
// nothing.

import { elementsOf } from '../../../model/children.ts';
import type { Expression } from '../../../model/expression.ts';
import { constantText, type ValueOfLet } from '../../logic/constants.ts';
import { warning } from '../../messages/problem.ts';
import type { ConditionScope } from '../engine/rule-subjects.ts';
import { walkCondition } from './value-never-equal.ts';

/** What is probably a mistake, and what to write instead. */
interface LikelyMistake {
  readonly message: string;
  readonly help: string;
}

export function patternMistaken({ conditions, env, valueOfLet }: ConditionScope): void {
  for (const condition of conditions) {
    walkCondition(condition, (node) => {
      const mistaken = mistakenIn(node, valueOfLet);
      if (mistaken === null) return;
      const { message, help } = mistaken;
      env.report(warning('pattern-mistaken', node.span, message, { help }));
    });
  }
}

function mistakenIn(node: Expression, valueOfLet: ValueOfLet): LikelyMistake | null {
  switch (node.kind) {
    case 'compare':
      return (
        starCompared(node.left, [node.right], valueOfLet) ?? starCompared(node.right, [node.left], valueOfLet)
      );
    case 'in-elements':
      return starCompared(node.subject, elementsOf(node.elements) ?? [], valueOfLet);
    case 'text-test':
      return node.operator === 'inside'
        ? starInFolder(node.right, valueOfLet)
        : starInPart(node.operator, node.right, valueOfLet);
    case 'like':
      return foreignGlob(node.pattern, node.subject);
    case 'matches':
      return plainRegex(node.pattern);
    default:
      return null;
  }
}

/**
 * Finds a `*` at one end of a text that is compared with free text. A text that is only `*` is accepted: it
 * is a common value for scopes.
 */
function starCompared(
  { type }: Expression,
  others: readonly Expression[],
  valueOfLet: ValueOfLet,
): LikelyMistake | null {
  if (type.kind !== 'text' || type.values !== null) return null;
  for (const other of others) {
    const text = other.kind === 'literal' ? constantText(other, valueOfLet) : null;
    if (text === null || !hasOuterStar(text)) continue;
    const quotedText = JSON.stringify(text);
    const message = `\`*\` is an ordinary character here: this is compared with \`${quotedText}\``;
    return { message, help: `write \`like ${quotedText}\` for any text of this form` };
  }
  return null;
}

function starInPart(operator: string, part: Expression, valueOfLet: ValueOfLet): LikelyMistake | null {
  const text = part.kind === 'literal' ? constantText(part, valueOfLet) : null;
  if (text === null || !hasOuterStar(text)) return null;
  const bare = JSON.stringify(text.replaceAll(/^\*+|\*+$/g, ''));
  return {
    message: `\`*\` is an ordinary character here: \`${operator}\` takes a part of a text`,
    help: `write \`${operator} ${bare}\`, or \`like\` with a pattern`,
  };
}

function starInFolder(folder: Expression, valueOfLet: ValueOfLet): LikelyMistake | null {
  const text = folder.kind === 'literal' ? constantText(folder, valueOfLet) : null;
  if (text === null || !text.includes('*')) return null;
  const bare = text.replace(/\/\*+$/, '') || '/';
  return {
    message: '`*` is an ordinary character here: `inside` takes a folder, and everything below it counts',
    help: bare.includes('*')
      ? `write \`like ${JSON.stringify(`${bare}/*`)}\``
      : `write \`inside ${JSON.stringify(bare)}\``,
  };
}

function hasOuterStar(text: string): boolean {
  if (!text.includes('*')) return false;
  return /^\*+[^*]/.test(text) !== /[^*]\*+$/.test(text) || /^\*[^*]+\*$/.test(text);
}

/**
 * Finds signs of SQL, regular expressions and shells in a `like` pattern, in which only `*` has a meaning.
 */
function foreignGlob(pattern: string, { type }: Expression): LikelyMistake | null {
  const quotedPattern = JSON.stringify(pattern);
  if (!pattern.includes('*') && /^%|%$/.test(pattern)) {
    const better = JSON.stringify(pattern.replaceAll('%', '*'));
    return { message: `\`%\` is an ordinary character in \`${quotedPattern}\``, help: `write \`${better}\`` };
  }
  const isRegex = /^\^|\$$|^\.\*|\[\^?[A-Za-z0-9]-/.test(pattern);
  if (isRegex) {
    const help = "write `matches '...'` for a regular expression, which matches the whole text";
    return {
      message: `\`${quotedPattern}\` is not a regular expression: after \`like\`, only \`*\` has a meaning`,
      help,
    };
  }
  const isAddress = type.kind === 'text' && type.of !== 'string' && !type.of.startsWith('path');
  if (isAddress || pattern.includes('://') || !/[\w./*-]\?[\w.-]/.test(pattern)) return null;
  const help = "write `*` for any run of characters, or `matches '...'` with `.` for one";
  return { message: `\`?\` is an ordinary character in \`${quotedPattern}\``, help };
}

/** Finds a regular expression of letters, digits, underscores and blanks alone: it matches only itself. */
function plainRegex(pattern: string): LikelyMistake | null {
  if (!/^[\p{L}\p{N}_ ]+$/u.test(pattern)) return null;
  const text = JSON.stringify(pattern);
  return {
    message: `\`matches\` is true of the whole text: of \`${pattern}\` and nothing else`,
    help: `write \`contains ${text}\` for a part, \`== ${text}\` for the whole`,
  };
}
