// The database of the incremental checker (see `recorder.ts`): the outcome of each check, with its
// dependencies. Each policy set is a revision. INVARIANT: an outcome is reused only when each of its
// dependencies is unchanged, so that no result depends on the state.

import type { DiagnosticsByFile } from '../../diagnostic/by-file.ts';
import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import type { PolicySet } from '../../model/policy.ts';
import type { PolicyFile } from '../../syntax/tree/tree.ts';
import type { NamedDeclaration } from './environment.ts';
import type { CheckOutcome } from './recorder.ts';
import type { Renaming } from './rename.ts';
import type { ActionSet, FactTypes, Match, ResolvedPolicy } from './resolved.ts';
import type { SortedPolicies } from './sorted-policies.ts';

/** Serves one policy directory, and one check at a time. */
export interface CheckState {
  /** The number of sets checked so far. */
  revision: number;
  /** Outcomes by declaration, file or policy. */
  readonly outcomes: WeakMap<object, CheckOutcome>;
  /** Variants of lets, by the way in which they are read. */
  variants: Map<string, CheckOutcome>;
  /** The actions that patterns matched in the last check, by `patternKey`. */
  matches: Map<string, Match>;
  /** Sets of actions of the last check, by their keys. */
  actionSets: Map<string, ActionSet>;
  actionSetsMade: number;
  facts: FactTypes | null;
  /** Findings about the rules for an action or a set of actions, by the action or the set. */
  readonly groupFindings: WeakMap<object, unknown>;
  /** Indices of rules that find which rules follow from others, by purpose. */
  readonly indices: Map<string, unknown>;
  readonly renamings: WeakMap<object, Renaming>;
  /** The parts of the last set, even if it had errors. Equal parts of the next set keep their identity. */
  before: Omit<PolicySet, 'policies' | 'guarantees'>;
  /** For files with lets: the policies with their final ids, by the policies as resolved. */
  readonly renamedFiles: WeakMap<readonly ResolvedPolicy[], readonly ResolvedPolicy[]>;
  names: CollectedNames | null;
  order: SortedPolicies;
  fileDiagnostics: FileDiagnosticsByPath;
  /** The rules about each set of actions, as each file holds them and merged. */
  groups: unknown;
  last: LastCheck | null;
}

/** All declarations except actions, by name, and the problems of the names. */
export interface CollectedNames {
  readonly files: readonly PolicyFile[];
  readonly byName: Map<string, NamedDeclaration>;
  readonly problems: readonly Diagnostic[];
}

/** The lists of diagnostics that parts of the set reported for one file, and the merged list. */
export interface FileDiagnostics {
  readonly lists: readonly (readonly Diagnostic[])[];
  /** All diagnostics of the file, sorted, each once. */
  readonly diagnostics: readonly Diagnostic[];
}

export type FileDiagnosticsByPath = ReadonlyMap<string, FileDiagnostics>;

/** The result of a check. */
export interface CheckedSet {
  /**
   * The checked policy set. Null exactly when something is in error: found by the checker, or a gap in a tree
   * that the parser reported.
   */
  readonly set: PolicySet | null;
  /** Errors and warnings, by file. */
  readonly byFile: DiagnosticsByFile;
  /** All errors and warnings in one list, sorted by file and position. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The input and the result of the last check. */
export interface LastCheck {
  readonly lookedFor: 'errors' | 'warnings';
  readonly files: readonly PolicyFile[];
  /** By path, the text of each list file that was read, or why it could not be read, encoded as one text. */
  readonly listFiles: ReadonlyMap<string, string>;
  readonly checked: CheckedSet;
}

export function createCheckState(): CheckState {
  const none = new Map<never, never>();
  return {
    revision: 0,
    outcomes: new WeakMap(),
    variants: new Map(),
    matches: new Map(),
    actionSets: new Map(),
    actionSetsMade: 0,
    facts: null,
    groupFindings: new WeakMap(),
    indices: new Map(),
    renamings: new WeakMap(),
    last: null,
    before: {
      actions: none,
      lists: none,
      tables: none,
      hours: none,
      lets: none,
      meters: none,
      approvers: none,
    },
    renamedFiles: new WeakMap(),
    names: null,
    order: { byFile: [], sorted: [] },
    fileDiagnostics: none,
    groups: null,
  };
}
