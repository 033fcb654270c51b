// What becomes of a set's guarantees, as people and programs read it: proved, refuted by a request that can be replayed,
// or undecided, with the conditions that were guessed and what trials say.

import { escapeForTerminal, position, type SourceOf } from '../../../language/diagnostic/render.ts';
import type { Span } from '../../../language/diagnostic/span.ts';
import type { Decision } from '../../../language/model/decision.ts';
import type { Claim, PolicySet } from '../../../language/model/policy.ts';
import type { Facts } from '../../../language/model/request.ts';
import { formatDecimal } from '../../../language/value/decimal.ts';
import {
  isHardlyTried,
  type Trial,
  trialRequestsDefault,
  tryGuarantees,
} from '../../../reasoning/guarantees/try.ts';
import {
  type ClaimVerdict,
  proveGuarantees,
  type Verdict,
  type Why,
} from '../../../reasoning/prove/prove.ts';
import { createMarks } from '../output/output.ts';

export interface JudgedClaim extends ClaimVerdict {
  /** Of an undecided claim, and of every one where trials are asked for. */
  readonly trial: Trial | null;
  readonly counterexample: { readonly facts: Facts; readonly decision: Decision } | null;
}

export interface JudgeOptions {
  readonly decide: (facts: Facts) => Decision;
  /** Requests on which each claim is tried beside the proof. */
  readonly trials?: number | undefined;
}

/** One a claim, in the order of the set. */
export function judgeGuarantees(set: PolicySet, { decide, trials }: JudgeOptions): readonly JudgedClaim[] {
  const verdicts = proveGuarantees(set);
  const isTried = ({ kind }: ClaimVerdict): boolean => trials !== undefined || kind === 'undecided';
  const tried = tryGuarantees(set, {
    decide,
    requests: trials ?? trialRequestsDefault,
    claims: new Set(verdicts.filter(isTried).map(({ claim }) => claim)),
  });
  const byClaim = new Map<Claim, Trial>(tried.map((trial) => [trial.claim, trial]));
  return verdicts.map((verdict) => withTrial(verdict, byClaim.get(verdict.claim) ?? null));
}

/** What a trial finds is decided by the definition, and outweighs whatever else was said. */
function withTrial(verdict: ClaimVerdict, trial: Trial | null): JudgedClaim {
  const refuted = verdict.verdicts.find((one) => one.kind === 'refuted');
  const counterexample = refuted?.kind === 'refuted' ? refuted : (trial?.counterexample ?? null);
  const kind = counterexample === null ? verdict.kind : 'refuted';
  return { ...verdict, kind, trial, counterexample };
}

export function isGoodClaim({ kind }: JudgedClaim, isStrict: boolean): boolean {
  return kind === 'proved' || (kind === 'undecided' && !isStrict);
}

/** A line a claim; below one that is refuted the request that does it, as `writ decide` takes it. */
export function renderClaims(judged: readonly JudgedClaim[], sourceOf: SourceOf): string {
  return judged.map((one) => renderClaim(one, sourceOf)).join('');
}

function renderClaim(judged: JudgedClaim, sourceOf: SourceOf): string {
  const marks = createMarks();
  const { guarantee, claim, trial } = judged;
  const start = `${guarantee.name}: ${escapeForTerminal(claimText(claim, sourceOf))}`;
  const place = `${claim.span.file}:${position(sourceOf(claim.span.file) ?? '', claim.span.start).line}`;
  const tried = trial === null ? '' : `; ${trialText(trial)}`;
  switch (judged.kind) {
    case 'proved':
      return `${marks.good('✓')} ${start} ${marks.faint(`proved for all requests${tried}`)}\n`;
    case 'refuted': {
      const { facts, decision } = judged.counterexample!;
      const shown = [`${decision.outcome} by ${decision.by}`, JSON.stringify(decidableRequest(facts))];
      return [`${marks.bad('✗')} ${start} ${marks.bad('refuted')} ${marks.faint(place)}`, ...shown]
        .join('\n    ')
        .concat('\n');
    }
    case 'undecided': {
      const reasons = undecidedLines(judged, sourceOf).map((line) => `    ${line}\n`);
      return `${marks.bad('?')} ${start} ${marks.bad('undecided')} ${marks.faint(place)}\n${reasons.join('')}${trial === null ? '' : `    ${trialText(trial)}\n`}`;
    }
  }
}

export function claimText({ span }: Claim, sourceOf: SourceOf): string {
  return textAt(span, sourceOf);
}

function textAt({ file, start, end }: Span, sourceOf: SourceOf): string {
  return (sourceOf(file) ?? '').slice(start, end).replace(/\s+/g, ' ').trim();
}

const reasons: Readonly<Record<Why, string>> = {
  'guessed conditions': 'it turns on what is not followed through',
  'long lists': 'proved for short lists only; a longer one might decide otherwise',
  'huge payloads': 'a payload so large that this is unknown might decide otherwise',
  'too much search': 'the search took too long',
};

/** Why, for each action where it is another reason, with the conditions that were guessed. */
export function undecidedLines({ verdicts }: ClaimVerdict, sourceOf: SourceOf): readonly string[] {
  const lines = verdicts.flatMap((verdict) => {
    if (verdict.kind !== 'undecided') return [];
    const terms = termsOf(verdict, sourceOf).map((term) => `\`${escapeForTerminal(term)}\``);
    return [`${reasons[verdict.why]}${terms.length === 0 ? '' : `: ${terms.join(', ')}`}`];
  });
  return [...new Set(lines)];
}

function termsOf(verdict: Verdict, sourceOf: SourceOf): readonly string[] {
  if (verdict.kind !== 'undecided') return [];
  return [...new Set(verdict.terms.map((span) => textAt(span, sourceOf)))];
}

function trialText(trial: Trial): string {
  const { tried, granted } = trial;
  if (tried === 0) return 'trials: never tried, no request met it';
  const counted = `trials: not refuted by ${tried} requests`;
  return isHardlyTried(trial) ? `${counted}, of which an allow grants only ${granted}` : counted;
}

export function claimToJson(judged: JudgedClaim, sourceOf: SourceOf): object {
  const { guarantee, claim, kind, verdicts, trial, counterexample } = judged;
  return {
    guarantee: guarantee.name,
    claim: {
      mode: claim.mode,
      effect: claim.effect,
      unapproved: claim.isUnapproved,
      text: claimText(claim, sourceOf),
    },
    result: kind,
    actions: verdicts.map((verdict) => ({
      action: verdict.action,
      result: verdict.kind,
      ...(verdict.kind === 'undecided' ? { why: verdict.why, terms: termsOf(verdict, sourceOf) } : {}),
    })),
    ...(trial === null ? {} : { trials: trialToJson(trial) }),
    ...(counterexample === null
      ? {}
      : {
          request: decidableRequest(counterexample.facts),
          decision: counterexample.decision.outcome,
          by: counterexample.decision.by,
        }),
  };
}

function trialToJson(trial: Trial): object {
  return { tried: trial.tried, granted: trial.granted, hardly_tried: isHardlyTried(trial) };
}

/** The facts in the form that `writ decide` reads. */
export function decidableRequest({
  action,
  payload,
  agent,
  request,
  nowMs,
  meters,
  satisfied,
}: Facts): object {
  const readings = Object.entries(meters).map(([name, { low, high }]) => [
    name,
    [Number(formatDecimal(low)), Number(formatDecimal(high))],
  ]);
  return {
    action,
    payload,
    agent,
    request,
    now: new Date(nowMs).toISOString(),
    meters: Object.fromEntries(readings),
    satisfied,
  };
}
