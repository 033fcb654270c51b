// The type checker: trees of all files become one policy set in which every name is resolved and every expression
// typed. All problems are reported; the set is null exactly when one of them is an error. INVARIANT: the set does not
// depend on the order of files, declarations or rules.

import { type Diagnostic, hasErrors, sortDiagnostics } from '../diagnostic/diagnostic.ts';
import type { PolicySet } from '../model/policy.ts';
import type { PolicyFile } from '../syntax/tree.ts';
import { resolveActions } from './actions.ts';
import { createEnvironment, type Environment } from './environment.ts';
import { resolveGuarantees } from './guarantees.ts';
import { resolveHours } from './hours.ts';
import { findEndlessLets, finishLets } from './lets.ts';
import { type ReadListFile, resolveLists } from './lists.ts';
import { resolveMeters } from './meters.ts';
import { collectNames } from './names.ts';
import { resolvePolicies } from './policies.ts';
import { warn } from './rules/warn.ts';
import { resolveDeclaredTypes } from './types.ts';
import { checkUnusedLets } from './unused-lets.ts';

export type { ListFile } from './list-files.ts';
export { listFilesOf } from './list-files.ts';

export interface Checked {
  /** Null exactly when something is in error, here or (a gap that the parser reported) in the trees. */
  readonly set: PolicySet | null;
  /** Errors and warnings, sorted by file and position. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Checks the trees of all files of a policy set. `readListFile` gets paths relative to the policy directory, with
 * forward slashes. Never throws, whatever the trees hold.
 */
export function check(files: readonly PolicyFile[], readListFile: ReadListFile): Checked {
  const reported = new Map<string, Diagnostic>();
  const report = (diagnostic: Diagnostic): void => {
    const { code, span, message } = diagnostic;
    const key = JSON.stringify([code, span.file, span.start, span.end, message]);
    if (!reported.has(key)) reported.set(key, diagnostic);
  };
  const env = createEnvironment(collectNames(files, report), report);
  const set = resolve(files, env, readListFile);
  // INVARIANT: no set lacks what its text says. Gaps in a tree have been reported with its syntax.
  const isWhole = env.leftOut.length === 0 && !hasErrors([...reported.values()]);
  if (isWhole) warn(set, files, env);
  return { set: isWhole ? set : null, diagnostics: sortDiagnostics([...reported.values()]) };
}

/** The passes, each on what those before it have resolved. */
function resolve(files: readonly PolicyFile[], env: Environment, readListFile: ReadListFile): PolicySet {
  resolveDeclaredTypes(env);
  resolveActions(files, env);
  resolveApprovers(env);
  resolveLists(env, readListFile);
  resolveHours(env);
  findEndlessLets(env);
  resolveMeters(env);
  const policies = resolvePolicies(files, env);
  const guarantees = resolveGuarantees(files, env);
  checkUnusedLets(env);
  const { lets, rename } = finishLets(env);
  return {
    actions: sorted(env.actions),
    lists: sorted(env.lists),
    hours: sorted(env.hours),
    lets,
    meters: new Map([...sorted(env.meters)].map(([name, meter]) => [name, rename(meter)])),
    approvers: sorted(env.approvers),
    policies: rename(policies),
    guarantees: rename(guarantees),
  };
}

function resolveApprovers(env: Environment): void {
  for (const declaration of env.declarations.values()) {
    if (declaration.kind !== 'approvers') continue;
    const name = declaration.name.text;
    env.approvers.set(name, { name, title: declaration.title.value });
  }
}

function sorted<T>(entries: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
  return new Map([...entries].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}
