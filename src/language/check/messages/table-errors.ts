// Diagnostics about tables and reads of tables, one function each.

import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import type { Span } from '../../diagnostic/span.ts';
import { didYouMean } from '../../diagnostic/suggest.ts';
import { describeSlot } from '../../model/describe.ts';
import type { Slot, Type } from '../../model/type.ts';
import type { LookUp, NameNode, TextLiteral } from '../../syntax/tree/tree.ts';
import { cut, escapeControls } from '../../value/text.ts';
import { earlier, error } from './problem.ts';
import { typeText } from './type-text.ts';

export function keyTypeUnfit(span: Span, slot: Slot): Diagnostic {
  return error('table-type-unfit', span, `rows cannot be found by \`${describeSlot(slot)}\``, {
    help: 'a key is a text or an `integer`, always there, neither `secret` nor `signed`',
  });
}

export function columnTypeUnfit(span: Span, slot: Slot): Diagnostic {
  return error('table-type-unfit', span, `a column cannot have the type \`${describeSlot(slot)}\``, {
    help: 'a column has single values or a list of them; write `name?: type` for a cell that may be empty',
  });
}

export function keyTwice(key: NameNode, first: NameNode): Diagnostic {
  return error('table-key-twice', key.span, `the table has two rows with the key \`${key.text}\``, {
    help: 'a row is found by its key: remove one of them',
    ...earlier(first.span, 'the first one'),
  });
}

export function pointTwice(point: TextLiteral, first: TextLiteral): Diagnostic {
  return error('table-point-twice', point.span, `\`${point.value}\` is named twice`, {
    help: 'remove one of them',
    ...earlier(first.span, 'the first one'),
  });
}

export function keyTwiceInFile(path: TextLiteral, lines: readonly [number, number], key: string): Diagnostic {
  const [first, second] = lines;
  const message = `\`${path.value}\` has two rows with the key \`${shown(key)}\`: line ${first} and line ${second}`;
  return error('table-key-twice', path.span, message, {
    help: 'a row is found by its key: remove one of them',
  });
}

export function tableFileUnnamed(path: TextLiteral): Diagnostic {
  const message = `\`${path.value}\` cannot be read: its name ends neither in \`.csv\` nor in \`.jsonl\``;
  return error('table-file-malformed', path.span, message, {
    help: 'write CSV with a line of column names, or JSON Lines, an object a line',
  });
}

export function tableFileMalformed(path: TextLiteral, line: number, fault: string): Diagnostic {
  return error('table-file-malformed', path.span, `\`${path.value}\`: line ${line} ${fault}`, {
    help: 'every row has the columns that the table declares',
  });
}

export function keyMissing(
  path: TextLiteral,
  cell: { readonly line: number; readonly column: string },
): Diagnostic {
  const message = `\`${path.value}\`: line ${cell.line} has no key: column \`${cell.column}\` is empty`;
  return error('table-cell-unfit', path.span, message, {
    help: 'a row is found by its key: fill it or remove the row',
  });
}

/** `source` is the content of the cell; undefined when the cell is empty. */
export function cellUnfit(
  path: TextLiteral,
  place: { readonly line: number; readonly column: string; readonly source: unknown },
  type: Type,
): Diagnostic {
  const { line, column, source } = place;
  const at = `\`${path.value}\`: line ${line}, column \`${column}\``;
  if (source === undefined) {
    return error('table-cell-unfit', path.span, `${at}: the cell is empty`, {
      help: `fill it, or declare \`${column}?:\`: a cell that is not there is unknown, and nothing is granted on it`,
    });
  }
  const cellText = typeof source === 'string' ? shown(source) : shown(JSON.stringify(source));
  return error('table-cell-unfit', path.span, `${at}: \`${cellText}\` is not a \`${typeText(type)}\``, {
    help: 'cells are read as the fields of a payload are',
  });
}

const shownMax = 60;

function shown(text: string): string {
  return cut(escapeControls(text), shownMax);
}

// Reads

export function notATable({ table }: LookUp, isElement: boolean): Diagnostic {
  const message = `\`${table.text}\` is not a table`;
  return error('not-a-table', table.span, message, {
    help: isElement
      ? `elements of a list have no positions: \`some x in ${table.text} (x == ...)\``
      : `brackets find a row of a declared table: \`table ${table.text} from "file.csv" key id: string { ... }\``,
  });
}

export function keyMistyped(
  span: Span,
  table: string,
  types: { readonly key: Type; readonly actual: Type },
): Diagnostic {
  const message = `rows of \`${table}\` are found by \`${typeText(types.key)}\`, this is \`${typeText(types.actual)}\``;
  return error('type-mismatch', span, message, {
    help: 'declare the key of the table and this with one type',
  });
}

/** A test for a column of a cell. */
export function cellOfCell(span: Span): Diagnostic {
  return error('has-subject-unfit', span, 'a cell has no fields', {
    help: 'name one column after `has`: `orders[payload.order_id] has owner`',
  });
}

/** A let of a row, read as a value. */
export function rowWhole(name: NameNode): Diagnostic {
  return error(
    'unknown-column',
    name.span,
    `\`${name.text}\` is a row, not a value: name one of its columns`,
    {
      help: `write \`${name.text}.COLUMN\``,
    },
  );
}

export function columnMissing(node: LookUp, columns: readonly string[]): Diagnostic {
  const message = `a row of \`${node.table.text}\` is not a value: name one of its columns`;
  return error('unknown-column', node.span, message, {
    help: `write \`${node.table.text}[...].${columns[0]}\``,
  });
}

export function columnUnknown(table: string, column: NameNode, columns: readonly string[]): Diagnostic {
  if (columns.length === 1 && columns[0] === '') {
    return error('unknown-column', column.span, `each row of \`${table}\` is one value, without columns`, {
      help: `write \`${table}[...]\``,
    });
  }
  const suggestion = didYouMean(column, columns);
  return error('unknown-column', column.span, `table \`${table}\` has no column \`${column.text}\``, {
    help: `its columns are ${columns.map((name) => `\`${name}\``).join(', ')}`,
    ...suggestion,
  });
}
