// Classifies a proposed set by its comparison with the active one. INVARIANT: `narrows` and `no-change` mean that
// every request that the proposed set allows, or lets people allow, was decided as mildly before, that no request
// may newly be decided by chat, and that no guarantee was lost; whatever is not decided counts as widening.

import { isSameMeaning } from '../../language/model/canonical.ts';
import type { Outcome } from '../../language/model/decision.ts';
import { type GuaranteeClause, type PolicySet, type Rule, riskMax } from '../../language/model/policy.ts';
import { isAlike, readsChanged, ruleReadsChanged } from '../../reasoning/diff/declarations.ts';
import type { PolicyDiff } from '../../reasoning/diff/diff.ts';
import type { BothSides } from '../../reasoning/diff/joint-set.ts';
import { remarksOf } from '../../reasoning/diff/remarks.ts';
import {
  type Direction,
  type GuaranteeChange,
  mayReadRisk,
  reportedChatLimits,
} from '../diff/diff-report.ts';
import { chatLimitText } from '../diff/diff-text.ts';

export const classifications = [
  'no-change',
  'narrows',
  'widens-within-guarantees',
  'breaks-guarantee',
] as const;
export type Classification = (typeof classifications)[number];

export interface ClassifiedChange {
  readonly classification: Classification;
  /** What happens to guarantees that are broken, each as a sentence without its period. */
  readonly broken: readonly string[];
  /** What changes besides decisions and only a person can judge, each as a sentence without its period. */
  readonly notes: readonly string[];
}

export interface SetChange {
  readonly sets: BothSides<PolicySet>;
  readonly diff: PolicyDiff;
  readonly guarantees: readonly GuaranteeChange[];
  /** Whether `owners.yaml` differs. */
  readonly areOwnersOther: boolean;
}

export function classify(change: SetChange): ClassifiedChange {
  const { diff, areOwnersOther } = change;
  const broken = [...new Set([...brokenVerdicts(change), ...lostClaims(change)])];
  const undecidable = [
    ...(areOwnersOther ? ['`owners.yaml` changes: who may decide about which actions'] : []),
    ...undecidableParts(change.sets),
  ];
  const { looser, stricter } = chatChanges(change);
  const isWider =
    undecidable.length + looser.length > 0 ||
    !isNothingLooser(diff) ||
    change.guarantees.some((one) => one.old === null && one.new === 'undecided');
  const isNarrower = stricter.length > 0 || diff.findings.some(({ tier }) => tier === 5);
  return {
    classification:
      broken.length > 0
        ? 'breaks-guarantee'
        : isWider
          ? 'widens-within-guarantees'
          : isNarrower
            ? 'narrows'
            : 'no-change',
    broken,
    notes: [...undecidable, ...looser, ...stricter, ...wordings(change)],
  };
}

/** Whether it is proved that no request is decided more mildly. */
function isNothingLooser({ findings, limits }: PolicyDiff): boolean {
  return limits.length === 0 && findings.every(({ tier, example }) => example !== null && tier >= 5);
}

// ---- guarantees

/** Claims that both sides make, or the new one alone, with a worse verdict. */
function brokenVerdicts({ guarantees }: SetChange): readonly string[] {
  return guarantees.flatMap(({ name, text, old, new: now }) => {
    const claim = `\`${name}\`: \`${text}\``;
    if (now === 'refuted' && old !== 'refuted') return [`${claim} does not hold`];
    return now === 'undecided' && old === 'proved' ? [`${claim} is no longer proved`] : [];
  });
}

/** Claims of the old side that the new one does not make, or makes with another meaning. */
function lostClaims(change: SetChange): readonly string[] {
  const { before, after } = change.sets;
  return before.guarantees.flatMap(({ name, actions, claims }) => {
    const kept = actions.filter((action) => after.actions.has(action));
    return claims.flatMap((claim) => {
      const lost = kept.filter((action) => !isClaimed(after, claim, action));
      if (lost.length > 0) return [`\`${name}\` no longer covers ${shown(lost)}`];
      return isWeakened(change, claim) ? [`\`${name}\` reads declarations that change`] : [];
    });
  });
}

function isClaimed({ guarantees }: PolicySet, claim: GuaranteeClause, action: string): boolean {
  return guarantees.some(
    ({ actions, claims }) => actions.includes(action) && claims.some((one) => isSameMeaning(one, claim)),
  );
}

/** Whether the claim may say less than before, although its text is the same. */
function isWeakened({ sets, diff }: SetChange, claim: GuaranteeClause): boolean {
  if (claim.when === null) return false;
  const isRiskOther = remarksOf(sets, diff.changed).some(({ kind }) => kind === 'risk');
  const isOther = readsChanged(claim.when, diff.changed) || (isRiskOther && mayReadRisk(claim.when));
  // What was never allowed is not allowed now, whatever the claim says by now.
  const isKept = claim.mode === 'never' && claim.effect === 'allow' && isNothingLooser(diff);
  return isOther && !isKept;
}

// ---- what is no decision

/** Changes after which other facts reach the decisions, which a comparison by equal facts cannot show. */
function undecidableParts({ before, after }: BothSides<PolicySet>): readonly string[] {
  const tables = [...before.tables.values()].filter(
    ({ name, pushed }) =>
      after.tables.has(name) && !isAlike(pushed ?? {}, after.tables.get(name)?.pushed ?? {}),
  );
  const results = [...before.actions.values()].filter(
    ({ key, result }) =>
      after.actions.has(key) && !isAlike(result ?? {}, after.actions.get(key)?.result ?? {}),
  );
  return [
    ...tables.map(({ name }) => `who pushes rows of the table \`${name}\`, or their form, changes`),
    ...results.map(({ key }) => `the declared result of \`${key}\` changes`),
  ];
}

// ---- decisions by chat

const inBackticks = { code: (text: string) => `\`${text}\`` };

interface ChatChanges {
  readonly looser: readonly string[];
  readonly stricter: readonly string[];
}

/** Changes after which people may decide more, or fewer, requests by chat; each as a sentence without its period. */
function chatChanges({ sets, diff }: SetChange): ChatChanges {
  const limits = reportedChatLimits(sets);
  const textsOf = (direction: Direction): readonly string[] =>
    limits.filter((one) => one.direction === direction).map((one) => chatLimitText(one, inBackticks));
  const isRiskRead = [...sets.after.approvers.values()].some(
    ({ chat }) => chat !== null && chat.maxRisk < riskMax,
  );
  return {
    looser: [
      ...textsOf('loosened'),
      ...(isRiskRead && mayLowerRisk(sets, diff.changed)
        ? ['the risk of some requests may be lower, and groups may decide by chat up to a risk']
        : []),
    ],
    stricter: textsOf('stricter'),
  };
}

/** Whether some request may have a lower risk than before. */
function mayLowerRisk({ before, after }: BothSides<PolicySet>, changed: PolicyDiff['changed']): boolean {
  const [old, now] = [contributionsOf(before), contributionsOf(after)];
  return [...new Set([...old.keys(), ...now.keys()])].some((key) => {
    const [was, is] = [old.get(key), now.get(key)];
    const isSame =
      was !== undefined &&
      is !== undefined &&
      isAlike(was.condition, is.condition) &&
      !ruleReadsChanged(was, changed);
    const [oldPoints, points] = [was?.points ?? 0, is?.points ?? 0];
    return isSame ? points < oldPoints : oldPoints > 0 || points < 0;
  });
}

/** By action and rule, the enforced rules that add to the risk. */
function contributionsOf({ policies }: PolicySet): ReadonlyMap<string, Rule> {
  const rules = new Map<string, Rule>();
  for (const policy of policies)
    for (const rule of policy.rules)
      if (rule.points !== 0 && !rule.isShadow)
        for (const action of policy.actions) rules.set(`${action} ${rule.id}`, rule);
  return rules;
}

/** Changes of what people read before they decide. */
function wordings({ sets, diff }: SetChange): readonly string[] {
  const { before, after } = sets;
  const kept = [...before.actions.values()].flatMap((old) => {
    const now = after.actions.get(old.key);
    return now === undefined ? [] : [{ old, now }];
  });
  const titles = kept.filter(({ old, now }) => !isAlike(old.title ?? {}, now.title ?? {}));
  const shapes = kept.filter(({ old, now }) => !isAlike(old.shape, now.shape));
  const groups = [...before.approvers.values()].filter(
    ({ name, title }) => after.approvers.has(name) && title !== after.approvers.get(name)?.title,
  );
  const reasons = remarksOf(sets, diff.changed).filter(({ kind }) => kind === 'reason');
  // Whoever answers a request reads the reasons of the rules that ask; those of a refusal persuade nobody.
  const isReworded =
    reasons.length > 0 || diff.findings.some(({ from, to }) => isPending(from) && isPending(to));
  return [
    ...titles.map(({ old }) => `the title of \`${old.key}\` changes`),
    ...shapes.map(({ old }) => `the declared fields of \`${old.key}\` change`),
    ...groups.map(({ name }) => `the title of the approval group \`${name}\` changes`),
    ...(isReworded ? ['reasons that people read change'] : []),
  ];
}

function isPending(outcome: Outcome): boolean {
  return outcome === 'ESCALATE' || outcome === 'REAUTH_REQUIRED';
}

const shownMax = 3;

function shown(actions: readonly string[]): string {
  const names = actions.slice(0, shownMax).map((action) => `\`${action}\``);
  return `${names.join(', ')}${actions.length > shownMax ? ` and ${actions.length - shownMax} more` : ''}`;
}
