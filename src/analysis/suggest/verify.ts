// Judges a change of policies: it compiles without new warnings, decides the request as wanted, makes no decision
// stricter, and keeps every guarantee with its meaning. INVARIANT: a change that is returned has a diff that is proved to
// be complete, and the request belongs to one of its findings.

import { isDeepStrictEqual } from 'node:util';
import type { Diagnostic } from '../../language/diagnostic/diagnostic.ts';
import type { LinkedFunctions } from '../../language/emit/link.ts';
import { isSameMeaning } from '../../language/model/canonical.ts';
import type { Decision } from '../../language/model/decision.ts';
import type { GuaranteeClause, PolicySet } from '../../language/model/policy.ts';
import type { Facts } from '../../language/model/request.ts';
import { authorize } from '../../language/spec/authorize.ts';
import { refutation } from '../../language/spec/guarantee-clause.ts';
import type { CompileResult, PolicySources } from '../../pipeline.ts';
import { changedDeclarations, readsChanged } from '../../reasoning/diff/declarations.ts';
import { diffPolicies, type PolicyDiff } from '../../reasoning/diff/diff.ts';
import { withLints } from '../../reasoning/lints/lint.ts';
import { decideClauses, type Verdict } from '../../reasoning/prove/prove.ts';
import { holdsDigests, recordedShape } from '../records/recorded-request.ts';

/** A set that decides, with its texts. */
export interface DecidingSet {
  readonly sources: PolicySources;
  readonly compiled: CompileResult;
  readonly set: PolicySet;
  readonly engine: LinkedFunctions;
}

/** Decides a request, which may be a record in which digests replace secrets. */
export function decideBy({ engine }: Pick<DecidingSet, 'engine'>, facts: Facts): Decision {
  return holdsDigests(facts.payload) ? engine.decideRecorded(facts).decision : engine.decide(facts);
}

/** The set by whose definition the request is decided. */
export function definitionFor(set: PolicySet, facts: Facts): PolicySet {
  return holdsDigests(facts.payload) ? recordedShape(set, facts.action).set : set;
}

/** Whether function and definition decide the request with the outcome, against no claim of a guarantee. */
export function isDecidedAs(outcome: Decision['outcome'], changed: DecidingSet, facts: Facts): boolean {
  const decision = decideBy(changed, facts);
  const meant = definitionFor(changed.set, facts);
  if (decision.outcome !== outcome || !isDeepStrictEqual(decision, authorize(meant, facts))) return false;
  return claimsOn(meant, facts.action).every((claim) => refutation(meant, claim, facts) === null);
}

function claimsOn({ guarantees }: PolicySet, action: string): readonly GuaranteeClause[] {
  return guarantees.filter(({ actions }) => actions.includes(action)).flatMap(({ claims }) => claims);
}

/** Whether every claim means the same as before, also by what it reads. */
export function leavesGuarantees({ set: before }: DecidingSet, { set }: DecidingSet): boolean {
  // Lists of patterns are part of what a claim says, other lists are read by it.
  if (!isSameMeaning(before.guarantees, set.guarantees)) return false;
  const changed = changedDeclarations(before, set);
  const claims = set.guarantees.flatMap((guarantee) => guarantee.claims);
  return claims.every(({ when }) => when === null || !readsChanged(when, changed));
}

/** Verdicts and warnings of the unchanged set, each found once. */
export interface Baseline extends DecidingSet {
  readonly verdicts: Map<string, ReadonlyMap<GuaranteeClause, Verdict>>;
  readonly warnings: Map<string, ReadonlySet<string>>;
}

/** The complete diff of a change that is in order; null for any other. The change leaves guarantees as they are. */
export function verifiedDiff(base: Baseline, changed: DecidingSet, facts: Facts): PolicyDiff | null {
  const diff = diffPolicies(base.set, changed.set, { known: [{ name: null, facts }] });
  const isLooser = ({ tier }: PolicyDiff['findings'][number]): boolean => tier !== 5;
  const request = { before: facts, after: facts, holdsDigests: holdsDigests(facts.payload) };
  if (diff.limits.length > 0 || !diff.findings.every(isLooser)) return null;
  if (!diff.findings.some((finding) => finding.isMetBy(request))) return null;
  if (!keepsProofs(base, changed, diff.compared)) return null;
  return newWarnings(base, changed, diff.compared).length === 0 ? diff : null;
}

/** Whether every claim that was proved still is. */
function keepsProofs(base: Baseline, { set }: DecidingSet, actions: readonly string[]): boolean {
  return actions.every((action) => {
    const claims = claimsOn(set, action);
    if (claims.length === 0) return true;
    const before = verdictsOf(base, action);
    const after = decideClauses(set, action, claims);
    return claimsOn(base.set, action).every(
      (claim, at) => before.get(claim)?.kind !== 'proved' || after.get(claims[at]!)?.kind === 'proved',
    );
  });
}

function verdictsOf({ set, verdicts }: Baseline, action: string): ReadonlyMap<GuaranteeClause, Verdict> {
  const cached = verdicts.get(action);
  if (cached !== undefined) return cached;
  const decided = decideClauses(set, action, claimsOn(set, action));
  verdicts.set(action, decided);
  return decided;
}

// ---- warnings

/** The warnings of `writ check --strict` that the unchanged set does not have, about the changed actions. */
function newWarnings(
  base: Baseline,
  changed: DecidingSet,
  actions: readonly string[],
): readonly Diagnostic[] {
  const key = actions.join();
  const known = base.warnings.get(key) ?? new Set(warningsAbout(base, actions).map(textOf));
  base.warnings.set(key, known);
  return warningsAbout(changed, actions).filter((warning) => !known.has(textOf(warning)));
}

function warningsAbout(
  { sources, compiled, set }: DecidingSet,
  actions: readonly string[],
): readonly Diagnostic[] {
  const { files, diagnostics, silenced } = compiled;
  return withLints({ set, files, diagnostics, silenced, actions, texts: sources.files }).diagnostics;
}

function textOf({ code, message }: Diagnostic): string {
  return `${code} ${message}`;
}
