// Enforces the nesting limit on tokens before anything recurses over them. A region that is nested too deep
// is reported once and replaced by a single `null`, which may stand wherever an expression or a type may.

import { type Reader, syntaxError, tokenSpan } from './context.ts';
import { retype, sign, TextListToken, type Token, word } from './tokens.ts';

/** Largest depth of brackets and prefix operators inside one another. */
const nestingMax = 64;

/** The tokens with all regions replaced that are nested too deep; the same array if there are none. */
export function flatten(tokens: Token[], reader: Reader): Token[] {
  let kept: Token[] | null = null;
  // What each open bracket adds to the depth: one for itself and one for each prefix operator right before
  // it.
  const open: number[] = [];
  let depth = 0;
  let prefixes = 0;
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index]!;
    const step = steps[token.tokenTypeIdx];
    const added = step === undefined || step === 'close' ? 0 : prefixes + 1;
    if (added > 0 && depth + added > nestingMax) {
      const bracket = step === 'list' ? { ...token, image: '[' } : token;
      if (depth + added === nestingMax + 1) report(bracket, reader);
      kept ??= tokens.slice(0, index);
      prefixes = step === 'prefix' ? added : 0;
      if (step === 'prefix') continue;
      kept.push(retype(bracket, word.null, 'null'));
      index = closingIndex(tokens, index);
      continue;
    }
    if (step === 'open') depth += added;
    if (step === 'open') open.push(added);
    if (step === 'close') depth -= open.pop() ?? 0;
    prefixes = step === 'prefix' ? added : 0;
    kept?.push(token);
  }
  return kept ?? tokens;
}

/** What a token does to the depth, by the number of its token type; a list is nested by itself. */
const steps: ('open' | 'close' | 'prefix' | 'list' | undefined)[] = [];
steps[TextListToken.tokenTypeIdx!] = 'list';
for (const type of [sign.openParen, sign.openSquare, sign.openCurly]) steps[type.tokenTypeIdx!] = 'open';
for (const type of [sign.closeParen, sign.closeSquare, sign.closeCurly]) steps[type.tokenTypeIdx!] = 'close';
for (const type of [word.not, sign.minus, word.secret, word.signed]) steps[type.tokenTypeIdx!] = 'prefix';

/** Index of the bracket that closes the one at `start`; the last index if no bracket does. */
function closingIndex(tokens: readonly Token[], start: number): number {
  let depth = 0;
  for (let index = start; index < tokens.length; index++) {
    const step = steps[tokens[index]!.tokenTypeIdx];
    if (step === 'open') depth++;
    if (step === 'close') depth--;
    if (depth === 0) return index;
  }
  return tokens.length - 1;
}

function report(token: Token, reader: Reader): void {
  const message = `\`${token.image}\` is nested more than ${nestingMax} deep`;
  const help = 'name inner parts with `let` or `type`';
  reader.report(syntaxError('nesting-too-deep', tokenSpan(token, reader), message, help));
}
