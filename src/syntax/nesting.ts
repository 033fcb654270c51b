// Holds tokens to the nesting limit before anything recurses over them: a region nested too deep is reported once and
// replaced by a single `null`, which may stand wherever an expression or a type may.

import { retype, sign, type Token, word } from '../../grammar/tokens.ts';
import { syntaxError, tokenSpan } from './build-context.ts';
import type { Reader } from './concrete.ts';

/** How deep brackets and prefix operators may stand inside one another. */
export const nestingMax = 64;

export function flatten(tokens: readonly Token[], reader: Reader): readonly Token[] {
  const kept: Token[] = [];
  // What each open bracket adds to the depth: itself and the prefix operators right before it.
  const open: number[] = [];
  let depth = 0;
  let prefixes = 0;
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index]!;
    const type = token.tokenType;
    if (prefix.has(type)) {
      prefixes++;
      if (depth + prefixes === nestingMax + 1) report(token, reader);
      if (depth + prefixes <= nestingMax) kept.push(token);
      continue;
    }
    const added = opening.has(type) ? prefixes + 1 : 0;
    if (added > 0 && depth + added > nestingMax) {
      if (depth + prefixes <= nestingMax) report(token, reader);
      kept.push(retype(token, word.null, 'null'));
      index = closingIndex(tokens, index);
    } else {
      kept.push(token);
      if (added > 0) open.push(added);
      if (closing.has(type)) depth -= open.pop() ?? 0;
      depth += added;
    }
    prefixes = 0;
  }
  return kept;
}

const opening: ReadonlySet<unknown> = new Set([sign.openParen, sign.openSquare, sign.openCurly]);
const closing: ReadonlySet<unknown> = new Set([sign.closeParen, sign.closeSquare, sign.closeCurly]);
const prefix: ReadonlySet<unknown> = new Set([word.not, sign.minus, word.secret, word.signed]);

/** Index of the bracket that closes the one at `start`, or of the last token. */
function closingIndex(tokens: readonly Token[], start: number): number {
  let depth = 0;
  for (let index = start; index < tokens.length; index++) {
    if (opening.has(tokens[index]!.tokenType)) depth++;
    if (closing.has(tokens[index]!.tokenType)) depth--;
    if (depth === 0) return index;
  }
  return tokens.length - 1;
}

function report(token: Token, reader: Reader): void {
  const message = `\`${token.image}\` is nested more than ${nestingMax} deep`;
  const help = 'name inner parts with `let` or `type`';
  reader.report(syntaxError('nesting-too-deep', tokenSpan(token, reader), message, help));
}
