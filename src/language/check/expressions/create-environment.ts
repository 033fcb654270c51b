// Creates the environment of one check: empty maps, and the functions that answer questions about them.

import type { Declarations, Environment, QueryResults } from '../incremental/environment.ts';
import { listFileOf, textOfListFile } from '../incremental/memoized.ts';
import { createRecorder } from '../incremental/recorder.ts';
import type { CheckState } from '../incremental/state.ts';
import { listForm } from '../logic/list-forms.ts';
import type { ListFile } from '../messages/list-files.ts';
import { actionSetOf, matchOf } from './action-sets.ts';
import { factTypes } from './facts.ts';

export function createEnvironment(
  declarations: Declarations,
  readListFile: (path: string) => ListFile,
  checkState: CheckState,
): Environment {
  const tables: { [Q in keyof QueryResults]: (key: string) => QueryResults[Q] } = {
    kind: (name) => declarations.get(name)?.kind,
    declaration: (name) => declarations.get(name),
    type: (name) => env.types.get(name),
    list: (name) => env.lists.get(name),
    listType: (name) => env.lists.get(name)?.type,
    tableKey: (name) => env.tables.get(name)?.key,
    tableColumns: (name) => env.tables.get(name)?.columns,
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
  const recorder = createRecorder(checkState.revision, tables);
  const env: Environment = {
    report: recorder.report,
    use: recorder.use,
    leaveOut: recorder.leaveOut,
    // Each table answers with the type that `QueryResults` declares.
    query: recorder.query as Environment['query'],
    recorder,
    checkState,
    declarations,
    readListFile,
    types: new Map(),
    actions: new Map(),
    groups: new Map(),
    approvers: new Map(),
    lists: new Map(),
    tables: new Map(),
    hours: new Map(),
    meters: new Map(),
    endless: new Set(),
    listFiles: new Map(),
    variants: checkState.variants,
    lets: new Map(),
    matches: new Map(),
    actionSets: new Map(),
    textTypes: new Map(),
  };
  return env;
}
