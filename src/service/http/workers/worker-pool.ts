// Keeps the worker processes of a supervisor running: each has a slot, and when one ends another takes over
// its slot.

import cluster, { type Worker } from 'node:cluster';
import { setTimeout } from 'node:timers/promises';
import type { SupervisorMessage, WorkerMessage } from './messages.ts';
import { createMetricsRounds } from './metrics-rounds.ts';
import { slotVariable } from './worker.ts';

export interface WorkerPool {
  /**
   * Starts the first worker. Resolves with its welcome once it serves; rejects with WorkerFailed when it ends
   * before.
   */
  begin(): Promise<string>;
  /** Starts a further worker. When it ends, whether it has served or not, another one takes its slot. */
  add(slot: number): void;
  /** Stops all workers. Resolves once all have ended: true when each one that served has ended in order. */
  stop(): Promise<boolean>;
  /** Sends a signal to the workers that serve. */
  signal(signal: NodeJS.Signals): void;
}

/** A worker ended before it served; it has printed why. */
export class WorkerFailure extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super('a worker could not start');
    this.name = 'WorkerFailed';
    this.exitCode = exitCode;
  }
}

export interface WorkerPoolOptions {
  /** Called for each worker that ended and is replaced. */
  readonly onEnd: (ended: WorkerExit) => void;
}

interface WorkerExit {
  readonly slot: number;
  readonly pid: number | undefined;
  /** The exit code; null when a signal ended the worker. */
  readonly code: number | null;
  readonly signal: string | null;
}

interface Member {
  readonly slot: number;
  readonly worker: Worker;
  isServing: boolean;
  /** Resolves with the worker's welcome; rejects with WorkerFailed. */
  readonly serving: Promise<string>;
  readonly ended: Promise<WorkerExit>;
}

/** Pause between the end of a worker and the start of its successor; doubled each time until one serves. */
const restartMs = { least: 250, most: 30_000 };

export function createWorkerPool({ onEnd }: WorkerPoolOptions): WorkerPool {
  const members = new Map<number, Member>();
  const stopping = new AbortController();
  const serving = (): readonly Member[] => [...members.values()].filter(({ isServing }) => isServing);
  const rounds = createMetricsRounds((round) => {
    const members = serving();
    for (const { worker } of members) tell(worker, { kind: 'metrics-wanted', round });
    return members.map(({ slot }) => slot);
  });

  function fork(slot: number): Member {
    const worker = cluster.fork({
      [slotVariable]: String(slot),
      // Whoever waits until the service is ready is notified by the supervisor.
      NOTIFY_SOCKET: undefined,
    });
    const ended = new Promise<WorkerExit>((resolve) => {
      worker.once('exit', (code: number | null, signal: string | null) => {
        members.delete(slot);
        resolve({ slot, pid: worker.process.pid, code, signal });
      });
    });
    const served = new Promise<string>((resolve, reject) => {
      worker.on('message', (message: WorkerMessage) => {
        switch (message.kind) {
          case 'serving':
            member.isServing = true;
            return resolve(message.welcome);
          case 'metrics-asked':
            return rounds.ask((text) => tell(worker, { kind: 'metrics-of-all', ask: message.ask, text }));
          case 'metrics':
            return rounds.receive(message.round, slot, message.text);
        }
      });
      void ended.then(({ code }) => reject(new WorkerFailure(code || 1)));
    });
    // Nobody waits until later workers serve, so their failure is not an unhandled rejection.
    served.catch(() => undefined);
    const member: Member = { slot, worker, isServing: false, serving: served, ended };
    members.set(slot, member);
    return member;
  }

  /** Replaces the worker of a slot whenever it ends, until the crew is stopped. */
  async function keepTaken(first: Member): Promise<void> {
    let waitMs = restartMs.least;
    for (let member = first; ; member = fork(first.slot)) {
      const ended = await member.ended;
      if (stopping.signal.aborted) return;
      onEnd(ended);
      waitMs = member.isServing ? restartMs.least : Math.min(2 * waitMs, restartMs.most);
      await setTimeout(waitMs, null, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;
    }
  }

  async function stopAll(): Promise<boolean> {
    stopping.abort();
    const ends = [...members.values()].map(async ({ worker, isServing, ended }) => {
      // A worker that does not serve yet has nothing to end in order.
      if (isServing) tell(worker, { kind: 'stop' });
      else worker.process.kill();
      return (await ended).code === 0 || !isServing;
    });
    return (await Promise.all(ends)).every((isInOrder) => isInOrder);
  }

  return {
    async begin() {
      const first = fork(0);
      const welcome = await first.serving;
      void keepTaken(first);
      return welcome;
    },
    add: (slot) => void keepTaken(fork(slot)),
    stop: stopAll,
    signal(signal) {
      for (const { worker } of serving()) worker.process.kill(signal);
    },
  };
}

function tell(worker: Worker, message: SupervisorMessage): void {
  if (worker.isConnected()) worker.send(message);
}
