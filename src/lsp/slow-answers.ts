// Fetches answers from the second thread about snapshots of a set, each answer once.

import { LSPErrorCodes, ResponseError } from 'vscode-languageserver';
import type { GivenRequest } from '../analysis/playground-questions.ts';
import type { SetSnapshot } from './set/workspace.ts';
import { createQuestionThread, type QuestionThread, ThreadRefusal } from './thread/ask.ts';
import type { SetState, ThreadAnswers } from './thread/questions.ts';

/** Answers that take long. Each rejects with an error of the protocol. */
export interface SlowAnswers {
  claims(snapshot: SetSnapshot): Promise<ThreadAnswers['claims']>;
  /** The results of one test file; of all test files when `only` is null. */
  tests(snapshot: SetSnapshot, only: string | null): Promise<ThreadAnswers['tests']>;
  changes(snapshot: SetSnapshot): Promise<ThreadAnswers['changes']>;
  /** Walks through the decision of a request, as the set decides it now. */
  walk(snapshot: SetSnapshot, request: GivenRequest): Promise<ThreadAnswers['walk']>;
  /** A change after which the case that begins at an offset of a test file passes. */
  suggestion(snapshot: SetSnapshot, file: string, start: number): Promise<ThreadAnswers['suggestion']>;
  close(): Promise<void>;
}

export function createSlowAnswers(thread: QuestionThread = createQuestionThread()): SlowAnswers {
  const answersBySet = new WeakMap<SetSnapshot, Map<string, Promise<unknown>>>();
  const once = <Answer>(snapshot: SetSnapshot, key: string, ask: () => Promise<Answer>): Promise<Answer> => {
    const answers = answersBySet.get(snapshot) ?? new Map<string, Promise<unknown>>();
    answersBySet.set(snapshot, answers);
    const made = answers.get(key) ?? ask().catch(toProtocol);
    answers.set(key, made);
    // A key holds only answers to the question that made the key.
    return made as Promise<Answer>;
  };
  return {
    claims: (snapshot) => once(snapshot, 'claims', () => thread.ask('claims', stateOf(snapshot))),
    tests: (snapshot, only) =>
      once(snapshot, `tests ${only}`, () => thread.ask('tests', { ...stateOf(snapshot), only })),
    changes: (snapshot) => once(snapshot, 'changes', () => thread.ask('changes', stateOf(snapshot))),
    walk: (snapshot, request) => thread.ask('walk', { ...stateOf(snapshot), request }).catch(toProtocol),
    suggestion: (snapshot, only, start) =>
      once(snapshot, `suggestion ${start} ${only}`, () =>
        thread.ask('suggestion', { ...stateOf(snapshot), only, start }),
      ),
    close: () => thread.close(),
  };
}

function stateOf({ root, open }: SetSnapshot): SetState {
  return { root, open };
}

function toProtocol(error: unknown): never {
  if (!(error instanceof ThreadRefusal)) throw error;
  const code = error.kind === 'overtaken' ? LSPErrorCodes.ContentModified : LSPErrorCodes.RequestFailed;
  throw new ResponseError(code, error.message);
}
