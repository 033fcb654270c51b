// /v1/policies: which set is active, why the next one did not take over, what the active set declares, and
// the texts that each was made from. INVARIANT: a text is served from what was read of the directory, never
// from the disk.

import type { Playground } from '../../../../analysis/playground.ts';
import type { PolicyGaps } from '../../../alerts/policy-gaps.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import type { PolicyHost } from '../../../policies/policy-host.ts';
import { entriesOf, type SetTexts, textOfFile } from '../../../policies/texts.ts';
import { notFound } from '../../auth/auth-refusals.ts';
import type { Parameter } from '../../contract/operation.ts';
import { cursorOf, pageParameters, readPage } from '../../contract/page.ts';
import { ProblemError } from '../../contract/problem.ts';
import { chatRisk, objectSchema, text, textOrNull } from '../../contract/schemas.ts';
import { type Route, route } from '../../routing/route.ts';
import { askPlayground, playgroundProblems } from './playground-view.ts';
import { policyReport, policyReportExample, policyReportSchema } from './policy-report.ts';

interface PolicyDeps {
  readonly signInDeps: SignInDeps;
  readonly policies: Pick<PolicyHost, 'current' | 'state' | 'reload'>;
  readonly playground: Playground;
  readonly policyGaps: Pick<PolicyGaps, 'current' | 'update'>;
}

interface RequestedTexts {
  readonly texts: SetTexts;
  /** The digest of the set; null for a set that has failed. */
  readonly digest: string | null;
}

/** Bytes of a file that are shown: enough for all of a policy file, while a list may have more. */
const shownBytesMax = 1024 * 1024;

const setParameter: Parameter = {
  name: 'set',
  in: 'query',
  isRequired: false,
  example: 'active',
  description: 'The policy set; `failed` is the set in the directory that could not be activated.',
  schema: { type: 'string', enum: ['active', 'failed'] },
};

const pathParameter: Parameter = {
  name: 'path',
  in: 'query',
  isRequired: true,
  example: 'payments/payments.policy',
  description: 'The path, as in the list of files.',
  schema: { type: 'string' },
};

const filesSchema = objectSchema({
  digest: { ...textOrNull, description: 'The digest of the set; null for a failed set.' },
  items: {
    type: 'array',
    items: objectSchema({
      path: { type: 'string' },
      kind: { type: 'string', enum: ['policy', 'list'] },
      bytes: { type: 'integer', minimum: 0 },
    }),
  },
});

const filesExample = {
  digest: policyReportExample.digest,
  items: [{ path: 'payments/payments.policy', kind: 'policy', bytes: 1841 }],
};

const lineSchema = { type: 'integer', minimum: 1 } as const;

const fileSchema = objectSchema({
  path: { type: 'string' },
  text: { type: 'string' },
  is_complete: {
    type: 'boolean',
    description: 'False for a list file that is longer than one mebibyte; the rest is left out.',
  },
  digest: { ...textOrNull, description: 'The digest of the set; null for a failed set.' },
  policies: {
    type: 'array',
    items: objectSchema({
      name: { type: 'string' },
      line: lineSchema,
      doc: textOrNull,
      rules: {
        type: 'array',
        items: objectSchema({ id: { type: 'string' }, line: lineSchema, end_line: lineSchema }),
      },
    }),
  },
});

const fileExample = {
  path: 'payments/payments.policy',
  text: 'policy vendor_payments on payment.create {\n',
  is_complete: true,
  digest: policyReportExample.digest,
  policies: [
    {
      name: 'vendor_payments',
      line: 1,
      doc: null,
      rules: [{ id: 'vendor_payments/large_payment', line: 4, end_line: 6 }],
    },
  ],
};

const policySchema = objectSchema({
  name: text(200),
  owner: textOrNull,
  doc: textOrNull,
  rules: { type: 'integer', minimum: 0 },
  file: { type: 'string' },
});

const setSchema = objectSchema({
  state: policyReportSchema,
  approvers: {
    type: 'array',
    items: objectSchema({ name: text(200), title: { type: 'string' }, chat_max_risk: chatRisk }),
  },
  meters: { type: 'array', items: { type: 'string' } },
  items: { type: 'array', items: policySchema },
  next_cursor: textOrNull,
});

const setExample = {
  state: policyReportExample,
  approvers: [{ name: 'finance', title: 'Finance', chat_max_risk: 40 }],
  meters: ['spent'],
  items: [{ name: 'payments', owner: 'finance', doc: null, rules: 5, file: 'payments/payments.policy' }],
  next_cursor: null,
};

const getPolicies = route<PolicyDeps>({
  method: 'GET',
  url: '/v1/policies',
  access: 'policies.view',
  operation: {
    id: 'getPolicies',
    summary: 'The active policies by name, and why the policy directory differs from them',
    description:
      'The policies are paged. A cursor is valid for one policy set; for another set, paging starts again.',
    parameters: pageParameters,
    replies: { 200: { description: 'The policies', schema: setSchema, example: setExample } },
  },
  handle: async ({ policies, policyGaps }, { query }) => {
    const { countMax, after } = readPage(query);
    const active = policies.current();
    const { policies: all, approvers, meters } = active.about();
    // A place in the list of another set means nothing in this set.
    const start = after?.id === active.digest ? after.createdAtMs : 0;
    const items = all.slice(start, start + countMax);
    const next = start + countMax;
    return {
      state: policyReport(policies.state(), policyGaps.current()),
      approvers: approvers.map(({ name, title, chat }) => ({
        name,
        title,
        chat_max_risk: chat?.maxRisk ?? null,
      })),
      meters: meters.map(({ name }) => name),
      items,
      next_cursor: next < all.length ? cursorOf({ createdAtMs: next, id: active.digest }) : null,
    };
  },
});

const getPolicyState = route<PolicyDeps>({
  method: 'GET',
  url: '/v1/policies/state',
  access: 'policies.view',
  operation: {
    id: 'getPolicyState',
    summary: 'The state of the active policies, and why the policy directory differs from them',
    replies: {
      200: {
        description: 'The state of the policies',
        schema: policyReportSchema,
        example: policyReportExample,
      },
    },
  },
  handle: async ({ policies, policyGaps }) => policyReport(policies.state(), policyGaps.current()),
});

const listPolicyFiles = route<PolicyDeps>({
  method: 'GET',
  url: '/v1/policies/files',
  access: 'policies.view',
  operation: {
    id: 'listPolicyFiles',
    summary: 'The files of the active policies',
    parameters: [setParameter],
    replies: { 200: { description: 'The files', schema: filesSchema, example: filesExample } },
    problems: ['not_found'],
  },
  handle: async ({ policies }, { query }) => {
    const { texts, digest } = textsAsked(policies, query);
    const items = entriesOf(texts).map(({ path, kind, start, end }) => ({
      path,
      kind,
      bytes: end - start,
    }));
    return { digest, items };
  },
});

const getPolicyFile = route<PolicyDeps>({
  method: 'GET',
  url: '/v1/policies/file',
  access: 'policies.view',
  operation: {
    id: 'getPolicyFile',
    summary: 'The text of a file of the active policies, and the locations of its policies and rules',
    parameters: [pathParameter, setParameter],
    replies: { 200: { description: 'The file', schema: fileSchema, example: fileExample } },
    problems: ['not_found', ...playgroundProblems],
  },
  handle: async ({ playground, policies }, call) => {
    const { path } = call.query;
    if (path === undefined) throw new ProblemError('invalid_query', '`path` is missing');
    const { texts, digest } = textsAsked(policies, call.query);
    const entry = entriesOf(texts).find((one) => one.path === path);
    if (entry === undefined) throw notFound('file');
    const text = textOfFile(texts, entry, shownBytesMax);
    const isWhole = entry.end - entry.start <= shownBytesMax;
    const fileText = { path, text: text };
    const outline =
      entry.kind === 'policy'
        ? await askPlayground(playground, 'outline', fileText, { call, active: policies.current() })
        : [];
    return { path, text: text, is_complete: isWhole, digest, policies: outline };
  },
});

const reloadPolicies = route<PolicyDeps>({
  method: 'POST',
  url: '/v1/policies/reload',
  access: 'policies.reload',
  operation: {
    id: 'reloadPolicies',
    summary: 'Reloads the policy directory; the reply comes when the policies are active or have failed',
    replies: {
      200: {
        description: 'The state of the policies',
        schema: policyReportSchema,
        example: policyReportExample,
      },
    },
  },
  handle: async ({ policies, policyGaps }) => {
    await policies.reload();
    await policyGaps.update();
    return policyReport(policies.state(), policyGaps.current());
  },
});

export const policyRoutes: readonly Route<PolicyDeps>[] = [
  getPolicies,
  getPolicyState,
  listPolicyFiles,
  getPolicyFile,
  reloadPolicies,
];

/**
 * The texts of the active policies with their digest, or of the set that failed; throws a ProblemError when
 * none has failed.
 */
function textsAsked(
  policies: PolicyDeps['policies'],
  { set = 'active' }: Readonly<Record<string, string>>,
): RequestedTexts {
  const active = policies.current();
  if (set !== 'failed') return { texts: active.texts, digest: active.digest };
  const texts = policies.state().failure?.texts ?? null;
  if (texts === null) throw notFound('failed policy set');
  return { texts, digest: null };
}
