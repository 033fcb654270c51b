// Rewrites what ignores case in terms of folded texts: words in their folded form, and, where a set also reads
// `fold(...)`, lists that ignore case as lists of folded texts.

import { descendants, writtenList } from '../../language/model/children.ts';
import type { Expression } from '../../language/model/expression.ts';
import type { List } from '../../language/model/policy.ts';
import { anyText, listOf } from '../../language/model/type.ts';
import { memo } from '../../language/value/memo.ts';
import { fold } from '../../language/value/text.ts';
import type { Pair } from '../solver/circuit.ts';
import type { Elements, ProofContext } from './context.ts';
import { leafOf } from './leaves.ts';
import { literalNode } from './rewrite.ts';

const wordsMax = 2_000;

/** One atom per folded word, so that lists of words can be compared. */
export function wordsAtom(ctx: ProofContext, expression: Expression, elements: Elements): Pair | null {
  if (expression.kind !== 'mentions') return null;
  const { words: source } = expression;
  const words =
    source.kind === 'words' ? source.words : (ctx.set.lists.get(source.list)?.entries as readonly string[]);
  if (words === undefined || words.length > wordsMax) return null;
  const folded = [...new Set(words.map(fold))];
  if (source.kind === 'words' && folded.length === 1 && words.length === 1 && folded[0] === words[0])
    return null;
  return ctx.circuit.some(
    folded.map((word) => ctx.lower({ ...expression, words: { kind: 'words', words: [word] } }, elements)),
  );
}

/** Membership in a list that ignores case; null where the formula understands the list by itself. */
export function foldedListAtom(ctx: ProofContext, expression: Expression, elements: Elements): Pair | null {
  if (expression.kind !== 'in-list') return null;
  const list = ctx.set.lists.get(expression.list);
  if (list?.ignoringCase !== true || !ctx.folds.areRead) return null;
  const { subject, span } = expression;
  if (leafOf(ctx, subject, elements)?.domain !== 'text') return null;
  const folded: Expression = { kind: 'call', builtin: 'fold', args: [subject], type: anyText, span };
  const texts = memo(foldedLists, list, () => foldedList(list, expression));
  return ctx.lower({ ...expression, kind: 'in-elements', subject: folded, elements: texts }, elements);
}

const foldedLists = new WeakMap<List, Expression>();

function foldedList({ entries }: List, { span }: Expression): Expression {
  const texts = [...new Set((entries as readonly string[]).map(fold))];
  const written = texts.map((text) => literalNode(text, { type: anyText, span }));
  return writtenList(written, { type: listOf(anyText), span });
}

/** Notes whether a condition reads `fold(...)`, before any of them is lowered. */
export function noteFolds(ctx: ProofContext, conditions: readonly Expression[]): void {
  const lets = [...ctx.set.lets.values()].map(({ expression }) => expression);
  const isFold = (part: Expression): boolean => part.kind === 'call' && part.builtin === 'fold';
  ctx.folds.areRead = [...conditions, ...lets].some((condition) => descendants(condition).some(isFold));
}
