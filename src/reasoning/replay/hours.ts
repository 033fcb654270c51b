// Words of people into hours. Records do not say how long a person looked at a request, so a word is taken to cost what is
// said here, and every output says so.

export const minutesAWord = 3;

/** Hours to a tenth. */
export function hoursOf(words: number): number {
  return Math.round((words * minutesAWord) / 6) / 10;
}
