// The person that an agent asks for, as a part of the facts of its request.

import type { RequestFacts } from '../../../language/model/request.ts';
import type { OnBehalf } from '../../users/on-behalf.ts';

const nobody: Pick<RequestFacts, 'user'> = {};

export function userFactsOf(onBehalf: OnBehalf | undefined): Pick<RequestFacts, 'user'> {
  return onBehalf !== undefined && 'user' in onBehalf ? { user: onBehalf.user } : nobody;
}
