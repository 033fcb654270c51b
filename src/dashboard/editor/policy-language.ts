// The policy language for the editor: the same pieces that colour read-only sources, token by token.

import { StreamLanguage, type StringStream } from '@codemirror/language';
import { Tag } from '@lezer/highlight';
import { type Piece, type PieceKind, piecesOf } from '../../language/assist/policy-words.ts';

/** A tag for each colour; outcomes are coloured by their meaning. */
export const policyTags = {
  comment: Tag.define(),
  text: Tag.define(),
  escape: Tag.define(),
  value: Tag.define(),
  number: Tag.define(),
  declaration: Tag.define(),
  constant: Tag.define(),
  word: Tag.define(),
  name: Tag.define(),
  sign: Tag.define(),
  outcome: Tag.define(),
  allow: Tag.define(),
  deny: Tag.define(),
  escalate: Tag.define(),
  reauth: Tag.define(),
} as const;

interface LineState {
  /** Number of open braces. */
  depth: number;
}

const clause = /^\s*(?:when|unless|because|risk|and|or)\b/;

export const policyLanguage = StreamLanguage.define<LineState>({
  name: 'policy',
  startState: () => ({ depth: 0 }),
  copyState: ({ depth }) => ({ depth }),
  token(stream, state) {
    const piece = pieceUnder(stream);
    if (piece.kind === 'sign' && piece.text === '{') state.depth += 1;
    if (piece.kind === 'sign' && piece.text === '}') state.depth = Math.max(0, state.depth - 1);
    return tokenName(piece);
  },
  indent({ depth }, textAfter, { unit }) {
    if (/^\s*\}/.test(textAfter)) return Math.max(0, depth - 1) * unit;
    return (depth + (depth > 0 && clause.test(textAfter) ? 1 : 0)) * unit;
  },
  languageData: { commentTokens: { line: '#' }, closeBrackets: { brackets: ['(', '[', '{', '"'] } },
  tokenTable: policyTags,
});

function tokenName({ kind, text }: Piece): string | null {
  if (kind === 'other') return null;
  return kind === 'outcome' && text in policyTags ? text : (kind satisfies PieceKind);
}

let lastLine = '';
let lastPieces: readonly Piece[] = [];

/** Returns the piece at the stream's position and moves the stream to the end of the piece. */
function pieceUnder(stream: StringStream): Piece {
  if (stream.string !== lastLine) {
    lastLine = stream.string;
    lastPieces = piecesOf(stream.string);
  }
  let end = 0;
  for (const piece of lastPieces) {
    end += piece.text.length;
    if (end > stream.pos) {
      stream.pos = end;
      return piece;
    }
  }
  stream.skipToEnd();
  return { text: '', kind: 'other' };
}
