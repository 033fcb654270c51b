// What the names in a summary's sentences mean: entries of lists, conditions of lets, what meters count.

import type { Span } from '../../language/diagnostic/span.ts';
import type { Declaration, DeclarationOf } from '../../language/syntax/tree/tree.ts';
import { describeCondition, describeTerm, enumerated, type WordingContext } from './condition-wording.ts';
import { type SummarySource, wordingOf } from './sentences.ts';

export interface NameMeaning {
  readonly name: string;
  readonly text: string;
  readonly span: Span;
}

/** The meanings of the mentioned names, and of names that these meanings mention, sorted by name. */
export function explanations(source: SummarySource, mentioned: ReadonlySet<string>): readonly NameMeaning[] {
  const names = new Set(mentioned);
  const wording = wordingOf(source, names);
  const declared = new Map(
    source.files.flatMap(({ declarations }) =>
      declarations.flatMap((one) => (one.kind === 'action' ? [] : [[one.name.text, one] as const])),
    ),
  );
  const words: NameMeaning[] = [];
  // Iterating over a set also visits names that are added meanwhile.
  for (const name of names) {
    const declaration = declared.get(name);
    const text = declaration === undefined ? null : explained(declaration, { source, wording });
    if (text !== null) words.push({ name: nameOf(declaration!, name), text, span: declaration!.span });
  }
  return words.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** The name, with its parameters if it has some. */
function nameOf(declaration: Declaration, name: string): string {
  if (declaration.kind !== 'let' || declaration.parameters.length === 0) return name;
  return `${name}(${declaration.parameters.map((one) => one.name.text).join(', ')})`;
}

interface ConditionContext {
  readonly source: SummarySource;
  readonly wording: WordingContext;
}

const entriesShown = 6;

function explained(declaration: Declaration, explaining: ConditionContext): string | null {
  const { source } = explaining;
  switch (declaration.kind) {
    case 'list':
      return describeList(declaration, explaining);
    case 'table':
      return describeTable(declaration, explaining);
    case 'let':
      return describeLet(declaration, explaining);
    case 'hours':
      return describeHours(declaration, source);
    case 'meter':
      return describeMeter(declaration, explaining);
    case 'group':
      return enumerated(
        [...source.set.actions.values()]
          .filter(({ groups }) => groups.includes(declaration.name.text))
          .map(({ key }) => key),
        'and',
      );
    default:
      return null;
  }
}

/** A condition in words; a value as a noun; what takes parameters, as it is written. */
function describeLet(
  { name, parameters, value }: DeclarationOf<'let'>,
  { source, wording }: ConditionContext,
): string {
  if (parameters.length > 0) return `\`${wording.textOf(value)}\``;
  if (value.kind === 'look-up' && value.column === null && !source.set.lets.has(name.text))
    return `the row \`${wording.textOf(value)}\``;
  const isCondition = source.set.lets.get(name.text)?.expression.type.kind === 'boolean';
  return isCondition ? describeCondition(value, wording) : describeTerm(value, wording);
}

function describeList(declaration: DeclarationOf<'list'>, explaining: ConditionContext): string {
  const entries = describeEntries(declaration, explaining);
  return declaration.ignoringCase ? `${entries}, ignoring case and extra spaces` : entries;
}

/** The first texts, and how many others there are. */
function firstOf(texts: readonly string[]): string {
  const shown = texts.slice(0, entriesShown);
  const more = texts.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : enumerated(shown, 'and');
}

/** The values of a table of constants by key; of other tables, where their rows come from. */
function describeTable({ source }: DeclarationOf<'table'>, { wording }: ConditionContext): string {
  switch (source.kind) {
    case 'rows':
      return firstOf(source.rows.map(({ key, value }) => `${describeTerm(value, wording)} for ${key.text}`));
    case 'table-file':
      return `the rows of ${source.path.value} by ${source.key.name.text.replaceAll('_', ' ')}`;
    case 'pushed': {
      const by = source.by.map(({ value }) => JSON.stringify(value));
      const from = by.length === 0 ? 'people push' : `people and ${enumerated(by, 'and')} push`;
      return `the rows that ${from}, by ${source.key.name.text.replaceAll('_', ' ')}`;
    }
  }
}

function describeEntries(
  { name, source: written }: DeclarationOf<'list'>,
  { wording, source }: ConditionContext,
): string {
  if (written.kind === 'entries')
    return firstOf(written.entries.map((entry) => describeTerm(entry, wording)));
  if (written.kind === 'join')
    return `what is in ${enumerated(
      written.lists.map(({ text }) => noted(text, wording)),
      'or',
    )}`;
  const count = source.set.lists.get(name.text)?.entries.length ?? 0;
  return `the ${count} entries of ${written.path.value}`;
}

function noted(name: string, wording: WordingContext): string {
  wording.mention(name);
  return `‘${name.replaceAll('_', ' ')}’`;
}

function describeHours(
  { spans, file, zone, except }: DeclarationOf<'hours'>,
  { sourceOf }: SummarySource,
): string {
  const times =
    file === null
      ? spans.map(({ span }) => (sourceOf(span.file) ?? '').slice(span.start, span.end)).join(', ')
      : `the days of ${file.value}`;
  return `${times} in ${zone.value}${except === null ? '' : `, but for ${except.text.replaceAll('_', ' ')}`}`;
}

function describeMeter(meter: DeclarationOf<'meter'>, explaining: ConditionContext): string {
  const { wording, source } = explaining;
  const { aggregate, argument, when, since, per, over } = meter;
  const term = argument === null ? '' : describeTerm(argument, wording);
  const counted = {
    sum: `the sum of ${term} of`,
    count: 'how many were granted of',
    distinct: `how many values ${term} had in`,
  };
  const parts = per.map(({ root, steps }) => (steps.at(-1) ?? root).text.replaceAll('_', ' '));
  return [
    `${counted[aggregate]} ${describePattern(meter.patterns, explaining)}`,
    when === null ? '' : ` if ${describeCondition(when, wording)}`,
    parts.length === 0 ? '' : `, per ${enumerated(parts, 'and')}`,
    over.kind === 'calendar-window'
      ? `, this ${over.period} in ${over.zone.value}`
      : `, in the last ${over.text}`,
    since.length === 0 ? '' : `, starting again with each grant of ${describePattern(since, explaining)}`,
    source.set.meters.get(meter.name.text)?.readsResult === true
      ? '; unknown until the result is reported'
      : '; the request itself and pending requests count',
  ].join('');
}

function describePattern(
  patterns: DeclarationOf<'meter'>['patterns'],
  { wording, source }: ConditionContext,
): string {
  const isGroup = (name: string): boolean =>
    [...source.set.actions.values()].some(({ groups }) => groups.includes(name));
  return enumerated(
    patterns.map(({ text }) => (isGroup(text) ? noted(text, wording) : text)),
    'and',
  );
}
