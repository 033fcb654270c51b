// The text that explains why a person may not approve whom the policies leave out.

/**
 * Returns the reason in lower case, without a full stop. `except` holds the fields that name who is left out.
 */
export function leftOutText(except: readonly string[]): string {
  const fields = except.map((field) => `\`${field}\``).join(' or ');
  return `the policies leave out whoever ${fields} names, and that is you or not known`;
}
