// Converts words, the answers of people, to hours. Records do not show how long a person looks at a request,
// so each word has the fixed cost below, and every output states that cost.

export const minutesAWord = 3;

/** Hours, rounded to a tenth. */
export function hoursOf(words: number): number {
  return Math.round((words * minutesAWord) / 6) / 10;
}
