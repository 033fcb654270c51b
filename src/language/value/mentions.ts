// Whether a text mentions any of a set of words or phrases, as whole words and ignoring case. The text is
// folded and cut into tokens (words and single other characters) once. The entries become a tree of tokens,
// made once for each set, so thousands of entries cost no more than a few.

import { fold } from './text.ts';

/** A node of the tree: the tokens that may follow, and whether an entry ends at the node. */
interface TrieNode {
  readonly next: Map<string, TrieNode>;
  isEnd: boolean;
}

const token = /[\p{L}\p{N}_]+|[^\p{L}\p{N}_]/gu;
const wordStart = /^[\p{L}\p{N}_]/u;

const trees = new WeakMap<ReadonlySet<string> | readonly string[], TrieNode>();

/**
 * Whether one of the entries occurs in the text with no letter, number or underscore directly before or after
 * it. Entries are folded (see `fold`) and may have several words. The set of entries must not change between
 * calls.
 */
export function mentions(text: string, foldedWords: ReadonlySet<string> | readonly string[]): boolean {
  return isMentioned(tokensOf(text), foldedWords);
}

/** Folds a text and returns its words and single other characters. */
export function tokensOf(text: string): readonly string[] {
  return fold(text).match(token) ?? [];
}

/** The same test as `mentions`, for a text whose tokens are known already. */
export function isMentioned(
  tokens: readonly string[],
  foldedWords: ReadonlySet<string> | readonly string[],
): boolean {
  const tree = treeOf(foldedWords);
  return tokens.some((_, at) => startsEntry(tokens, at, tree));
}

function startsEntry(tokens: readonly string[], start: number, tree: TrieNode): boolean {
  let node = tree.next.get(tokens[start]!);
  // Usually false at once, because most tokens begin no entry.
  if (node === undefined || isWord(tokens[start - 1])) return false;
  for (let at = start + 1; node !== undefined; at += 1) {
    if (node.isEnd && !isWord(tokens[at])) return true;
    node = node.next.get(tokens[at] ?? '');
  }
  return false;
}

function isWord(text: string | undefined): boolean {
  return text !== undefined && wordStart.test(text);
}

function treeOf(foldedWords: ReadonlySet<string> | readonly string[]): TrieNode {
  const cached = trees.get(foldedWords);
  if (cached !== undefined) return cached;
  const tree: TrieNode = { next: new Map(), isEnd: false };
  for (const entry of foldedWords) if (entry !== '') plant(tree, entry.match(token) ?? []);
  trees.set(foldedWords, tree);
  return tree;
}

function plant(tree: TrieNode, tokens: readonly string[]): void {
  let node = tree;
  for (const step of tokens) {
    const next = node.next.get(step) ?? { next: new Map(), isEnd: false };
    node.next.set(step, next);
    node = next;
  }
  node.isEnd = true;
}
