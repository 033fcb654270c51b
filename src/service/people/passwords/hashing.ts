// The line before password hashing, which takes a processor some tens of milliseconds each: a few hashes run
// at a time, so that deciding goes on beside them. INVARIANT: the number that wait is bounded, in total and
// for each stranger, and a known person goes before strangers.

import { availableParallelism } from 'node:os';

export interface HashingLine {
  /** Does the work in its turn; returns null at once when too many wait. */
  run<T>(from: InLine, work: () => Promise<T>): Promise<T> | null;
}

export interface InLine {
  /** The sender; each stranger may have at most `waitingMaxEach` waiting in the line. */
  readonly key: string;
  readonly isKnown: boolean;
}

export interface HashingLineOptions {
  readonly atOnce?: number;
  readonly waitingMax?: number;
  readonly waitingMaxEach?: number;
}

/** Half of the processors; the other half decides, records and compiles. */
const atOnceDefault = Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2)));
const waitingMaxDefault = 64;
const waitingMaxEachDefault = 16;

interface QueuedHash {
  readonly key: string;
  readonly begin: () => void;
}

export function createHashingLine(options: HashingLineOptions = {}): HashingLine {
  const atOnce = options.atOnce ?? atOnceDefault;
  const waitingMax = options.waitingMax ?? waitingMaxDefault;
  const waitingMaxEach = options.waitingMaxEach ?? waitingMaxEachDefault;
  const [known, strangers]: [QueuedHash[], QueuedHash[]] = [[], []];
  let running = 0;

  function next(): void {
    if (running >= atOnce) return;
    const first = known.shift() ?? strangers.shift();
    if (first === undefined) return;
    running += 1;
    first.begin();
  }

  function isFull({ key, isKnown }: InLine): boolean {
    const line = isKnown ? known : strangers;
    if (line.length >= waitingMax) return true;
    return !isKnown && line.filter((one) => one.key === key).length >= waitingMaxEach;
  }

  return {
    run: (from, work) => {
      if (isFull(from)) return null;
      return new Promise((resolve, reject) => {
        const begin = (): void => {
          work()
            .then(resolve, reject)
            .finally(() => {
              running -= 1;
              next();
            });
        };
        (from.isKnown ? known : strangers).push({ key: from.key, begin });
        next();
      });
    },
  };
}
