// The playground's thread: answers one question at a time from the texts that it has received. An error
// thrown by an answer is a fault of Writ itself; the thread then begins with an empty cache.

import type { MessagePort } from 'node:worker_threads';
import type { GuaranteeClause, PolicySet } from '../language/model/policy.ts';
import { decideClauses } from '../reasoning/prove/prove.ts';
import { compareSets, compareWithActive } from './compare-with-active.ts';
import { explainRecord } from './explain-record.ts';
import { judgeProposal } from './judge-proposal.ts';
import { outlineOf } from './outline.ts';
import { passingChange } from './passing-change.ts';
import type {
  FromPlayground,
  GivenRequest,
  PlaygroundAnswers,
  PlaygroundInputs,
  PlaygroundRequest,
  Question,
  ToPlayground,
} from './playground-questions.ts';
import { givenRequestOf } from './request-input.ts';
import { suggestForRecord } from './suggest-for-record.ts';
import { changedSentences, summarise } from './summarize.ts';
import { tryRequest } from './try-request.ts';
import { vocabularyOf } from './vocabulary.ts';
import { createWorkspace, type Workspace } from './workspace.ts';

/** Actions with more rules take too long to prove for an example. */
const rulesMax = 500;
const actionsMax = 10;

/** Returns null when no rule asks for approvals, or when none of the actions tried has such a request. */
function escalatedRequest(set: PolicySet): GivenRequest | null {
  const escalating = set.policies.flatMap(({ actions, rules }) => {
    const rule = rules.find(({ requirement, isShadow }) => requirement?.kind === 'approval' && !isShadow);
    return rule === undefined ? [] : actions.map((action) => ({ action, span: rule.span }));
  });
  for (const { action, span } of escalating.slice(0, actionsMax)) {
    if (rulesOf(set, action) > rulesMax) continue;
    const claim: GuaranteeClause = {
      mode: 'never',
      effect: 'escalate',
      isUnapproved: true,
      when: null,
      span,
    };
    const verdict = decideClauses(set, action, [claim]).get(claim);
    const request = verdict?.kind === 'refuted' ? givenRequestOf(verdict.facts, set) : null;
    if (request !== null) return request;
  }
  return null;
}

function rulesOf({ policies }: PolicySet, action: string): number {
  return policies.reduce((sum, { actions, rules }) => sum + (actions.includes(action) ? rules.length : 0), 0);
}

type QuestionHandlers = {
  readonly [Q in Question]: (
    workspace: Workspace,
    input: PlaygroundInputs[Q],
  ) => PlaygroundAnswers[Q] | Promise<PlaygroundAnswers[Q]>;
};

const answering: QuestionHandlers = {
  try: (workspace, { files, request }) => tryRequest(workspace.compileWith(files), request),
  compare: compareWithActive,
  'compare sets': (_workspace, sets) => compareSets(sets),
  'changed sentences': (_workspace, question) => changedSentences(question),
  outline: (_workspace, file) => outlineOf(file),
  summary: (workspace, input) => summarise(workspace.compileWith([]), input),
  vocabulary: (workspace) => {
    const { policies, trees } = workspace.compileWith([]);
    if (policies === null) throw new Error('the active policies do not compile');
    return vocabularyOf(policies.set, trees);
  },
  'first request': (workspace) => {
    const { policies } = workspace.compileWith([]);
    return policies === null ? null : escalatedRequest(policies.set);
  },
  explain: (workspace, record) => explainRecord(workspace.compileWith([]), record),
  'what passes': (workspace, record) => passingChange(workspace.compileWith([]), record),
  suggest: suggestForRecord,
  'judge proposal': judgeProposal,
};

/**
 * Works until the thread is terminated. `before` is called with each question; tests use it to make the
 * thread fail.
 */
export function servePlayground(
  port: MessagePort,
  before: (question: PlaygroundRequest) => void = () => undefined,
): void {
  const send = (message: FromPlayground): void => port.postMessage(message);
  let workspace: Workspace = createWorkspace();
  function answer<Q extends Question>({
    question,
    input: asked,
  }: PlaygroundRequest<Q>): PlaygroundAnswers[Q] | Promise<PlaygroundAnswers[Q]> {
    return answering[question](workspace, asked);
  }
  port.on('message', async (message: ToPlayground) => {
    try {
      if (message.kind === 'take') {
        workspace.take(message.texts);
        workspace.compileWith([]);
        send({ kind: 'ready' });
      } else {
        before(message);
        send({ kind: 'answer', answer: await answer(message) });
      }
    } catch (error) {
      // After an error the workspace's cache may be incomplete.
      workspace = createWorkspace();
      send({
        kind: 'mistake',
        text: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
    }
  });
  send({ kind: 'ready' });
}
