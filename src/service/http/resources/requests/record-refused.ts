// Records the refusal of a call that is not `POST /v1/authorize` as that route records its own.

import { toProblem } from '../../connection/error-replies.ts';
import { type ProblemError, problems } from '../../contract/problem.ts';
import type { AuthorizeCall, AuthorizeHandler } from './authorize-handler.ts';

/** Records a refusal as `POST /v1/authorize` records the same refusal, and returns its problem. */
export async function recordRefused(
  { authorizeHandler }: { readonly authorizeHandler: Pick<AuthorizeHandler, 'refuse'> },
  call: AuthorizeCall,
  error: unknown,
): Promise<ProblemError> {
  const problem = toProblem(error);
  if (problems[problem.code].status < 500) await authorizeHandler.refuse(problem, call, null);
  return problem;
}
