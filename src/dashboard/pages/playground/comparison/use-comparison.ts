// The copy compared with the active policies by the service, once for each copy.

import { type CallOptions, call } from '../../../api/client.ts';
import type { Compared } from '../../../parts/comparison/comparison-words.ts';
import { type Answering, useAnswer } from '../../../parts/comparison/use-answer.ts';

export type ComparedFiles = CallOptions<'comparePolicies'>['body']['files'];

/** `version` says what the copy is compared with: the active policies. */
export function useComparison(files: ComparedFiles, version: string): Answering<Compared> {
  const key = files.length === 0 ? null : `${version} ${JSON.stringify(files)}`;
  return useAnswer(key, (signal) => call('comparePolicies', { body: { files }, signal }));
}
