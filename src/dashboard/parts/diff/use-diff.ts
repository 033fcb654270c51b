// The diff of the copy with the active policies, computed by the service once for each version of the copy.

import { type CallOptions, call } from '../../api/client.ts';
import type { DiffReply } from './diff-labels.ts';
import { type AnswerState, useAnswer } from './use-answer.ts';

export type ChangedFiles = CallOptions<'diffPolicies'>['body']['files'];

/** `version` identifies the active policies on the other side of the diff. */
export function useDiff(files: ChangedFiles, version: string): AnswerState<DiffReply> {
  const key = files.length === 0 ? null : `${version} ${JSON.stringify(files)}`;
  return useAnswer(key, (signal) => call('diffPolicies', { body: { files }, signal }));
}
