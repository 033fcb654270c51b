// Gives up on an answer that does not come. INVARIANT: only time in which this process could have read the answer
// counts. A process that was busy or stopped meanwhile reads what has arrived before it gives up.

const looks = 10;

/** Calls `giveUp` when `maxMs` have passed, unless the returned function is called before. */
export function giveUpAfter(maxMs: number, giveUp: () => void): () => void {
  let left = looks;
  // However long the process was busy, one look is due at the end of it, and answers are read before the next.
  const timer = setInterval(() => {
    left -= 1;
    if (left > 0) return;
    clearInterval(timer);
    giveUp();
  }, maxMs / looks);
  return () => clearInterval(timer);
}
