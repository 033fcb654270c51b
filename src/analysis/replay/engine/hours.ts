// Converts votes, the answers of people, to hours. Records do not show how long a person looks at a request,
// so each vote has the fixed cost below, and every output states that cost.

export const minutesAVote = 3;

/** Hours, rounded to a tenth. */
export function hoursOf(votes: number): number {
  return Math.round((votes * minutesAVote) / 6) / 10;
}
