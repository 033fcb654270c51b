// The table of diagnostic codes. Each code has one line, and a page under docs/diagnostics that says what to
// avoid, what to prefer and why. A test keeps table and pages equal.

import { checkCodes } from './check-codes.ts';
import { syntaxCodes } from './syntax-codes.ts';

/**
 * Codes of problems with the files of a policy set, or of its tests, that are found before their text is
 * parsed.
 */
const sourceErrors = {
  'directory-unreadable': 'the policy directory cannot be read',
  'directory-too-large': 'there are more than 100,000 entries under the policy directory',
  'change-unfinished': 'a change of several policy files is not finished',
  'no-policy-files': 'there is no `.policy` file under the directory',
  'file-empty': 'a policy file declares nothing',
  'file-unreadable': 'a file cannot be read',
  'file-outside': 'a link leads out of the policy directory',
  'file-not-utf8': 'a file is not valid UTF-8',
  'file-too-large': 'a policy file is larger than 1 MiB',
  'list-file-missing': 'a list names a file that is not there',
  'list-file-unreadable': 'a list file cannot be read',
  'list-file-outside': 'a list names a file outside of the policy directory',
  'list-file-too-large': 'a list file is larger than 64 MiB',
  'list-file-malformed': 'a list file is not an array of plain values',
  'owners-malformed': '`owners.yaml` cannot be read',
  'action-not-owned': 'a file decides about an action that `owners.yaml` does not give it',
  'read-not-owned': 'a rule reads a declaration that the owner of the action does not own',
  'test-file-malformed': 'a test file does not follow the format of tests',
} as const;

/** Codes of warnings about the files of a policy set. */
export const sourceWarnings = {
  'file-not-read': 'a file is named like a policy file, but is not read',
} as const;

export const sourceCodes = { ...sourceErrors, ...sourceWarnings } as const;

/** By code, the one-line summary that heads its page. */
export const codes = { ...sourceCodes, ...syntaxCodes, ...checkCodes } as const;

export type Code = keyof typeof codes;
