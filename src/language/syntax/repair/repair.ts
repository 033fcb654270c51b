// Replaces tokens that the grammar does not accept: habits from other languages and misspellings are reported
// with a fix and parsed as what was meant, so one mistake gives one diagnostic.

import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import { spanning } from '../../diagnostic/span.ts';
import { type Reader, syntaxError, tokenSpan, withFix } from '../parse/context.ts';
import type { Token } from '../parse/tokens.ts';
import { Cursor, hole, type Repair } from './cursor.ts';
import { habits, repairs } from './repairs.ts';

/**
 * Whether tokens hold a habit of other languages that the grammar may accept in another meaning, such as `x
 * == None`.
 */
export function holdsHabits(tokens: readonly Token[], reader: Reader): boolean {
  const here = new Cursor(tokens, reader);
  return tokens.some(({ tokenTypeIdx }, index) => {
    const find = habits[tokenTypeIdx];
    if (find === undefined) return false;
    here.index = index;
    return find(here) !== null;
  });
}

/**
 * The tokens with all slips repaired; the same array if there are none. A slip that a declaration has several
 * times is one diagnostic.
 */
export function repair(tokens: Token[], reader: Reader): Token[] {
  const slips = new Map<string, Diagnostic>();
  const here: Cursor = new Cursor(tokens, {
    ...reader,
    report: (slip) => noteSlip(slip, slips, here.declarationAt),
  });
  const repaired = repairAll(here) ?? tokens;
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
function repairAll(here: Cursor): Token[] | null {
  const { tokens } = here;
  let repaired: Token[] | null = null;
  while (here.index < tokens.length) {
    const { index, token } = here;
    const reread = here.rereads.size === 0 ? undefined : here.rereads.get(index);
    const better: Repair | null = reread ? { read: [reread] } : (repairs[token.tokenTypeIdx]?.(here) ?? null);
    if (better === null) {
      repaired?.push(token);
      here.index++;
      continue;
    }
    const { from = 0, to = Math.max(from, 0), read = [hole(here.at(from)!)] } = better;
    report(better, { from, to }, here);
    repaired ??= tokens.slice(0, index);
    if (from < 0) repaired.length += from;
    repaired.push(...tokens.slice(index, index + from), ...read);
    here.index += to + 1;
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
  here: Cursor,
): void {
  if (message === undefined) return;
  const { reader } = here;
  const last = here.at(Math.max(from, to))!;
  const span = spanning(tokenSpan(here.at(from)!, reader), tokenSpan(last, reader));
  const title = write === '' ? 'remove it' : `write \`${write?.trim()}\``;
  const diagnostic = syntaxError(code, span, message, help ?? (write === undefined ? undefined : title));
  reader.report(write === undefined ? diagnostic : withFix(diagnostic, { title, text: write }));
}
