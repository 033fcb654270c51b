// What all examples share: an assistant that has to send three mails, and a tool that sends one mail. The
// policies in `examples/policies` allow the first mail, ask people about the second, and deny the third.

import { connect, type PendingDecision, type Writ } from '../integrations/typescript/client.ts';

export interface Mail {
  readonly to: string;
  readonly text: string;
}

export const mails: readonly Mail[] = [
  { to: 'bo@example.com', text: 'Lunch at noon?' },
  { to: 'kim@shop.example', text: 'Your parcel is on its way.' },
  { to: 'max@rival.example', text: 'Our prices for next year.' },
];

export const task = 'Send the three mails that are due.';

/** The tool that sends a mail. The example only prints; a real tool talks to a mail server. */
export async function send({ to }: Mail): Promise<string> {
  console.log(`sent to ${to}`);
  return `Sent to ${to}.`;
}

/**
 * Connects to the service. The key stays in the environment, where no model reads it. Throws when
 * `WRIT_API_KEY` is not set.
 */
export function connectFromEnvironment(): Writ {
  const { WRIT_URL: url = 'http://127.0.0.1:8181', WRIT_API_KEY: key = '' } = process.env;
  if (key === '') throw new Error('set WRIT_API_KEY to the key of an agent');
  return connect({ url, key, wait: 0 });
}

export interface People {
  /** The value for the setting `onWait` of a guard. */
  readonly onWait: (decision: PendingDecision) => void;
  /** Resolves when people have decided about the last request that waits. */
  readonly haveDecided: () => Promise<void>;
}

/**
 * Prints the address of each request that waits for people. A real program would save its run, end, and
 * resume when people have decided.
 */
export function createPeople(writ: Writ): People {
  let last: PendingDecision | null = null;
  return {
    onWait(decision) {
      if (last?.requestId !== decision.requestId) console.log(`waits for people: ${decision.url}`);
      last = decision;
    },
    async haveDecided() {
      if (last === null) throw new Error('nothing waits');
      await writ.getRequest(last.requestId, { wait: Number.POSITIVE_INFINITY });
    },
  };
}
