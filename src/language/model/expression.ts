// Expressions with every name resolved and every node typed. Several spellings become one kind: `not in` is
// `not` of `in`, `no` is `not` of `some`, `x != null` is `not` of `is-null`.

import type { Span, Spans } from '../diagnostic/span.ts';
import type { Cidr } from '../value/ip.ts';
import type { Builtin } from './builtins.ts';
import type { Type } from './type.ts';
import type { Value } from './value.ts';

interface Node {
  readonly type: Type;
  readonly span: Span;
}

export type Expression =
  | Literal
  | FieldRead
  | FactRead
  | MeterRead
  | ColumnRead
  | LetRead
  | (Node & { readonly kind: 'now' })
  /**
   * The clamped sum of contributions; an interval when one of them is unknown. Compared with constants only.
   */
  | (Node & { readonly kind: 'risk' })
  | (Node & { readonly kind: 'not'; readonly operand: Expression })
  | (Node & { readonly kind: 'and' | 'or'; readonly operands: readonly Expression[] })
  | Compare
  | (Node & { readonly kind: 'is-null'; readonly subject: FieldRead })
  | (Node & { readonly kind: 'has'; readonly subject: FieldRead })
  | (Node & { readonly kind: 'else'; readonly subject: FieldRead; readonly fallback: Expression })
  /** Whether a table has the row and the row has the cell. */
  | (Node & { readonly kind: 'has-cell'; readonly cell: ColumnRead })
  | Conditional
  /** Membership in a declared list, by its name. */
  | (Node & { readonly kind: 'in-list'; readonly subject: Expression; readonly list: string })
  /** Whether a declared table has a row with this key. */
  | (Node & { readonly kind: 'in-table'; readonly subject: Expression; readonly table: string })
  /** Membership among the elements of a list-typed expression. */
  | (Node & { readonly kind: 'in-elements'; readonly subject: Expression; readonly elements: Expression })
  /** A range that includes both ends. */
  | (Node & {
      readonly kind: 'in-range';
      readonly subject: Expression;
      readonly low: Expression;
      readonly high: Expression;
    })
  | (Node & { readonly kind: 'in-hours'; readonly subject: Expression; readonly hours: string })
  | (Node & { readonly kind: 'in-cidr'; readonly subject: Expression; readonly cidr: Cidr })
  | (Node & { readonly kind: 'like' | 'matches'; readonly subject: Expression; readonly pattern: string })
  | TextTest
  /** Whether all letters of a text belong to one script (`isSingleScript`). */
  | (Node & { readonly kind: 'single-script'; readonly subject: Expression })
  /** Tests for whole words of a text, case-folded, from a declared list of texts or from constant words. */
  | (Node & { readonly kind: 'mentions'; readonly subject: Expression; readonly words: WordSource })
  /** Whether a list of texts begins with constant texts. */
  | (Node & { readonly kind: 'list-prefix'; readonly subject: Expression; readonly texts: readonly string[] })
  | Arithmetic
  | (Node & { readonly kind: 'negate'; readonly operand: Expression })
  | Quantify
  /** A list that is written out, except a list of constant texts. */
  | (Node & { readonly kind: 'list'; readonly elements: readonly Expression[] })
  | TextList
  | Call;

export interface Literal extends Node {
  readonly kind: 'literal';
  readonly value: Value;
}

/** A list of constant texts, kept in one piece: policies write out long ones. See `writtenList`. */
export interface TextList extends Node {
  readonly kind: 'text-list';
  readonly texts: readonly string[];
  readonly spans: Spans;
}

/**
 * A read of a payload field, or of a quantifier's variable (`steps` may then be empty). The checker has
 * verified that the field is present wherever its value can matter; a field that is absent all the same reads
 * as unknown.
 */
export interface FieldRead extends Node {
  readonly kind: 'field';
  /** `payload`, `result` in meters, or the quantifier's variable. */
  readonly root: string;
  readonly steps: readonly string[];
  /** Whether a step passes a `signed` slot: the value is unknown unless all required signers vouch for it. */
  readonly isSigned: boolean;
  readonly signers?: readonly string[];
  readonly isSecret: boolean;
}

/**
 * A fact from the registry or the host. Facts about `agent` and `request` may be unknown; those about
 * `action` are always known.
 */
export interface FactRead extends Node {
  readonly kind: 'fact';
  readonly fact: FactName;
}

export type FactName =
  | 'agent.id'
  | 'agent.name'
  | 'agent.risk_tier'
  | 'agent.control_owner'
  | 'request.ip'
  | 'request.signed'
  | 'request.session'
  | 'request.point'
  | 'request.delegated'
  | 'request.delegate'
  | 'request.user.id'
  | 'request.user.email'
  | ListFact
  | 'action.key'
  | 'action.area'
  | 'action.verb';

/** Facts that are lists of texts. */
const listFacts = ['agent.tags', 'request.chain', 'request.user.roles', 'request.user.groups'] as const;
export type ListFact = (typeof listFacts)[number];

export function isListFact(fact: FactName): fact is ListFact {
  return listFacts.some((one) => one === fact);
}

export interface MeterRead extends Node {
  readonly kind: 'meter';
  readonly meter: string;
}

/** A cell of a declared table; unknown when there is no row with the key, and when the row lacks the cell. */
export interface ColumnRead extends Node {
  readonly kind: 'column';
  readonly table: string;
  readonly key: Expression;
  /** The name of the column; empty when each row of the table is one value. */
  readonly column: string;
}

/** A let, evaluated at most once for a request. `id` names an entry of the set's lets. */
export interface LetRead extends Node {
  readonly kind: 'let';
  readonly id: string;
}

export type ComparisonOperator = '==' | '!=' | '<' | '<=' | '>' | '>=';

/** For each operator its negation: true exactly when the operator is false, for known operands. */
export const oppositeComparison = {
  '==': '!=',
  '!=': '==',
  '<': '>=',
  '<=': '>',
  '>': '<=',
  '>=': '<',
} as const satisfies Record<ComparisonOperator, ComparisonOperator>;

/** For each operator its mirror image, which has the same meaning when the two sides are exchanged. */
export const mirroredComparison = {
  '==': '==',
  '!=': '!=',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
} as const satisfies Record<ComparisonOperator, ComparisonOperator>;

export interface Compare extends Node {
  readonly kind: 'compare';
  readonly operator: ComparisonOperator;
  readonly left: Expression;
  readonly right: Expression;
}

export interface TextTest extends Node {
  readonly kind: 'text-test';
  readonly operator: 'starts with' | 'ends with' | 'contains' | 'inside';
  readonly left: Expression;
  readonly right: Expression;
}

export type WordSource =
  | { readonly kind: 'list'; readonly list: string }
  | { readonly kind: 'words'; readonly words: readonly string[] };

/**
 * A value of two, by a condition; never boolean, because such a conditional is written with `and` and `or`.
 * Unknown when the condition is unknown.
 */
export interface Conditional extends Node {
  readonly kind: 'if';
  readonly condition: Expression;
  readonly whenTrue: Expression;
  readonly otherwise: Expression;
}

export interface Arithmetic extends Node {
  readonly kind: 'arithmetic';
  readonly operator: '+' | '-' | '*' | '/';
  readonly left: Expression;
  readonly right: Expression;
}

/** A quantifier over the elements of all sources in order; an absent or null source counts as empty. */
export interface Quantify extends Node {
  readonly kind: 'quantify';
  readonly quantifier: 'some' | 'every' | 'count' | 'sum';
  readonly variable: string;
  /**
   * Expressions of list type: field reads, list literals, list facts, table cells, `links(...)` and
   * `commands(...)`.
   */
  readonly sources: readonly Expression[];
  readonly body: Expression;
}

export interface Call extends Node {
  readonly kind: 'call';
  readonly builtin: Builtin;
  /** The arguments; for `date` and `today` the last is the time zone as a text literal. */
  readonly args: readonly Expression[];
}
