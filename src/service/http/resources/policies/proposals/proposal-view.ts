// The schemas of proposals, and a proposal as its readers see it.

import { classifications } from '../../../../../analysis/proposals/classify.ts';
import { isoTime, isoTimeOrNull } from '../../../../../language/value/iso-time.ts';
import {
  type Proposal,
  type ProposalActor,
  type ProposalContent,
  pendingDays,
  proposalStatuses,
  settledDays,
} from '../../../../policies/proposals.ts';
import type { JsonSchema } from '../../../contract/operation.ts';
import { objectSchema, text, textOrNull, time, timeOrNull } from '../../../contract/schemas.ts';
import { arrayOf, compareReplyExample, comparisonSchema, orNull, triedExamplesSchema } from '../diff-view.ts';
import { diagnosticsSchema } from '../playground-view.ts';

export const reasonMax = 500;
export const commentMax = 500;

const words: JsonSchema = arrayOf({ type: 'string' });
const count: JsonSchema = { type: 'integer', minimum: 0 };

export const stateDescription = `A pending proposal ends ${pendingDays} days after it was made; a settled one is deleted after ${settledDays} days. The record of changes keeps who did what.`;

const actorSchema = objectSchema({
  kind: { type: 'string', enum: ['person', 'agent', 'point', 'system'] },
  id: { type: 'string' },
  name: { type: 'string' },
});

const testsCountSchema = orNull(
  objectSchema({
    passed: count,
    failed: count,
    newly_failed: { ...count, description: 'Failing tests that pass with the active policies.' },
  }),
  'Null if no tests were run.',
);

const settledSchema = orNull(objectSchema({ at: time, by: actorSchema, comment: { type: 'string' } }));

const summaryFields = {
  id: { type: 'string' },
  status: { type: 'string', enum: proposalStatuses },
  reason: { type: 'string' },
  request_id: textOrNull,
  proposed_by: actorSchema,
  created_at: time,
  files: { ...words, description: 'The paths of the changed files.' },
  classification: {
    type: 'string',
    enum: [...classifications, 'invalid'],
    description:
      '`narrows` and `no-change` are proved; whatever is not decided counts as `widens-within-guarantees`. `invalid`: the change no longer applies to the active policies, or has errors.',
  },
  problem: { ...textOrNull, description: 'Why the proposal is invalid; null if it is not.' },
  broken_guarantees: { ...words, description: 'The guarantees that it breaks, each as a sentence.' },
  notes: { ...words, description: 'What else only a person can judge, each as a sentence.' },
  loosened: count,
  stricter: count,
  reworded: count,
  undecided: count,
  tests: testsCountSchema,
  active_digest: { type: 'string', description: 'The active policies for which it was judged.' },
  proposed_digest: { ...textOrNull, description: 'The proposed policies; null if it is invalid.' },
  judged_at: time,
  is_current: {
    type: 'boolean',
    description:
      'Whether it is judged for the policies that are active now. If not, it is being judged again.',
  },
  settled: settledSchema,
  delivery: {
    type: ['string', 'null'],
    enum: ['files', 'patch', null],
    description:
      'How an accepted proposal takes effect: the service has written the `files`, or somebody applies the `patch` where the policies come from.',
  },
  active_at: { ...timeOrNull, description: 'When the proposed policies became active.' },
} as const;

export const proposalSchema = objectSchema(summaryFields);

const failedTestSchema = objectSchema({
  file: { type: 'string' },
  name: { ...textOrNull, description: 'Null for a file whose tests could not be run.' },
  is_new: { type: 'boolean' },
});

const reportSchema = orNull(
  objectSchema({
    diff: comparisonSchema,
    requests: triedExamplesSchema,
    sentences: arrayOf(objectSchema({ subject: { type: 'string' }, removed: words, added: words })),
    diagnostics: { ...diagnosticsSchema, description: 'Warnings of the changed files.' },
    tests: orNull(objectSchema({ files: count, passed: count, failed: arrayOf(failedTestSchema) })),
  }),
  'The comparison with the active policies; null for an invalid proposal.',
);

export const proposalDetailSchema = objectSchema({
  ...summaryFields,
  patch: { type: 'string', description: 'The change for `git apply`.' },
  changed_files: arrayOf(objectSchema({ path: { type: 'string' }, before: textOrNull, after: textOrNull })),
  report: reportSchema,
  allowed_actions: objectSchema({
    accept: { type: 'boolean' },
    reject: { type: 'boolean' },
    withdraw: { type: 'boolean' },
  }),
});

export const proposalExample = {
  id: '0a7e0000-0000-4000-8000-000000000000',
  status: 'pending',
  reason: 'no payment to this vendor is needed any more',
  request_id: null,
  proposed_by: { kind: 'agent', id: 'a9e40000-0000-4000-8000-000000000000', name: 'buyer' },
  created_at: '2026-03-02T10:00:00.000Z',
  files: ['payments/vendors.policy'],
  classification: 'narrows',
  problem: null,
  broken_guarantees: [],
  notes: [],
  loosened: 0,
  stricter: 1,
  reworded: 0,
  undecided: 0,
  tests: { passed: 41, failed: 0, newly_failed: 0 },
  active_digest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  proposed_digest: '60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752',
  judged_at: '2026-03-02T10:00:00.000Z',
  is_current: true,
  settled: null,
  delivery: null,
  active_at: null,
} as const;

export const proposalDetailExample = {
  ...proposalExample,
  patch: '--- a/payments/vendors.policy\n+++ b/payments/vendors.policy\n',
  changed_files: [{ path: 'payments/vendors.policy', before: '# before\n', after: '# after\n' }],
  report: {
    diff: { ...compareReplyExample.diff, findings: [] },
    requests: [],
    sentences: [],
    diagnostics: [],
    tests: { files: 3, passed: 41, failed: [] },
  },
  allowed_actions: { accept: true, reject: true, withdraw: false },
} as const;

/** A proposal in a list. `active`: the digest of the active policies. */
export function proposalView(proposal: Proposal, active: string) {
  const { id, status, reason, requestId, proposer, paths, judgement, settled, delivery } = proposal;
  const { classification, problem, broken, notes, counts, tests } = judgement;
  return {
    id,
    status,
    reason,
    request_id: requestId,
    proposed_by: actorView(proposer),
    created_at: isoTime(proposal.createdAtMs),
    files: [...paths],
    classification,
    problem,
    broken_guarantees: [...broken],
    notes: [...notes],
    ...counts,
    tests,
    active_digest: judgement.active,
    proposed_digest: judgement.proposed,
    judged_at: isoTime(judgement.atMs),
    is_current: judgement.active === active,
    settled:
      settled === null
        ? null
        : { at: isoTime(settled.atMs), by: actorView(settled.by), comment: settled.comment },
    delivery,
    active_at: isoTimeOrNull(proposal.activeAtMs),
  };
}

export interface AllowedProposalActions {
  readonly accept: boolean;
  readonly reject: boolean;
  readonly withdraw: boolean;
}

interface DetailInput {
  readonly content: ProposalContent | null;
  readonly active: string;
  readonly allowed: AllowedProposalActions;
}

/** A proposal with what it changes. An invalid proposal has no report: the last one is about other policies. */
export function proposalDetail(proposal: Proposal, { content, active, allowed }: DetailInput) {
  return {
    ...proposalView(proposal, active),
    patch: content?.patch ?? '',
    changed_files: content?.files ?? [],
    report: proposal.judgement.proposed === null ? null : (content?.report ?? null),
    allowed_actions: allowed,
  };
}

function actorView({ kind, id, name }: ProposalActor) {
  return { kind, id, name };
}

export const patchSchema: JsonSchema = {
  ...text(400_000),
  description:
    'A unified diff, as `git diff` writes it. Paths are relative to the policy directory, or to the top of its Git repository.',
};

export const proposedFilesSchema: JsonSchema = {
  type: 'array',
  minItems: 1,
  maxItems: 50,
  description: 'Whole files instead of a patch, with paths relative to the policy directory.',
  items: objectSchema({
    path: { type: 'string', minLength: 1, maxLength: 300 },
    text: { ...textOrNull, description: 'Null to delete the file.' },
  }),
};
