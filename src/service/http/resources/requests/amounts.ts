// Shows the amounts of a payload as people write them to everybody who may see its request.

import type { PolicyHost } from '../../../policies/policy-host.ts';
import { amountsIn, amountsMax } from '../../../requests/amounts.ts';
import type { RequestChanges } from '../../../requests/request-changes.ts';
import { objectSchema } from '../../contract/schemas.ts';
import { type Route, route } from '../../routing/route.ts';
import { findVisible, requestNotFound } from './approval-result.ts';
import { requestId } from './requests.ts';

interface AmountDeps {
  readonly requestChanges: RequestChanges;
  readonly policies: Pick<PolicyHost, 'current'>;
}

const shownText = { type: 'string' } as const;

const listAmounts = route<AmountDeps>({
  method: 'GET',
  url: '/v1/requests/:id/amounts',
  access: 'requests.view',
  operation: {
    id: 'listAmounts',
    summary: 'The amounts of money of a request in readable form',
    description: `The fields that the active policies declare as \`money\`, with their currencies. At most ${amountsMax}.`,
    parameters: [requestId],
    replies: {
      200: {
        description: 'The amounts',
        schema: objectSchema({
          items: {
            type: 'array',
            maxItems: amountsMax,
            items: objectSchema({
              pointer: { ...shownText, description: 'JSON Pointer into the payload.' },
              value: { type: 'number', description: 'The value as sent.' },
              text: shownText,
            }),
          },
        }),
        example: { items: [{ pointer: '/amount', value: 4200, text: '4,200.00 USD' }] },
      },
    },
    problems: ['request_not_found'],
  },
  handle: async ({ requestChanges, policies }, call) => {
    const seen = await findVisible(requestChanges, call, call.params.id ?? '');
    if (seen === null) throw requestNotFound();
    const { payload, actionKey } = seen.state.record;
    const shape = policies.current().shapeOf(actionKey);
    return { items: shape === null ? [] : amountsIn(payload, shape) };
  },
});

export const amountRoutes: readonly Route<AmountDeps>[] = [listAmounts];
