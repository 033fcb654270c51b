// Turns an error of the file system into a phrase that a person can act on.

const phrases: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'you may not read or write it',
};

/** The phrase for an error, to follow "cannot read FILE: ". */
export function fileError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return ('code' in error ? phrases[String(error.code)] : undefined) ?? error.message;
}
