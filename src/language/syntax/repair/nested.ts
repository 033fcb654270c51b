// Repairs blocks and declarations in the place of rules, and suggests what to write instead. All their tokens
// are skipped.

import {
  bracketStep,
  declaring,
  effects,
  isAnyText,
  isAnyWord,
  mistake,
  sign,
  word,
} from '../parse/tokens.ts';
import type { Cursor, Repair } from './cursor.ts';
import { declarationVocabulary, synonymOf } from './vocabulary.ts';

/** How many tokens of a policy are searched for its end. */
const policyMax = 20_000;

/** Repairs a declaration between rules, such as `list blocked = [...]`. */
export function repairNestedDeclaration(here: Cursor): Repair | null {
  if (!standsForRule(here) || !isAnyWord(here.at(1))) return null;
  const end = endOfDeclaration(here);
  if (end === null) return null;
  const help = 'move it out of the braces: order never matters';
  return { to: end, message: `\`${here.token.image}\` is not declared within a policy`, help, read: [] };
}

/** Repairs a declaration in words of another language between rules, such as `var limit = 3`. */
export function repairNestedSynonym(here: Cursor): Repair | null {
  const meant = here.type(2) === sign.assign ? synonymOf(here.token.image, declarationVocabulary) : null;
  return meant === null ? null : repairNestedDeclaration(here);
}

/**
 * Offset of the last token of a declaration within a policy. Null if the policy does not end: then its
 * closing brace is what is missing.
 */
function endOfDeclaration(here: Cursor): number | null {
  let depth = 1;
  let end: number | null = null;
  for (let at = 1; at < policyMax && here.at(at) !== undefined; at++) {
    const isNext = depth === 1 && (beginsRule(here, at) || here.type(at) === sign.closeCurly);
    if (isNext) end ??= at - 1;
    depth += bracketStep[here.at(at)!.tokenTypeIdx] ?? 0;
    if (depth === 0) return end;
  }
  return null;
}

function beginsRule(here: Cursor, offset: number): boolean {
  if (!here.beginsLine(offset)) return false;
  const type = here.type(offset);
  return effects.has(type) || type === word.risk || type === word.shadow || declaring.has(type);
}

/**
 * Repairs a rule that is written as a map: `- name: x` with what follows, `x:` with `effect: deny`, and `{
 * "effect": "deny" }`.
 */
export function repairMapRule(here: Cursor): Repair | null {
  if (!standsForRule(here)) return null;
  const isJson = here.type(0) === sign.openCurly && isAnyText(here.at(1)) && here.type(2) === sign.colon;
  const isEntry = here.type(0) === sign.minus && isAnyWord(here.at(1)) && here.type(2) === sign.colon;
  const isKey = isAnyWord(here.at(0)) && here.type(1) === sign.colon && here.beginsLine(2);
  if (!isJson && !isEntry && !isKey) return null;
  const to = isJson ? here.closing(0) : endOfDeclaration(here);
  const help = 'write `deny many when payload.count > 3 because "too many"`';
  return to === null ? null : { to, message: 'a rule is a sentence, not a map', help, read: [] };
}

const payloadWords = /^(?:payload|input|inputs|fields|schema|params|parameters|request|args|arguments)$/;

/** Repairs blocks between rules, such as `payload { ... }` and `switch x { ... }`. */
export function repairForeignBlock(here: Cursor): Repair | null {
  if (!standsForRule(here)) return null;
  let open = 1;
  while (here.at(open) !== undefined && here.type(open) !== sign.openCurly && !here.beginsLine(open)) open++;
  const closing = here.type(open) === sign.openCurly ? here.closing(open) : null;
  if (closing === null) return null;
  const { image } = here.token;
  if (open === 1 && payloadWords.test(image)) {
    const help = 'declare it with the action: `action order.place { count: integer }`';
    return { to: closing, message: 'a policy declares no fields', help, read: [] };
  }
  const inner = here.run(open + 1, closing - 1);
  if (inner.some(({ tokenType }, at) => effects.has(tokenType) && isAnyWord(inner[at + 1]))) return null;
  const help = 'write each case as a rule of its own: `deny NAME when CONDITION`';
  const to = here.type(closing + 1) === mistake.semicolon ? closing + 1 : closing;
  return { to, code: 'unknown-effect', message: `\`${image}\` begins no rule`, help, read: [] };
}

function standsForRule(here: Cursor): boolean {
  if (!here.isInPolicy) return false;
  return here.type(-1) === sign.openCurly || here.beginsLine(0);
}
