// Passwords that attackers try first: known ones and what people make of them with digits, other spellings, repetitions and rows
// of keys. The lists are loaded with the first password that somebody sets.

/** How many guesses a password must outlast: summer and the year do not. */
const guessesMin = 3e8;
/** A longer password is at least as good as its beginning, and judging costs more than its length. */
const judgedMax = 64;
/** A good way to make one, and each word of it is known. */
const famous: ReadonlySet<string> = new Set(['correcthorsebatterystaple', 'troub4dor3', 'diceware']);

let judge: Promise<(password: string) => number> | undefined;

/** Whether attackers would soon have it. */
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
