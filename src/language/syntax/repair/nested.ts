// Repairs blocks and declarations in the place of rules, and suggests what to write instead. All their tokens
// are skipped.

import {
  bracketStep,
  declaring,
  effects,
  isAnyText,
  isAnyWord,
  keyword,
  mistake,
  symbol,
} from '../parse/tokens.ts';
import type { Cursor, Repair } from './cursor.ts';
import { declarationVocabulary, synonymOf } from './vocabulary.ts';

/** How many tokens of a policy are searched for its end. */
const policyMax = 20_000;

/** Repairs a declaration between rules, such as `list blocked = [...]`. */
export function repairNestedDeclaration(cursor: Cursor): Repair | null {
  if (!standsForRule(cursor) || !isAnyWord(cursor.at(1))) return null;
  const end = endOfDeclaration(cursor);
  if (end === null) return null;
  const help = 'move it out of the braces: order never matters';
  return { to: end, message: `\`${cursor.token.image}\` is not declared within a policy`, help, read: [] };
}

/** Repairs a declaration in words of another language between rules, such as `var limit = 3`. */
export function repairNestedSynonym(cursor: Cursor): Repair | null {
  const meant =
    cursor.type(2) === symbol.assign ? synonymOf(cursor.token.image, declarationVocabulary) : null;
  return meant === null ? null : repairNestedDeclaration(cursor);
}

/**
 * Offset of the last token of a declaration within a policy. Null if the policy does not end: then its
 * closing brace is what is missing.
 */
function endOfDeclaration(cursor: Cursor): number | null {
  let depth = 1;
  let end: number | null = null;
  for (let at = 1; at < policyMax && cursor.at(at) !== undefined; at++) {
    const isNext = depth === 1 && (beginsRule(cursor, at) || cursor.type(at) === symbol.closeCurly);
    if (isNext) end ??= at - 1;
    depth += bracketStep[cursor.at(at)!.tokenTypeIdx] ?? 0;
    if (depth === 0) return end;
  }
  return null;
}

function beginsRule(cursor: Cursor, offset: number): boolean {
  if (!cursor.beginsLine(offset)) return false;
  const type = cursor.type(offset);
  return effects.has(type) || type === keyword.risk || type === keyword.shadow || declaring.has(type);
}

/**
 * Repairs a rule that is written as a map: `- name: x` with what follows, `x:` with `effect: deny`, and `{
 * "effect": "deny" }`.
 */
export function repairMapRule(cursor: Cursor): Repair | null {
  if (!standsForRule(cursor)) return null;
  const isJson =
    cursor.type(0) === symbol.openCurly && isAnyText(cursor.at(1)) && cursor.type(2) === symbol.colon;
  const isEntry =
    cursor.type(0) === symbol.minus && isAnyWord(cursor.at(1)) && cursor.type(2) === symbol.colon;
  const isKey = isAnyWord(cursor.at(0)) && cursor.type(1) === symbol.colon && cursor.beginsLine(2);
  if (!isJson && !isEntry && !isKey) return null;
  const to = isJson ? cursor.closing(0) : endOfDeclaration(cursor);
  const help = 'write `deny many when payload.count > 3 because "too many"`';
  return to === null ? null : { to, message: 'a rule is a sentence, not a map', help, read: [] };
}

const payloadWords = /^(?:payload|input|inputs|fields|schema|params|parameters|request|args|arguments)$/;

/** Repairs blocks between rules, such as `payload { ... }` and `switch x { ... }`. */
export function repairForeignBlock(cursor: Cursor): Repair | null {
  if (!standsForRule(cursor)) return null;
  let open = 1;
  while (cursor.at(open) !== undefined && cursor.type(open) !== symbol.openCurly && !cursor.beginsLine(open))
    open++;
  const closing = cursor.type(open) === symbol.openCurly ? cursor.closing(open) : null;
  if (closing === null) return null;
  const { image } = cursor.token;
  if (open === 1 && payloadWords.test(image)) {
    const help = 'declare it with the action: `action order.place { count: integer }`';
    return { to: closing, message: 'a policy declares no fields', help, read: [] };
  }
  const inner = cursor.run(open + 1, closing - 1);
  if (inner.some(({ tokenType }, at) => effects.has(tokenType) && isAnyWord(inner[at + 1]))) return null;
  const help = 'write each case as a rule of its own: `deny NAME when CONDITION`';
  const to = cursor.type(closing + 1) === mistake.semicolon ? closing + 1 : closing;
  return { to, code: 'unknown-effect', message: `\`${image}\` begins no rule`, help, read: [] };
}

function standsForRule(cursor: Cursor): boolean {
  if (!cursor.isInPolicy) return false;
  return cursor.type(-1) === symbol.openCurly || cursor.beginsLine(0);
}
