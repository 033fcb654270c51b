// /v1/policies/draft: the files that a person has changed, kept for this person. INVARIANT: a draft is never active;
// only a change of the policy directory changes the active policies.

import type { TextFile } from '../../../../analysis/playground-questions.ts';
import { isoTime } from '../../../../language/value/iso-time.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import { pathInRepository } from '../../../policies/git-commit.ts';
import { createPolicyDrafts, draftDays, type StoredDraft } from '../../../policies/policy-drafts.ts';
import type { PolicyHost } from '../../../policies/policy-host.ts';
import type { Store } from '../../../store/contract/store.ts';
import type { Parameter } from '../../contract/operation.ts';
import { ProblemError } from '../../contract/problem.ts';
import { noContent, objectSchema, textOrNull, time } from '../../contract/schemas.ts';
import { actorOf, type Route, route } from '../../routing/route.ts';
import { filesBodyMax, refusePaths } from './playground.ts';
import { filesSchema } from './playground-view.ts';

interface DraftDeps {
  readonly signInDeps: SignInDeps;
  readonly policies: Pick<PolicyHost, 'current' | 'state'>;
  readonly store: Pick<Store, 'documents'>;
}

const versionSchema = { type: 'integer', minimum: 0 } as const;

const draftSchema = objectSchema({
  files: { ...filesSchema, description: 'The changed files, each whole.' },
  version: { ...versionSchema, description: 'Grows by 1 with each save.' },
  saved_at: time,
  policy_set: { type: 'string', description: 'The digest of the policies that were active at the save.' },
});

const draftExample = {
  files: [{ path: 'payments/limits.policy', text: '# A file as it is being written\n' }],
  version: 1,
  saved_at: '2026-03-02T10:05:00.000Z',
  policy_set: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
};

const getPolicyDraft = route<DraftDeps>({
  method: 'GET',
  url: '/v1/policies/draft',
  access: 'policies.try',
  operation: {
    id: 'getPolicyDraft',
    summary: "The caller's draft of policies",
    description: `A draft is never active, is visible only to its author, and is not part of the record. It is deleted ${draftDays} days after its last save.`,
    replies: {
      200: {
        description: 'The draft',
        schema: objectSchema({
          draft: { ...draftSchema, type: ['object', 'null'], description: 'Null if there is none.' },
          repository_path: {
            ...textOrNull,
            description:
              'The path of the policy directory from the top of its Git repository, empty for the top; null if it is not in a repository.',
          },
        }),
        example: { draft: draftExample, repository_path: 'policies' },
      },
    },
  },
  handle: async ({ policies, signInDeps, store }, call) => {
    const drafts = createPolicyDrafts(store.documents);
    const stored = await drafts.find(actorOf(call).person.id, signInDeps.directory.clock());
    const { directory } = policies.state();
    return {
      draft: stored === null ? null : draftView(stored),
      repository_path: directory === null ? null : await pathInRepository(directory),
    };
  },
});

interface DraftBody {
  readonly files: readonly TextFile[];
  readonly version: number;
}

const savePolicyDraft = route<DraftDeps, DraftBody>({
  method: 'PUT',
  url: '/v1/policies/draft',
  access: 'policies.try',
  bodyMax: filesBodyMax,
  operation: {
    id: 'savePolicyDraft',
    summary: "Saves the caller's draft of policies; the active policies do not change",
    description: 'Saved unchanged, even with errors. `POST /v1/policies/try` checks files.',
    body: {
      description: 'All changed files, with paths relative to the policy directory.',
      schema: objectSchema({
        files: filesSchema,
        version: {
          ...versionSchema,
          description: 'The version that is replaced; 0 for the first. The service refuses any other.',
        },
      }),
      examples: { first: { files: draftExample.files, version: 0 } },
    },
    replies: { 200: { description: 'The saved draft', schema: draftSchema, example: draftExample } },
    problems: ['conflict'],
  },
  handle: async ({ policies, signInDeps, store }, call) => {
    const { files, version } = call.body;
    refusePaths(files);
    const { id } = actorOf(call).person;
    const draft = {
      id,
      files: files.map(({ path, text }) => ({ path, text })),
      basis: policies.current().digest,
      nowMs: signInDeps.directory.clock(),
    };
    const drafts = createPolicyDrafts(store.documents);
    if ((await drafts.save(draft, version)) === 'conflict') throw otherVersion();
    const saved = await drafts.find(id, draft.nowMs);
    if (saved === null) throw otherVersion();
    return draftView(saved);
  },
});

const versionParameter: Parameter = {
  name: 'version',
  in: 'query',
  isRequired: true,
  description: 'The version that is deleted.',
  schema: { type: 'string', pattern: '^[0-9]{1,9}$' },
  example: '1',
};

const deletePolicyDraft = route<DraftDeps>({
  method: 'DELETE',
  url: '/v1/policies/draft',
  access: 'policies.try',
  operation: {
    id: 'deletePolicyDraft',
    summary: "Deletes the caller's draft of policies",
    parameters: [versionParameter],
    replies: { 204: noContent('Deleted') },
    problems: ['conflict'],
  },
  handle: async ({ store }, call) => {
    const drafts = createPolicyDrafts(store.documents);
    const result = await drafts.remove(actorOf(call).person.id, Number(call.query.version));
    if (result === 'conflict') throw otherVersion();
  },
});

export const policyDraftRoutes: readonly Route<DraftDeps>[] = [
  getPolicyDraft,
  savePolicyDraft,
  deletePolicyDraft,
];

function draftView({ draft: { files, basis, createdAtMs }, version }: StoredDraft) {
  return { files, version, saved_at: isoTime(createdAtMs), policy_set: basis };
}

function otherVersion(): ProblemError {
  return new ProblemError('conflict', 'another window has saved or deleted your draft since: read it again');
}
