// Receipts of grants, and the keys that sign them: public keys for verifiers, rotation for admins. INVARIANT:
// only the agent that asked gets a receipt, and only while its request is granted.

import { isoTime } from '../../../../language/value/iso-time.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import type { Receipts } from '../../../receipts/issue-receipt.ts';
import { conflict } from '../../auth/auth-refusals.ts';
import { ProblemError } from '../../contract/problem.ts';
import { listReply, objectSchema, time } from '../../contract/schemas.ts';
import { actorOf, callerIn, type Route, route } from '../../routing/route.ts';
import { requestNotFound } from '../requests/approval-result.ts';
import { requestId } from '../requests/requests.ts';

interface ReceiptRouteDeps {
  readonly signInDeps: SignInDeps;
  readonly receipts: Receipts;
}

const keptSeconds = 3_600;

const keySchema = objectSchema({
  kty: { type: 'string', enum: ['OKP'] },
  crv: { type: 'string', enum: ['Ed25519'] },
  x: { type: 'string' },
  kid: { type: 'string', description: 'The thumbprint of the key (RFC 7638).' },
  use: { type: 'string', enum: ['sig'] },
  alg: { type: 'string', enum: ['EdDSA'] },
});

const keyExample = {
  kty: 'OKP',
  crv: 'Ed25519',
  x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
  kid: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
  use: 'sig',
  alg: 'EdDSA',
} as const;

const listPublicKeys = route<ReceiptRouteDeps>({
  method: 'GET',
  url: '/.well-known/jwks.json',
  access: 'public',
  operation: {
    id: 'listPublicKeys',
    summary: 'The public keys of receipts (RFC 7517)',
    description: `The list can be cached for ${keptSeconds} seconds. It is empty if receipts are disabled.`,
    replies: {
      200: {
        description: 'The keys of valid receipts, and the next key',
        schema: objectSchema({ keys: { type: 'array', items: keySchema } }),
        example: { keys: [keyExample] },
      },
    },
  },
  handle: async ({ receipts }, { reply }) => {
    reply.header('cache-control', `max-age=${keptSeconds}`);
    const keys = receipts.isOn ? await receipts.keys.published() : [];
    return { keys: keys.map(({ published }) => published) };
  },
});

const getReceipt = route<ReceiptRouteDeps>({
  method: 'GET',
  url: '/v1/requests/:id/receipt',
  access: 'agent',
  operation: {
    id: 'getReceipt',
    summary: 'Issues the receipt of a grant again',
    description:
      'For the agent of the grant, with `Prefer: receipt`, while the grant is valid. All receipts of a grant have the same `jti`, so each grant can be used only once.',
    parameters: [requestId],
    replies: {
      200: {
        description: 'The receipt',
        schema: objectSchema({ receipt: { type: 'string' }, expires_at: time }),
        example: { receipt: 'eyJhbGciOiJFZERTQSJ9.e30.c2lnbmF0dXJl', expires_at: '2026-03-02T10:06:00.000Z' },
        headers: ['RateLimit-Policy', 'RateLimit', 'X-Agent-API-Key-Expires'],
      },
    },
    problems: ['request_not_found', 'conflict', 'stopped'],
  },
  handle: async ({ receipts }, call) => {
    const issued = await receipts.issue(call.params.id ?? '', callerIn(call));
    switch (issued.kind) {
      case 'issued':
        return { receipt: issued.receipt, expires_at: isoTime(issued.expiresAtMs) };
      case 'unknown':
        throw requestNotFound();
      case 'conflict':
      case 'stopped':
        throw new ProblemError(issued.kind, issued.detail);
    }
  },
});

const receiptKeySchema = objectSchema({
  kid: { type: 'string' },
  signs_from: {
    ...time,
    description: 'When the key starts to sign. The newest key that has started signs all receipts.',
  },
});

const receiptKeyExample = { kid: keyExample.kid, signs_from: '2026-03-02T10:06:00.000Z' };

const listReceiptKeys = route<ReceiptRouteDeps>({
  method: 'GET',
  url: '/v1/receipt-keys',
  access: 'receipt-keys.view',
  operation: {
    id: 'listReceiptKeys',
    summary: 'Published receipt keys, newest first',
    replies: { 200: listReply('The keys', receiptKeySchema, receiptKeyExample) },
  },
  handle: async ({ receipts }) => shownKeys(receipts),
});

const rotateReceiptKey = route<ReceiptRouteDeps, { immediately?: boolean }>({
  method: 'POST',
  url: '/v1/receipt-keys',
  access: 'receipt-keys.rotate',
  operation: {
    id: 'rotateReceiptKey',
    summary: 'Publishes a new receipt key, which starts to sign after one day',
    description:
      'The current key stays published until its receipts have expired. With `immediately`, for a leaked key, the new key signs now and the current key is withdrawn.',
    body: {
      description: 'When the new key starts to sign.',
      schema: objectSchema({}, { immediately: { type: 'boolean' } }),
      examples: { planned: {}, leaked: { immediately: true } },
    },
    replies: { 201: listReply('The keys', receiptKeySchema, receiptKeyExample) },
    problems: ['conflict'],
  },
  handle: async ({ receipts }, call) => {
    const result = await receipts.keys.rotate(actorOf(call), call.body.immediately === true);
    if (result === 'conflict') throw conflict();
    if (result === 'already-under-way')
      throw new ProblemError('conflict', 'a new key is already published and starts to sign within a day');
    call.reply.code(201);
    return await shownKeys(receipts);
  },
});

export const receiptRoutes: readonly Route<ReceiptRouteDeps>[] = [
  listPublicKeys,
  getReceipt,
  listReceiptKeys,
  rotateReceiptKey,
];

async function shownKeys({ keys }: Receipts) {
  const published = await keys.published();
  return {
    items: published.map(({ published: { kid }, signsFromMs }) => ({
      kid,
      signs_from: isoTime(signsFromMs),
    })),
  };
}
