// Random expressions that a policy can hold, with spans that point nowhere.

import fc from 'fast-check';
import { escapeText } from '../../../src/language/syntax/print/expression.ts';
import type {
  BinaryOperator,
  ExpressionNode,
  LiteralNode,
  NameNode,
  Path,
} from '../../../src/language/syntax/tree/tree.ts';

const span = { file: '', start: 0, end: 0 };

const anyWord = fc.constantFrom('a', 'payload', 'count', 'today', 'when_x', 'owner', 'USD');
const anyText = fc.string({
  unit: fc.constantFrom('a', '"', '\\', '\n', '\u0007', '\u202e', '{', "'", '😀'),
  maxLength: 4,
});

function nameOf(text: string, isQuoted = false): NameNode {
  return { kind: 'name', text, isQuoted, span };
}

const anyStep = fc.oneof(
  fc.constantFrom('when', 'list', 'x', 'has', 'not').map((text) => nameOf(text)),
  anyText.map((text) => nameOf(text, true)),
);

const anyPath: fc.Arbitrary<Path> = fc
  .record({ root: anyWord, steps: fc.array(anyStep, { maxLength: 2 }) })
  .map(({ root, steps }) => ({ kind: 'path', root: nameOf(root), steps, span }));

const anyLiteral: fc.Arbitrary<LiteralNode> = fc.oneof(
  anyText.map((value): LiteralNode => ({ kind: 'text', value, isRaw: false, span })),
  fc.constantFrom('', 'a\\d"', '{').map((value): LiteralNode => ({ kind: 'text', value, isRaw: true, span })),
  fc
    .constantFrom('5', '-5', '10_000', '0.25', '-0')
    .map((text): LiteralNode => ({ kind: 'number', text, span })),
  fc.constantFrom('15m', '-24h').map((text): LiteralNode => ({ kind: 'duration', text, span })),
  fc
    .constantFrom('1', '-2.50')
    .map((amount): LiteralNode => ({ kind: 'money', amount, currency: 'USD', span })),
  fc.constantFrom<LiteralNode>(
    { kind: 'date', text: '2026-12-25', span },
    { kind: 'instant', text: '2026-12-25T09:00Z', span },
    { kind: 'clock', text: '09:00', span },
    { kind: 'months', text: '18 years', span },
    { kind: 'boolean', value: true, span },
    { kind: 'null', span },
  ),
);

const operators: readonly BinaryOperator[] = [
  'or',
  'and',
  '==',
  '!=',
  '<',
  '<=',
  '>',
  '>=',
  'in',
  'not in',
  'contains',
  'inside',
  'within',
  'starts with',
  'ends with',
  'mentions any of',
  'starts with any of',
  'ends with any of',
  'contains any of',
  'inside any of',
  '+',
  '-',
  '*',
  '/',
];

/** A list of several quoted texts without escapes is one token. */
function listOf(entries: readonly ExpressionNode[]): ExpressionNode {
  const texts = entries.flatMap((entry) =>
    entry.kind === 'text' && !entry.isRaw && escapeText(entry.value) === entry.value ? [entry.value] : [],
  );
  return texts.length > 1 && texts.length === entries.length
    ? { kind: 'text-list', texts, spans: { file: '', offsets: [] }, span }
    : { kind: 'list-literal', entries, span };
}

export const anyExpression: fc.Arbitrary<ExpressionNode> = fc.letrec<{
  node: ExpressionNode;
  source: ExpressionNode;
}>((tie) => ({
  source: fc.oneof(
    anyPath,
    fc.array(tie('node'), { maxLength: 2 }).map(listOf),
    anyPath.map((path): ExpressionNode => ({ kind: 'call', callee: nameOf('links'), args: [path], span })),
  ),
  node: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    anyPath,
    anyLiteral,
    fc
      .record({ operator: fc.constantFrom('not' as const, '-' as const), operand: tie('node') })
      .map((parts): ExpressionNode => ({ kind: 'unary', ...parts, span })),
    fc
      .record({ operator: fc.constantFrom(...operators), left: tie('node'), right: tie('node') })
      .filter((parts) => !isRepeatedComparison(parts))
      .map(
        (parts): ExpressionNode => ({ kind: 'binary', ...parts, operatorSpan: span, leftSpan: span, span }),
      ),
    fc.record({ left: anyPath, low: tie('node'), high: tie('node') }).map(
      ({ left, low, high }): ExpressionNode => ({
        kind: 'binary',
        operator: 'in',
        operatorSpan: span,
        leftSpan: span,
        left,
        span,
        right: { kind: 'range', low, high, span },
      }),
    ),
    fc.array(tie('node'), { maxLength: 3 }).map(listOf),
    fc
      .record({
        quantifier: fc.constantFrom(
          'some' as const,
          'every' as const,
          'no' as const,
          'count' as const,
          'sum' as const,
        ),
        sources: fc.array(tie('source'), { minLength: 1, maxLength: 2 }),
        body: tie('node'),
      })
      .map((parts): ExpressionNode => ({ kind: 'quantifier', variable: nameOf('item'), ...parts, span })),
    fc
      .record({ subject: anyPath, field: fc.array(anyStep, { minLength: 1, maxLength: 2 }) })
      .map((parts): ExpressionNode => ({ kind: 'has', ...parts, span })),
    fc
      .record({ key: tie('node'), column: fc.option(anyStep) })
      .map((parts): ExpressionNode => ({ kind: 'look-up', table: nameOf('orders'), ...parts, span })),
    tie('node').map(
      (subject): ExpressionNode => ({ kind: 'single-script', subject: subject as ExpressionNode, span }),
    ),
    fc
      .record({ subject: tie('node'), fallback: tie('node') })
      .map((parts): ExpressionNode => ({ kind: 'else', ...parts, span })),
    fc.constant<ExpressionNode>({
      kind: 'today',
      zone: { kind: 'text', value: 'UTC', isRaw: false, span },
      span,
    }),
    fc
      .array(tie('node'), { maxLength: 2 })
      .map((args): ExpressionNode => ({ kind: 'call', callee: nameOf('min'), args, span })),
  ),
})).node;

// A literal beside `or` or `and` after a comparison is reported as a mistake and not kept.
function isRepeatedComparison({
  operator,
  right,
}: {
  readonly operator: BinaryOperator;
  readonly right: ExpressionNode;
}): boolean {
  return (operator === 'or' || operator === 'and') && isBareValue(right);
}

function isBareValue({ kind }: ExpressionNode): boolean {
  return ['text', 'number', 'money', 'duration', 'date', 'instant', 'clock', 'months'].includes(kind);
}
