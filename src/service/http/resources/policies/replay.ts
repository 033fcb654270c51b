// /v1/policies/replay: the active policies, with files laid over them, tried on recorded requests. INVARIANT:
// the answer shows only what the caller may see of requests anyway, checked once more when it comes; nothing
// is recorded or granted.

import { Readable } from 'node:stream';
import type { TextFile } from '../../../../analysis/questions.ts';
import type { ReplayNews, Replays } from '../../../../analysis/replay/replays.ts';
import { grantOf, type OperationName } from '../../../people/operations.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import type { PolicyHost } from '../../../policies/policy-host.ts';
import type { Store } from '../../../store/contract/store.ts';
import { notAllowed } from '../../auth/auth-refusals.ts';
import { stillIn } from '../../auth/identify-person.ts';
import { ProblemError, problemBody } from '../../contract/problem.ts';
import { actorOf, type ManagedCall, type Route, route } from '../../routing/route.ts';
import { filesBodyMax, refusePaths } from './playground.ts';
import { isRefusal, playgroundProblems, refusalProblem } from './playground-view.ts';
import {
  daysDefault,
  replayBodySchema,
  replayExamples,
  replayLineExample,
  replayLineSchema,
} from './replay-view.ts';

interface ReplayDeps {
  readonly signInDeps: SignInDeps;
  readonly policies: Pick<PolicyHost, 'current'>;
  readonly replays: Replays;
  readonly store: Pick<Store, 'records'>;
}

interface ReplayBody {
  readonly files: readonly TextFile[];
  readonly days?: number;
}

const access: OperationName = 'policies.replay';
const dayMs = 24 * 60 * 60 * 1000;

const replayPolicies = route<ReplayDeps, ReplayBody>({
  method: 'POST',
  url: '/v1/policies/replay',
  access,
  bodyMax: filesBodyMax,
  operation: {
    id: 'replayPolicies',
    summary:
      'What the active policies, with files laid over them, would have decided of the requests that were recorded',
    description:
      'JSON Lines: how far it is, then the answer. Closing the connection ends it. One replay of a person runs at a time, and few altogether. Nothing is recorded.',
    body: {
      description: 'Files by their path relative to the policy directory, and how far to go back.',
      schema: replayBodySchema,
      examples: replayExamples,
    },
    replies: {
      200: {
        description: 'How far it is, and what came of it',
        contentType: 'application/jsonl',
        headers: ['X-Accel-Buffering'],
        schema: replayLineSchema,
        example: replayLineExample,
      },
    },
    problems: [...playgroundProblems],
  },
  handle: async ({ policies, replays, store, signInDeps }, call) => {
    const { files, days = daysDefault } = call.body;
    refusePaths(files);
    const sinceMs = Math.trunc(signInDeps.directory.clock()) - days * dayMs;
    const { texts } = policies.current();
    const ask = { texts, files, records: store.records, sinceMs };
    const news = startReplay(replays, ask, actorOf(call).person.id);
    const lines = Readable.from(linesOf(news, signInDeps, call), { objectMode: false });
    // When the caller goes away, the thread ends, whatever it is doing.
    call.reply.raw.once('close', () => news.destroy());
    const { reply } = call;
    // No other request follows on the connection, which would hold up a stop if it stayed open.
    reply
      .type('application/jsonl; charset=utf-8')
      .header('x-accel-buffering', 'no')
      .header('connection', 'close');
    return lines;
  },
});

export const replayRoutes: readonly Route<ReplayDeps>[] = [replayPolicies];

function startReplay(replays: Replays, ...[ask, person]: Parameters<Replays['start']>) {
  try {
    return replays.start(ask, person);
  } catch (error) {
    throw isRefusal(error) ? refusalProblem(error) : error;
  }
}

async function* linesOf(
  news: AsyncIterable<ReplayNews>,
  deps: SignInDeps,
  { request }: ManagedCall<unknown>,
): AsyncGenerator<string> {
  try {
    for await (const one of news) {
      // The replay may have taken minutes, so the caller's rights are checked again.
      if ('answer' in one) await requireStillAllowed(deps, request);
      yield jsonLine(one);
    }
  } catch (error) {
    const problem = isRefusal(error) ? refusalProblem(error) : error;
    if (!(problem instanceof ProblemError)) throw error;
    yield jsonLine({ problem: problemBody(problem, request.id) });
  }
}

async function requireStillAllowed(
  deps: SignInDeps,
  request: ManagedCall<unknown>['request'],
): Promise<void> {
  const actor = await stillIn(deps, request);
  if (actor === null || grantOf(actor.roles, access) !== 'yes') throw notAllowed();
}

function jsonLine(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
