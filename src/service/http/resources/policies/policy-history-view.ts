// Describes the sets that have been active, and the comparison of two of them, as clients see them; finds the
// texts of two sets.

import type { PolicyHistory } from '../../../policies/policy-history.ts';
import type { PolicyHost } from '../../../policies/policy-host.ts';
import type { SetTexts } from '../../../policies/texts.ts';
import type { Parameter } from '../../contract/operation.ts';
import { ProblemError } from '../../contract/problem.ts';
import { objectSchema, textOrNull, time } from '../../contract/schemas.ts';
import { arrayOf, compareReplyExample, comparisonSchema, orNull, triedExamplesSchema } from './diff-view.ts';
import { diagnosticsSchema } from './playground-view.ts';

const count = { type: 'integer', minimum: 0 } as const;

export const activationsSchema = objectSchema({
  items: arrayOf(
    objectSchema({
      digest: { type: 'string' },
      commit: textOrNull,
      activated_at: { ...time, description: 'When it became active.' },
      policies: count,
      actions: count,
      has_texts: {
        type: 'boolean',
        description: 'Whether the texts of the set are kept, as a diff requires.',
      },
    }),
  ),
  no_roll_back: {
    ...textOrNull,
    description: 'Why rollback is unavailable; null if it is available.',
  },
});

export const activationExample = {
  digest: compareReplyExample.diff.old.digest,
  commit: null,
  activated_at: '2026-03-02T10:00:00.000Z',
  policies: 4,
  actions: 7,
  has_texts: true,
} as const;

/** A file that differs between two sets. */
export interface ChangedFile {
  readonly path: string;
  /** The text of the file in the old set; null when that set has no such file. */
  readonly old: string | null;
  readonly new: string | null;
  readonly is_complete: boolean;
}

export const compareSetsSchema = objectSchema({
  failed: {
    type: ['string', 'null'],
    enum: ['old', 'new', null],
    description: 'The set that has errors in this version of the language.',
  },
  diagnostics: diagnosticsSchema,
  diff: orNull(
    comparisonSchema,
    'The output of `writ diff --format json` from `old` to `new`. Null if one of the sets has errors.',
  ),
  requests: triedExamplesSchema,
  files: {
    ...arrayOf(
      objectSchema({
        path: { type: 'string' },
        old: { ...textOrNull, description: 'Null if the set does not have the file.' },
        new: { ...textOrNull, description: 'Null if the set does not have the file.' },
        is_complete: {
          type: 'boolean',
          description: 'False for a text that is longer than 128 KiB; the rest is left out.',
        },
      }),
    ),
    description: 'The first hundred changed files.',
  },
});

const { diff, requests } = compareReplyExample;

export const compareSetsExample = {
  failed: null,
  diagnostics: [],
  diff: {
    ...diff,
    old: { ...diff.old, name: 'old' },
    new: { ...diff.new, name: 'new' },
  },
  requests,
  files: [{ path: 'payments.policy', old: '# 500 USD\n', new: '# 600 USD\n', is_complete: true }],
} as const;

const sides = ['old', 'new'] as const;

const digestParameter = (name: (typeof sides)[number]): Parameter => ({
  name,
  in: 'query',
  isRequired: true,
  example: compareSetsExample.diff[name].digest,
  description: 'The digest of a set in the history.',
  schema: { type: 'string' },
});

/** The query parameters that name the two sets to compare. */
export const setParameters: readonly Parameter[] = sides.map(digestParameter);

interface SetSources {
  readonly policies: Pick<PolicyHost, 'current'>;
  readonly policyHistory: Pick<PolicyHistory, 'texts'>;
}

/** The texts of both sets; throws a ProblemError when a set is not named or its texts are not kept. */
export async function setsOf(
  sources: SetSources,
  query: Readonly<Record<string, string>>,
): Promise<{ readonly old: SetTexts; readonly new: SetTexts }> {
  const [old, now] = await Promise.all(sides.map((side) => textsOf(sources, query, side)));
  return { old: old!, new: now! };
}

async function textsOf(
  { policies, policyHistory }: SetSources,
  query: Readonly<Record<string, string>>,
  side: (typeof sides)[number],
): Promise<SetTexts> {
  const digest = query[side];
  if (digest === undefined) throw new ProblemError('invalid_query', `\`${side}\` is missing`);
  const active = policies.current();
  const texts = digest === active.digest ? active.texts : await policyHistory.texts(digest);
  if (texts === null)
    throw new ProblemError('not_found', `\`${side}\`: no such set, or its texts are no longer kept`);
  return texts;
}
