// The status of a proposal in words.

export const statusWords = {
  pending: { word: 'Pending', tone: 'escalate' },
  accepted: { word: 'Accepted', tone: 'allow' },
  rejected: { word: 'Rejected', tone: 'deny' },
  withdrawn: { word: 'Withdrawn', tone: 'unknown' },
} as const;
