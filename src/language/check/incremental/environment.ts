// What every pass of the checker shares: the namespace of all files and what has been resolved so far. Maps are filled
// pass after pass (types, actions, lists, hours, meters); a declaration that could not be resolved stays out of them
// and is then read without a second diagnostic. INVARIANT: what is kept from one set to the next reads the maps by
// `ask` alone, so that it is known what it rests on.

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

/** All declarations but actions. */
export interface Declarations {
  readonly get: (name: string) => NamedDeclaration | undefined;
  /** In the order of files; of those with one name the first. */
  readonly ofKind: <K extends DeclarationKind>(kind: K) => readonly Extract<NamedDeclaration, { kind: K }>[];
}

/** What may be asked about the rest of the set, by a name or key. */
export interface CheckAnswers {
  readonly kind: DeclarationKind | undefined;
  readonly declaration: NamedDeclaration | undefined;
  /** Null: in error. */
  readonly type: Slot | null | undefined;
  readonly list: List | undefined;
  readonly listType: Type | undefined;
  readonly tableKey: Type | undefined;
  readonly tableColumns: readonly Column[] | undefined;
  /** By `formKey`, the name of the list in that form. */
  readonly listForm: string;
  readonly meterType: Type | undefined;
  /** A meter that counts per session. */
  readonly isPerSession: boolean;
  /** A let or list that cannot be followed. */
  readonly isEndless: boolean;
  /** The text of a list file, or why there is none, as a text. */
  readonly listFile: string;
  /** The actions that one pattern matches, as `patternKey` writes it. */
  readonly match: Match;
  /** Those that several patterns match, as `patternsKey` writes them. */
  readonly actions: ActionSet;
  /** Types of the facts about the action; the key is empty. */
  readonly facts: FactTypes;
  readonly shape: Shape | undefined;
  /** By the final id of a let. */
  readonly letValue: Expression | undefined;
  readonly isLetOfSeveralWays: boolean;
}

export interface Environment {
  readonly report: (diagnostic: Diagnostic) => void;
  /** Something refers to the name. */
  readonly use: (name: string) => void;
  /** The place of a rule, claim or declaration in error, which the set does not hold. */
  readonly leaveOut: (span: Span) => void;
  readonly ask: <Q extends keyof CheckAnswers>(question: Q, key: string) => CheckAnswers[Q];
  readonly recorder: Recorder;
  readonly checkState: CheckState;
  readonly declarations: Declarations;
  readonly readListFile: (path: string) => ListFile;
  /** Null: in error. Shared types are inlined where they are named. */
  readonly types: Map<string, Slot | null>;
  readonly actions: Map<string, Action>;
  /** Keys of the actions of each group. */
  readonly groups: Map<string, string[]>;
  readonly approvers: Map<string, Approvers>;
  readonly lists: Map<string, List>;
  readonly tables: Map<string, Table>;
  readonly hours: Map<string, Hours>;
  readonly meters: Map<string, Meter>;
  /** Lets and lists that cannot be followed: in a circle, or too deep. */
  readonly endless: Set<string>;
  /** List files that have been asked for, by path. */
  readonly listFiles: Map<string, ListFile>;
  /** By let, actions, presence and kind of use. */
  readonly variants: Map<string, CheckOutcome>;
  /** By final id, once all are known. */
  readonly lets: Map<string, Let>;
  /** What patterns of this set have been found to match. */
  readonly matches: Map<string, Match>;
  readonly actionSets: Map<string, ActionSet>;
  /** The type of each text that is written, which is the same wherever it stands. */
  readonly textTypes: Map<string, Type>;
}
