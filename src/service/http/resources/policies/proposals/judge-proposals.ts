// Judges proposals in a thread of their own, and judges pending ones again whenever other policies are active.
// INVARIANT: a judgement is stored with the digests of both sets; nothing is accepted by a judgement of another active
// set.

import { setTimeout as pause } from 'node:timers/promises';
import type { ProposalAnswer } from '../../../../../analysis/judge-proposal.ts';
import type { Playground } from '../../../../../analysis/playground.ts';
import type { ProposedChange } from '../../../../../analysis/proposals/proposed-change.ts';
import { pathInRepository } from '../../../../policies/git-commit.ts';
import type { PolicyHost } from '../../../../policies/policy-host.ts';
import {
  type Judgement,
  type ProposalContent,
  type Proposals,
  proposalLimits,
  type ReadProposal,
} from '../../../../policies/proposals.ts';
import { isRefusal } from '../playground-view.ts';

export interface ProposalJudge {
  /** Judges a change of the active policies for a caller. Rejects with a PlaygroundRefusal. */
  judge(change: GivenChange, caller: string): Promise<ProposalAnswer>;
  /** The proposal as it is judged for the active policies; null when it has changed in the meantime. */
  judgedNow(read: ReadProposal): Promise<ReadProposal | null>;
  /** Looks at all proposals again, because other policies may be active. */
  lookAgain(): void;
  close(): Promise<void>;
}

/** A change as it was given; a patch may name its files from the top of the repository. */
export type GivenChange =
  | Exclude<ProposedChange, { readonly kind: 'patch' }>
  | { readonly kind: 'patch'; readonly patch: string };

export interface ProposalJudgeDeps {
  readonly proposals: Proposals;
  /** The thread. */
  readonly playground: Playground;
  readonly policies: Pick<PolicyHost, 'current' | 'state'>;
  readonly clock: () => number;
  /** Called when a proposal has been judged again, or its set has become active. */
  readonly onChange: () => void;
  readonly onFailure: (error: unknown) => void;
}

const retryMs = 2_000;
const acceptedMax = 100;

export function createProposalJudge(deps: ProposalJudgeDeps): ProposalJudge {
  const { proposals, playground, policies, clock, onChange, onFailure } = deps;
  const closing = new AbortController();
  let pass: Promise<void> | null = null;
  let isAskedAgain = false;

  async function judge(given: GivenChange, caller: string): Promise<ProposalAnswer> {
    const { directory } = policies.state();
    const repositoryPath = directory === null ? null : await pathInRepository(directory);
    const change: ProposedChange = given.kind === 'patch' ? { ...given, prefix: repositoryPath } : given;
    const { texts } = policies.current();
    return await playground.ask(
      'judge proposal',
      { change, directory, repositoryPath },
      { person: caller, texts },
    );
  }

  async function judgedNow(read: ReadProposal): Promise<ReadProposal | null> {
    const { id, judgement } = read.value;
    if (judgement.active === policies.current().digest) return read;
    const content = await proposals.content(id);
    if (content === null) return null;
    const answer = await judge({ kind: 'earlier', files: content.files }, `proposal ${id}`);
    const latest = { judgement: judgementOf(answer, clock()), content: contentOf(answer) };
    return (await proposals.judgeAgain(read, latest)) ?? (await judgedByOthers(id));
  }

  /** The proposal, if somebody else has judged it at the same time. */
  async function judgedByOthers(id: string): Promise<ReadProposal | null> {
    const read = await proposals.find(id);
    return read?.value.judgement.active === policies.current().digest ? read : null;
  }

  async function lookAtAll(): Promise<void> {
    const { digest } = policies.current();
    const accepted = await proposals.list({ state: 'settled', after: null, countMax: acceptedMax });
    for (const read of accepted) {
      const { status, activeAtMs, judgement } = read.value;
      if (status !== 'accepted' || activeAtMs !== null || judgement.proposed !== digest) continue;
      if ((await proposals.noteActive(read)) !== null) onChange();
    }
    const pending = await proposals.list({
      state: 'pending',
      after: null,
      countMax: proposalLimits.pending,
    });
    for (const read of pending) {
      if (closing.signal.aborted || read.value.judgement.active === policies.current().digest) continue;
      if ((await judgedNow(read)) !== null) onChange();
    }
  }

  async function run(): Promise<void> {
    do {
      isAskedAgain = false;
      try {
        await lookAtAll();
      } catch (error) {
        if (closing.signal.aborted) return;
        if (!isRefusal(error)) onFailure(error);
        isAskedAgain = true;
        await pause(retryMs, null, { signal: closing.signal, ref: false }).catch(() => undefined);
      }
    } while (isAskedAgain && !closing.signal.aborted);
    pass = null;
  }

  return {
    judge,
    judgedNow,
    lookAgain() {
      isAskedAgain = true;
      if (!closing.signal.aborted) pass ??= run();
    },
    async close() {
      closing.abort();
      await playground.close();
      await pass;
    },
  };
}

export function judgementOf(answer: ProposalAnswer, nowMs: number): Judgement {
  const atMs = Math.trunc(nowMs);
  if (answer.kind === 'refused') {
    const counts = { loosened: 0, stricter: 0, reworded: 0, undecided: 0 };
    const none = { classification: 'invalid', proposed: null, broken: [], notes: [], counts, tests: null };
    return { ...none, active: answer.active, problem: problemOf(answer), atMs };
  }
  const { active, proposed, classification, broken, notes, diff, tests } = answer;
  const { loosened, stricter, reworded, undecided } = diff;
  return {
    active,
    proposed,
    classification,
    problem: null,
    broken,
    notes,
    counts: { loosened, stricter, reworded, undecided },
    tests:
      tests === null
        ? null
        : {
            passed: tests.passed,
            failed: tests.failed.length,
            newly_failed: tests.failed.filter((one) => one.is_new).length,
          },
    atMs,
  };
}

/** Why there is no proposed set, as a sentence in lower case. */
export function problemOf({
  problem,
  diagnostics,
}: Extract<ProposalAnswer, { readonly kind: 'refused' }>): string {
  if (problem !== null) return `the change does not apply: ${problem}`;
  const first = diagnostics.find(({ severity }) => severity === 'error');
  return first === undefined
    ? 'the proposed policies have errors'
    : `the proposed policies have errors: ${first.file}:${first.line}:${first.column}: ${first.message}`;
}

/** Null for a change that does not apply. */
export function contentOf(answer: ProposalAnswer): ProposalContent | null {
  if (answer.kind === 'refused') return null;
  const { files, patch, diff, requests, sentences, diagnostics, tests } = answer;
  return { files, patch, report: { diff, requests, sentences, diagnostics, tests } };
}
