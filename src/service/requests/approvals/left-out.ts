// Why somebody may not approve whom the policies leave out.

/** In lower case, without a full stop. */
export function leftOutText(except: readonly string[]): string {
  const fields = except.map((field) => `\`${field}\``).join(' or ');
  return `the policies leave out whoever ${fields} names, and that is you or not known`;
}
