// Turns an error of the file system into a phrase that a person can act on.

import { faultOfFile } from '../../service/file-fault.ts';

/** The phrase for an error, to follow "cannot read FILE: ". */
export function fileError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ('code' in error && error.code === 'ENOENT') return 'there is no such file';
  const fault = faultOfFile(error);
  return fault === null ? error.message : `it ${fault}`;
}
