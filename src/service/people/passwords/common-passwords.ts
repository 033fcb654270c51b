// Passwords that attackers try first: known ones, and variants with digits, other spellings, repetitions and
// rows of keys. The lists are loaded when a password is first set.

/** The fewest guesses that a password must withstand; a season with a year does not. */
const guessesMin = 3e8;
/**
 * The most characters that are judged: a longer password is at least as good as its beginning, and the cost
 * of judging grows faster than the length.
 */
const judgedMax = 64;
/** Famous examples of well-made passwords; attackers know them, too. */
const famous: ReadonlySet<string> = new Set(['correcthorsebatterystaple', 'troub4dor3', 'diceware']);

let judge: Promise<(password: string) => number> | undefined;

/** Whether attackers would soon find the password. */
export async function isCommonPassword(password: string): Promise<boolean> {
  if (famous.has(password.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, ''))) return true;
  judge ??= loadJudge();
  return (await judge)([...password].slice(0, judgedMax).join('')) < guessesMin;
}

async function loadJudge(): Promise<(password: string) => number> {
  const [{ ZxcvbnFactory }, { adjacencyGraphs, dictionary }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  const factory = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });
  return (password) => factory.check(password).guesses;
}
