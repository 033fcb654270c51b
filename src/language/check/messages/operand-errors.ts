// Diagnostics about the two sides of a comparison or a test of text, one function each.

import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import type { Span } from '../../diagnostic/span.ts';
import type { Expression, FactName } from '../../model/expression.ts';
import type { Type } from '../../model/type.ts';
import type { BinaryExpression, ExpressionNode as Tree } from '../../syntax/tree/tree.ts';
import { canonicalText } from '../../value/canonical-text.ts';
import { spelledPath } from './path-errors.ts';
import { type DiagnosticDetails, error } from './problem.ts';
import { typeText } from './type-text.ts';

export function operandsDiffer(node: BinaryExpression, left: Type, right: Type): Diagnostic {
  const message = `\`${typeText(left)}\` and \`${typeText(right)}\` cannot be compared`;
  const unquoted = literalFix(node.right, left) ?? literalFix(node.left, right);
  if (unquoted !== null) return error('type-mismatch', node.span, message, unquoted);
  const sides = [
    { type: left, node: node.left },
    { type: right, node: node.right },
  ] as const;
  const help = comparisonHelp(sides[0], sides[1]) ?? comparisonHelp(sides[1], sides[0]);
  return error('type-mismatch', node.span, message, help === null ? {} : { help });
}

const literalForms: Partial<Record<Type['kind'], RegExp>> = {
  integer: /^-?\d+$/,
  number: /^-?\d+(?:\.\d+)?$/,
  boolean: /^(?:true|false)$/,
  date: /^\d{4}-\d{2}-\d{2}$/,
  timestamp: /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2})$/,
  duration: /^\d+[smhd]$/,
  money: /^\d+(?:\.\d+)? [A-Z]{3}$/,
};

/**
 * Returns the fix for a literal that has quotes but should not, or the help for one that lacks them; null for
 * any other.
 */
function literalFix(side: Tree, type: Type): DiagnosticDetails | null {
  const isQuoted = side.kind === 'text' && literalForms[type.kind]?.test(side.value) === true;
  const isBare = side.kind === 'number' && type.kind === 'text' && type.of === 'string';
  if (!isQuoted && !isBare) return null;
  const text = isQuoted ? side.value : isBare ? `"${side.text}"` : '';
  const fix = { title: `write \`${text}\``, edits: [{ span: side.span, text }] };
  if (isQuoted) return { help: `write it without quotes: \`${text}\``, fix };
  return { help: `compare it with a text, such as \`== ${text}\`, or declare it as \`integer\`` };
}

/**
 * Reports texts that may spell one value in two ways: rules see a path, URL, host or e-mail address in
 * canonical form, and free texts as written. `fact` is the free text if no policy declares it.
 */
export function spellingsDiffer(span: Span, left: Type, right: Type, fact?: FactName): Diagnostic {
  const message = `\`${typeText(left)}\` and \`${typeText(right)}\` may spell one value in two ways`;
  const help =
    fact === undefined
      ? (canonicalHelp(left, right) ?? canonicalHelp(right, left) ?? 'compare texts of one type')
      : `\`${fact}\` is a \`string\`, so declare the field as \`string\`; \`request.user.email\` is an \`email\``;
  return error('type-mismatch', span, message, { help });
}

function canonicalHelp(written: Type, beside: Type): string | null {
  if (written.kind !== 'text' || beside.kind !== 'text') return null;
  if (written.of !== 'string' || beside.of === 'string') return null;
  const { of } = beside;
  const stray = written.values?.find((value) => (canonicalText(of, value) ?? value) !== value);
  if (stray === undefined) return `declare both as \`${of}\``;
  const better = JSON.stringify(canonicalText(of, stray));
  return `rules see a \`${of}\` in its canonical form: write \`${better}\` for \`${JSON.stringify(stray)}\``;
}

/** One side of a comparison; `node` is null if only its type is known. */
interface Side {
  readonly type: Type;
  readonly node: Tree | null;
}

function comparisonHelp({ type: a, node }: Side, { type: b, node: other }: Side): string | null {
  const isNumber = b.kind === 'number' || b.kind === 'integer';
  if (a.kind === 'money' && isNumber) {
    return node?.kind === 'money'
      ? `write \`${node.amount}\`, or declare the field as \`money(currency)\``
      : `write the currency with the amount, such as \`${writtenNumber(other) ?? '100'} USD\``;
  }
  if (a.kind === 'duration' && isNumber) {
    return node?.kind === 'duration'
      ? `write only the number: \`${b.kind}\` has no unit`
      : `write the unit with the number, such as \`${writtenNumber(other) ?? '100'}s\``;
  }
  if (a.kind === 'datetime') return datetimeHelp(b, other);
  if (a.kind === 'timestamp' && b.kind === 'date') {
    return node?.kind === 'instant'
      ? `write only the date: \`${node.text.slice(0, 10)}\``
      : 'take the date of the instant: `date(x, "Zone")`';
  }
  if (a.kind === 'list') return 'test membership with `in`, or go through it with `some x in ... (...)`';
  if (a.kind !== 'text') return null;
  const [shown] = a.values ?? [];
  const isTime = b.kind === 'timestamp' || b.kind === 'date' || b.kind === 'datetime';
  if (isTime && shown !== undefined && /^\d{4}-\d{2}-\d{2}/.test(shown))
    return `write it without quotes, such as \`${b.kind === 'date' ? '2026-03-02' : '2026-03-02T12:00:00Z'}\``;
  return 'there is no conversion between text and other values';
}

function writtenNumber(node: Tree | null): string | undefined {
  return node?.kind === 'number' ? node.text : undefined;
}

/** A local time without an offset is compared with local times only; those are written as texts. */
function datetimeHelp(b: Type, other: Tree | null): string | null {
  if (b.kind !== 'timestamp' && b.kind !== 'date') return null;
  if (other?.kind === 'instant')
    return `a \`datetime\` has no offset from UTC: write \`"${other.text.replace(/(?:Z|[+-]\d\d:\d\d)$/, '')}"\``;
  if (other?.kind === 'date') return `write a local time as text: \`"${other.text}T00:00"\``;
  return 'a `datetime` has no offset from UTC, so it is not an instant: declare the field as `timestamp`';
}

export function rangeMismatch(end: Expression, type: Type): Diagnostic {
  const message = `the end of the range is \`${typeText(end.type)}\`, the value \`${typeText(type)}\``;
  const sides = [
    { type, node: null },
    { type: end.type, node: null },
  ] as const;
  const help =
    rangeHelp(end, type) ?? comparisonHelp(sides[0], sides[1]) ?? comparisonHelp(sides[1], sides[0]);
  return error('type-mismatch', end.span, message, help === null ? {} : { help });
}

/** Help for an end with a unit, of a range for a number, and for a range of local times. */
function rangeHelp(end: Expression, type: Type): string | null {
  if (type.kind === 'datetime') return 'write a local time as text, such as `"2026-03-02T00:00"`';
  const isNumber = type.kind === 'number' || type.kind === 'integer';
  if (!isNumber || (end.type.kind !== 'money' && end.type.kind !== 'duration')) return null;
  return end.type.kind === 'money'
    ? 'leave out the currency, or declare the field as `money(currency)`'
    : `leave out the unit: \`${type.kind}\` has none`;
}

export function notText(expression: Expression, operator: string, node: Tree): Diagnostic {
  const message = `\`${operator}\` tests text, this is \`${typeText(expression.type)}\``;
  return error('not-text', expression.span, message, notTextHelp(expression, operator, node));
}

function notTextHelp(expression: Expression, operator: string, node: Tree): DiagnosticDetails {
  const isBinary = node.kind === 'binary' && node.left.span.start === expression.span.start;
  if (expression.type.kind !== 'list') {
    return expression.type.kind === 'record'
      ? { help: 'name a field of it' }
      : { help: 'compare it by `==`, `<`, `>` or `in`, or declare the field as `string`' };
  }
  const list = expression.kind === 'field' ? spelledPath(expression) : 'list';
  if (node.kind === 'binary' && !isBinary) return { help: `write \`${operator} any of [...]\`` };
  const part = isBinary ? writtenText(node.right) : null;
  if (operator !== 'contains') {
    return { help: `go through it: \`some x in ${list} (x ${operator} ${part ?? '...'})\`` };
  }
  const text = `${part ?? 'x'} in ${list}`;
  if (!isBinary || part === null || list === 'list') return { help: `write \`${text}\`` };
  return {
    help: `write \`${text}\``,
    fix: { title: `write \`${text}\``, edits: [{ span: node.span, text }] },
  };
}

function writtenText(node: Tree): string | null {
  return node.kind === 'text' ? JSON.stringify(node.value) : null;
}
