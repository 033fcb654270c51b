// Every form of the dashboard says a mistake once: each field of a body that a form sends belongs to a field of the
// form, which shows what is wrong with it. A new form, or a new field of a body, is found here.

import { globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import type { OpenApiDocument } from '../../src/service/http/contract/openapi.ts';
import { shareService } from '../service/http/service.ts';

const root = join(import.meta.dirname, '../../src/dashboard');
const files = globSync('{pages,parts,shell}/**/*.tsx', { cwd: root });
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');
const service = shareService();

/** Forms that call no operation with a body: they change the address or the copy in the playground. */
const withoutCalls = [
  'pages/playground/logged-request.tsx',
  'pages/playground/new-file.tsx',
  'parts/form/saved-views.tsx',
];

test('a form that calls the service is a form frame', () => {
  const own = files.filter((file) => /<form\b/.test(textOf(file)));
  expect(own.sort()).toEqual(['parts/form/form-frame.tsx', ...withoutCalls].sort());
  for (const file of withoutCalls) expect(textOf(file)).not.toMatch(/call\('\w+', \{[^}]*body/);
});

test('no form shows a problem itself', () => {
  const both = files.filter((file) => {
    const text = textOf(file);
    const forms = text.match(/<(SendForm|ProofForm|FormFrame)\b(?:(?!<\1\b)[\s\S])*?<\/\1>/g) ?? [];
    return forms.some((form) => form.includes('<ProblemNote')) && file !== 'parts/form/form-frame.tsx';
  });
  expect(both).toEqual([]);
});

/** Fields of bodies that nobody types: secrets of links, ids and answers of the browser. */
const notTyped: Readonly<Record<string, readonly string[]>> = {
  // The button and the rows of the list.
  voteOnRequests: ['vote', 'requests'],
  signInWithPasskey: ['response'],
  previewInvitation: ['token'],
  previewResetLink: ['token'],
  // The rating of a password that is typed, and the sign-in after it was set.
  checkPassword: ['email', 'name'],
  'parts/form/new-password-form.tsx signIn': ['email'],
  createFirstAdmin: ['token'],
  acceptInvitation: ['token'],
  resetPassword: ['token'],
  confirmTotpSetup: ['secret'],
  addPasskey: ['response'],
  rollBackPolicies: ['digest', 'active_digest'],
  // The change, and the sets that are shown.
  proposePolicies: ['active_digest', 'patch', 'files', 'request_id'],
  acceptProposal: ['active_digest', 'proposed_digest', 'breaks_guarantee'],
  createResetLink: ['removes_second_factors'],
  setSigning: ['new_secret'],
  updateAgent: ['refusal_hints'],
  // This form changes the limits alone.
  'pages/agents/agent-limits.tsx updateAgent': ['name', 'risk_tier', 'control_owner', 'tags'],
  registerPoint: ['may_release'],
  updatePoint: ['may_release'],
  // Actors and bound tokens are for programs, which use the API or the command line.
  addAgentIdentity: ['actors'],
  createToken: ['dpop_jkt'],
  updateAlertRule: ['active'],
  createAlertRule: ['active'],
  updatePerson: ['status'],
  approveRequest: ['group'],
  rejectRequest: ['group'],
};

/** What a proof adds to a body; the form of a proof has these fields. */
const proof = ['password', 'code', 'passkey'];

/** The fields that a file and the files of the dashboard that it imports show problems of. */
function fieldsIn(file: string, seen = new Set<string>()): ReadonlySet<string> {
  const fields = new Set<string>();
  if (seen.has(file)) return fields;
  seen.add(file);
  const text = textOf(file);
  for (const [, name = ''] of text.matchAll(/\bname="(\w+)"/g)) fields.add(name);
  for (const [, name = ''] of text.matchAll(/\bname = '(\w+)'/g)) fields.add(name);
  if (!/<(Field|FieldGroup|NewPassword|RoleChoice)\b/.test(text) && !text.includes('Fields')) fields.clear();
  for (const [, path = ''] of text.matchAll(/from '(\.[^']*\.tsx)'/g)) {
    const next = resolve('/', dirname(file), path).slice(1);
    if (/^(parts\/(form|dialog)|pages)\//.test(next))
      for (const name of fieldsIn(next, seen)) fields.add(name);
  }
  return fields;
}

test('each field of a body that a form sends has a field that shows its problem', async () => {
  const document = (await (await fetch(`${service().url}/openapi.json`)).json()) as OpenApiDocument;
  const bodies = new Map(
    Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .map((operation) => {
        const { schema } = ((operation.requestBody as { content?: Record<string, unknown> } | undefined)
          ?.content?.['application/json'] ?? {}) as {
          schema?: { properties?: Readonly<Record<string, unknown>> };
        };
        return [operation.operationId, Object.keys(schema?.properties ?? {})] as const;
      }),
  );
  const missing = files.flatMap((file) => {
    const text = textOf(file);
    if (!/<(SendForm|ProofForm|FormFrame|NewPasswordForm)\b/.test(text)) return [];
    const fields = fieldsIn(file);
    return [...text.matchAll(/call\('(\w+)'/g)].flatMap(([, id = '']) =>
      (bodies.get(id) ?? [])
        .filter((name) => !fields.has(name) && !proof.includes(name))
        .filter((name) => ![...(notTyped[id] ?? []), ...(notTyped[`${file} ${id}`] ?? [])].includes(name))
        .map((name) => `${file}: ${id} ${name}`),
    );
  });
  expect(missing).toEqual([]);
});
