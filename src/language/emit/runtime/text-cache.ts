// Remembers expensive answers about texts: folded forms, links, commands, tokens. The rules of an action ask
// the same about one request's texts, and quantifiers ask in every round. Answers are kept until the next
// request, so the number of rules that ask hardly matters. INVARIANT: an answer depends on its text alone.

import { canonicalLinks } from '../../value/links.ts';
import { BoundedMap } from '../../value/memo.ts';
import { isMentioned, tokensOf } from '../../value/mentions.ts';
import { shellCommands } from '../../value/shell/commands.ts';
import { fold as foldText } from '../../value/text.ts';

/** The most texts that are kept for each kind of answer, because an agent chooses how many there are. */
const textsKeptMax = 1_000;

/** Plain texts shorter than this are folded faster than looked up. */
const keptLengthMin = 64;

const state = { isUsed: false };
const caches: Map<string, unknown>[] = [];

/** Forgets all texts. Call it before each request, so that nothing of one request is left for the next. */
export function clearTextCaches(): void {
  if (state.isUsed) clear();
}

function clear(): void {
  for (const answers of caches) answers.clear();
  state.isUsed = false;
}

function remembering<T>(make: (text: string) => T): (text: string) => T {
  const answers = new BoundedMap<string, T>(textsKeptMax);
  caches.push(answers);
  return (text) => {
    const cached = answers.get(text);
    if (cached !== undefined) return cached;
    const answer = make(text);
    answers.set(text, answer);
    state.isUsed = true;
    return answer;
  };
}

/** Plain words with single spaces between them. Folding such a text is the same as lower case. */
const plainWords = /^[!-~]+(?: [!-~]+)*$/;

const foldRemembered = remembering(foldText);
export const cachedLinks = remembering(canonicalLinks);
export const cachedCommands = remembering(shellCommands);
const tokens = remembering(tokensOf);

export function cachedFold(text: string): string {
  return text.length < keptLengthMin && plainWords.test(text) ? text.toLowerCase() : foldRemembered(text);
}

export function cachedMentions(text: string, foldedWords: readonly string[]): boolean {
  return isMentioned(tokens(text), foldedWords);
}
