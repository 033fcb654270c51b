// Lets the service compare the copy with the active policies, once for each version of the copy.

import { type CallOptions, call } from '../../../api/client.ts';
import type { ComparisonReply } from '../../../parts/comparison/comparison-words.ts';
import { type AnswerState, useAnswer } from '../../../parts/comparison/use-answer.ts';

export type ComparedFiles = CallOptions<'diffPolicies'>['body']['files'];

/** `version` identifies the active policies that the copy is compared with. */
export function useComparison(files: ComparedFiles, version: string): AnswerState<ComparisonReply> {
  const key = files.length === 0 ? null : `${version} ${JSON.stringify(files)}`;
  return useAnswer(key, (signal) => call('diffPolicies', { body: { files }, signal }));
}
