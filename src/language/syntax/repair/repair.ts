// Replaces tokens that the grammar does not accept: syntax of other languages and misspellings are reported
// with a fix and parsed as what was meant, so one mistake gives one diagnostic.

import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import { spanning } from '../../diagnostic/span.ts';
import { type Reader, syntaxError, tokenSpan, withFix } from '../parse/context.ts';
import type { Token } from '../parse/tokens.ts';
import { Cursor, emptyName, type Repair } from './cursor.ts';
import { foreignSyntaxRepairs, repairs } from './repairs.ts';

/**
 * Whether tokens have syntax of another language that the grammar may accept in another meaning, such as
 * `x == None`.
 */
export function hasForeignSyntax(tokens: readonly Token[], reader: Reader): boolean {
  const cursor = new Cursor(tokens, reader);
  return tokens.some(({ tokenTypeIdx }, index) => {
    const find = foreignSyntaxRepairs[tokenTypeIdx];
    if (find === undefined) return false;
    cursor.index = index;
    return find(cursor) !== null;
  });
}

/**
 * The tokens with all slips repaired; the same array if there are none. A slip that a declaration has several
 * times is one diagnostic.
 */
export function repair(tokens: Token[], reader: Reader): Token[] {
  const slips = new Map<string, Diagnostic>();
  const cursor: Cursor = new Cursor(tokens, {
    ...reader,
    report: (slip) => noteSlip(slip, slips, cursor.declarationAt),
  });
  const repaired = repairAll(cursor) ?? tokens;
  for (const slip of slips.values()) reader.report(slip);
  return repaired;
}

function noteSlip(slip: Diagnostic, slips: Map<string, Diagnostic>, declarationAt: number): void {
  const key = `${declarationAt} ${slip.code} ${slip.message}`;
  const first = slips.get(key);
  slips.set(key, first === undefined ? slip : togetherWith(slip, first));
}

function togetherWith({ span, fix }: Diagnostic, first: Diagnostic): Diagnostic {
  const related = [...(first.related ?? []), { span, message: 'here, too' }];
  if (first.fix === undefined || fix === undefined) return { ...first, related };
  const isSame = first.fix.title === fix.title;
  const title = isSame ? fix.title : 'write all of them so';
  return { ...first, related, fix: { title, edits: [...first.fix.edits, ...fix.edits] } };
}

/** The repaired tokens; null if nothing is to be repaired. */
function repairAll(cursor: Cursor): Token[] | null {
  const { tokens } = cursor;
  let repaired: Token[] | null = null;
  while (cursor.index < tokens.length) {
    const { index, token } = cursor;
    const reread = cursor.rereads.size === 0 ? undefined : cursor.rereads.get(index);
    const better: Repair | null = reread
      ? { read: [reread] }
      : (repairs[token.tokenTypeIdx]?.(cursor) ?? null);
    if (better === null) {
      repaired?.push(token);
      cursor.index++;
      continue;
    }
    const { from = 0, to = Math.max(from, 0), read = [emptyName(cursor.at(from)!)] } = better;
    report(better, { from, to }, cursor);
    repaired ??= tokens.slice(0, index);
    if (from < 0) repaired.length += from;
    repaired.push(...tokens.slice(index, index + from), ...read);
    cursor.index += to + 1;
  }
  return repaired;
}

interface Run {
  readonly from: number;
  readonly to: number;
}

function report(
  { message, code = 'foreign-form', write, help }: Repair,
  { from, to }: Run,
  cursor: Cursor,
): void {
  if (message === undefined) return;
  const { reader } = cursor;
  const last = cursor.at(Math.max(from, to))!;
  const span = spanning(tokenSpan(cursor.at(from)!, reader), tokenSpan(last, reader));
  const title = write === '' ? 'remove it' : `write \`${write?.trim()}\``;
  const diagnostic = syntaxError(code, span, message, help ?? (write === undefined ? undefined : title));
  reader.report(write === undefined ? diagnostic : withFix(diagnostic, { title, text: write }));
}
