// Shows two things about a payload to everybody who may see its request: values that may pass for something
// else, and its amounts as people write them. INVARIANT: nothing is decided by either; both are computed when
// somebody looks.

import type { JsonObject } from '../../../../language/model/json.ts';
import { codePointName } from '../../../../language/value/scripts.ts';
import type { PolicyHost } from '../../../policies/policy-host.ts';
import { amountsIn, amountsMax } from '../../../requests/amounts.ts';
import type { Decisions } from '../../../requests/decisions.ts';
import { charactersMax, type LookAlike, lookAlikes, lookAlikesMax } from '../../../requests/look-alikes.ts';
import type { Store } from '../../../store/contract/store.ts';
import { objectSchema } from '../../contract/schemas.ts';
import { type Route, route } from '../../routing/route.ts';
import { grantedMax, lastGranted } from '../agents/last-granted.ts';
import { findVisible, requestNotFound } from './approval-result.ts';
import { requestId } from './requests.ts';

interface LookAlikeDeps {
  readonly store: Store;
  readonly decisions: Decisions;
  readonly policies: Pick<PolicyHost, 'current'>;
}

const shownText = { type: 'string' } as const;

const lookAlikesSchema = objectSchema({
  items: {
    type: 'array',
    maxItems: lookAlikesMax,
    items: objectSchema({
      path: {
        ...shownText,
        description: 'The path of the field. List elements share one path: `items[].vendor`.',
      },
      value: { ...shownText, description: 'The string; long strings are shortened.' },
      scripts: {
        type: 'array',
        items: shownText,
        description: 'The scripts, if a word has letters of several scripts; otherwise empty.',
      },
      confusable_with: {
        ...objectSchema({ value: shownText, count: { type: 'integer', minimum: 1 } }),
        type: ['object', 'null'],
        description: 'A similar value of this field that was granted more often.',
      },
      characters: {
        type: 'array',
        maxItems: charactersMax,
        description: 'The characters that differ from the other characters or from the similar value.',
        items: objectSchema({ character: shownText, code_point: shownText, name: shownText }),
      },
    }),
  },
});

const lookAlikesExample = {
  items: [
    {
      path: 'vendor',
      value: 'St\u0430ples',
      scripts: ['Latin', 'Cyrillic'],
      confusable_with: { value: 'Staples', count: 120 },
      characters: [{ character: '\u0430', code_point: 'U+0430', name: 'CYRILLIC SMALL LETTER A' }],
    },
  ],
};

const listConfusables = route<LookAlikeDeps>({
  method: 'GET',
  url: '/v1/requests/:id/confusables',
  access: 'requests.view',
  operation: {
    id: 'listConfusables',
    summary: 'Confusable strings of a request: mixed scripts, or lookalikes of values granted before',
    description: `Compares each string with the strings of the same field in the last ${grantedMax} requests of the action that were granted to the agent. Two strings are confusable if their skeletons are equal (Unicode TS 39). At most ${lookAlikesMax} strings.`,
    parameters: [requestId],
    replies: {
      200: { description: 'The strings', schema: lookAlikesSchema, example: lookAlikesExample },
    },
    problems: ['request_not_found'],
  },
  handle: async ({ store, decisions }, call) => {
    const seen = await findVisible(decisions, call, call.params.id ?? '');
    if (seen === null) throw requestNotFound();
    const { agentId, actionKey, payload, createdAtMs } = seen.state.record;
    const granted = (await lastGranted(store, agentId, actionKey)).filter(
      (one) => one.createdAtMs < createdAtMs,
    );
    // The text was written by `requestRow`, so it is valid JSON.
    const payloads = granted.map(({ payloadJson }) => JSON.parse(payloadJson) as JsonObject);
    return { items: await Promise.all(lookAlikes(payload, payloads).map(shownLookAlike)) };
  },
});

const listAmounts = route<LookAlikeDeps>({
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
  handle: async ({ decisions, policies }, call) => {
    const seen = await findVisible(decisions, call, call.params.id ?? '');
    if (seen === null) throw requestNotFound();
    const { payload, actionKey } = seen.state.record;
    const shape = policies.current().shapeOf(actionKey);
    return { items: shape === null ? [] : amountsIn(payload, shape) };
  },
});

export const lookAlikeRoutes: readonly Route<LookAlikeDeps>[] = [listConfusables, listAmounts];

async function shownLookAlike({ path, value, scripts, looksLike, characters }: LookAlike) {
  // Loaded with the first look-alike, because it holds the names of all characters.
  const { unicodeCorrectName } = await import('unicode-name');
  return {
    path,
    value,
    scripts,
    confusable_with: looksLike,
    characters: characters.map((character) => ({
      character,
      code_point: codePointName(character),
      name: unicodeCorrectName(character) ?? '',
    })),
  };
}
