// Adds words for the reader of a reply, usually a model: whom a call waits for and where that is seen, and,
// for agents that are set so, what would pass. INVARIANT: words change no decision; a change that is not
// found in time is left out.

import type { Playground } from '../../../../analysis/playground.ts';
import type { HostedPolicies } from '../../../policies/policy-host.ts';
import { type RequestView, waitingPrefix } from '../../../requests/record/reply.ts';
import { requestStateOf } from '../../../requests/record/request-state.ts';
import type { RequestStore } from '../../../store/contract/store.ts';
import type { Answer } from './authorize-handler.ts';

export interface RefusalHintOptions {
  readonly requests: Pick<RequestStore, 'history'>;
  /**
   * Finds what would pass, for agents that are told so; a playground of its own, so that no agent delays
   * people.
   */
  readonly playground: Pick<Playground, 'ask'>;
  readonly policies: () => Pick<HostedPolicies, 'texts'>;
  /** The address at which people see requests. */
  readonly origin: string;
}

export interface RefusalHint {
  readonly view: RequestView;
  /** What would pass, such as `payload.amount <= 1000 USD`; null when the agent is not told. */
  readonly change: string | null;
}

/** Adds words to an answer; returns at once unless something has to be found first. */
export type RefusalHints = (answer: Answer) => RefusalHint | Promise<RefusalHint>;

/** How long a refusal waits until it is found what would pass. */
const foundWithinMs = 1_000;

export function createRefusalHints(options: RefusalHintOptions): RefusalHints {
  return (answer) => {
    const { view, input } = answer;
    if (view.status === 'pending' && input.isAttaching === true)
      return { view: { ...view, message: waitingText(view, options.origin) }, change: null };
    // A sub-agent learns nothing of what its agent may do beyond the delegation.
    const isTold = input.agent.tellsChange && input.chain === undefined;
    if (view.decision !== 'DENY' || !isTold) return { view, change: null };
    return tellChange(options, answer);
  };
}

function waitingText({ request_id, message }: RequestView, origin: string): string {
  return `This call waits for people: ${message.slice(waitingPrefix.length)} See ${origin}/requests/${request_id}.`;
}

async function tellChange(options: RefusalHintOptions, { view, input }: Answer): Promise<RefusalHint> {
  const { requests, playground, policies } = options;
  const history = await requests.history(view.request_id);
  const state = history === null ? null : requestStateOf(history);
  // No change lets a request pass that a person has refused or that is over.
  if (state?.decision.outcome !== 'DENY') return { view, change: null };
  const answer = playground.ask('what passes', state.record, {
    person: input.agent.id,
    texts: policies().texts,
  });
  const change = await soon(answer);
  if (change === null) return { view, change };
  return { view: { ...view, message: `${view.message} It would pass if ${change}.` }, change };
}

/** The result; null when the question fails or takes too long. */
async function soon(answer: Promise<string | null>): Promise<string | null> {
  const late = Promise.withResolvers<null>();
  const timer = setTimeout(() => late.resolve(null), foundWithinMs);
  try {
    return await Promise.race([answer.catch(() => null), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** A text as a header takes it: `%` and all that is not printable ASCII is percent-encoded. */
export function changeHeader(change: string): string {
  return change.replace(/[^\x20-\x24\x26-\x7e]/gu, encodeURIComponent);
}
