// Finds the declared field whose text an expression reads.

import type { Expression, FieldRead, Quantify } from '../../../model/expression.ts';
import { memo } from '../../../value/memo.ts';
import { behindLets, type ValueOfLet } from '../../logic/constants.ts';
import type { Part } from '../../logic/polarity.ts';

/**
 * Returns the field of a payload or result that holds the text, through lets, `else`, functions of a text and
 * the variables of quantifiers in `parts`. Null for facts, for cells of tables, and for what a function finds
 * in a text, such as the arguments of `commands(...)`.
 */
export function declaredField(
  expression: Expression,
  parts: readonly Part[],
  valueOfLet: ValueOfLet,
): FieldRead | null {
  const node = behindLets(expression, valueOfLet);
  switch (node.kind) {
    case 'else':
      return declaredField(node.subject, parts, valueOfLet);
    case 'call': {
      const [argument] = node.args;
      const isSpelling = node.builtin === 'lower' || node.builtin === 'trim' || node.builtin === 'fold';
      const isOfText = isSpelling || node.builtin === 'first';
      return isOfText && argument !== undefined ? declaredField(argument, parts, valueOfLet) : null;
    }
    case 'field': {
      if (node.root === 'payload' || node.root === 'result') return node;
      const sources = quantifiersIn(parts).get(node.root)?.sources ?? [];
      const isDeclared = sources.some((source) => declaredField(source, parts, valueOfLet) !== null);
      return isDeclared ? node : null;
    }
    default:
      return null;
  }
}

const byParts = new WeakMap<readonly Part[], ReadonlyMap<string, Quantify>>();

/** The quantifiers of a condition by their variables. */
export function quantifiersIn(parts: readonly Part[]): ReadonlyMap<string, Quantify> {
  return memo(
    byParts,
    parts,
    () => new Map(parts.flatMap(({ node }) => (node.kind === 'quantify' ? [[node.variable, node]] : []))),
  );
}
