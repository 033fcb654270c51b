// What the checker remembers from one policy set to the next: for each thing that it has checked what came of it, and
// every question that it asked about the rest of the set. INVARIANT: an outcome is used again only where each of its
// questions would be answered by the same value as before, so that nothing that comes out depends on the state.

import type { DiagnosticsByFile } from '../../diagnostic/by-file.ts';
import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import type { PolicySet } from '../../model/policy.ts';
import type { PolicyFile } from '../../syntax/tree/tree.ts';
import type { NamedDeclaration } from './environment.ts';
import type { CheckOutcome } from './recorder.ts';
import type { Renaming } from './rename.ts';
import type { ActionSet, FactTypes, Match, ResolvedPolicy } from './resolved.ts';
import type { SortedPolicies } from './sorted-policies.ts';

/** Serves one policy directory and one check at a time. */
export interface CheckState {
  /** How many sets have been checked. */
  round: number;
  /** By declaration of the tree or policy of the model. */
  readonly outcomes: WeakMap<object, CheckOutcome>;
  /** By the way in which they are read. */
  variants: Map<string, CheckOutcome>;
  /** Patterns and the actions that they matched, by how they are written. */
  matches: Map<string, Match>;
  /** By their keys. */
  actionSets: Map<string, ActionSet>;
  actionSetsMade: number;
  facts: FactTypes | null;
  /** By action or set of actions, findings about rules that speak of them. */
  readonly beside: WeakMap<object, unknown>;
  /** By what they are asked for, rules that were filed to find those that follow from others. */
  readonly indices: Map<string, unknown>;
  readonly renamings: WeakMap<object, Renaming>;
  /** The parts of the set before, sound or not, whose equals keep their identity. */
  before: Omit<PolicySet, 'policies' | 'guarantees'>;
  /** Policies of files with lets, by what came of the file: their policies with the final ids. */
  readonly renamedFiles: WeakMap<readonly ResolvedPolicy[], readonly ResolvedPolicy[]>;
  names: CollectedNames | null;
  order: SortedPolicies;
  said: SaidByFile;
  /** By set of actions, the rules about it that each file holds. */
  groups: unknown;
  last: LastCheck | null;
}

/** All declarations but actions, by name, and what is wrong with the names. */
export interface CollectedNames {
  readonly files: readonly PolicyFile[];
  readonly byName: Map<string, NamedDeclaration>;
  readonly problems: readonly Diagnostic[];
}

/** The lists of one file that the parts of a set have said, and what they come to. */
export interface SaidOfFile {
  readonly lists: readonly (readonly Diagnostic[])[];
  /** Sorted, each once. */
  readonly diagnostics: readonly Diagnostic[];
}

export type SaidByFile = ReadonlyMap<string, SaidOfFile>;

/** What checking comes to. */
export interface CheckedSet {
  /** Null exactly when something is in error, here or (a gap that the parser reported) in the trees. */
  readonly set: PolicySet | null;
  /** Errors and warnings. */
  readonly byFile: DiagnosticsByFile;
  /** The same in one list, sorted by file and position. */
  readonly diagnostics: readonly Diagnostic[];
}

/** What the last check was given, and what came of it. */
export interface LastCheck {
  readonly lookedFor: 'errors' | 'warnings';
  readonly files: readonly PolicyFile[];
  /** By path, the text of each list file that was asked for, or why there was none, as a text. */
  readonly listFiles: ReadonlyMap<string, string>;
  readonly checked: CheckedSet;
}

export function createCheckState(): CheckState {
  const none = new Map<never, never>();
  return {
    round: 0,
    outcomes: new WeakMap(),
    variants: new Map(),
    matches: new Map(),
    actionSets: new Map(),
    actionSetsMade: 0,
    facts: null,
    beside: new WeakMap(),
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
    said: none,
    groups: null,
  };
}
