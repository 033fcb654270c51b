// A queue per key: tasks with the same key run one after the other, in the order of arrival, so that a later
// task sees what earlier tasks have stored. Tasks with different keys run concurrently.

type KeyedQueue = <Result>(key: string, task: () => Promise<Result>) => Promise<Result>;

export function createKeyedQueue(): KeyedQueue {
  const tails = new Map<string, Promise<unknown>>();
  return (key, task) => {
    const previous = tails.get(key) ?? Promise.resolve();
    const current = previous.then(task, task);
    tails.set(key, current);
    const removeTail = () => {
      if (tails.get(key) === current) tails.delete(key);
    };
    current.then(removeTail, removeTail);
    return current;
  };
}
