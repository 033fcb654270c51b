// Reviews of requests for the people who read them, kept for a while, because lists and pages are loaded again and
// again. INVARIANT: an agent reads no review, and a request that cannot be reviewed is not shown.

import { setImmediate as pause } from 'node:timers/promises';
import { isoTime } from '../../../../language/value/iso-time.ts';
import { codePointName } from '../../../../language/value/scripts.ts';
import type { Confusable } from '../../../requests/confusables.ts';
import { charactersMax, confusablesMax } from '../../../requests/confusables.ts';
import type { RequestState } from '../../../requests/record/request-state.ts';
import {
  earlierGrantsMax,
  highRiskMin,
  type RecordReview,
  readGrant,
  reviewRecord,
  reviewWarnings,
  warningsOf,
} from '../../../requests/review-context.ts';
import type { Store } from '../../../store/contract/store.ts';
import type { JsonSchema } from '../../contract/operation.ts';
import { objectSchema, time } from '../../contract/schemas.ts';
import { grantedMax, lastGranted } from '../agents/last-granted.ts';

export interface Reviews {
  /** The reviews of the requests, by request id. */
  of(states: readonly RequestState[]): Promise<ReadonlyMap<string, RecordReview>>;
}

const keptMax = 2_000;
/** A grant of an earlier request may come later than its record. */
const keptMs = 60_000;

export function createReviews(store: Pick<Store, 'activity'>, clock: () => number): Reviews {
  const cache = new Map<string, { readonly review: RecordReview; readonly untilMs: number }>();
  const keep = (id: string, review: RecordReview): void => {
    cache.delete(id);
    cache.set(id, { review, untilMs: clock() + keptMs });
    for (const oldest of cache.keys()) {
      if (cache.size <= keptMax) break;
      cache.delete(oldest);
    }
  };
  return {
    async of(states) {
      const reviews = new Map<string, RecordReview>();
      const missing: RequestState[] = [];
      for (const state of states) {
        const cachedReview = cache.get(state.record.id);
        if (cachedReview !== undefined && cachedReview.untilMs > clock())
          reviews.set(state.record.id, cachedReview.review);
        else missing.push(state);
      }
      const alike = Map.groupBy(missing, ({ record }) => JSON.stringify([record.agentId, record.actionKey]));
      for (const [{ record: first }, ...others] of nonEmpty(alike.values())) {
        const granted = (await lastGranted(store, first.agentId, first.actionKey)).map(readGrant);
        for (const record of [first, ...others.map((one) => one.record)]) {
          const review = reviewRecord(record, granted);
          keep(record.id, review);
          reviews.set(record.id, review);
          await pause();
        }
      }
      return reviews;
    },
  };
}

type NonEmpty<T> = readonly [T, ...T[]];

function nonEmpty<T>(lists: Iterable<readonly T[]>): readonly NonEmpty<T>[] {
  return [...lists].flatMap(([first, ...others]) =>
    first === undefined ? [] : [[first, ...others] as const],
  );
}

export interface ReviewView {
  readonly warnings: readonly (typeof reviewWarnings)[number][];
  readonly confusables: readonly ConfusableView[];
  readonly earlier_grants: readonly {
    readonly request_id: string;
    readonly at: string;
    readonly is_identical: boolean;
  }[];
}

export async function reviewView(state: RequestState, review: RecordReview): Promise<ReviewView> {
  return {
    warnings: warningsOf(state, review),
    confusables: await Promise.all(review.findConfusables.map(confusableView)),
    earlier_grants: review.earlierGrants.map(({ requestId, createdAtMs, isIdentical }) => ({
      request_id: requestId,
      at: isoTime(createdAtMs),
      is_identical: isIdentical,
    })),
  };
}

interface ConfusableView {
  readonly path: string;
  readonly value: string;
  readonly scripts: readonly string[];
  readonly confusable_with: Confusable['looksLike'];
  readonly characters: readonly {
    readonly character: string;
    readonly code_point: string;
    readonly name: string;
  }[];
}

async function confusableView({
  path,
  value,
  scripts,
  looksLike,
  characters,
}: Confusable): Promise<ConfusableView> {
  // Loaded with the first look-alike, because it holds the names of all characters.
  const { unicodeCorrectName } = await import('unicode-name');
  return {
    path,
    value,
    scripts,
    confusable_with: looksLike,
    characters: characters.map((character) => ({
      character,
      code_point: codePointName(character),
      name: unicodeCorrectName(character) ?? '',
    })),
  };
}

const shownText = { type: 'string' } as const;

const confusableSchema = objectSchema({
  path: {
    ...shownText,
    description: 'The path of the field. List elements share one path: `items[].vendor`.',
  },
  value: { ...shownText, description: 'The string; long strings are shortened.' },
  scripts: {
    type: 'array',
    items: shownText,
    description: 'The scripts, if a word has letters of several scripts; otherwise empty.',
  },
  confusable_with: {
    ...objectSchema({ value: shownText, count: { type: 'integer', minimum: 1 } }),
    type: ['object', 'null'],
    description: 'A similar value of this field that was granted more often.',
  },
  characters: {
    type: 'array',
    maxItems: charactersMax,
    description: 'The characters that differ from the other characters or from the similar value.',
    items: objectSchema({ character: shownText, code_point: shownText, name: shownText }),
  },
});

export const reviewSchema = objectSchema({
  warnings: {
    type: 'array',
    items: { type: 'string', enum: reviewWarnings },
    description: `Why the request is not approved together with others. \`deceptive_letters\`: a text mixes scripts in a word, looks like a value granted before, or has invisible characters. \`high_risk\`: the risk is ${highRiskMin} or more.`,
  },
  confusables: {
    type: 'array',
    maxItems: confusablesMax,
    description: `Strings of the payload that mix scripts, or whose skeleton (Unicode TS 39) equals that of a value of the same field in the last ${grantedMax} requests of the action that were granted to the agent.`,
    items: confusableSchema,
  },
  earlier_grants: {
    type: 'array',
    maxItems: earlierGrantsMax,
    description:
      'Earlier grants to the agent with the same payload, or with the same numbers and the same texts in the title; newest first.',
    items: objectSchema({
      request_id: shownText,
      at: time,
      is_identical: { type: 'boolean', description: 'Whether the payload is the same.' },
    }),
  },
}) satisfies JsonSchema;

export const reviewExample = {
  warnings: ['deceptive_letters'],
  confusables: [
    {
      path: 'vendor',
      value: 'St\u0430ples',
      scripts: ['Latin', 'Cyrillic'],
      confusable_with: { value: 'Staples', count: 120 },
      characters: [{ character: '\u0430', code_point: 'U+0430', name: 'CYRILLIC SMALL LETTER A' }],
    },
  ],
  earlier_grants: [
    {
      request_id: '019a0000-0000-7000-8000-000000000001',
      at: '2026-05-19T10:00:00.000Z',
      is_identical: false,
    },
  ],
} as const;
