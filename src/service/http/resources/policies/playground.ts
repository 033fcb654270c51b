// /v1/policies/try, /compare, /vocabulary and /first-request, and the pages of diagnostics: how the active
// policies, with files laid over them, would decide a request, and which requests they would decide
// differently. INVARIANT: nothing is recorded and nothing granted; a recorded request is tried only by people
// who may see it.

import type { Playground } from '../../../../analysis/playground.ts';
import type { GivenRequest, PlaygroundInputs, TextFile } from '../../../../analysis/playground-questions.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import { diagnosticPage } from '../../../policies/diagnostic-page.ts';
import type { PolicyHost } from '../../../policies/policy-host.ts';
import { isFilePath } from '../../../policies/texts.ts';
import type { RequestChanges } from '../../../requests/request-changes.ts';
import { notFound } from '../../auth/auth-refusals.ts';
import { ProblemError, type ProblemLocation } from '../../contract/problem.ts';
import { objectSchema } from '../../contract/schemas.ts';
import { type ManagedCall, type Route, route } from '../../routing/route.ts';
import { requestNotFound } from '../requests/approval-result.ts';
import { compareBodySchema, compareExamples, compareReplyExample, compareReplySchema } from './diff-view.ts';
import {
  askPlayground,
  firstRequestExample,
  firstRequestSchema,
  playgroundProblems,
  recordedFor,
  tryBodySchema,
  tryExamples,
  tryReplyExample,
  tryReplySchema,
  vocabularyExample,
  vocabularySchema,
} from './playground-view.ts';

export interface PlaygroundDeps {
  readonly signInDeps: SignInDeps;
  readonly requestChanges: Pick<RequestChanges, 'snapshot'>;
  readonly policies: Pick<PolicyHost, 'current'>;
  readonly playground: Playground;
}

interface TryBody {
  readonly files?: readonly TextFile[];
  readonly request?: GivenRequest;
  readonly request_id?: string;
}

/**
 * The limits of a body with files. The body may be as deep as a payload; reading the worst body of this size
 * takes the thread that decides some 50 ms.
 */
export const filesBodyMax = { bytesMax: 512 * 1024, depthMax: 34 };

const tryPolicies = route<PlaygroundDeps, TryBody>({
  method: 'POST',
  url: '/v1/policies/try',
  access: 'policies.try',
  bodyMax: filesBodyMax,
  operation: {
    id: 'tryPolicies',
    summary: 'Decides a request with the active policies and changed files; nothing is recorded',
    description:
      'The request is in the body, or is a recorded request that the person may see. A later call by the same person replaces one that is still waiting.',
    body: {
      description: 'Files, with paths relative to the policy directory, and a request.',
      schema: tryBodySchema,
      examples: tryExamples,
    },
    replies: { 200: { description: 'The result', schema: tryReplySchema, example: tryReplyExample } },
    problems: [...playgroundProblems, 'request_not_found'],
  },
  handle: async ({ requestChanges, playground, policies }, call) => {
    const { files = [] } = call.body;
    refusePaths(files);
    const request = await requestOf(call, requestChanges);
    return await askPlayground(playground, 'try', { files, request }, { call, active: policies.current() });
  },
});

const diffPolicies = route<PlaygroundDeps, PlaygroundInputs['compare']>({
  method: 'POST',
  url: '/v1/policies/diff',
  access: 'policies.try',
  bodyMax: filesBodyMax,
  operation: {
    id: 'diffPolicies',
    summary:
      'The diff between the active policies and changed files: requests with different decisions; nothing is recorded',
    description:
      'Findings, loosest first, each with an example, and the proof that nothing else changes. A later diff by the same person replaces one that is still waiting.',
    body: {
      description: 'Files, with paths relative to the policy directory.',
      schema: compareBodySchema,
      examples: compareExamples,
    },
    replies: {
      200: { description: 'The diff', schema: compareReplySchema, example: compareReplyExample },
    },
    problems: [...playgroundProblems],
  },
  handle: async ({ playground, policies }, call) => {
    refusePaths(call.body.files);
    const { files } = call.body;
    return await askPlayground(playground, 'compare', { files }, { call, active: policies.current() });
  },
});

const getVocabulary = route<PlaygroundDeps>({
  method: 'GET',
  url: '/v1/policies/vocabulary',
  access: 'policies.view',
  operation: {
    id: 'getVocabulary',
    summary: 'The keywords of the language and the names in the active policies, for policy authors',
    replies: { 200: { description: 'The vocabulary', schema: vocabularySchema, example: vocabularyExample } },
    problems: [...playgroundProblems],
  },
  handle: async ({ playground, policies }, call) =>
    await askPlayground(playground, 'vocabulary', null, { call, active: policies.current() }),
});

const getFirstRequest = route<PlaygroundDeps>({
  method: 'GET',
  url: '/v1/policies/first-request',
  access: 'policies.try',
  operation: {
    id: 'getFirstRequest',
    summary: 'An example request that the active policies escalate',
    replies: {
      200: { description: 'The request', schema: firstRequestSchema, example: firstRequestExample },
    },
    problems: [...playgroundProblems],
  },
  handle: async ({ playground, policies }, call) => ({
    request: await askPlayground(playground, 'first request', null, { call, active: policies.current() }),
  }),
});

const getDiagnostic = route<PlaygroundDeps>({
  method: 'GET',
  url: '/v1/diagnostics/:code',
  access: 'policies.view',
  operation: {
    id: 'getDiagnostic',
    summary: 'The documentation page of a diagnostic',
    parameters: [
      {
        name: 'code',
        in: 'path',
        isRequired: true,
        description: 'The code of the diagnostic.',
        example: 'unexpected-token',
        schema: { type: 'string' },
      },
    ],
    replies: {
      200: {
        description: 'The page',
        schema: objectSchema({
          code: { type: 'string' },
          text: { type: 'string', description: 'Markdown, without links to other pages.' },
        }),
        example: { code: 'unknown-field', text: '# unknown-field\n' },
      },
    },
    problems: ['not_found'],
  },
  handle: (_parts, call) => {
    const code = call.params.code ?? '';
    const page = diagnosticPage(code);
    if (page === null) throw notFound('diagnostic');
    return Promise.resolve({ code, text: page });
  },
});

export const playgroundRoutes: readonly Route<PlaygroundDeps>[] = [
  tryPolicies,
  diffPolicies,
  getVocabulary,
  getFirstRequest,
  getDiagnostic,
];

async function requestOf(
  call: ManagedCall<TryBody>,
  requestChanges: Pick<RequestChanges, 'snapshot'>,
): Promise<PlaygroundInputs['try']['request']> {
  const { request, request_id: id } = call.body;
  if (id === undefined) return request === undefined ? null : { given: request };
  if (request !== undefined) {
    const detail = 'give either `request` or `request_id`';
    throw new ProblemError('invalid_body', detail, { errors: [{ pointer: '/request_id', detail }] });
  }
  const record = await recordedFor(requestChanges, call, id);
  if (record === null) throw requestNotFound();
  return { recorded: record.recorded };
}

export function refusePaths(files: readonly TextFile[]): void {
  const seen = new Set<string>();
  const errors = files.flatMap(({ path }, at): readonly ProblemLocation[] => {
    const isTwice = seen.has(path);
    seen.add(path);
    const pointer = `/files/${at}/path`;
    if (!isFilePath(path))
      return [
        {
          pointer,
          detail: 'must be a path relative to the policy directory, such as `payments/limits.policy`',
        },
      ];
    return isTwice ? [{ pointer, detail: 'this file is listed twice' }] : [];
  });
  if (errors.length > 0) throw new ProblemError('invalid_body', errors[0]?.detail ?? '', { errors });
}
