// Errors, shared by every route, for why a route does not do what was asked.

import type { InvalidInput } from '../../people/access.ts';
import { ProblemError } from '../contract/problem.ts';

export function notAllowed(detail = 'your roles do not permit this'): ProblemError {
  return new ProblemError('not_allowed', detail);
}

export function notFound(noun: string): ProblemError {
  return new ProblemError('not_found', `no such ${noun}`);
}

export function conflict(
  detail = 'someone else changed this at the same time: reload and try again',
): ProblemError {
  return new ProblemError('conflict', detail);
}

/** An error that names the invalid fields as the body names them. */
export function invalidBody({ problems }: InvalidInput): ProblemError {
  const errors = problems.map(({ field, detail }) => ({ pointer: `/${field}`, detail }));
  return new ProblemError('invalid_body', errors[0]?.detail ?? 'the body is invalid', {
    errors,
  });
}
