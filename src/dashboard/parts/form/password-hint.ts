// How good a new password is, as far as a page can tell. It follows the service's rules (src/service/people/passwords.ts), which
// has the last word, and says beyond them what is stronger.

export interface PasswordHint {
  /** 0 will be refused, 3 is strong. */
  readonly level: 0 | 1 | 2 | 3;
  readonly text: string;
}

const lengthMin = 12;
const differentMin = 5;

/** `names` are the person's own words: a password is more than those. */
export function passwordHint(password: string, names: readonly string[]): PasswordHint {
  const length = [...password].length;
  if (length === 0) return { level: 0, text: 'At least 12 characters; a few unrelated words are good.' };
  if (length < lengthMin) return { level: 0, text: `Too short: ${lengthMin - length} more characters.` };
  const different = new Set(password).size;
  if (different < differentMin) return { level: 0, text: 'Too few different characters.' };
  if (withoutWords(password, names).length < lengthMin / 2)
    return { level: 0, text: 'Too close to your name or address.' };
  if (length >= 20 && different >= 10) return { level: 3, text: 'Strong.' };
  if (length >= 16 && different >= 8) return { level: 2, text: 'Good.' };
  return { level: 1, text: 'It will do; longer is stronger.' };
}

function withoutWords(password: string, names: readonly string[]): string {
  return names
    .flatMap((name) => name.toLowerCase().split(/[^\p{L}\p{N}]+/u))
    .filter((word) => word.length >= 3)
    .reduce((text, word) => text.replaceAll(word, ''), password.toLowerCase());
}
