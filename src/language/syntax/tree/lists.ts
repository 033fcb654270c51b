// Lists of the tree. INVARIANT: a list of two texts or more, all in double quotes, is a `text-list`, however it
// is laid out.

import { type Span, spanAt, spansOf } from '../../diagnostic/span.ts';
import type { ExpressionNode, ListExpression, TextListExpression } from './tree.ts';

/** Makes a list, in one piece if it can be. */
export function listOfEntries(
  entries: readonly ExpressionNode[],
  span: Span,
): ListExpression | TextListExpression {
  const texts: string[] = [];
  for (const entry of entries) if (entry.kind === 'text' && !entry.isRaw) texts.push(entry.value);
  if (texts.length < 2 || texts.length < entries.length) return { kind: 'list-literal', entries, span };
  return { kind: 'text-list', texts, spans: spansOf(entries), span };
}

/** The entries of a list, one by one. */
export function writtenEntries(list: ListExpression | TextListExpression): readonly ExpressionNode[] {
  if (list.kind === 'list-literal') return list.entries;
  const { texts, spans } = list;
  return texts.map((value, at) => ({ kind: 'text', value, isRaw: false, span: spanAt(spans, at) }));
}
