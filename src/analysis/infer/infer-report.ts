// The result of an inference as plain data, which the text and programs use.

import type { DiffReport } from '../diff/diff-report.ts';
import { confidence } from './binomial-bound.ts';
import type { DroppedGuard } from './combine.ts';
import type { Evaluation, HeldOutResult } from './evaluate.ts';
import type { InferredAction } from './infer.ts';
import type { InferredFile } from './policy-text.ts';
import type { Exclusion, Sample } from './sample.ts';
import type { SplitOptions } from './split.ts';

export interface InferReport {
  readonly requests: number;
  readonly from: string | null;
  readonly until: string | null;
  /** How many policy sets decided the requests, by their digests. */
  readonly policy_sets: number;
  readonly unreadable: number;
  readonly repeated: number;
  readonly held_out: {
    readonly share: number;
    readonly by: 'random' | 'latest';
    readonly seed: number | null;
  };
  readonly confidence: number;
  readonly actions: readonly ReportedAction[];
  readonly total: ReportedHeldOut;
  /** Requests a day for which people are asked, now and by the existing policies; null without a period. */
  readonly asks_per_day: Evaluation['asksPerDay'];
  readonly approvers: { readonly name: string; readonly is_placeholder: boolean } | null;
  readonly files: readonly InferredFile[];
  /** The folder of the written files; null if nothing was written. */
  readonly written_to: string | null;
  readonly dropped: readonly DroppedGuard[];
  readonly diff: DiffReport;
}

export interface ReportedAction {
  readonly action: string;
  readonly requests: number;
  readonly not_learned_from: Readonly<Partial<Record<Exclusion, number>>>;
  readonly learned_from: number;
  /** Requests among them that do not fit the declared payload. */
  readonly other_shape: number;
  readonly held_out: ReportedHeldOut | null;
  readonly fields: readonly {
    readonly field: string;
    readonly basis: string;
    readonly is_restricted: boolean;
  }[];
  /** Why nothing is inferred; null if something is. */
  readonly problem: string | null;
}

export interface ReportedHeldOut {
  readonly requests: number;
  readonly refused: number;
  readonly waiting: number;
  readonly share_at_most: number;
}

export interface ReportInput {
  readonly samples: readonly Sample[];
  readonly faults: { readonly count: number; readonly repeated: number };
  readonly split: SplitOptions;
  readonly actions: readonly InferredAction[];
  readonly evaluation: Evaluation;
  readonly approvers: InferReport['approvers'];
  readonly files: readonly InferredFile[];
  readonly writtenTo: string | null;
  readonly dropped: readonly DroppedGuard[];
  readonly diff: DiffReport;
}

export function inferReport(input: ReportInput): InferReport {
  const { samples, faults, split, evaluation } = input;
  const times = samples.map(({ facts }) => facts.nowMs).filter((ms) => !Number.isNaN(ms));
  const [first, last] = times.reduce(
    ([least, most], ms) => [Math.min(least, ms), Math.max(most, ms)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  );
  const isTimed = last > first;
  return {
    requests: samples.length,
    from: isTimed ? new Date(first).toISOString() : null,
    until: isTimed ? new Date(last).toISOString() : null,
    policy_sets: new Set(samples.flatMap(({ policies }) => policies ?? [])).size,
    unreadable: faults.count,
    repeated: faults.repeated,
    held_out: {
      share: split.share,
      by: split.isLatest ? 'latest' : 'random',
      seed: split.isLatest ? null : split.seed,
    },
    confidence,
    actions: input.actions.map((action) => reportedAction(action, evaluation)),
    total: reportedHeldOut(evaluation.total),
    asks_per_day: evaluation.asksPerDay,
    approvers: input.approvers,
    files: input.files,
    written_to: input.writtenTo,
    dropped: input.dropped,
    diff: input.diff,
  };
}

function reportedAction(
  { key, requests, excluded, parts, misfits, fields, problem }: InferredAction,
  { byAction }: Evaluation,
): ReportedAction {
  const result = byAction.get(key) ?? null;
  return {
    action: key,
    requests,
    not_learned_from: excluded,
    learned_from: parts.learned.length,
    other_shape: misfits,
    held_out: result === null ? null : reportedHeldOut(result),
    fields: fields.map(({ field, basis, isRestricted }) => ({ field, basis, is_restricted: isRestricted })),
    problem,
  };
}

function reportedHeldOut({ heldOut, refused, asks, atMost }: HeldOutResult): ReportedHeldOut {
  return { requests: heldOut, refused, waiting: asks, share_at_most: atMost };
}
