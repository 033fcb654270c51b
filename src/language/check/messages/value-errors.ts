// Diagnostics about values in declarations, one function each: literals, lists and their files, hours.

import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import { type Span, spanning } from '../../diagnostic/span.ts';
import { describeSlot } from '../../model/describe.ts';
import type { Slot, Type } from '../../model/type.ts';
import type {
  ClockLiteral,
  HoursSpan,
  ListDeclaration,
  LiteralNode,
  MoneyLiteral,
  MonthsLiteral,
  NameNode,
  TextLiteral,
} from '../../syntax/tree/tree.ts';
import { unitDigits } from '../../value/currency.ts';
import { type Decimal, formatDecimal } from '../../value/decimal.ts';
import type { ListFileCode } from './list-files.ts';
import { earlier, error, warning } from './problem.ts';
import { typeText } from './type-text.ts';

// Literals

export function numberInvalid(node: LiteralNode): Diagnostic {
  return error('number-unfit', node.span, 'the number has more than 34 significant digits', {
    help: 'round it',
  });
}

export function unknownCurrency(span: Span, code: string): Diagnostic {
  const upper = code.toUpperCase();
  return error('unknown-currency', span, `\`${code}\` is not a currency of ISO 4217`, {
    help: code === upper ? 'write its three letters, such as `USD`' : `did you mean \`${upper}\``,
  });
}

export function amountTooFine(node: MoneyLiteral, amount: Decimal): Diagnostic {
  const { currency, span } = node;
  const digits = unitDigits(currency);
  const unit = formatDecimal({ coefficient: 1n, exponent: -digits });
  const message = `the smallest unit of \`${currency}\` is ${unit}: nobody can pay ${formatDecimal(amount)}`;
  return error('amount-too-fine', span, message, {
    help: `round it to ${digits === 0 ? 'a whole number' : `${digits} decimal places`}; write a price of less than a unit for many: \`payload.tokens * 3 ${currency} / 1_000_000\``,
  });
}

export function durationInvalid(node: { readonly span: Span; readonly text: string }): Diagnostic {
  return error('duration-unfit', node.span, `\`${node.text}\` is not a duration`, {
    help: 'write a number and one unit: `30s`, `15m`, `24h`, `7d`',
  });
}

export function monthsMisplaced(node: MonthsLiteral): Diagnostic {
  return error(
    'months-unfit',
    node.span,
    `\`${node.text}\` is written only after a date and \`+\` or \`-\``,
    {
      help: 'such as `payload.born + 18 years <= today in "Europe/Berlin"`',
    },
  );
}

export function monthsWithoutDate(node: MonthsLiteral, type: Type): Diagnostic {
  return error(
    'months-unfit',
    node.span,
    `\`${node.text}\` is added to a date, not to \`${typeText(type)}\``,
    {
      help:
        type.kind === 'timestamp'
          ? 'take the date of the instant: `date(x, "Zone")`'
          : 'years and months differ in length: for a length of time write a duration such as `30d`',
    },
  );
}

export function monthsInvalid(node: MonthsLiteral): Diagnostic {
  return error(
    'months-unfit',
    node.span,
    `\`${node.text}\` is not a whole number of months up to 9999 years`,
    {
      help: 'write half a year as `6 months`',
    },
  );
}

export function durationNotPositive(node: { readonly span: Span; readonly text: string }): Diagnostic {
  return error('duration-not-positive', node.span, `\`${node.text}\` leaves no time`, {
    help: 'write a duration above zero, such as `15m`',
  });
}

export function dateInvalid(node: { readonly span: Span; readonly text: string }): Diagnostic {
  return error('date-unfit', node.span, `\`${node.text}\` is not in the calendar`, {
    help: 'write year, month and day: `2026-12-25`',
  });
}

export function yearDayInvalid(node: { readonly span: Span; readonly text: string }): Diagnostic {
  return error('date-unfit', node.span, `\`${node.text}\` is not a day of the calendar`, {
    help: 'write month and day, two digits each: `12-18`',
  });
}

export function instantInvalid(node: { readonly span: Span; readonly text: string }): Diagnostic {
  return error('instant-unfit', node.span, `\`${node.text}\` is not an instant`, {
    help: 'write date, time and offset: `2026-12-25T09:00Z`',
  });
}

export function clockMisplaced(node: Pick<ClockLiteral, 'text' | 'span'>): Diagnostic {
  return error(
    'clock-misplaced',
    node.span,
    `\`${node.text}\` ${node.text.includes('..') ? 'are times' : 'is a time'} of day, which only \`hours\` compare`,
    {
      help: 'declare `hours office = mon-fri 09:00-17:00 in "Zone"` and write `now in office`',
    },
  );
}

export function nullMisplaced(span: Span): Diagnostic {
  return error('null-misplaced', span, '`null` is written only after `==` and `!=`', {
    help: 'ask for it by itself: `x == null or x in [...]`',
  });
}

// Lists

export function entryMismatch(node: LiteralNode, type: Type): Diagnostic {
  const text =
    'text' in node ? node.text : node.kind === 'text' ? JSON.stringify(node.value) : `this ${node.kind}`;
  return error('literal-mismatch', node.span, `\`${text}\` is not a value of \`${typeText(type)}\``, {
    help: 'all entries of a list, and both bounds of a range, are of one type',
  });
}

export function entryTwice(node: LiteralNode, first: LiteralNode): Diagnostic {
  return warning('list-entry-twice', node.span, 'the list has this entry twice', {
    help: 'remove one of them',
    ...earlier(first.span, 'the first one'),
  });
}

export function networkContained(
  node: LiteralNode,
  text: string,
  outer: { readonly node: LiteralNode; readonly text: string },
): Diagnostic {
  return warning('list-entry-twice', node.span, `\`${text}\` lies within \`${outer.text}\``, {
    help: 'remove it: the list already has all of it',
    ...earlier(outer.node.span, 'the network around it'),
  });
}

export function listTypeUnfit(span: Span, slot: Slot): Diagnostic {
  return error(
    'list-type-unfit',
    span,
    `a declared list cannot have elements of type \`${describeSlot(slot)}\``,
    {
      help: 'entries are single values: texts, numbers, dates, times, addresses',
    },
  );
}

export function listEmpty({ name }: ListDeclaration): Diagnostic {
  return error('list-empty', name.span, `list \`${name.text}\` is empty`, {
    help: 'an empty list lets every `not in` through: add entries, or write `may be empty` at its end',
  });
}

export function caseOnOtherType(name: NameNode, type: Type): Diagnostic {
  const message = `list \`${name.text}\` ignores case, but has elements of type \`${typeText(type)}\``;
  return error('case-on-other-type', name.span, message, { help: 'remove `ignoring case`' });
}

export function listCyclic(name: NameNode, path: readonly string[]): Diagnostic {
  const way = path.map((step) => `\`${step}\``).join(' joins ');
  return error('list-cyclic', name.span, `list \`${name.text}\` contains itself: ${way}`, {
    help: 'break the circle',
  });
}

export function listJoinMismatch(name: NameNode, type: Type, other: Type): Diagnostic {
  const message = `\`${name.text}\` has elements of type \`${typeText(type)}\`, the other lists \`${typeText(other)}\``;
  return error('list-join-mismatch', name.span, message, { help: 'join lists of one type' });
}

export function listJoinCase(joined: NameNode, name: NameNode): Diagnostic {
  const message = `\`${joined.text}\` ignores case, but \`${name.text}\`, which it is joined into, does not`;
  return warning('list-join-case', joined.span, message, {
    help: `write \`list ${name.text} ignoring case = ...\``,
  });
}

export function listFileOutside(path: TextLiteral): Diagnostic {
  return error('list-file-outside', path.span, `\`${path.value}\` leads out of the policy directory`, {
    help: 'a path is relative to the policy file, with forward slashes, and stays within the directory',
  });
}

export function listFileFault(
  path: TextLiteral,
  fault: { readonly code: ListFileCode; readonly message: string },
): Diagnostic {
  const help = 'paths are relative to the policy file and stay within the policy directory';
  return error(fault.code, path.span, fault.message, fault.code === 'list-file-missing' ? { help } : {});
}

export function listFileMalformed(path: TextLiteral, why: string): Diagnostic {
  return error('list-file-malformed', path.span, `\`${path.value}\` cannot be used: ${why}`, {
    help: 'a list file is a text with one entry a line, or a JSON or YAML array of plain values',
  });
}

export function fileEntriesInvalid(
  path: TextLiteral,
  entries: readonly WrittenEntry[],
  type: Type,
): Diagnostic {
  const help = 'all entries of a list are of one type';
  return misfits(path, entries, { kind: `\`${typeText(type)}\``, help });
}

export function daysInvalid(path: TextLiteral, entries: readonly WrittenEntry[]): Diagnostic {
  const help = 'write `2026-12-18`, `2026-12-18..2027-01-03` or `every year 12-18..01-03`';
  return misfits(path, entries, { kind: 'days', help });
}

/** An entry of a list file, as it is written there. */
interface WrittenEntry {
  readonly text: string;
  readonly line: number;
}

const entriesMax = 5;

function misfits(
  path: TextLiteral,
  entries: readonly WrittenEntry[],
  { kind, help }: { readonly kind: string; readonly help: string },
): Diagnostic {
  const listed = entries.slice(0, entriesMax).map(({ text, line }) => `line ${line}: \`${visible(text)}\``);
  const more = entries.length > entriesMax ? `, and ${entries.length - entriesMax} more` : '';
  const message = `\`${path.value}\` has entries of another type than ${kind}: ${listed.join(', ')}${more}`;
  return error('list-file-mismatch', path.span, message, { help });
}

export function listEntryBidi(span: Span, text: string, line?: number): Diagnostic {
  return error(
    'list-entry-bidi',
    span,
    `${entryPlace(line)} has characters that change the direction in which \`${visible(text)}\` is shown`,
    { help: 'remove them' },
  );
}

export function listEntryMixedScript(span: Span, text: string, line?: number): Diagnostic {
  const message = `${entryPlace(line)} mixes letters of several scripts in one word: \`${visible(text)}\``;
  return warning('list-entry-mixed-script', span, message, {
    help: 'a letter that only looks like another never matches: write the word in one script',
  });
}

function entryPlace(line: number | undefined): string {
  return line === undefined ? 'the entry' : `line ${line}`;
}

/**
 * Returns up to 60 characters of the text, those outside of printable ASCII as escapes, so that look-alike
 * letters show.
 */
export function visible(text: string): string {
  return [...text.slice(0, 60)]
    .map((character) =>
      /[ -~]/.test(character) ? character : `\\u{${character.codePointAt(0)?.toString(16)}}`,
    )
    .join('');
}

// Hours

export function zoneUnknown(zone: { readonly span: Span; readonly value: string }): Diagnostic {
  return error('zone-unknown', zone.span, `no time zone is named \`${zone.value}\``, {
    help: 'write an IANA name such as `"Europe/Berlin"`',
  });
}

export function clockInvalid(node: ClockLiteral): Diagnostic {
  return error('clock-unfit', node.span, `no span starts or ends at \`${node.text}\``, {
    help: 'times of day go from `00:00` to `23:59`; a span may end at `24:00`',
  });
}

export function hoursEndsEqual(span: Extract<HoursSpan, { kind: 'weekly-span' }>): Diagnostic {
  return error('hours-ends-equal', span.span, 'the span starts and ends at the same time', {
    help: 'write `00:00-24:00` for the whole day',
  });
}

export function dateSpanReversed(span: Extract<HoursSpan, { kind: 'date-span' }>): Diagnostic {
  return error('date-span-reversed', span.span, 'the span ends before it starts', { help: 'swap the dates' });
}

export function hoursOverlap(span: HoursSpan, first: HoursSpan): Diagnostic {
  return warning('hours-overlap', span.span, 'the span covers times that an earlier one covers', {
    help: 'cut one of them',
    ...earlier(first.span, 'the earlier span'),
  });
}

export function exceptNotDates(name: NameNode, type: Type): Diagnostic {
  const message = `\`except\` takes a list of dates, but \`${name.text}\` is a list of \`${typeText(type)}\``;
  return error('except-not-dates', name.span, message, {
    help: 'write dates without quotes: `[2026-12-25]`, or `list NAME: date from "..."`',
  });
}

/** Reports `a | b` when texts are meant. */
export function valuesUnquoted(words: readonly NameNode[]): Diagnostic {
  const { names, texts, span, fix } = unquoted(words);
  return error('unknown-type', span, `no types are named ${names}`, {
    help: `write the values in quotes: \`${texts.join(' | ')}\``,
    fix,
  });
}

/** Reports `[a, b]` when texts are meant. */
export function entriesUnquoted(words: readonly NameNode[]): Diagnostic {
  const { names, texts, span, fix } = unquoted(words);
  const message = `${names} ${words.length === 1 ? 'is' : 'are'} not declared`;
  return error('unknown-name', span, message, {
    help: `write the texts in quotes: \`[${texts.join(', ')}]\``,
    fix,
  });
}

function unquoted(words: readonly NameNode[]) {
  const texts = words.map(({ text }) => JSON.stringify(text));
  return {
    names: words.map(({ text }) => `\`${text}\``).join(', '),
    texts,
    span: spanning(words[0]!.span, words.at(-1)!.span),
    fix: {
      title: 'write them in quotes',
      edits: words.map(({ span }, index) => ({ span, text: texts[index]! })),
    },
  };
}
