// /v1/policies: which set is in force, what stands in the way of the next, and what it says of itself.

import type { FastifyInstance } from 'fastify';
import type { SignInDeps } from '../../people/sign-in.ts';
import type { PolicyHost } from '../../sources/live.ts';
import { manage } from '../manage.ts';
import { cursorOf, pageParameters, readPage } from '../page.ts';
import { objectSchema, text, textOrNull } from '../schemas.ts';
import { policyReport, policyReportExample, policyReportSchema } from './health.ts';

export interface PolicyRouteOptions {
  readonly signInDeps: SignInDeps;
  readonly policies: Pick<PolicyHost, 'current' | 'state' | 'reload'>;
}

export async function policyRoutes(
  app: FastifyInstance,
  { signInDeps: deps, policies }: PolicyRouteOptions,
): Promise<void> {
  manage(app, deps, {
    ...{ method: 'GET', url: '/v1/policies', access: 'policies.view' },
    operation: {
      id: 'getPolicies',
      summary: 'The set in force, why what stands in the directory is not it, and its policies by name',
      description: 'The policies come by pages; the cursor belongs to one set, and begins anew with another.',
      parameters: pageParameters,
      replies: { 200: { description: 'The policies', schema: setSchema, example: setExample } },
    },
    handle: async ({ query }) => {
      const { countMax, after } = readPage(query);
      const inForce = policies.current();
      const { policies: all, approvers, meters } = inForce.about();
      // A place in another set means nothing in this one.
      const start = after?.id === inForce.digest ? after.createdAtMs : 0;
      const items = all.slice(start, start + countMax);
      const next = start + countMax;
      return {
        state: policyReport(policies.state()),
        approvers,
        meters,
        items,
        next_cursor: next < all.length ? cursorOf({ createdAtMs: next, id: inForce.digest }) : null,
      };
    },
  });

  manage(app, deps, {
    ...{ method: 'POST', url: '/v1/policies/reload', access: 'policies.reload' },
    operation: {
      id: 'reloadPolicies',
      summary:
        'Reads the policy directory again now; answers when what stands there is in force or has failed',
      replies: {
        200: { description: 'How they stand', schema: policyReportSchema, example: policyReportExample },
      },
    },
    handle: async () => {
      await policies.reload();
      return policyReport(policies.state());
    },
  });
}

const policySchema = objectSchema({
  ...{ name: text(200), owner: textOrNull, doc: textOrNull, rules: { type: 'integer', minimum: 0 } },
});

const setSchema = objectSchema({
  state: policyReportSchema,
  approvers: { type: 'array', items: objectSchema({ name: text(200), title: { type: 'string' } }) },
  meters: { type: 'array', items: { type: 'string' } },
  items: { type: 'array', items: policySchema },
  next_cursor: textOrNull,
});

const setExample = {
  state: policyReportExample,
  approvers: [{ name: 'finance', title: 'Finance' }],
  meters: ['spent'],
  items: [{ name: 'payments', owner: 'finance', doc: null, rules: 5 }],
  next_cursor: null,
};
