// Answers of the second thread about states of a set, each asked for once.

import { LSPErrorCodes, ResponseError } from 'vscode-languageserver';
import type { SetSnapshot } from './set/workspace.ts';
import { type AskedThread, createAskedThread, ThreadRefusal } from './thread/ask.ts';
import type { SetState, ThreadAnswers } from './thread/questions.ts';

/** Each rejects with an error of the protocol. */
export interface SlowAnswers {
  claims(snapshot: SetSnapshot): Promise<ThreadAnswers['claims']>;
  /** `only`: of one test file; null for all. */
  tests(snapshot: SetSnapshot, only: string | null): Promise<ThreadAnswers['tests']>;
  changes(snapshot: SetSnapshot): Promise<ThreadAnswers['changes']>;
  close(): Promise<void>;
}

export function createSlowAnswers(thread: AskedThread = createAskedThread()): SlowAnswers {
  const known = new WeakMap<SetSnapshot, Map<string, Promise<unknown>>>();
  const once = <Answer>(snapshot: SetSnapshot, key: string, ask: () => Promise<Answer>): Promise<Answer> => {
    const answers = known.get(snapshot) ?? new Map<string, Promise<unknown>>();
    known.set(snapshot, answers);
    const made = answers.get(key) ?? ask().catch(toProtocol);
    answers.set(key, made);
    // What is kept under a key is what was asked with it.
    return made as Promise<Answer>;
  };
  return {
    claims: (snapshot) => once(snapshot, 'claims', () => thread.ask('claims', stateOf(snapshot))),
    tests: (snapshot, only) =>
      once(snapshot, `tests ${only}`, () => thread.ask('tests', { ...stateOf(snapshot), only })),
    changes: (snapshot) => once(snapshot, 'changes', () => thread.ask('changes', stateOf(snapshot))),
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
