// Turns types and record bodies into lines of canonical text: one line for each field, with types aligned. A
// record of one field goes on the line of its name if it fits.

import type { FieldNode, RecordBody, TypeNode, TypeRange } from '../tree/tree.ts';
import { printLiteral, printName, printText } from './expression.ts';
import {
  columnsMax,
  type HoldsComment,
  indentColumns,
  joinLines,
  type PrintedLine,
  wrapLines,
} from './layout.ts';

/**
 * Where a type is to stand: the indentation of its line, the columns already used before it, and where
 * comments stand.
 */
export interface Room {
  readonly indent: number;
  readonly columns: number;
  readonly holdsComment: HoldsComment;
}

/** A type on one line, for messages. */
export function printType(type: TypeNode): string {
  const room: Room = { indent: 0, columns: 0, holdsComment: () => false };
  return typeLines(type, room)
    .map(({ text }) => text)
    .join(' ');
}

/** The lines of a type; the first may follow other text. */
export function typeLines(type: TypeNode, room: Room): readonly PrintedLine[] {
  const { indent } = room;
  const start = type.span.start;
  switch (type.kind) {
    case 'named-type': {
      const pattern = type.pattern === null ? '' : ` matches ${printText(type.pattern, 'pattern')}`;
      const letters = type.ignoringCase ? ' ignoring case' : '';
      return [
        { indent, start, text: `${printName(type.name)}${letters}${pattern}${printRange(type.range)}` },
      ];
    }
    case 'money-type':
      return [{ indent, start, text: `money(${printName(type.currency)})${printRange(type.range)}` }];
    case 'text-type':
      return [{ indent, start, text: printText(type.text) }];
    case 'null-type':
      return [{ indent, start, text: 'null' }];
    case 'list-type':
      return wrapLines('[', typeLines(type.element, room), `]${printRange(type.range)}`);
    case 'record-type':
      return recordLines(type.body, room);
    case 'modified-type':
      return wrapLines(`${printModifier(type)} `, typeLines(type.type, room), '');
    case 'union-type':
      return type.members
        .map((member) => typeLines(member, room))
        .reduce((before, member) => joinLines(wrapLines('', before, ' | '), member));
  }
}

function printRange(range: TypeRange | null): string {
  if (range === null) return '';
  const low = range.low === null ? '' : printLiteral(range.low);
  const high = range.high === null ? '' : printLiteral(range.high);
  return ` ${low}..${high}`;
}

/** The lines of a record body; the first may follow other text. */
export function recordLines(body: RecordBody, room: Room): readonly PrintedLine[] {
  const { indent } = room;
  const { start, end } = body.span;
  const items = body.fields.length + (body.isOpen ? 1 : 0);
  if (items === 0) return [{ indent, start, text: '{}' }];
  const inner = fieldLines(body.fields, { ...room, indent: indent + 1 });
  const [only] = inner;
  if (items === 1 && inner.length <= 1 && !only?.doc && !room.holdsComment(body.span)) {
    const text = `{ ${only?.text ?? '...'} }`;
    const columns = indentColumns(indent) + room.columns + text.length;
    if (columns <= columnsMax) return [{ indent, start, text }];
  }
  const ellipsis = { indent: indent + 1, start: end - 1, text: '...' };
  return [
    { indent, start, text: '{' },
    ...inner,
    ...(body.isOpen ? [ellipsis] : []),
    { indent, start: end - 1, text: '}', isClosing: true },
  ];
}

function fieldLines(fields: readonly FieldNode[], room: Room): readonly PrintedLine[] {
  const printed = fields.map((field) => {
    const label = `${printName(field.name)}${field.isOptional ? '?:' : ':'}`;
    return { field, label, lines: typeLines(field.type, { ...room, columns: label.length + 1 }) };
  });
  const single = printed.filter(({ lines }) => lines.length === 1);
  const width = single.reduce((most, { label }) => Math.max(most, label.length), 0);
  return printed.flatMap(({ field, label, lines }) => {
    const prefix = lines.length === 1 ? label.padEnd(width) : label;
    const [first, ...rest] = wrapLines(`${prefix} `, lines, '');
    return [{ ...first!, start: field.span.start, doc: field.doc }, ...rest];
  });
}

function printModifier({ modifier, by }: Extract<TypeNode, { readonly kind: 'modified-type' }>): string {
  return by === null ? modifier : `${modifier} by ${printText(by)}`;
}
