// Work that is done one after the other for each key, in the order in which it came, so that what comes second sees what the
// first has stored.

export type InTurn = <T>(key: string, work: () => Promise<T>) => Promise<T>;

export function createTurns(): InTurn {
  const last = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    last.set(key, mine);
    const done = () => {
      if (last.get(key) === mine) last.delete(key);
    };
    mine.then(done, done);
    return mine;
  };
}
