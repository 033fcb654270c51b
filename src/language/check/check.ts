// The type checker: trees of all files become one policy set in which every name is resolved and every expression
// typed. All problems are reported; the set is null exactly when one of them is an error. INVARIANT: the set does not
// depend on the order of files, declarations or rules, nor on what an earlier check left.

import { type Diagnostic, hasErrors, sortDiagnostics } from '../diagnostic/diagnostic.ts';
import type { Span } from '../diagnostic/span.ts';
import type { Guarantee, Policy, PolicySet } from '../model/policy.ts';
import type { PolicyDeclaration, PolicyFile } from '../syntax/tree/tree.ts';
import { resolveActions } from './declarations/actions.ts';
import { resolveGuarantees } from './declarations/guarantees.ts';
import { resolveHours } from './declarations/hours.ts';
import { resolveLists } from './declarations/lists.ts';
import { resolveMeters } from './declarations/meters.ts';
import { type ResolvedPolicy, resolvePolicies } from './declarations/policies.ts';
import { resolveTables } from './declarations/tables.ts';
import { resolveDeclaredTypes } from './declarations/types.ts';
import { checkUnusedLets } from './declarations/unused-lets.ts';
import { createEnvironment } from './expressions/create-environment.ts';
import { type FinishedLets, findEndlessLets, finishLets, type LetVariant } from './expressions/lets.ts';
import { collectNames } from './expressions/names.ts';
import type { Environment } from './incremental/environment.ts';
import { hasParts, textOfListFile } from './incremental/kept.ts';
import { type CheckOutcome, walkOutcome } from './incremental/recorder.ts';
import { rename } from './incremental/rename.ts';
import { type CheckedSet, type CheckState, createCheckState, type LastCheck } from './incremental/state.ts';
import { sameOrNew } from './logic/same.ts';
import type { ListFile } from './messages/list-files.ts';
import { warn } from './warnings/warn.ts';

export type { ListFile } from './messages/list-files.ts';
export { listFilesOf } from './messages/list-files.ts';

type ReadListFile = (path: string) => ListFile;

/**
 * Checks the trees of all files of a policy set. `readListFile` gets paths relative to the policy directory, with
 * forward slashes. With the state of an earlier check, what has the same tree as then and rests on the same is the
 * same object as then. Never throws, whatever the trees hold.
 */
export function check(
  files: readonly PolicyFile[],
  readListFile: ReadListFile,
  checkState: CheckState = createCheckState(),
): CheckedSet {
  return checkFor('warnings', { files, readListFile, checkState });
}

/** As `check`, for callers that show no warnings: it does not look for them. */
export function checkErrors(
  files: readonly PolicyFile[],
  readListFile: ReadListFile,
  checkState: CheckState = createCheckState(),
): CheckedSet {
  return checkFor('errors', { files, readListFile, checkState });
}

interface ToCheck {
  readonly files: readonly PolicyFile[];
  readonly readListFile: ReadListFile;
  readonly checkState: CheckState;
}

function checkFor(lookFor: LastCheck['lookedFor'], { files, readListFile, checkState }: ToCheck): CheckedSet {
  const { last } = checkState;
  if (last?.lookedFor === lookFor && isAsBefore(last, files, readListFile)) return last.checked;
  checkState.last = null;
  checkState.round += 1;
  const problems: Diagnostic[] = [];
  const names = collectNames(files, (problem) => void problems.push(problem));
  const env = createEnvironment(names, readListFile, checkState);
  const checked = checkIn(env, { files, problems, lookFor });
  const listFiles = [...env.listFiles].map(([path, file]) => [path, textOfListFile(file)] as const);
  checkState.last = { lookedFor: lookFor, files: [...files], listFiles: new Map(listFiles), checked };
  return checked;
}

/** The same trees, and the same text in each list file that was asked for. */
function isAsBefore(last: LastCheck, files: readonly PolicyFile[], readListFile: ReadListFile): boolean {
  if (files.length !== last.files.length || files.some((file, at) => file !== last.files[at])) return false;
  return [...last.listFiles].every(([path, text]) => textOfListFile(readListFile(path)) === text);
}

interface Collected extends Pick<ToCheck, 'files'> {
  readonly problems: readonly Diagnostic[];
  readonly lookFor: LastCheck['lookedFor'];
}

function checkIn(env: Environment, { files, problems, lookFor }: Collected): CheckedSet {
  const said = createGathering();
  for (const problem of problems) said.report(problem);
  const resolution = env.recorder.apart(() => resolve(files, env));
  said.gather(resolution);
  const variants = [...said.variants.values()];
  const read = new Set(variants.map(({ name }) => name));
  said.gather(env.recorder.apart(() => checkUnusedLets(read, env)));
  const { set, declarations } = finish(resolution.value, finishLets(variants, env), env);
  remember(said.outcomes, set, env);
  // INVARIANT: no set lacks what its text says. Gaps in a tree have been reported with its syntax.
  const isWhole = said.leftOut.length === 0 && !hasErrors(said.diagnostics);
  if (isWhole && lookFor === 'warnings')
    said.gather(env.recorder.apart(() => warn({ set, files, env, declarations, used: said.used })));
  return { set: isWhole ? set : null, diagnostics: eachOnce(sortDiagnostics(said.diagnostics)) };
}

/** Sorted diagnostics without those that say the same of the same place as an earlier one. */
function eachOnce(sorted: readonly Diagnostic[]): readonly Diagnostic[] {
  const kept: Diagnostic[] = [];
  for (const one of sorted) {
    let at = kept.length - 1;
    while (at >= 0 && isAtSamePlace(kept[at]!, one) && !saysSame(kept[at]!, one)) at -= 1;
    if (at < 0 || !isAtSamePlace(kept[at]!, one)) kept.push(one);
  }
  return kept;
}

/** What diagnostics are sorted by. */
function isAtSamePlace(a: Diagnostic, b: Diagnostic): boolean {
  return a.span.start === b.span.start && a.code === b.code && a.span.file === b.span.file;
}

function saysSame(a: Diagnostic, b: Diagnostic): boolean {
  return a.span.end === b.span.end && a.message === b.message;
}

/** What has been said of all parts of the set: diagnostics, names that are used, variants of lets. */
interface Gathering {
  readonly used: Set<string>;
  readonly leftOut: Span[];
  readonly variants: Map<string, LetVariant>;
  readonly outcomes: Map<string, CheckOutcome<LetVariant>>;
  readonly diagnostics: readonly Diagnostic[];
  readonly report: (diagnostic: Diagnostic) => void;
  readonly gather: (outcome: CheckOutcome) => void;
}

function createGathering(): Gathering {
  const diagnostics: Diagnostic[] = [];
  const used = new Set<string>();
  const leftOut: Span[] = [];
  const variants = new Map<string, LetVariant>();
  const outcomes = new Map<string, CheckOutcome<LetVariant>>();
  const report = (diagnostic: Diagnostic): void => void diagnostics.push(diagnostic);
  const visit = (outcome: CheckOutcome): void => {
    for (const name of outcome.used) used.add(name);
    for (const span of outcome.leftOut) leftOut.push(span);
    const { value } = outcome;
    if (!isVariant(value)) return;
    variants.set(value.id, value);
    outcomes.set(value.id, outcome as CheckOutcome<LetVariant>);
  };
  const walk = {};
  return {
    used,
    leftOut,
    variants,
    outcomes,
    diagnostics,
    report,
    gather: (outcome) => walkOutcome(outcome, { outcome: visit, said: report }, walk),
  };
}

function isVariant(value: unknown): value is LetVariant {
  return typeof value === 'object' && value !== null && 'inferred' in value;
}

interface Resolved {
  readonly policies: readonly ResolvedPolicy[];
  readonly guarantees: readonly Guarantee[];
}

/** The passes, each on what those before it have resolved. */
function resolve(files: readonly PolicyFile[], env: Environment): Resolved {
  resolveDeclaredTypes(env);
  resolveActions(files, env);
  resolveApprovers(env);
  resolveLists(env);
  resolveTables(env);
  resolveHours(env);
  findEndlessLets(env);
  resolveMeters(env);
  return { policies: resolvePolicies(files, env), guarantees: resolveGuarantees(files, env) };
}

function resolveApprovers(env: Environment): void {
  for (const declaration of env.declarations.values()) {
    if (declaration.kind !== 'approvers') continue;
    const name = declaration.name.text;
    const before = env.checkState.before.approvers.get(name);
    env.approvers.set(name, sameOrNew(before, { name, title: declaration.title.value }));
  }
}

interface Finished {
  readonly set: PolicySet;
  /** From which each policy comes. */
  readonly declarations: ReadonlyMap<Policy, PolicyDeclaration>;
}

/** Everything sorted by name, reads of lets by their final ids. */
function finish({ policies, guarantees }: Resolved, { lets, ids }: FinishedLets, env: Environment): Finished {
  const { renamings } = env.checkState;
  for (const [id, one] of lets) env.lets.set(id, one);
  const declarations = new Map<Policy, PolicyDeclaration>();
  for (const { policy, declaration } of sortedPolicies(policies, env)) {
    declarations.set(hasParts(env, declaration) ? rename(policy, ids, renamings) : policy, declaration);
  }
  const meters = [...sorted(env.meters)].map(
    ([name, meter]) => [name, rename(meter, ids, renamings)] as const,
  );
  const set: PolicySet = {
    actions: sorted(env.actions),
    lists: sorted(env.lists),
    tables: sorted(env.tables),
    hours: sorted(env.hours),
    lets,
    meters: new Map(meters),
    approvers: sorted(env.approvers),
    policies: [...declarations.keys()],
    guarantees: guarantees.map((guarantee) => rename(guarantee, ids, renamings)),
  };
  return { set, declarations };
}

/** Code unit by code unit, as all names are sorted. Names that have not changed keep their previous order. */
function sortedPolicies(
  policies: readonly ResolvedPolicy[],
  { checkState }: Environment,
): readonly ResolvedPolicy[] {
  const { order } = checkState;
  const isAsBefore =
    order.names.length === policies.length &&
    policies.every(({ policy }, at) => policy.name === order.names[at]);
  if (!isAsBefore) {
    const names = policies.map(({ policy }) => policy.name);
    const indices = names.map((_, at) => at);
    const compare = (a: number, b: number): number =>
      names[a]! < names[b]! ? -1 : names[a]! > names[b]! ? 1 : a - b;
    checkState.order = { names, sorted: indices.sort(compare) };
  }
  return checkState.order.sorted.map((at) => policies[at]!);
}

function remember(
  variants: Map<string, CheckOutcome<LetVariant>>,
  set: PolicySet,
  { checkState, ...env }: Environment,
): void {
  checkState.variants = variants;
  checkState.matches = env.matches;
  checkState.actionSets = env.actionSets;
  checkState.before = { ...set, meters: env.meters };
}

function sorted<T>(entries: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
  return new Map([...entries].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}
