// What a proposal means, as a badge and as a sentence.

import type { Reply } from '../../../api/operations.ts';
import { Badge } from '../layout/badge.tsx';

export type Proposal = Reply<'listProposals'>['items'][number];
type Classification = Proposal['classification'];

const labels = {
  'no-change': { tone: 'unknown', word: 'No change', meaning: 'No request is decided differently.' },
  narrows: {
    tone: 'allow',
    word: 'Narrows',
    meaning: 'It is proved that no request is decided more loosely.',
  },
  'widens-within-guarantees': {
    tone: 'escalate',
    word: 'Widens',
    meaning: 'Some requests may be decided more loosely. Every guarantee still holds.',
  },
  'breaks-guarantee': { tone: 'deny', word: 'Breaks a guarantee', meaning: 'A guarantee is lost.' },
  invalid: { tone: 'deny', word: 'Invalid', meaning: 'It cannot be applied to the active policies.' },
} as const satisfies Readonly<Record<Classification, object>>;

export function ClassificationBadge({ of }: { readonly of: Classification }) {
  const { tone, word } = labels[of];
  return <Badge tone={tone}>{word}</Badge>;
}

export function meaningOf(classification: Classification): string {
  return labels[classification].meaning;
}
