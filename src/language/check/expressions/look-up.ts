// Types reads of tables: a cell of the row with a key, and whether the table has such a row.

import type { Expression } from '../../model/expression.ts';
import { booleanType, type Type } from '../../model/type.ts';
import type { BinaryExpression, LookUp, NameNode } from '../../syntax/tree/tree.ts';
import { areComparable, areSpeltAlike } from '../logic/type-relations.ts';
import { nameOfOtherKind, unknownName } from '../messages/errors.ts';
import { unreadableInMeter } from '../messages/meter-errors.ts';
import { spellingsDiffer } from '../messages/operand-errors.ts';
import { columnMissing, columnUnknown, keyMistyped, notATable } from '../messages/table-errors.ts';
import { adapt } from './adapt.ts';
import { type Context, inferValue } from './context.ts';
import { namesOf } from './declared-names.ts';
import { namesInScope } from './names.ts';

/** Types `orders[payload.order_id].owner`. */
export function inferLookUp(node: LookUp, ctx: Context): Expression | null {
  const key = inferValue(node.key, ctx);
  if (!isTable(node, ctx)) return null;
  const { text: table } = node.table;
  const column = columnOf(node, ctx);
  const keyExpression = key && readKey(table, key, ctx);
  if (keyExpression === null || column === null) return null;
  return {
    kind: 'column',
    table,
    key: keyExpression,
    column: node.column?.text ?? '',
    type: column,
    span: node.span,
  };
}

/** Types `payload.order_id in orders`. */
export function inTable(
  node: BinaryExpression,
  name: NameNode,
  subject: Expression | null,
  ctx: Context,
): Expression | null {
  ctx.env.use(name.text);
  if (!isReadable(node, ctx) || subject === null) return null;
  const key = readKey(name.text, subject, ctx);
  return key && { kind: 'in-table', subject: key, table: name.text, type: booleanType, span: node.span };
}

function isTable(node: LookUp, ctx: Context): boolean {
  const { table } = node;
  const isElement = ctx.variables.has(table.text) || namesInScope.some((name) => name === table.text);
  const kind = isElement ? undefined : ctx.env.query('kind', table.text);
  if (kind === 'table') {
    ctx.env.use(table.text);
    return isReadable(node, ctx);
  }
  if (kind !== undefined && kind !== 'let' && kind !== 'list')
    ctx.env.report(nameOfOtherKind(table, kind, 'table'));
  else if (kind !== undefined || isElement) ctx.env.report(notATable(node, true));
  else ctx.env.report(unknownName(table, 'table', namesOf(ctx.env, 'table')));
  return false;
}

/**
 * Whether tables can be read in this context; reports a read in a meter. Rows change while requests are
 * decided, but a meter counts from records made long before.
 */
function isReadable({ span }: Pick<LookUp, 'span'>, ctx: Context): boolean {
  if (ctx.inMeter) ctx.env.report(unreadableInMeter(span, 'a table'));
  return !ctx.inMeter;
}

/** Returns the type of the column; null when the table or the column is in error. */
function columnOf(node: LookUp, { env }: Context): Type | null {
  const columns = env.query('tableColumns', node.table.text);
  if (columns === undefined || node.column?.text === '') return null;
  const names = columns.map(({ name }) => name);
  const type = columns.find(({ name }) => name === (node.column?.text ?? ''))?.type;
  if (type !== undefined) return type;
  env.report(
    node.column === null ? columnMissing(node, names) : columnUnknown(node.table.text, node.column, names),
  );
  return null;
}

function readKey(table: string, subject: Expression, { env }: Context): Expression | null {
  const type = env.query('tableKey', table);
  if (type === undefined) return null;
  if (!areComparable(subject.type, type)) {
    env.report(keyMistyped(subject.span, table, { key: type, actual: subject.type }));
    return null;
  }
  const key = adapt(subject, type, env);
  if (key === null || areSpeltAlike(key.type, type)) return key;
  env.report(spellingsDiffer(subject.span, key.type, type));
  return null;
}
