// Turns refused credentials into the error for the person: only that they were refused, or how long to wait.

import type { FastifyRequest } from 'fastify';
import type { Reservation, RetryDelay } from '../../people/attempts.ts';
import type { SignInDeps, SignInRefusal } from '../../people/sign-in.ts';
import { reserveUnguessable } from '../../people/sign-in-limits.ts';
import { ProblemError } from '../contract/problem.ts';

export function refusal(refused: SignInRefusal): ProblemError {
  switch (refused.kind) {
    case 'wrong':
      return wrongCredentials();
    case 'code-needed':
      return new ProblemError('code_needed', 'send the six digits of the authenticator app as `code`');
    case 'code-used':
      return new ProblemError('code_used', 'this code was used before: wait for the next one');
    case 'wait': {
      const seconds = String(Math.ceil(refused.waitMs / 1000));
      const headers = { 'retry-after': seconds };
      return new ProblemError('too_many_attempts', `try again in ${seconds} s`, { headers });
    }
  }
}

/** The refusal of a proof by a person who is signed in, whose address is known. */
export function refusalOfProof(refused: SignInRefusal): ProblemError {
  if (refused.kind !== 'wrong') return refusal(refused);
  return new ProblemError('wrong_credentials', 'the password, the code or the passkey is wrong');
}

/** The reservation of an attempt; throws a ProblemError when the attempt has to wait. */
export function reserved(result: Reservation | RetryDelay): Reservation {
  if (result.kind === 'wait') throw refusal(result);
  return result;
}

/** Reserves an attempt to use a link from this address; throws a ProblemError when the attempt has to wait. */
export function attemptByLink(
  { attempts, directory }: Pick<SignInDeps, 'attempts' | 'directory'>,
  { clientAddress: address }: FastifyRequest,
): Reservation {
  return reserved(reserveUnguessable(attempts, { what: 'link', address }, directory.clock()));
}

/** The refusal of right credentials when only single sign-on lets this person in. */
export function ssoOnly(): ProblemError {
  return new ProblemError(
    'sso_only',
    'use single sign-on: only admins may sign in with a password or passkey',
  );
}

export function wrongCredentials(): ProblemError {
  return new ProblemError('wrong_credentials', 'the address, password or code is wrong');
}
