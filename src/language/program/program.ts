// The decision program: what each action's rules require, as plain data without spans. Names are resolved
// against that one action's shape, and constants are folded. Everything in a program can be printed, compared
// and hashed; nothing can be run. INVARIANT: `mayBeUnknown` is false only when no request of the shape can
// make the node unknown.

import type { Builtin } from '../model/builtins.ts';
import type { FactName } from '../model/expression.ts';
import type { MeterDefinition } from '../model/metering.ts';
import type { Effect, List, Requirement, Table } from '../model/policy.ts';
import type { Truth } from '../model/trace.ts';
import type { Shape, Type } from '../model/type.ts';
import type { Value } from '../model/value.ts';
import type { Hours } from '../value/hours.ts';
import type { Cidr } from '../value/ip.ts';

/**
 * Returns the SHA-256 of bytes. The caller of the compiler passes this function in, because
 * `src/language/program` uses nothing of the platform.
 */
export type Digest = (bytes: Uint8Array) => Uint8Array;

export interface Program {
  /** The actions by key, sorted. */
  readonly actions: ReadonlyMap<string, ActionProgram>;
  /** The lists, tables and hours that some action reads. */
  readonly lists: ReadonlyMap<string, List>;
  readonly tables: ReadonlyMap<string, Table>;
  readonly hours: ReadonlyMap<string, Hours>;
}

export interface ActionProgram {
  readonly action: string;
  readonly shape: Shape;
  /** The action's rules, sorted by id, code point by code point. */
  readonly rules: readonly PlannedRule[];
  /** Values that several places share. A let reads only lets before it. */
  readonly lets: readonly PlannedLet[];
  /** The names of lists, tables, hours and meters that conditions and reasons read, sorted. */
  readonly lists: readonly string[];
  readonly tables: readonly string[];
  readonly hours: readonly string[];
  readonly meters: readonly string[];
  /** The shape of a call's result, by which meters may count; null when the action declares none. */
  readonly result: Shape | null;
  /** What requests add to meters; null when no meter counts or reads the action's requests. */
  readonly metering: ActionMetering | null;
}

/** What a request of an action adds to meters. */
export interface ActionMetering {
  readonly entries: readonly PlannedEntry[];
  /** Values that several entries share. A let reads only lets before it. */
  readonly lets: readonly PlannedLet[];
}

/** What a request adds to one meter. */
export interface PlannedEntry {
  readonly definition: MeterDefinition;
  /** The names of the meters with this definition that the action's rules read, sorted. */
  readonly names: readonly string[];
  /** The values after `per`. All of them have to be known. */
  readonly keys: readonly Term[];
  /**
   * What is counted: `anew` when the meter starts anew with the action, null when the meter does not count
   * the action.
   */
  readonly counted: CountedEntry | 'anew' | null;
}

export interface CountedEntry {
  readonly when: Condition;
  /** The amount to add, or the distinct value; null when requests are counted. */
  readonly argument: Term | null;
  /** The currency of a meter that sums money of one currency, otherwise null. */
  readonly currency: string | null;
}

/** A rule without its condition: what combining needs. */
export interface RuleHead {
  /** The rule's id, `policy/rule`. */
  readonly id: string;
  readonly policy: string;
  readonly effect: Effect;
  readonly isShadow: boolean;
  readonly points: number;
  /**
   * Whether the rule belongs to the second stratum: it is evaluated when the risk is known, and adds nothing
   * to the risk.
   */
  readonly readsRisk: boolean;
  /** The parts of the reason in order: texts, and terms whose values are shown. Never empty. */
  readonly reason: readonly (string | Term)[];
  readonly validForSeconds: number | null;
  readonly requirement: Requirement<Term> | null;
}

export interface PlannedRule extends RuleHead {
  readonly condition: Condition;
}

export interface PlannedLet {
  readonly id: string;
  readonly value: Term;
}

/** The kind of values that a term can have. */
export type Sort = Type['kind'];

/**
 * The place of a value in the payload, in the result of a call, or in the element of a quantifier's variable.
 */
export interface ReadFrom {
  /** `payload`, `result`, or the name of the variable. */
  readonly root: string;
  readonly steps: readonly string[];
  /** False when this action has no such field. The field is then absent, whatever the payload contains. */
  readonly isDeclared: boolean;
  readonly isSigned: boolean;
  readonly signers?: readonly string[];
  readonly isSecret: boolean;
  /** Whether any step may be absent or null although the payload has the shape. */
  readonly mayBeAbsent: boolean;
}

/** The place of an amount's currency. `known` is its value when the shape allows only one, otherwise null. */
export interface CurrencyRead {
  readonly read: ReadFrom;
  readonly known: string | null;
}

/**
 * The elements of a list: JSON as received, or values that are ready to compare. Amounts are not elements:
 * they are in records, beside their currency.
 */
export interface Element {
  readonly sort: Sort;
  readonly encoding: 'json' | 'value';
  /** The elements of an element that is a list itself, otherwise null. */
  readonly element: Element | null;
}

interface Node {
  readonly mayBeUnknown: boolean;
  /** A rough effort, so that cheap conditions are tried first. A comparison of two numbers costs 1. */
  readonly cost: number;
}

interface TermNode extends Node {
  readonly sort: Sort;
  /** The elements of a list; null unless the sort is `list`. */
  readonly element: Element | null;
}

export type Term =
  | LiteralTerm
  | ReadTerm
  /** A field that the action does not declare: absent from every payload that rules see. */
  | (TermNode & { readonly kind: 'absent' })
  | (TermNode & { readonly kind: 'truth'; readonly condition: Condition })
  | (TermNode & { readonly kind: 'fact'; readonly fact: RequestFact })
  | (TermNode & { readonly kind: 'meter'; readonly meter: string; readonly currency: string | Term | null })
  | ColumnTerm
  | (TermNode & { readonly kind: 'now' | 'risk' })
  | (TermNode & { readonly kind: 'let'; readonly index: number })
  | (TermNode & { readonly kind: 'else'; readonly subject: ReadTerm; readonly fallback: Term })
  | (TermNode & {
      readonly kind: 'if';
      readonly condition: Condition;
      readonly whenTrue: Term;
      readonly otherwise: Term;
    })
  | ArithmeticTerm
  | (TermNode & { readonly kind: 'negate'; readonly operand: Term })
  | CountTerm
  | SumTerm
  /** A list that the policy writes out, except a list of constant texts. */
  | (TermNode & { readonly kind: 'list'; readonly elements: readonly Term[] })
  /** A list of constant texts, kept in one piece: policies write out long ones. */
  | (TermNode & { readonly kind: 'text-list'; readonly texts: readonly string[] })
  | (TermNode & { readonly kind: 'call'; readonly builtin: Builtin; readonly args: readonly Term[] });

export interface LiteralTerm extends TermNode {
  readonly kind: 'literal';
  readonly value: Value;
}

export interface ReadTerm extends TermNode {
  readonly kind: 'read';
  readonly read: ReadFrom;
  /** The currency of money in a field; null for other terms. */
  readonly currency: CurrencyRead | null;
}

/** A cell of the row with the key. */
export interface ColumnTerm extends TermNode {
  readonly kind: 'column';
  readonly table: string;
  /** The name of the column, for people; empty when each row is a single value. */
  readonly column: string;
  /** The place of the cell in its row. */
  readonly index: number;
  readonly key: Term;
}

export interface ArithmeticTerm extends TermNode {
  readonly kind: 'arithmetic';
  readonly operator: '+' | '-' | '*' | '/';
  readonly left: Term;
  readonly right: Term;
}

export interface CountTerm extends TermNode {
  readonly kind: 'count';
  readonly variable: string;
  readonly sources: readonly Term[];
  readonly body: Condition;
}

export interface SumTerm extends TermNode {
  readonly kind: 'sum';
  readonly variable: string;
  readonly sources: readonly Term[];
  readonly body: Term;
}

/** The facts that differ between requests of one action. */
export type RequestFact = Exclude<FactName, `action.${string}`>;

export type Condition =
  | (Node & { readonly kind: 'constant'; readonly truth: Truth })
  /** A term of sort `boolean` as a condition. */
  | (Node & { readonly kind: 'flag'; readonly term: Term })
  | (Node & { readonly kind: 'not'; readonly operand: Condition })
  | (Node & { readonly kind: 'and' | 'or'; readonly operands: readonly Condition[] })
  | ComparisonTest
  /** Equality of two conditions. */
  | (Node & { readonly kind: 'same'; readonly left: Condition; readonly right: Condition })
  | (Node & { readonly kind: 'has' | 'is-null'; readonly read: ReadFrom })
  /** Whether the table has the row and the row has the cell. */
  | (Node & { readonly kind: 'has-cell'; readonly cell: ColumnTerm })
  /** Whether a list of texts begins with the constant texts. */
  | (Node & { readonly kind: 'list-prefix'; readonly subject: Term; readonly texts: readonly string[] })
  | InList
  | InTable
  | (Node & { readonly kind: 'in-elements'; readonly subject: Term; readonly elements: Term })
  | (Node & { readonly kind: 'in-hours'; readonly subject: Term; readonly hours: string })
  | (Node & { readonly kind: 'in-cidr'; readonly subject: Term; readonly cidr: Cidr })
  | (Node & { readonly kind: 'like' | 'matches'; readonly subject: Term; readonly pattern: string })
  | (Node & { readonly kind: 'single-script'; readonly subject: Term })
  | TextComparison
  | (Node & { readonly kind: 'mentions-list'; readonly subject: Term; readonly list: string })
  | (Node & { readonly kind: 'mentions-words'; readonly subject: Term; readonly words: readonly string[] })
  | QuantifiedCondition;

/**
 * A comparison. `!=` is `not` of `==`, and a range is two comparisons. Operands are of one sort and never
 * boolean.
 */
export interface ComparisonTest extends Node {
  readonly kind: 'compare';
  readonly operator: '==' | '<' | '<=' | '>' | '>=';
  readonly left: Term;
  readonly right: Term;
}

export interface InList extends Node {
  readonly kind: 'in-list';
  readonly subject: Term;
  readonly list: string;
}

interface InTable extends Node {
  readonly kind: 'in-table';
  readonly subject: Term;
  readonly table: string;
}

/** A term or condition that reads a table. */
export type TableRead = ColumnTerm | InTable;

interface TextComparison extends Node {
  readonly kind: 'text-test';
  readonly operator: 'starts with' | 'ends with' | 'contains' | 'inside';
  readonly left: Term;
  readonly right: Term;
}

export interface QuantifiedCondition extends Node {
  readonly kind: 'some' | 'every';
  readonly variable: string;
  readonly sources: readonly Term[];
  readonly body: Condition;
}
