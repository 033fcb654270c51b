/**
 * Names that people read: of people, agents, tokens, devices. Refused is what is not seen or changes how the text around it
 * is seen: controls, marks of direction, joiners, fillers, what has no meaning yet.
 */

const unseen = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
const controls = /(?!\n)\p{Cc}/u;

/** Joiners that are seen by what they do: within emoji, and in scripts whose letters join. */
const joiners = new RegExp(
  [
    '(?<=\\p{Extended_Pictographic})\\uFE0F',
    '(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\uFE0F])\\u200D(?=\\p{Extended_Pictographic})',
    '(?<=\\p{Script=Arabic}|(?!\\p{Script=Inherited})\\p{M})[\\u200C\\u200D](?=\\p{L})',
  ].join('|'),
  'gu',
);

/** What is wrong with a name of one line, as the end of a sentence that begins with it; null where nothing is. */
export function nameProblem(text: string, lengthMax: number): string | null {
  const length = [...text].length;
  if (length === 0 || text.trim() === '') return 'must not be empty';
  if (length > lengthMax) return `must have at most ${lengthMax} characters`;
  if (text.trim() !== text) return 'must not begin or end with white space';
  return unseen.test(text.replaceAll(joiners, '')) ? 'must not hold control or invisible characters' : null;
}

/**
 * The same for what somebody writes in lines of their own, such as a reason: it names nobody, and the code that shows it makes what is
 * not seen visible.
 */
export function textProblem(text: string, lengthMax: number): string | null {
  if (text.trim() === '') return 'must not be empty';
  if ([...text].length > lengthMax) return `must have at most ${lengthMax} characters`;
  return controls.test(text) ? 'must not hold control characters' : null;
}
