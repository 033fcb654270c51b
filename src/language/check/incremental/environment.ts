// The shared state of the checker's passes: the namespace of all files and everything resolved so far. Passes
// fill the maps in turn (types, actions, lists, tables, hours, meters). An unresolvable declaration is absent
// from the maps, and reads of it cause no second diagnostic. INVARIANT: results cached from one set to the
// next read the maps only through `query`, so all their dependencies are recorded.

import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import type { Span } from '../../diagnostic/span.ts';
import type { Expression } from '../../model/expression.ts';
import type { Action, Approvers, Column, Let, List, Meter, Table } from '../../model/policy.ts';
import type { Shape, Slot, Type } from '../../model/type.ts';
import type { ActionDeclaration, Declaration } from '../../syntax/tree/tree.ts';
import type { Hours } from '../../value/hours.ts';
import type { ListFile } from '../messages/list-files.ts';
import type { CheckOutcome, Recorder } from './recorder.ts';
import type { ActionSet, FactTypes, Match } from './resolved.ts';
import type { CheckState } from './state.ts';

export type NamedDeclaration = Exclude<Declaration, ActionDeclaration>;
export type DeclarationKind = NamedDeclaration['kind'];

/** All declarations except actions. */
export interface Declarations {
  readonly get: (name: string) => NamedDeclaration | undefined;
  /**
   * Returns the declarations of one kind, in the order of files. Of several with one name only the first is
   * returned.
   */
  readonly ofKind: <K extends DeclarationKind>(kind: K) => readonly Extract<NamedDeclaration, { kind: K }>[];
}

/** The queries about the rest of the set, each made with a name or key, and the types of their results. */
export interface QueryResults {
  readonly kind: DeclarationKind | undefined;
  readonly declaration: NamedDeclaration | undefined;
  /** A declared type; null when the type is in error, undefined when no type has the name. */
  readonly type: Slot | null | undefined;
  readonly list: List | undefined;
  readonly listType: Type | undefined;
  readonly tableKey: Type | undefined;
  readonly tableColumns: readonly Column[] | undefined;
  /** The name of a list with its entries in another form, by `formKey`. */
  readonly listForm: string;
  readonly meterType: Type | undefined;
  /** Whether the meter counts per session. */
  readonly isPerSession: boolean;
  /** Whether the let or list cannot be followed, because it is in a circle or nests too deep. */
  readonly isEndless: boolean;
  /** The text of a list file, or why the file cannot be read, encoded as one text. */
  readonly listFile: string;
  /** The actions that one pattern matches; the key comes from `patternKey`. */
  readonly match: Match;
  /** The actions that several patterns match; the key comes from `patternsKey`. */
  readonly actions: ActionSet;
  /** The types of the facts about the action; the key is the empty text. */
  readonly facts: FactTypes;
  readonly shape: Shape | undefined;
  /** The expression of a let, by its final id. */
  readonly letValue: Expression | undefined;
  readonly isLetOfSeveralWays: boolean;
}

export interface Environment {
  readonly report: (diagnostic: Diagnostic) => void;
  /** Notes that something refers to the name. */
  readonly use: (name: string) => void;
  /** Notes the place of a rule, claim or declaration in error, which the set then lacks. */
  readonly leaveOut: (span: Span) => void;
  readonly query: <Q extends keyof QueryResults>(question: Q, key: string) => QueryResults[Q];
  readonly recorder: Recorder;
  readonly checkState: CheckState;
  readonly declarations: Declarations;
  readonly readListFile: (path: string) => ListFile;
  /** Declared types; null for a type in error. Uses of a declared type inline it. */
  readonly types: Map<string, Slot | null>;
  readonly actions: Map<string, Action>;
  /** The keys of the actions of each group. */
  readonly groups: Map<string, string[]>;
  readonly approvers: Map<string, Approvers>;
  readonly lists: Map<string, List>;
  readonly tables: Map<string, Table>;
  readonly hours: Map<string, Hours>;
  readonly meters: Map<string, Meter>;
  /** Names of lets and lists that cannot be followed: in a circle, or nested too deep. */
  readonly endless: Set<string>;
  /** The list files that have been read, by path. */
  readonly listFiles: Map<string, ListFile>;
  /** Variants of lets, by name, actions, presence and whether the read is in a meter. */
  readonly variants: Map<string, CheckOutcome>;
  /** Lets by final id; filled once all variants are known. */
  readonly lets: Map<string, Let>;
  /** The actions that each pattern of this set matches, by `patternKey`. */
  readonly matches: Map<string, Match>;
  readonly actionSets: Map<string, ActionSet>;
  /** The type of each written text, which is the same wherever the text occurs. */
  readonly textTypes: Map<string, Type>;
}
