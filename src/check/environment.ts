// What every pass of the checker shares: the namespace of all files and what has been resolved so far. Maps are filled
// pass after pass (types, actions, lists, hours, meters); a declaration that could not be resolved stays out of them
// and is then read without a second diagnostic. INVARIANT: what is kept from one set to the next reads the maps by
// `ask` alone, so that it is known what it rests on.

import type { Diagnostic } from '../diagnostic/diagnostic.ts';
import type { Span } from '../diagnostic/span.ts';
import type { Expression } from '../model/expression.ts';
import type { Action, Approvers, Let, List, Meter } from '../model/policy.ts';
import type { Shape, Slot, Type } from '../model/type.ts';
import type { ActionDeclaration, Declaration, Name } from '../syntax/tree.ts';
import type { Hours } from '../value/hours.ts';
import { type ActionSet, actionSetOf, type Match, matchOf } from './action-sets.ts';
import { nameOfOtherKind, unknownName } from './errors.ts';
import { type FactTypes, factTypes } from './facts.ts';
import type { LetVariant } from './lets.ts';
import type { ListFile } from './list-files.ts';
import { listForm } from './list-forms.ts';
import { type CheckMemory, createRecorder, type Outcome, type Recorder } from './memory.ts';

export type NamedDeclaration = Exclude<Declaration, ActionDeclaration>;
export type DeclarationKind = NamedDeclaration['kind'];

/** What may be asked about the rest of the set, by a name or key. */
export interface Answers {
  readonly kind: DeclarationKind | undefined;
  readonly declaration: NamedDeclaration | undefined;
  /** Null: in error. */
  readonly type: Slot | null | undefined;
  readonly list: List | undefined;
  readonly listType: Type | undefined;
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
  readonly ask: <Q extends keyof Answers>(question: Q, key: string) => Answers[Q];
  readonly recorder: Recorder;
  readonly memory: CheckMemory;
  readonly declarations: ReadonlyMap<string, NamedDeclaration>;
  readonly readListFile: (path: string) => ListFile;
  /** Null: in error. Shared types are inlined where they are named. */
  readonly types: Map<string, Slot | null>;
  readonly actions: Map<string, Action>;
  /** Keys of the actions of each group. */
  readonly groups: Map<string, string[]>;
  readonly approvers: Map<string, Approvers>;
  readonly lists: Map<string, List>;
  readonly hours: Map<string, Hours>;
  readonly meters: Map<string, Meter>;
  /** Lets and lists that cannot be followed: in a circle, or too deep. */
  readonly endless: Set<string>;
  /** List files that have been asked for, by path. */
  readonly listFiles: Map<string, ListFile>;
  /** By let, actions, presence and kind of use. */
  readonly variants: Map<string, Outcome<LetVariant>>;
  /** By final id, once all are known. */
  readonly lets: Map<string, Let>;
  /** What patterns of this set have been found to match. */
  readonly matches: Map<string, Match>;
  readonly actionSets: Map<string, ActionSet>;
  /** The type of each text that is written, which is the same wherever it stands. */
  readonly textTypes: Map<string, Type>;
}

export function createEnvironment(
  declarations: ReadonlyMap<string, NamedDeclaration>,
  readListFile: (path: string) => ListFile,
  memory: CheckMemory,
): Environment {
  const tables: { [Q in keyof Answers]: (key: string) => Answers[Q] } = {
    kind: (name) => declarations.get(name)?.kind,
    declaration: (name) => declarations.get(name),
    type: (name) => env.types.get(name),
    list: (name) => env.lists.get(name),
    listType: (name) => env.lists.get(name)?.type,
    listForm: (key) => listForm(key, env),
    meterType: (name) => env.meters.get(name)?.type,
    isPerSession: (name) => env.meters.get(name)?.per.some(({ kind }) => kind === 'session') === true,
    isEndless: (name) => env.endless.has(name),
    listFile: (path) => textOfListFile(listFileOf(path, env)),
    match: (key) => matchOf(key, env),
    actions: (key) => actionSetOf(key, env),
    facts: () => factTypes(env),
    shape: (key) => env.actions.get(key)?.shape,
    letValue: (id) => env.lets.get(id)?.expression,
    isLetOfSeveralWays: (id) => env.lets.has(`${env.lets.get(id)?.name}#2`),
  };
  const recorder = createRecorder(memory.round, tables);
  const env: Environment = {
    report: recorder.say,
    use: recorder.use,
    leaveOut: recorder.leaveOut,
    // Each table answers what `Answers` says.
    ask: recorder.ask as Environment['ask'],
    recorder,
    memory,
    declarations,
    readListFile,
    types: new Map(),
    actions: new Map(),
    groups: new Map(),
    approvers: new Map(),
    lists: new Map(),
    hours: new Map(),
    meters: new Map(),
    endless: new Set(),
    listFiles: new Map(),
    variants: memory.variants,
    lets: new Map(),
    matches: new Map(),
    actionSets: new Map(),
    textTypes: new Map(),
  };
  return env;
}

/** What came of a part of the tree or the model, made now unless the earlier outcome still holds. */
export function kept<T>(env: Environment, part: object, make: () => T): T {
  const { outcomes } = env.memory;
  // What is kept of a part is always made by the same pass.
  const outcome = env.recorder.keep(outcomes.get(part) as Outcome<T> | undefined, make);
  outcomes.set(part, outcome);
  return outcome.value;
}

/** Whether the kept outcome of a part has parts of its own, such as the lets that it reads. */
export function hasParts(env: Environment, part: object): boolean {
  return env.memory.outcomes.get(part)?.said.some((one) => !('code' in one)) === true;
}

/** What stands under the path, read once in a round. */
export function listFileOf(path: string, env: Environment): ListFile {
  const known = env.listFiles.get(path);
  if (known !== undefined) return known;
  const file = env.readListFile(path);
  env.listFiles.set(path, file);
  return file;
}

/** The text of a list file, or why there is none, as one text. */
export function textOfListFile(file: ListFile): string {
  return 'text' in file ? `=${file.text}` : `!${file.code} ${file.message}`;
}

/** Whether a name stands for a declaration of this kind, marked as used; else a diagnostic says why not. */
export function findDeclared(env: Environment, name: Name, kind: DeclarationKind): boolean {
  if (env.ask('kind', name.text) !== undefined) env.use(name.text);
  return isDeclared(env, name, kind);
}

/** As `findDeclared`, where naming it is no use of it. */
export function isDeclared(env: Environment, name: Name, kind: DeclarationKind): boolean {
  const found = env.ask('kind', name.text);
  if (found === undefined) {
    env.report(unknownName(name, kind, [...namesOf(env, kind), ...(kind === 'approvers' ? ['owner'] : [])]));
    return false;
  }
  if (found !== kind) env.report(nameOfOtherKind(name, found, kind));
  return found === kind;
}

/** All names of a kind, for a suggestion: what rests on them is not kept. */
export function namesOf(env: Environment, kind: DeclarationKind): string[] {
  env.recorder.askTooMuch();
  return declaredNames(env, kind);
}

export function declaredNames({ declarations }: Environment, kind: DeclarationKind): string[] {
  const names: string[] = [];
  for (const [name, declaration] of declarations) if (declaration.kind === kind) names.push(name);
  return names;
}
