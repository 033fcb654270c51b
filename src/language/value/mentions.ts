/**
 * Whether a text mentions any of a set of words or phrases, as whole words and without regard to case. The text is
 * folded and cut into tokens (words and single other characters) once; the entries are a tree of tokens, made once a
 * set, so that thousands of entries cost no more than a few.
 */

import { fold } from './text.ts';

/** A place in the tree: what may follow, and whether an entry ends here. */
interface Place {
  readonly next: Map<string, Place>;
  isEnd: boolean;
}

const token = /[\p{L}\p{N}_]+|[^\p{L}\p{N}_]/gu;
const wordStart = /^[\p{L}\p{N}_]/u;

const trees = new WeakMap<ReadonlySet<string> | readonly string[], Place>();

/**
 * Whether one of the entries (folded, see `fold`; each may be several words) stands in the text with no letter, number
 * or underscore directly before or after it. The set of entries must not change between calls.
 */
export function mentions(text: string, foldedWords: ReadonlySet<string> | readonly string[]): boolean {
  return isMentioned(tokensOf(text), foldedWords);
}

/** The folded text's words and single other characters. */
export function tokensOf(text: string): readonly string[] {
  return fold(text).match(token) ?? [];
}

/** As `mentions`, of a text's tokens. */
export function isMentioned(
  tokens: readonly string[],
  foldedWords: ReadonlySet<string> | readonly string[],
): boolean {
  const tree = treeOf(foldedWords);
  return tokens.some((_, at) => startsEntry(tokens, at, tree));
}

function startsEntry(tokens: readonly string[], start: number, tree: Place): boolean {
  let place = tree.next.get(tokens[start]!);
  // Most tokens begin no entry.
  if (place === undefined || isWord(tokens[start - 1])) return false;
  for (let at = start + 1; place !== undefined; at += 1) {
    if (place.isEnd && !isWord(tokens[at])) return true;
    place = place.next.get(tokens[at] ?? '');
  }
  return false;
}

function isWord(text: string | undefined): boolean {
  return text !== undefined && wordStart.test(text);
}

function treeOf(foldedWords: ReadonlySet<string> | readonly string[]): Place {
  const known = trees.get(foldedWords);
  if (known !== undefined) return known;
  const tree: Place = { next: new Map(), isEnd: false };
  for (const entry of foldedWords) if (entry !== '') plant(tree, entry.match(token) ?? []);
  trees.set(foldedWords, tree);
  return tree;
}

function plant(tree: Place, tokens: readonly string[]): void {
  let place = tree;
  for (const step of tokens) {
    const next = place.next.get(step) ?? { next: new Map(), isEnd: false };
    place.next.set(step, next);
    place = next;
  }
  place.isEnd = true;
}
