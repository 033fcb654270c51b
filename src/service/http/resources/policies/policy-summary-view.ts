// The schemas of plain sentences about policies, as clients see them.

import { objectSchema, textList, textOrNull } from '../../contract/schemas.ts';

const place = {
  file: { type: 'string', description: 'Relative to the policy directory.' },
  line: { type: 'integer', minimum: 1 },
} as const;

const sentenceKinds = ['passes', 'asks', 'refuses', 'rest'] as const;

export const plainSummarySchema = objectSchema({
  actions: {
    type: 'array',
    items: objectSchema({
      actions: { ...textList, description: 'Of which the same is said.' },
      title: textOrNull,
      sentences: {
        type: 'array',
        items: objectSchema({
          kind: { type: 'string', enum: sentenceKinds },
          text: { type: 'string' },
          rule: { ...textOrNull, description: '`policy/rule`; null for what no rule says.' },
          ...place,
          why_not: { ...textOrNull, description: 'Why it is not confirmed; null where it is proved.' },
        }),
      },
    }),
  },
  words: {
    type: 'array',
    description: 'What the names in the sentences stand for.',
    items: objectSchema({ name: { type: 'string' }, text: { type: 'string' }, ...place }),
  },
  next_cursor: textOrNull,
});

export const plainSummaryExample = {
  actions: [
    {
      actions: ['payment.create'],
      title: 'Pay [amount] to [vendor]',
      sentences: [
        {
          kind: 'passes',
          text: 'Passes at once if the vendor is in ‘vendors’.',
          rule: 'vendor_payments/known',
          file: 'payments/payments.policy',
          line: 20,
          why_not: null,
        },
      ],
    },
  ],
  words: [{ name: 'vendors', text: '"Staples"', file: 'payments/payments.policy', line: 3 }],
  next_cursor: null,
} as const;

export const sentencesSchema = objectSchema({
  items: {
    type: 'array',
    items: objectSchema({
      of: { type: 'string', description: 'An action, or a word that means something else.' },
      gone: textList,
      come: textList,
    }),
  },
  is_whole: {
    type: 'boolean',
    description: 'Whether all actions were looked at in time, in two sets without errors.',
  },
});

export const sentencesExample = {
  items: [
    {
      of: 'payment.create',
      gone: ['Passes at once if the amount is at most 50 USD.'],
      come: ['Passes at once if the amount is at most 70 USD.'],
    },
  ],
  is_whole: true,
} as const;
