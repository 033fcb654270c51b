// Formatter: turns a tree into the canonical text of its file, comments included. Tested laws: the text
// parses to the same tree except for positions, and printing that tree again gives the same text.

import type {
  Comment,
  Declaration,
  DeclarationOf,
  HoursSpan,
  Metadata,
  Pattern,
  PolicyFile,
  RuleNode,
} from '../tree/tree.ts';
import { printExpression, printLiteral, printName, printText, quote } from './expression.ts';
import { expressionLines } from './expression-lines.ts';
import {
  columnsMax,
  type HoldsComment,
  insertComments,
  joinLines,
  type PrintedLine,
  wrapLines,
} from './layout.ts';
import { clauseLinesOfGuarantee, printTemplate, ruleLines } from './rule.ts';
import { recordLines, typeLines } from './type.ts';

export { printExpression };

export function printFile(file: PolicyFile): string {
  const holdsComment = commentFinder(file.comments);
  const printed: PrintedDeclaration[] = file.declarations.map((declaration) => ({
    declaration,
    lines: declarationLines(declaration, holdsComment),
  }));
  return insertComments(familiesOf(printed).flatMap(familyLines), file.comments);
}

/**
 * Finds out whether a span holds a comment. Comments are sorted, so only the first one behind the start has
 * to be looked at.
 */
function commentFinder(comments: readonly Comment[]): HoldsComment {
  return ({ start, end }) => {
    let low = 0;
    let high = comments.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (comments[middle]!.span.start < start) low = middle + 1;
      else high = middle;
    }
    const next = comments[low];
    return next !== undefined && next.span.start < end;
  };
}

interface PrintedDeclaration {
  readonly declaration: Declaration;
  readonly lines: readonly PrintedLine[];
}

function declarationLines(declaration: Declaration, holdsComment: HoldsComment): readonly PrintedLine[] {
  const [first, ...rest] = undocumentedLines(declaration, holdsComment);
  return [{ ...first!, start: declaration.span.start, doc: declaration.doc }, ...rest];
}

function undocumentedLines(declaration: Declaration, holdsComment: HoldsComment): readonly PrintedLine[] {
  const { start } = declaration.span;
  const line = (text: string): readonly PrintedLine[] => [{ indent: 0, start, text }];
  switch (declaration.kind) {
    case 'action':
      return actionLines(declaration, holdsComment);
    case 'type': {
      const prefix = `type ${declaration.name.text} = `;
      const room = { indent: 0, columns: prefix.length, holdsComment };
      return wrapLines(prefix, typeLines(declaration.type, room), '');
    }
    case 'group':
      return groupLines(declaration, holdsComment);
    case 'approvers':
      return line(printApprovers(declaration));
    case 'list':
      return listLines(declaration, holdsComment);
    case 'table':
      return tableLines(declaration, holdsComment);
    case 'hours':
      return line(printHours(declaration));
    case 'let':
      return letLines(declaration, holdsComment);
    case 'meter':
      return line(printMeter(declaration));
    case 'policy':
      return policyLines(declaration, holdsComment);
    case 'guarantee':
      return guaranteeLines(declaration, holdsComment);
  }
}

function printApprovers({ name, title, chat }: DeclarationOf<'approvers'>): string {
  const limit = chat === null ? '' : ` by chat up to risk ${chat.maxRisk.text}`;
  return `approvers ${name.text} ${printText(title)}${limit}`;
}

function letLines(
  { name, parameters, value, span }: DeclarationOf<'let'>,
  holdsComment: HoldsComment,
): readonly PrintedLine[] {
  const outermost = { indent: 0, start: span.start, holdsComment };
  if (parameters.length === 0) return expressionLines(`let ${name.text} = `, value, outermost);
  const head = parameters
    .map((parameter, at) => {
      const prefix = `${at === 0 ? `let ${name.text}(` : ', '}${parameter.name.text}: `;
      const room = { indent: 0, columns: prefix.length, holdsComment };
      return wrapLines(prefix, typeLines(parameter.type, room), '');
    })
    .reduce((before, parameter) => joinLines(before, parameter));
  const last = head.at(-1)!;
  const body = expressionLines(`${last.text}) = `, value, { ...outermost, start: last.start });
  return [...head.slice(0, -1), ...body];
}

function actionLines(
  { keys, groups, title, body, result }: DeclarationOf<'action'>,
  holdsComment: HoldsComment,
): readonly PrintedLine[] {
  const names = keys.map(printName).join(', ');
  const within = groups.length === 0 ? '' : ` in ${groups.map(printName).join(', ')}`;
  const about = title === null ? '' : ` ${printTemplate(title)}`;
  const prefix = `action ${names}${within}${about} `;
  const lines = wrapLines(prefix, recordLines(body, { indent: 0, columns: prefix.length, holdsComment }), '');
  if (result === null) return lines;
  const room = { indent: 1, columns: resultPrefix.length + 2, holdsComment };
  return [...lines, ...wrapLines(resultPrefix, recordLines(result, room), '')];
}

function groupLines(
  { name, body, span }: DeclarationOf<'group'>,
  holdsComment: HoldsComment,
): readonly PrintedLine[] {
  const head = `group ${name.text}`;
  if (body === null) return [{ indent: 0, start: span.start, text: head }];
  const room = { indent: 0, columns: head.length + 1, holdsComment };
  return wrapLines(`${head} `, recordLines(body, room), '');
}

const resultPrefix = 'result ';

function listLines(list: DeclarationOf<'list'>, holdsComment: HoldsComment): readonly PrintedLine[] {
  const { source, span } = list;
  const end = list.mayBeEmpty ? ' may be empty' : '';
  const head = listHead(list);
  const at = { indent: 0, start: span.start };
  switch (source.kind) {
    case 'list-file':
      return [{ ...at, text: `${head} ${printText(source.path)}${end}` }];
    case 'join':
      return [{ ...at, text: `${head} = ${source.lists.map(printName).join(' + ')}${end}` }];
    case 'entries': {
      const entries = source.entries.map((entry) => ({ start: entry.span.start, text: printLiteral(entry) }));
      const text = `${head} = [${entries.map((entry) => entry.text).join(', ')}]${end}`;
      if (text.length <= columnsMax && !holdsComment(source.span)) return [{ ...at, text }];
      return [
        { ...at, text: `${head} = [` },
        ...entries.map((entry) => ({ indent: 1, start: entry.start, text: `${entry.text},` })),
        { indent: 0, start: source.span.end - 1, text: `]${end}`, isClosing: true },
      ];
    }
  }
}

function tableLines(
  { name, source, span }: DeclarationOf<'table'>,
  holdsComment: HoldsComment,
): readonly PrintedLine[] {
  if (source.kind !== 'rows') {
    const { key, columns } = source;
    const type = printInline(key.type);
    const mark = key.isOptional ? '?:' : ':';
    const head = `table ${name.text} ${rowsOrigin(source)} key ${printName(key.name)}${mark} ${type} `;
    return wrapLines(head, recordLines(columns, { indent: 0, columns: head.length, holdsComment }), '');
  }
  const at = { indent: 0, start: span.start };
  const rows = source.rows.map((row) => ({
    start: row.span.start,
    text: `${printName(row.key)}: ${printLiteral(row.value)}`,
  }));
  const text = `table ${name.text} = { ${rows.map((row) => row.text).join(', ')} }`;
  if (text.length <= columnsMax && !holdsComment(source.span)) return [{ ...at, text }];
  return [
    { ...at, text: `table ${name.text} = {` },
    ...rows.map((row, index) => ({
      indent: 1,
      start: row.start,
      text: `${row.text}${index === rows.length - 1 ? '' : ','}`,
    })),
    { indent: 0, start: source.span.end - 1, text: '}', isClosing: true },
  ];
}

/** The words for where the rows of a table with columns come from. */
function rowsOrigin(source: Exclude<DeclarationOf<'table'>['source'], { readonly kind: 'rows' }>): string {
  if (source.kind === 'table-file') return `from ${printText(source.path)}`;
  return source.by.length === 0
    ? 'pushed'
    : `pushed by ${source.by.map((point) => printText(point)).join(', ')}`;
}

/** The declaration of a list up to its `=`, or with its `from` if a file holds the entries. */
function listHead({ name, elementType, ignoringCase, source }: DeclarationOf<'list'>): string {
  const type = elementType === null ? '' : `: ${printInline(elementType)}`;
  const ignoring = ignoringCase ? ' ignoring case' : '';
  return `list ${name.text}${type}${ignoring}${source.kind === 'list-file' ? ' from' : ''}`;
}

function printInline(type: Parameters<typeof typeLines>[0]): string {
  return typeLines(type, { indent: 0, columns: 0, holdsComment: () => false })
    .map(({ text }) => text)
    .join(' ');
}

function printHours({ name, spans, file, zone, except }: DeclarationOf<'hours'>): string {
  const apart = except === null ? '' : ` except ${except.text}`;
  const when = file === null ? `= ${spans.map(printSpan).join(', ')}` : `from ${printText(file)}`;
  return `hours ${name.text} ${when} in ${printText(zone)}${apart}`;
}

function printSpan(span: HoursSpan): string {
  if (span.kind !== 'weekly-span') {
    const { first, last } = span;
    const every = span.kind === 'yearly-span' ? 'every year ' : '';
    return `${every}${first.text === last.text ? first.text : `${first.text}..${last.text}`}`;
  }
  const { firstDay, lastDay, from, to } = span;
  const days = firstDay === lastDay ? firstDay : `${firstDay}-${lastDay}`;
  return `${days} ${from.text}-${to.text}`;
}

function printMeter(meter: DeclarationOf<'meter'>): string {
  const { name, aggregate, argument, currency, patterns, when, since, per, over } = meter;
  const total = `${aggregate}(${argument === null ? '' : printExpression(argument)})`;
  const inCurrency = currency === null ? '' : ` in ${currency.text}`;
  const condition = when === null ? '' : ` when ${printExpression(when)}`;
  const anew = since.length === 0 ? '' : ` since ${printPatterns(since)}`;
  const keys = per.length === 0 ? '' : ` per ${per.map(printExpression).join(', ')}`;
  const of = printPatterns(patterns);
  return `meter ${name.text} = ${total}${inCurrency} of ${of}${condition}${anew}${keys} over ${printWindow(over)}`;
}

function printWindow(over: DeclarationOf<'meter'>['over']): string {
  if (over.kind === 'duration') return over.text;
  return `${periodWords[over.period]} in ${printText(over.zone)}`;
}

const periodWords = { day: 'today', week: 'this week', month: 'this month' } as const;

function printPatterns(patterns: readonly Pattern[]): string {
  return patterns.map(({ text, isQuoted }) => (isQuoted ? quote(text) : text)).join(', ');
}

function policyLines(policy: DeclarationOf<'policy'>, holdsComment: HoldsComment): readonly PrintedLine[] {
  const { span, name, patterns, except, when } = policy;
  const shadow = policy.isShadow ? 'shadow ' : '';
  const apart = except.length === 0 ? '' : ` except ${printPatterns(except)}`;
  const condition = when === null ? '' : ` when ${printExpression(when)}`;
  const head = `${shadow}policy ${name.text} on ${printPatterns(patterns)}${apart}${condition}`;
  const items = [...policy.metadata, ...policy.rules].toSorted((a, b) => a.span.start - b.span.start);
  const body = items.flatMap((item, index) => itemLines(item, items[index - 1], holdsComment));
  return block(head, body, span);
}

function itemLines(
  item: Metadata | RuleNode,
  before: Metadata | RuleNode | undefined,
  holdsComment: HoldsComment,
): readonly PrintedLine[] {
  if (item.kind === 'rule') return ruleLines(item, before === undefined, holdsComment);
  const text = `${item.kind} ${item.values.map((value) => printText(value)).join(', ')}`;
  return [{ indent: 1, start: item.span.start, text, isBlankBefore: before?.kind === 'rule' }];
}

function guaranteeLines(
  { span, name, patterns, claims }: DeclarationOf<'guarantee'>,
  holdsComment: HoldsComment,
): readonly PrintedLine[] {
  return block(
    `guarantee ${name.text} on ${printPatterns(patterns)}`,
    claims.flatMap((claim) => clauseLinesOfGuarantee(claim, holdsComment)),
    span,
  );
}

function block(
  head: string,
  body: readonly PrintedLine[],
  { start, end }: { readonly start: number; readonly end: number },
): readonly PrintedLine[] {
  if (body.length === 0) return [{ indent: 0, start, text: `${head} {}` }];
  return [
    { indent: 0, start, text: `${head} {` },
    ...body,
    { indent: 0, start: end - 1, text: '}', isClosing: true },
  ];
}

// ---- between declarations

/**
 * The family of a declaration. Declarations of one family stand without blank lines between them as long as
 * each takes one line.
 */
function familyOf({ declaration: { kind } }: PrintedDeclaration): string {
  return kind === 'hours' ? 'list' : kind;
}

function familiesOf(printed: readonly PrintedDeclaration[]): readonly (readonly PrintedDeclaration[])[] {
  const all: PrintedDeclaration[][] = [];
  for (const [index, one] of printed.entries()) {
    const before = printed[index - 1];
    if (before === undefined || isApart(before, one)) all.push([]);
    all.at(-1)!.push(one);
  }
  return all;
}

function isApart(before: PrintedDeclaration, after: PrintedDeclaration): boolean {
  return familyOf(before) !== familyOf(after) || before.lines.length > 1 || after.lines.length > 1;
}

/** The lines of a family, after a blank line; neighbouring lists and lets have their `=` in one column. */
function familyLines(family: readonly PrintedDeclaration[]): readonly PrintedLine[] {
  const column = Math.max(...family.map(assignColumn));
  const lines = family.flatMap((printed) => {
    const [line, ...more] = printed.lines;
    const own = assignColumn(printed);
    const blanks = line!.text[own] === '=' ? ' '.repeat(column - own) : '';
    return [{ ...line!, text: line!.text.slice(0, own) + blanks + line!.text.slice(own) }, ...more];
  });
  return [{ ...lines[0]!, isBlankBefore: true }, ...lines.slice(1)];
}

/** The first column in which the `=` of a declaration may stand; 0 where it has none, as a list from a file. */
function assignColumn({ declaration }: PrintedDeclaration): number {
  if (declaration.kind === 'let' && declaration.parameters.length === 0)
    return `let ${declaration.name.text} `.length;
  if (declaration.kind !== 'list' || declaration.source.kind === 'list-file') return 0;
  return listHead(declaration).length + 1;
}
