// The decision program: what each action's rules ask, as plain data without spans, names resolved against that one
// action's shape, constants folded. Everything here can be printed, compared and hashed; nothing can be run.
// INVARIANT: `mayBeUnknown` is false only where no request of the shape can make the node unknown.

import type { Builtin } from '../model/builtins.ts';
import type { FactName } from '../model/expression.ts';
import type { MeterDefinition } from '../model/metering.ts';
import type { Effect, List, Requirement, Table } from '../model/policy.ts';
import type { Truth } from '../model/trace.ts';
import type { Shape, Type } from '../model/type.ts';
import type { Value } from '../model/value.ts';
import type { Hours } from '../value/hours.ts';
import type { Cidr } from '../value/ip.ts';

/** SHA-256 of the bytes, which the caller of the compiler passes in: this folder uses nothing of the platform. */
export type Digest = (bytes: Uint8Array) => Uint8Array;

export interface Program {
  /** By action key, sorted. */
  readonly actions: ReadonlyMap<string, ActionProgram>;
  /** Those that some action reads. */
  readonly lists: ReadonlyMap<string, List>;
  readonly tables: ReadonlyMap<string, Table>;
  readonly hours: ReadonlyMap<string, Hours>;
}

export interface ActionProgram {
  readonly action: string;
  readonly shape: Shape;
  /** Sorted by id, code point by code point. */
  readonly rules: readonly PlannedRule[];
  /** What several places share; a let reads only those before it. */
  readonly lets: readonly PlannedLet[];
  /** Names of what its conditions and reasons read, sorted. */
  readonly lists: readonly string[];
  readonly tables: readonly string[];
  readonly hours: readonly string[];
  readonly meters: readonly string[];
  /** Of what a call returns, where meters count by it. */
  readonly result: Shape | null;
  /** Null where no meter counts or reads its requests. */
  readonly metering: ActionMetering | null;
}

/** What a request of an action adds to meters. */
export interface ActionMetering {
  readonly entries: readonly PlannedEntry[];
  /** What several entries share; a let reads only those before it. */
  readonly lets: readonly PlannedLet[];
}

/** What a request adds to one meter. */
export interface PlannedEntry {
  readonly definition: MeterDefinition;
  /** Of the meters with this definition that the action's rules read, sorted. */
  readonly names: readonly string[];
  /** All of them have to be known. */
  readonly keys: readonly Term[];
  /** `anew` where the meter starts anew with the action, null where it does not count it. */
  readonly counted: CountedEntry | 'anew' | null;
}

export interface CountedEntry {
  readonly when: Condition;
  /** The amount to add or the value to tell apart; null where requests are counted. */
  readonly argument: Term | null;
  /** Of the meter, where it sums money of one currency. */
  readonly currency: string | null;
}

/** A rule without its condition: what combining asks of it. */
export interface RuleHead {
  /** `policy/rule`. */
  readonly id: string;
  readonly policy: string;
  readonly effect: Effect;
  readonly isShadow: boolean;
  readonly points: number;
  /** Belongs to the second stratum: it is evaluated when the risk is known, and adds nothing to it. */
  readonly readsRisk: boolean;
  /** Texts and shown values in order; never empty. */
  readonly reason: readonly (string | Term)[];
  readonly validForSeconds: number | null;
  readonly requirement: Requirement | null;
}

export interface PlannedRule extends RuleHead {
  readonly condition: Condition;
}

export interface PlannedLet {
  readonly id: string;
  readonly value: Term;
}

/** Which values a term can have. */
export type Sort = Type['kind'];

/** Where a value stands in the payload, or in the element that a quantifier's variable holds. */
export interface ReadFrom {
  /** `payload`, or the variable. */
  readonly root: string;
  readonly steps: readonly string[];
  /** False where this action has no such field, which then is absent whatever the payload holds. */
  readonly isDeclared: boolean;
  readonly isSigned: boolean;
  readonly signers?: readonly string[];
  readonly isSecret: boolean;
  /** Some step may be absent or null though the payload is of the shape. */
  readonly mayBeAbsent: boolean;
}

/** Where an amount's currency stands; `known` is its value where the shape admits only one. */
export interface CurrencyRead {
  readonly read: ReadFrom;
  readonly known: string | null;
}

/** What a list holds: JSON as it came, or values that are ready to compare. Amounts stand in records, beside their currency. */
export interface Element {
  readonly sort: Sort;
  readonly encoding: 'json' | 'value';
  /** What the elements of an element hold, where it is a list itself. */
  readonly element: Element | null;
}

interface Node {
  readonly mayBeUnknown: boolean;
  /** Rough effort, to try cheap conditions first; a comparison of two numbers is 1. */
  readonly cost: number;
}

interface TermNode extends Node {
  readonly sort: Sort;
  /** Null unless the sort is `list`. */
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
  | ArithmeticTerm
  | (TermNode & { readonly kind: 'negate'; readonly operand: Term })
  | CountTerm
  | SumTerm
  | (TermNode & { readonly kind: 'list'; readonly elements: readonly Term[] })
  | (TermNode & { readonly kind: 'call'; readonly builtin: Builtin; readonly args: readonly Term[] });

export interface LiteralTerm extends TermNode {
  readonly kind: 'literal';
  readonly value: Value;
}

export interface ReadTerm extends TermNode {
  readonly kind: 'read';
  readonly read: ReadFrom;
  /** Of money in a field; null otherwise. */
  readonly currency: CurrencyRead | null;
}

/** A cell of the row with the key. */
export interface ColumnTerm extends TermNode {
  readonly kind: 'column';
  readonly table: string;
  /** For people; empty where each row is one value. */
  readonly column: string;
  /** Of the cell in its row. */
  readonly place: number;
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

/** Facts that differ from request to request of one action. */
export type RequestFact = Exclude<FactName, `action.${string}`>;

export type Condition =
  | (Node & { readonly kind: 'constant'; readonly truth: Truth })
  /** A term of sort `boolean`. */
  | (Node & { readonly kind: 'flag'; readonly term: Term })
  | (Node & { readonly kind: 'not'; readonly operand: Condition })
  | (Node & { readonly kind: 'and' | 'or'; readonly operands: readonly Condition[] })
  | ComparisonTest
  /** Equality of two conditions. */
  | (Node & { readonly kind: 'same'; readonly left: Condition; readonly right: Condition })
  | (Node & { readonly kind: 'has' | 'is-null'; readonly read: ReadFrom })
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
  | Quantified;

/** `!=` is `not` of `==`; a range is two comparisons. Operands are of one sort and never boolean. */
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

/** What asks a table. */
export type TableRead = ColumnTerm | InTable;

interface TextComparison extends Node {
  readonly kind: 'text-test';
  readonly operator: 'starts with' | 'ends with' | 'contains' | 'inside';
  readonly left: Term;
  readonly right: Term;
}

export interface Quantified extends Node {
  readonly kind: 'some' | 'every';
  readonly variable: string;
  readonly sources: readonly Term[];
  readonly body: Condition;
}
