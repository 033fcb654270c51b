// Proof that the caller is still the person of the session. A change of what lets somebody in takes the proof
// in its body beside its own fields, as a step-up does. INVARIANT: a session alone, however new, proves
// nothing: a thief has no more than that.

import type { FastifyRequest } from 'fastify';
import { type ProofFactors, proofPurpose, prove } from '../../people/identity-proof.ts';
import type { Actor, Session } from '../../people/person.ts';
import type { SignInDeps } from '../../people/sign-in.ts';
import type { JsonSchema, Operation } from '../contract/operation.ts';
import { ProblemError } from '../contract/problem.ts';
import { objectSchema, text } from '../contract/schemas.ts';
import { refusalOfProof } from './credentials.ts';

/** Room for six digits, or for a recovery code however it is typed. */
export const codeLengthMax = 20;

export const proofFields: Readonly<Record<string, JsonSchema>> = {
  password: text(1024),
  code: text(codeLengthMax),
  passkey: { type: 'object' },
};

const proofDescription =
  '`password`, with `code` (a one-time code or a recovery code) where codes are set up, or `passkey`';

/** The operation, with the fields of a proof added to its body. */
export function withProof<T extends Pick<Operation, 'body'>>(operation: T): T {
  const { body } = operation;
  const schema = body?.schema ?? objectSchema({});
  const properties = { ...(schema.properties as object), ...proofFields };
  const examples = body?.examples ?? { proof: {} };
  return {
    ...operation,
    body: {
      description: [body?.description, `A proof of identity: ${proofDescription}.`].join(' ').trim(),
      schema: { ...schema, properties },
      examples: Object.fromEntries(
        Object.entries(examples).map(([name, value]) => [
          name,
          { ...(value as object), ...exampleProof(value) },
        ]),
      ),
    },
  };
}

function exampleProof(value: unknown): object {
  const hasCode = Object.hasOwn(value as object, 'code');
  return { password: 'correct horse battery', ...(hasCode ? {} : { code: '287082' }) };
}

/** Throws a ProblemError unless the body proves that the caller is the person of the session. */
export async function requireProof(
  deps: SignInDeps,
  { actor, session }: { readonly actor: Actor | null; readonly session: Session | null },
  { shown, request }: { readonly shown: unknown; readonly request: FastifyRequest },
): Promise<void> {
  if (actor === null || session === null) throw new Error('a proof was given outside a session');
  const { password, code, passkey } = shown as ProofFactors;
  const hasCodes = actor.person.totp !== null;
  const result = await prove(deps, actor.person, {
    shown: {
      passkey,
      ...(password === undefined ? {} : { password }),
      ...(hasCodes && code !== undefined ? { code } : {}),
    },
    purpose: proofPurpose(session),
    address: request.clientAddress,
    session,
  });
  switch (result.kind) {
    case 'right':
      return;
    case 'nothing-shown':
      throw new ProblemError('proof_needed', `prove your identity: send ${proofDescription}`);
    case 'passkey-needed':
      throw new ProblemError('proof_needed', 'prove your identity with one of your passkeys: send `passkey`');
    case 'passkey-too-new':
      throw new ProblemError(
        'proof_needed',
        'this passkey was added too recently: use an older one or your password',
      );
    default:
      throw refusalOfProof(result);
  }
}
