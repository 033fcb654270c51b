// Passwords: argon2id with the parameters that OWASP recommends, in the PHC text form. INVARIANT: a check
// takes the same work whether the person exists or not, and a password is neither kept nor shown anywhere.

import { type Algorithm, hash, verify } from '@node-rs/argon2';
import { isCommonPassword } from './passwords/common-passwords.ts';
import { createHashingLine, type InLine } from './passwords/hashing.ts';

/** The package declares a `const enum`, which cannot be read when types are stripped. */
const argon2id = 2 as Algorithm.Argon2id;

/**
 * Memory in KiB, passes and parallelism. One check takes some tens of milliseconds on a thread of its own.
 */
const cost = { algorithm: argon2id, memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 } as const;

const passwordLengthMin = 12;
/** In bytes of UTF-8; the limit keeps a long password from making hashing slow. */
export const passwordBytesMax = 1024;

/** The product's name, as a word of its own. */
const productName = /(?<!\p{L})writ(?!\p{L})/iu;
/** A shorter local part of an address occurs in many words. */
const addressLengthMin = 4;

/** The person that the password is for. */
export interface PasswordOwner {
  readonly email: string;
  readonly name: string;
}

/** Returns what is wrong with a password to be set, as one sentence; null when it is acceptable. */
export async function passwordProblem(password: string, owner: PasswordOwner): Promise<string | null> {
  const problem = passwordFormProblem(password, owner);
  if (problem !== null) return problem;
  if (!(await isCommonPassword(password))) return null;
  return 'this password is easy to guess: use a few unrelated words';
}

/**
 * Returns what is wrong with the password's form, or with its relation to its owner; null when nothing is. A
 * page can check the same.
 */
export function passwordFormProblem(password: string, { email, name }: PasswordOwner): string | null {
  if (Buffer.byteLength(password) > passwordBytesMax)
    return `a password has at most ${passwordBytesMax} bytes`;
  if ([...password].length < passwordLengthMin)
    return `a password has at least ${passwordLengthMin} characters`;
  if (new Set(password).size < 5) return 'a password has at least 5 different characters';
  const folded = password.toLowerCase();
  const local = email.toLowerCase().split('@')[0] ?? '';
  if (local.length >= addressLengthMin && folded.includes(local))
    return 'leave your address out of the password';
  if (productName.test(password)) return 'leave the name of the product out of the password';
  const personalWords = [email, name].flatMap((words) => words.toLowerCase().split(/[^\p{L}\p{N}]+/u));
  const rest = personalWords
    .filter((word) => word.length >= 3)
    .reduce((text, word) => text.replaceAll(word, ''), folded);
  return rest.length < passwordLengthMin / 2 ? 'a password is more than a name or an address' : null;
}

/** One line for the whole process, since the processors are shared. */
const line = createHashingLine();

/** Returns the hash; null when too many passwords wait to be hashed. */
export async function hashPassword(password: string, from: InLine = setter): Promise<string | null> {
  return await line.run(from, () => hash(password, cost));
}

/** The sender of a password that is set: that person has a link, or has just proved who they are. */
const setter: InLine = { key: 'setter', isKnown: true };

let absent: Promise<string> | undefined;

/**
 * Checks a password. Returns `no` when there is no hash, after the same work as for a real one; `busy` means
 * that the password was not judged.
 */
export async function checkPassword(
  password: string,
  passwordHash: string | null,
  from: InLine,
): Promise<'yes' | 'no' | 'busy'> {
  if (Buffer.byteLength(password) > passwordBytesMax) return 'no';
  absent ??= hash('nobody has this password', cost);
  const known = passwordHash ?? (await absent);
  const isRight = await line.run(from, () => verify(known, password));
  if (isRight === null) return 'busy';
  return isRight && passwordHash !== null ? 'yes' : 'no';
}
