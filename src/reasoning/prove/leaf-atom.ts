// A condition that reads one leaf. For each value of the leaf, the condition's truth is the one of the
// definition.

import { canonicalMeaning } from '../../language/model/canonical.ts';
import { childrenOf } from '../../language/model/children.ts';
import type { Expression } from '../../language/model/expression.ts';
import type { Value } from '../../language/model/value.ts';
import { type EvaluationScope, evaluateCondition } from '../../language/spec/evaluate.ts';
import { type Decimal, toNumber } from '../../language/value/decimal.ts';
import { type ConditionMeaning, constantOf, placeholder, understand } from '../cells/condition-meaning.ts';
import { isValue, type Leaf, type LeafAtom } from '../cells/leaf.ts';
import type { Pair } from '../solver/circuit.ts';
import { type Elements, noElements, type ProofContext } from './context.ts';
import { leafOf } from './leaves.ts';
import { expressionMeaning, withPlaceholder } from './rewrite.ts';

/** A condition on one leaf. */
export interface LeafCondition {
  readonly leaf: Leaf;
  /** The condition with the placeholder in place of the leaf. */
  readonly rewritten: Expression;
  readonly understood: ConditionMeaning;
  readonly truthAt: LeafAtom['truthAt'];
}

/** Null when the condition reads no leaf or several, or nothing is known about its form. */
export function leafCondition(
  ctx: ProofContext,
  expression: Expression,
  elements: Elements = noElements,
): LeafCondition | null {
  const leaves = leavesIn(ctx, expression, elements);
  const [leaf] = leaves ?? [];
  if (leaf === undefined || leaves!.size !== 1) return null;
  const isLeaf = (part: Expression): boolean => leafOf(ctx, part, elements) === leaf;
  // A condition on the time is kept unchanged: some functions read the time without naming it.
  const rewritten = leaf.key === 'now' ? expression : withPlaceholder(expression, isLeaf);
  const understood = understand(rewritten, ctx.set, leaf.domain);
  if (understood === null) return null;
  if (understood.kind !== 'presence' && readsMoney(expression)) return null;
  return { leaf, rewritten, understood, truthAt: truthOver(ctx, rewritten, leaf) };
}

export function leafAtom(ctx: ProofContext, expression: Expression, elements: Elements): Pair | null {
  const read = leafCondition(ctx, expression, elements);
  if (read === null) return null;
  const { leaf, rewritten, understood } = read;
  // A loose condition on one text is guessed once, whatever name it reads the text by.
  const isOneName = elements.size === 0 && understood.kind !== 'loose';
  const text = isOneName ? expressionMeaning(expression) : canonicalMeaning(rewritten);
  return pushAtom(ctx, leaf, { rewritten, understood, text });
}

/**
 * Adds the atom of a condition in which the placeholder stands for the leaf. Throws when the condition's form
 * is unknown.
 */
export function addAtom(ctx: ProofContext, leaf: Leaf, rewritten: Expression): Pair {
  const text = canonicalMeaning(rewritten);
  const understood = understand(rewritten, ctx.set, leaf.domain);
  if (understood === null) throw new Error(`no cells are known for ${text}`);
  return pushAtom(ctx, leaf, { rewritten, understood, text });
}

interface NewAtom {
  readonly rewritten: Expression;
  readonly understood: ConditionMeaning;
  /** Equal for conditions that mean the same for the leaf. */
  readonly text: string;
}

function pushAtom(ctx: ProofContext, leaf: Leaf, { rewritten, understood, text }: NewAtom): Pair {
  const same = leaf.atomsByText.get(text);
  if (same !== undefined) return same.pair;
  const pair = ctx.circuit.freePair();
  const atom: LeafAtom = {
    text,
    pair,
    understood,
    truthAt: truthOver(ctx, rewritten, leaf),
  };
  leaf.atoms.push(atom);
  leaf.atomsByText.set(text, atom);
  return pair;
}

/**
 * The definition's answer to the condition, by value of the leaf. One scope serves all values, because lists
 * ask for each entry.
 */
function truthOver(ctx: ProofContext, condition: Expression, leaf: Leaf): LeafAtom['truthAt'] {
  const variables = new Map<string, Value>();
  const scopeAt = (nowMs: number): EvaluationScope => ({
    set: ctx.set,
    facts: {
      action: ctx.action.key,
      payload: {},
      agent: {},
      request: {},
      nowMs,
      meters: {},
      satisfied: { escalate: [], reauth: [] },
    },
    risk: { low: 0, high: 100 },
    variables,
  });
  const scope = scopeAt(0);
  return (value) => {
    variables.set(placeholder, value as Value);
    const isTime = leaf.key === 'now' && isValue(value);
    const nowMs = isTime ? Math.round(toNumber(value as Decimal) * 1000) : 0;
    return evaluateCondition(condition, isTime ? scopeAt(nowMs) : scope);
  };
}

/**
 * The leaves that the expression reads; null when it reads anything that is no leaf. `bound` holds the
 * variables of quantifiers over parts of a text.
 */
function leavesIn(
  ctx: ProofContext,
  expression: Expression,
  elements: Elements,
  bound: ReadonlySet<string> = noVariables,
): Set<Leaf> | null {
  const leaf = leafOf(ctx, expression, elements);
  if (leaf !== null) return new Set([leaf]);
  switch (expression.kind) {
    case 'field':
      return bound.has(expression.root) ? new Set() : null;
    case 'let':
      return constantOf(expression, ctx.set) === null ? null : new Set();
    case 'fact':
    case 'meter':
    case 'now':
    case 'risk':
      return null;
    case 'quantify': {
      // Inside another quantifier, the number of rounds would matter, too.
      if (elements.size > 0) return null;
      const inner = new Set(bound).add(expression.variable);
      return union([
        ...expression.sources.map((source) => leavesIn(ctx, source, elements, bound)),
        leavesIn(ctx, expression.body, elements, inner),
      ]);
    }
    default:
      return union(childrenOf(expression).map((part) => leavesIn(ctx, part, elements, bound)));
  }
}

const noVariables: ReadonlySet<string> = new Set();

function union(parts: readonly (Set<Leaf> | null)[]): Set<Leaf> | null {
  return parts.includes(null) ? null : new Set(parts.flatMap((part) => [...part!]));
}

/** Whether the expression reads an amount of money, whose cells know nothing of the currency. */
function readsMoney(expression: Expression): boolean {
  if (expression.kind === 'field' && expression.type.kind === 'money') return true;
  return childrenOf(expression).some(readsMoney);
}
