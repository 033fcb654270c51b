// The type checker: turns the trees of all files into one policy set in which every name is resolved and
// every expression typed. All problems are reported; the set is null exactly when one of the problems is an
// error. INVARIANT: the set does not depend on the order of files, declarations or rules, nor on the state
// left by an earlier check.

import { inOneList } from '../diagnostic/by-file.ts';
import type { Diagnostic } from '../diagnostic/diagnostic.ts';
import { approverText } from '../model/approvers.ts';
import type {
  AskClause,
  Guarantee,
  GuaranteeClause,
  NeverStandingClause,
  OutcomeClause,
  PolicySet,
} from '../model/policy.ts';
import { declarationsOfKind } from '../syntax/tree/by-kind.ts';
import type {
  GuaranteeClauseNode,
  GuaranteeDeclaration,
  PolicyDeclaration,
  PolicyFile,
} from '../syntax/tree/tree.ts';
import { createCollector } from './collect-diagnostics.ts';
import { resolveActions } from './declarations/actions.ts';
import { readApprovalClause, readPeople } from './declarations/approval-clause.ts';
import { resolveApprovers } from './declarations/approvers.ts';
import { resolveHours } from './declarations/hours.ts';
import { resolveLists } from './declarations/lists.ts';
import { resolveMeters } from './declarations/meters.ts';
import { type FilePolicies, resolvePolicies } from './declarations/policies.ts';
import { resolveTables } from './declarations/tables.ts';
import { checkUnusedLets } from './declarations/unused-lets.ts';
import { type Context, inferCondition } from './expressions/context.ts';
import { createEnvironment } from './expressions/create-environment.ts';
import { type FinishedLets, findEndlessLets, finishLets, type LetVariant } from './expressions/lets.ts';
import { negated } from './expressions/logic.ts';
import { collectNames, declarationsOf } from './expressions/names.ts';
import { matchedActions } from './expressions/patterns.ts';
import { contextOver } from './expressions/scope.ts';
import { resolveDeclaredTypes } from './expressions/types.ts';
import type { Environment } from './incremental/environment.ts';
import { memoized, textOfListFile } from './incremental/memoized.ts';
import type { CheckOutcome } from './incremental/recorder.ts';
import { rename } from './incremental/rename.ts';
import type { ResolvedPolicy } from './incremental/resolved.ts';
import { sortPolicies } from './incremental/sorted-policies.ts';
import { type CheckedSet, type CheckState, createCheckState, type LastCheck } from './incremental/state.ts';
import { claimOfSeveral, unapprovedMisplaced } from './messages/errors.ts';
import type { ListFile } from './messages/list-files.ts';
import { standingInClaim } from './messages/standing-errors.ts';
import { warn, warnOfPolicies } from './warnings/warn.ts';

export type { ListFile } from './messages/list-files.ts';
export { listFilesOf } from './messages/list-files.ts';

type ReadListFile = (path: string) => ListFile;

/**
 * Checks the trees of all files of a policy set. `readListFile` gets paths relative to the policy directory,
 * with forward slashes. With the state of an earlier check, a result whose tree and inputs have not changed
 * is the same object as before. Never throws, whatever the trees hold.
 */
export function check(
  files: readonly PolicyFile[],
  readListFile: ReadListFile,
  checkState: CheckState = createCheckState(),
): CheckedSet {
  return checkFor('warnings', { files, readListFile, checkState });
}

/** As `check`, for callers that show no warnings: only errors are looked for. */
export function checkErrors(
  files: readonly PolicyFile[],
  readListFile: ReadListFile,
  checkState: CheckState = createCheckState(),
): CheckedSet {
  return checkFor('errors', { files, readListFile, checkState });
}

/**
 * As `checkErrors`, but checks the contents of only the files in `paths`, against the declarations of all
 * `files`. Diagnostics in lets that these files do not read are left out. Takes a fraction of the time of
 * `checkErrors` and keeps no state. The returned set is always null.
 */
export function checkErrorsIn(
  paths: ReadonlySet<string>,
  files: readonly PolicyFile[],
  readListFile: ReadListFile,
): CheckedSet {
  const checkState = createCheckState();
  const names = collectNames(files, checkState.names);
  const env = createEnvironment(declarationsOf(names), readListFile, checkState);
  const gathered = createCollector();
  gathered.report(names.problems);
  const examined = files.filter(({ span }) => paths.has(span.file));
  gathered.gather(env.recorder.detached(() => resolveDeclarations(files, env)));
  gathered.gather(env.recorder.detached(() => resolveRules(examined, env)));
  const byFile = new Map(
    [...gathered.diagnosticsAfter(checkState.fileDiagnostics)]
      .filter(([file]) => paths.has(file))
      .map(([file, { diagnostics }]) => [file, diagnostics] as const),
  );
  return { set: null, byFile, diagnostics: inOneList(byFile) };
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
  checkState.revision += 1;
  const names = collectNames(files, checkState.names);
  checkState.names = names;
  const env = createEnvironment(declarationsOf(names), readListFile, checkState);
  const checked = checkIn(env, { files, problems: names.problems, lookFor });
  const listFiles = [...env.listFiles].map(([path, file]) => [path, textOfListFile(file)] as const);
  checkState.last = { lookedFor: lookFor, files: [...files], listFiles: new Map(listFiles), checked };
  return checked;
}

/** Whether the trees, and the text of each list file that the last check read, are the same as then. */
function isAsBefore(last: LastCheck, files: readonly PolicyFile[], readListFile: ReadListFile): boolean {
  if (files.length !== last.files.length || files.some((file, at) => file !== last.files[at])) return false;
  return [...last.listFiles].every(([path, text]) => textOfListFile(readListFile(path)) === text);
}

interface CheckScope extends Pick<ToCheck, 'files'> {
  readonly problems: readonly Diagnostic[];
  readonly lookFor: LastCheck['lookedFor'];
}

function checkIn(env: Environment, { files, problems, lookFor }: CheckScope): CheckedSet {
  const gathered = createCollector();
  gathered.report(problems);
  gathered.gather(env.recorder.detached(() => resolveDeclarations(files, env)));
  const areDeclarationsWhole = gathered.isWhole();
  const resolution = env.recorder.detached(() => resolveRules(files, env));
  gathered.gather(resolution);
  const variants = [...gathered.variants.values()];
  const read = new Set([...gathered.used, ...variants.map(({ name }) => name)]);
  gathered.gather(env.recorder.detached(() => checkUnusedLets(read, env)));
  const { set, policies } = finish(resolution.value, finishLets(variants, env), env);
  remember(gathered.outcomes, set, env);
  // INVARIANT: a set that is returned lacks nothing that its text holds. The parser has already reported gaps
  // in a tree.
  const isWhole = gathered.isWhole();
  if (isWhole && lookFor === 'warnings')
    gathered.gather(env.recorder.detached(() => warn({ set, files, env, policies, used: gathered.used })));
  else if (areDeclarationsWhole && lookFor === 'warnings') {
    const wholePolicies = policies.flat().filter(({ declaration }) => isWithoutError(declaration, env));
    gathered.gather(env.recorder.detached(() => warnOfPolicies(wholePolicies, env)));
  }
  const { checkState } = env;
  checkState.fileDiagnostics = gathered.diagnosticsAfter(checkState.fileDiagnostics);
  const byFile = new Map(
    [...checkState.fileDiagnostics].map(([file, one]) => [file, one.diagnostics] as const),
  );
  return { set: isWhole ? set : null, byFile, diagnostics: inOneList(byFile) };
}

interface ResolvedFile {
  readonly policies: readonly FilePolicies[];
  readonly guarantees: readonly Guarantee[];
}

/** Runs the passes over everything that rules can read, in order, each on the results of those before. */
function resolveDeclarations(files: readonly PolicyFile[], env: Environment): void {
  resolveDeclaredTypes(env);
  resolveActions(files, env);
  resolveApprovers(env);
  resolveLists(env);
  resolveTables(env);
  resolveHours(env);
  findEndlessLets(env);
  resolveMeters(env);
}

function resolveRules(files: readonly PolicyFile[], env: Environment): ResolvedFile {
  return { policies: resolvePolicies(files, env), guarantees: resolveGuarantees(files, env) };
}

/** Whether the policy and the lets that it reads are without errors. */
function isWithoutError(declaration: PolicyDeclaration, { checkState }: Environment): boolean {
  const outcome = checkState.outcomes.get(declaration);
  const gathered = createCollector();
  if (outcome !== undefined) gathered.gather(outcome);
  return gathered.isWhole();
}

interface FinalSet {
  readonly set: PolicySet;
  /** The policies of each file, with their declarations. */
  readonly policies: readonly (readonly ResolvedPolicy[])[];
}

/** Builds the set: everything is sorted by name, and reads of lets get their final ids. */
function finish(resolved: ResolvedFile, { lets, ids }: FinishedLets, env: Environment): FinalSet {
  const { checkState } = env;
  const { renamings } = checkState;
  for (const [id, one] of lets) env.lets.set(id, one);
  const policies = resolved.policies.map((one) => (one.hasLets ? renameIn(one, ids, env) : one.policies));
  checkState.order = sortPolicies(policies, checkState.order);
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
    policies: checkState.order.sorted,
    guarantees: resolved.guarantees.map((guarantee) => rename(guarantee, ids, renamings)),
  };
  return { set, policies };
}

/**
 * Gives the policies of one file the final ids of their lets; returns the same array as before when no policy
 * has changed.
 */
function renameIn(
  { policies }: FilePolicies,
  ids: ReadonlyMap<string, string>,
  { checkState: { renamings, renamedFiles } }: Environment,
): readonly ResolvedPolicy[] {
  const named = policies.map(({ policy }) => rename(policy, ids, renamings));
  const before = renamedFiles.get(policies);
  if (before?.every(({ policy }, at) => policy === named[at]) === true) return before;
  const renamed = policies.map(({ declaration }, at) => ({ declaration, policy: named[at]! }));
  renamedFiles.set(policies, renamed);
  return renamed;
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

/** Returns the guarantees sorted by name, without claims in error. */
function resolveGuarantees(files: readonly PolicyFile[], env: Environment): readonly Guarantee[] {
  const guarantees: Guarantee[] = [];
  for (const file of files) {
    for (const declaration of declarationsOfKind(file, 'guarantee')) {
      guarantees.push(memoized(env, declaration, () => resolveGuarantee(declaration, env)));
    }
  }
  return guarantees.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function resolveGuarantee(declaration: GuaranteeDeclaration, env: Environment): Guarantee {
  const actions = matchedActions(declaration.patterns, [], env);
  const ctx = contextOver(actions, env);
  const claims = declaration.claims.flatMap((claim) => resolveClause(claim, ctx));
  return { name: declaration.name.text, actions: actions.keys, claims, span: declaration.span };
}

function resolveClause(node: GuaranteeClauseNode, ctx: Context): readonly GuaranteeClause[] {
  const claim = readClause(node, ctx);
  const written = node.when === null ? null : inferCondition(node.when, ctx).expression;
  // An `only` claim becomes a `never` claim: what is allowed only when a condition is true is never allowed
  // when the condition is false.
  const when = node.mode === 'only' && written !== null ? negated(written, written.span) : written;
  const isMissing = when === null && (node.when !== null || node.mode === 'only');
  if (claim !== null && !isMissing) return [{ ...claim, when, span: node.span }];
  ctx.env.leaveOut(node.span);
  return [];
}

/** Returns what the claim states; null once a problem of the claim has been reported. */
function readClause(
  node: GuaranteeClauseNode,
  ctx: Context,
): OutcomeClause | AskClause | NeverStandingClause | null {
  const { mode, effect, isUnapproved } = node;
  if (effect === 'ask') return readAskClause(node, ctx);
  if (effect === 'standing') {
    if (mode === 'never') return { mode, effect, isUnapproved: true };
    ctx.env.report(standingInClaim(node.span));
    return null;
  }
  if (isUnapproved && (mode === 'always' || effect !== 'allow')) ctx.env.report(unapprovedMisplaced(node));
  return { mode: mode === 'only' ? 'never' : mode, effect, isUnapproved };
}

function readAskClause({ mode, asked, people }: GuaranteeClauseNode, ctx: Context): AskClause | null {
  const whom = asked && readApprovalClause(asked, ctx);
  const needs = readPeople(people, ctx.env);
  if (asked === null || whom === null || needs === null) return null;
  const [group, other] = whom.groups;
  if (group === undefined || other !== undefined) {
    ctx.env.report(claimOfSeveral(asked.span));
    return null;
  }
  const [choice] = whom.choices ?? [];
  return {
    mode: mode === 'never' ? 'never' : 'always',
    effect: 'ask',
    isUnapproved: true,
    group,
    ...(choice && { anyOf: choice.anyOf.map(approverText) }),
    needs,
  };
}
