// A policy set as it is meant: names resolved, sorted by name, independent of how files and lines were arranged.

import type { Span } from '../diagnostic/span.ts';
import type { Hours } from '../value/hours.ts';
import type { MeterWindow } from '../value/meter-window.ts';
import type { TableRows } from '../value/table/rows.ts';
import type { Expression, FieldRead } from './expression.ts';
import type { Title } from './title.ts';
import type { Shape, Type } from './type.ts';
import type { Value } from './value.ts';

export interface PolicySet {
  /** By action key. */
  readonly actions: ReadonlyMap<string, Action>;
  readonly lists: ReadonlyMap<string, List>;
  readonly tables: ReadonlyMap<string, Table>;
  readonly hours: ReadonlyMap<string, Hours>;
  /** By id: a let has one entry for each way in which its uses resolve it. */
  readonly lets: ReadonlyMap<string, Let>;
  readonly meters: ReadonlyMap<string, Meter>;
  readonly approvers: ReadonlyMap<string, Approvers>;
  /** Sorted by name, code point by code point. */
  readonly policies: readonly Policy[];
  readonly guarantees: readonly Guarantee[];
}

export interface Action {
  readonly key: string;
  readonly groups: readonly string[];
  readonly shape: Shape;
  /** Of what a call returns; null where the action does not declare it. */
  readonly result: Shape | null;
  /** Null: the first short fields of the payload say what a request is about. */
  readonly title: Title | null;
  readonly doc: string | null;
  readonly span: Span;
}

export interface List {
  readonly name: string;
  readonly type: Type;
  readonly ignoringCase: boolean;
  /** As written; text of a list that ignores case is not yet folded. */
  readonly entries: readonly Value[];
}

export interface Table {
  readonly name: string;
  /** Text of some kind, or whole numbers; a row is found by the key's text. */
  readonly key: Type;
  /** In the order of their names, as the cells of each row stand; one without a name where a row is one value. */
  readonly columns: readonly Column[];
  /** Null where they are pushed: then they are facts of a request. */
  readonly rows: TableRows | null;
  /** Null where a file or the policy itself holds the rows. */
  readonly pushed: PushedTable | null;
}

/** How rows come to a table as the service runs. */
export interface PushedTable {
  /** Of a row without its key. */
  readonly shape: Shape;
  /** The column by which rows are found, as people name it. */
  readonly keyName: string;
  /** Names of the enforcement points that may push, sorted; people need none. */
  readonly by: readonly string[];
}

export interface Column {
  readonly name: string;
  readonly type: Type;
}

export interface Let {
  readonly id: string;
  readonly name: string;
  readonly expression: Expression;
}

export interface Meter {
  readonly name: string;
  readonly aggregate: 'sum' | 'count' | 'distinct';
  /** Null for `count`. */
  readonly argument: Expression | null;
  /** Where the meter sums money: ISO 4217, or the field of `per` that names the currency. */
  readonly currency: string | FieldRead | null;
  /** Keys of the actions that it counts, sorted. */
  readonly actions: readonly string[];
  readonly when: Expression | null;
  /** Keys of the actions whose grants let it start anew, sorted; it counts none of them. */
  readonly since: readonly string[];
  readonly per: readonly MeterKey[];
  readonly over: MeterWindow;
  /** Whether what it counts depends on what calls return: then a request does not count in its own reading. */
  readonly readsResult: boolean;
  /** What a reading is: a number or money. */
  readonly type: Type;
}

export type MeterKey =
  | { readonly kind: 'agent' | 'owner' | 'session' | 'user' }
  | { readonly kind: 'payload'; readonly read: FieldRead };

export interface Approvers {
  readonly name: string;
  readonly title: string;
}

export interface Policy {
  readonly name: string;
  /** Keys of the actions it speaks of, sorted. */
  readonly actions: readonly string[];
  readonly owner: string | null;
  readonly tags: readonly string[];
  readonly links: readonly string[];
  readonly doc: string | null;
  /** Sorted by name. */
  readonly rules: readonly Rule[];
  readonly span: Span;
}

export function countRules(policies: readonly Pick<Policy, 'rules'>[]): number {
  return policies.reduce((count, { rules }) => count + rules.length, 0);
}

export type Effect = 'allow' | 'deny' | 'escalate' | 'reauth' | 'risk';

/** Whether the rule stops: `deny`, `escalate` or `reauth`. */
export function isGuard({ effect }: Pick<Rule, 'effect'>): boolean {
  return effect === 'deny' || effect === 'escalate' || effect === 'reauth';
}

/** Whether the rule takes part in a decision although its condition is unknown: a guard, or what adds to the risk. */
export function takesPartUnknown(rule: Pick<Rule, 'effect' | 'points'>): boolean {
  return rule.points !== 0 || isGuard(rule);
}

export interface Rule {
  /** `policy/rule`. */
  readonly id: string;
  readonly policy: string;
  readonly name: string;
  readonly effect: Effect;
  /** Evaluated and recorded, never enforced: its own mark, or its policy's. */
  readonly isShadow: boolean;
  /** The policy's `when`, and the rule's, and not its `unless`; a true literal where none is written. */
  readonly condition: Expression;
  /** Of a rule that asks for something, the condition as text, to which approvals are bound; else empty. */
  readonly conditionText: string;
  /** Contribution to risk while the rule is true; 0 where none. */
  readonly points: number;
  /** Its condition reads `risk`, directly or through a let; such a rule contributes none. */
  readonly readsRisk: boolean;
  /** Null: the rule's name in words. */
  readonly reason: Template | null;
  /** Of an `allow ... for`; null where not said. */
  readonly validForSeconds: number | null;
  /** What `escalate`, `reauth` and `allow ... after` ask for; null for the others. */
  readonly requirement: Requirement | null;
  readonly doc: string | null;
  readonly span: Span;
}

export type Requirement =
  | {
      readonly kind: 'approval';
      /** Each of them has to approve; sorted. */
      readonly groups: readonly string[];
      /** Of each group. */
      readonly needs: number;
      /** Who may not approve: the fields that name them, as they are written, such as `payload.asked_by.id`; sorted. */
      readonly except: readonly string[];
      readonly withinSeconds: number;
    }
  /** `withinSeconds` null: a step-up for this very request. */
  | { readonly kind: 'reauth'; readonly withinSeconds: number | null };

/** Texts and the values between them, in order. */
export type Template = readonly (string | Expression)[];

export interface Guarantee {
  readonly name: string;
  readonly actions: readonly string[];
  readonly claims: readonly Claim[];
  readonly span: Span;
}

/** About every request for which its condition is not false. */
export type Claim = (OutcomeClaim | AskClaim) & {
  readonly when: Expression | null;
  /** About those alone for which it is true. No text says so: a summary asks it. */
  readonly isDefinite?: boolean;
  readonly span: Span;
};

export interface OutcomeClaim {
  readonly mode: 'never' | 'always';
  readonly effect: 'allow' | 'deny' | 'escalate' | 'reauth';
  /** Of requests for which nothing that rules ask for has been met. */
  readonly isUnapproved: boolean;
}

/** Whether a request that nothing has been met for waits for so many people of a group. */
export interface AskClaim {
  readonly mode: 'never' | 'always';
  readonly effect: 'ask';
  readonly isUnapproved: true;
  readonly group: string;
  readonly needs: number;
}
