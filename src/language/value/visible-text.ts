// Checks names that people read: of people, agents, tokens, devices. Characters that cannot be seen, or that
// change how the text around them is shown, are refused: controls, marks of direction, joiners, fillers,
// unassigned characters.

const unseen = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
const controls = /(?!\n)\p{Cc}/u;

/** Joiners with a visible effect: within emoji, and in scripts whose letters join. */
const joiners = new RegExp(
  [
    '(?<=\\p{Extended_Pictographic})\\uFE0F',
    '(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\uFE0F])\\u200D(?=\\p{Extended_Pictographic})',
    '(?<=\\p{Script=Arabic}|(?!\\p{Script=Inherited})\\p{M})[\\u200C\\u200D](?=\\p{L})',
  ].join('|'),
  'gu',
);

/**
 * Says what is wrong with a name of one line, as the end of a sentence that begins with the name. Null when
 * the name is fine. The length is counted in code points.
 */
export function nameProblem(text: string, lengthMax: number): string | null {
  const length = [...text].length;
  if (length === 0 || text.trim() === '') return 'must not be empty';
  if (length > lengthMax) return `must have at most ${lengthMax} characters`;
  if (text.trim() !== text) return 'must not begin or end with white space';
  return unseen.test(text.replaceAll(joiners, ''))
    ? 'must not contain control or invisible characters'
    : null;
}

/**
 * Says what is wrong with a text of several lines, such as a reason; null when the text is fine. Invisible
 * characters are allowed: the text names nobody, and the code that shows it makes them visible.
 */
export function textProblem(text: string, lengthMax: number): string | null {
  if (text.trim() === '') return 'must not be empty';
  if ([...text].length > lengthMax) return `must have at most ${lengthMax} characters`;
  return controls.test(text) ? 'must not hold control characters' : null;
}
