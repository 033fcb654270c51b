// The sets that have been active, and two of them compared, as clients see them.

import { objectSchema, textOrNull, time } from '../contract/schemas.ts';
import { arrayOf, compareReplyExample, comparisonSchema, orNull, triedExamplesSchema } from './comparison.ts';
import { diagnosticsSchema } from './playground.ts';

const count = { type: 'integer', minimum: 0 } as const;

export const activationsSchema = objectSchema({
  items: arrayOf(
    objectSchema({
      digest: { type: 'string' },
      commit: textOrNull,
      activated_at: { ...time, description: 'When it became active.' },
      policies: count,
      actions: count,
      has_texts: { type: 'boolean', description: 'Whether its texts are kept, so that it can be compared.' },
    }),
  ),
});

export const activationExample = {
  digest: compareReplyExample.comparison.old.digest,
  commit: null,
  activated_at: '2026-03-02T10:00:00.000Z',
  policies: 4,
  actions: 7,
  has_texts: true,
} as const;

/** A file that differs. */
export interface ChangedFile {
  readonly path: string;
  /** Null where the set has no such file. */
  readonly old: string | null;
  readonly new: string | null;
  readonly is_whole: boolean;
}

export const compareSetsSchema = objectSchema({
  failed: {
    type: ['string', 'null'],
    enum: ['old', 'new', null],
    description: 'The set that has errors by this version of the language.',
  },
  diagnostics: diagnosticsSchema,
  comparison: orNull(
    comparisonSchema,
    'As `writ diff --format json` prints it, from `old` to `new`. Null where one of them has errors.',
  ),
  requests: triedExamplesSchema,
  files: {
    ...arrayOf(
      objectSchema({
        path: { type: 'string' },
        old: { ...textOrNull, description: 'Null where the set has no such file.' },
        new: { ...textOrNull, description: 'Null where the set has no such file.' },
        is_whole: { type: 'boolean', description: 'Of a text, no more than the first 128 KiB is shown.' },
      }),
    ),
    description: 'The files that differ, the first hundred.',
  },
});

const { comparison, requests } = compareReplyExample;

export const compareSetsExample = {
  failed: null,
  diagnostics: [],
  comparison: {
    ...comparison,
    old: { ...comparison.old, name: 'old' },
    new: { ...comparison.new, name: 'new' },
  },
  requests,
  files: [{ path: 'payments.policy', old: '# 500 USD\n', new: '# 600 USD\n', is_whole: true }],
} as const;
