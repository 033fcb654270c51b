// Describes a place in a policy file: the declaration around it, that declaration's actions, and whether it
// is in a text or a comment. Reads the text before the place, however unfinished it is.

import { piecesOf } from './policy-words.ts';

export interface PolicyPosition {
  /** The word that begins the declaration; null between declarations. */
  readonly declaration: string | null;
  /** How many braces of the declaration are open. */
  readonly depth: number;
  /** Patterns of the declaration's actions; null when it names none, so that every action may be meant. */
  readonly patterns: readonly string[] | null;
  /** The line up to the place, without the contents of texts. */
  readonly before: string;
  /** Whether the place is in a comment or a text, but not in a `{value}` of a text. */
  readonly isProse: boolean;
  /**
   * Variables, as in `some x in payload.list`, with the list that each iterates over; parameters of a let, with an empty
   * text.
   */
  readonly variables: ReadonlyMap<string, string>;
}

/** The most characters before the place that are read: more than any declaration that people write. */
const lookedAtMax = 65_536;

/** The words that begin a declaration. */
export const declarationWords = [
  ...['action', 'approvers', 'group', 'guarantee', 'hours', 'let'],
  ...['list', 'meter', 'policy', 'table', 'type'],
];
const declarations = new RegExp(`^(?:shadow\\s+)?(${declarationWords.join('|')})\\b`);

export function placeAt(text: string, at: number): PolicyPosition {
  const start = at <= lookedAtMax ? 0 : text.indexOf('\n', at - lookedAtMax) + 1;
  const lines = text.slice(start, at).split('\n');
  const current = lines.at(-1) ?? '';
  let declaration: string | null = null;
  let first = 0;
  let depth = 0;
  for (const [index, line] of lines.entries()) {
    if (depth === 0) {
      const [, word] = declarations.exec(line) ?? [];
      if (word !== undefined) {
        declaration = word;
        first = index;
      }
    }
    for (const { kind, text: sign } of piecesOf(line))
      if (kind === 'sign' && sign === '{') depth += 1;
      else if (kind === 'sign' && sign === '}') {
        depth = Math.max(0, depth - 1);
        if (depth === 0) declaration = null;
      }
  }
  const declarationText = lines.slice(first).join('\n');
  const rest = text.slice(at, at + 400);
  return {
    declaration,
    depth,
    before: withoutTexts(current),
    isProse: isProse(current),
    patterns: declaration === null ? null : patternsOf(declaration, declarationText, rest),
    variables: variablesOf(declarationText),
  };
}

/**
 * Whether a line ends in a comment or a text. In a text, the part after an open `{` is an expression and does
 * not count.
 */
function isProse(line: string): boolean {
  const last = openPiece(line);
  return last !== null && !(last.startsWith('"') && /\{[^{}]*$/.test(last));
}

/** Returns the comment or unfinished text in which a line ends; null when it ends in neither. */
function openPiece(line: string): string | null {
  // The comment or text that is open so far; a text without a closing quote runs to the end of the line.
  let open: string | null = null;
  for (let index = 0; index < line.length; index += 1) {
    const character = line.charAt(index);
    if (open !== null) {
      open += character;
      if (open.startsWith('#')) continue;
      if (character === '\\' && open.startsWith('"')) {
        index += 1;
        open += line.charAt(index);
      } else if (character === open.charAt(0)) open = null;
    } else if (character === '"' || character === "'" || character === '#') open = character;
  }
  return open;
}

function withoutTexts(line: string): string {
  const open = openPiece(line);
  if (open?.startsWith('"') === true && !isProse(line)) return open.slice(open.lastIndexOf('{') + 1);
  return line.replace(/"(?:[^"\\]|\\.)*"|'[^']*'/g, '""');
}

function patternsOf(declaration: string, declarationText: string, rest: string): readonly string[] | null {
  const head =
    declaration === 'policy' || declaration === 'guarantee'
      ? /\bon\s+([^{]*?)(?:\bexcept\b|\bwhen\b|\{|$)/.exec(declarationText)?.[1]
      : declaration === 'meter'
        ? /\bof\s+([^{]*?)(?:\bwhen\b|\bsince\b|\bper\b|\bover\b|$)/.exec(
            `${declarationText}${rest.split(/\n\s*\n/)[0]}`,
          )?.[1]
        : undefined;
  const patterns = head
    ?.split(',')
    .map((pattern) => pattern.trim())
    .filter((pattern) => pattern !== '');
  return patterns === undefined || patterns.length === 0 ? null : patterns;
}

function variablesOf(declarationText: string): ReadonlyMap<string, string> {
  const matches = declarationText.matchAll(/\b(?:some|every|no|count|sum)\s+([a-z]\w*)\s+in\s+([\w.]+)/g);
  const [, , parameters = ''] = /^let\s+(\w+)\(([^()]*(?:\([^()]*\)[^()]*)*)\)/.exec(declarationText) ?? [];
  const named = [...parameters.matchAll(/(?:^|,)\s*([a-z]\w*)\s*:/g)].map(
    ([, name = '']) => [name, ''] as const,
  );
  return new Map([...named, ...[...matches].map(([, name = '', list = '']) => [name, list] as const)]);
}
