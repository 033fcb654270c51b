// Rates a new password as far as a page can. It follows the service's rules (`passwordFormProblem`) and adds
// hints on what is stronger. Only the service can tell whether a password is a common one.

export interface PasswordHint {
  /** From 0, which will be refused, to 3, which is strong. */
  readonly level: 0 | 1 | 2 | 3;
  readonly text: string;
}

const lengthMin = 12;
const differentMin = 5;
const productName = /(?<!\p{L})writ(?!\p{L})/iu;
const addressLengthMin = 4;

/** The person whose password it will be; a password must be more than their own words. */
export interface PasswordOwner {
  readonly email: string;
  readonly name: string;
}

export function passwordHint(password: string, owner: PasswordOwner): PasswordHint {
  const length = [...password].length;
  if (length === 0) return { level: 0, text: 'At least 12 characters; a few unrelated words are good.' };
  if (length < lengthMin) return { level: 0, text: `Too short: ${lengthMin - length} more characters.` };
  const different = new Set(password).size;
  if (different < differentMin) return { level: 0, text: 'Too few different characters.' };
  const local = owner.email.toLowerCase().split('@')[0] ?? '';
  if (local.length >= addressLengthMin && password.toLowerCase().includes(local))
    return { level: 0, text: 'Leave your address out of it.' };
  if (productName.test(password)) return { level: 0, text: 'Leave the name of the product out of it.' };
  if (withoutWords(password, [owner.name, owner.email]).length < lengthMin / 2)
    return { level: 0, text: 'Too close to your name or address.' };
  if (length >= 20 && different >= 10) return { level: 3, text: 'Strong.' };
  if (length >= 16 && different >= 8) return { level: 2, text: 'Good.' };
  return { level: 1, text: 'Acceptable; longer is stronger.' };
}

function withoutWords(password: string, names: readonly string[]): string {
  return names
    .flatMap((name) => name.toLowerCase().split(/[^\p{L}\p{N}]+/u))
    .filter((word) => word.length >= 3)
    .reduce((text, word) => text.replaceAll(word, ''), password.toLowerCase());
}
