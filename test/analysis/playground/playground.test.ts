// The playground from outside: its answers, its refusals, and that a failing thread costs one question and
// nothing else.

import { expect, onTestFinished, test } from 'vitest';
import { createPlayground, type PlaygroundOptions } from '../../../src/analysis/playground.ts';
import type { PlaygroundAnswers } from '../../../src/analysis/playground-questions.ts';
import { textsOf } from './texts.ts';

const script = new URL('./failing-playground.ts', import.meta.url);
const limited = { script, timeoutMs: 60_000, memoryMegabytes: 192 } as const;

const demo = `action demo.pay { amount: money(currency), currency: "USD" }
policy demo on demo.pay {
  allow small when payload.amount <= 10 USD
}
`;
const texts = textsOf({ 'demo.policy': demo });
const request = { given: { action_key: 'demo.pay', payload: { amount: 5, currency: 'USD' } } } as const;

function open(options: PlaygroundOptions = {}) {
  const failures: string[] = [];
  const playground = createPlayground({
    ...options,
    onFailure: (error, why) => failures.push(`${why}: ${error}`),
  });
  onTestFinished(() => playground.close());
  const ask = (fault: string | null, person = 'ann') => {
    const files =
      fault === null
        ? []
        : [{ path: 'fault.policy', text: `# fault: ${fault}\nlist faults = ["${fault}"]\n` }];
    return playground.ask('try', { files, request }, { person, texts });
  };
  return { playground, failures, ask };
}

/** The outcome of an answer, in one word. */
function outcome(answer: Promise<PlaygroundAnswers['try']>): Promise<string> {
  return answer.then(
    ({ decision }) => decision?.decision ?? 'no decision',
    (error: { readonly kind: string; readonly message: string }) => `${error.kind}: ${error.message}`,
  );
}

const faults = [
  ['hang', 'it did not finish within 3 seconds'],
  ['memory', 'it needed more than 192 MB of memory'],
  ['exit', 'it stopped with exit code 3'],
  ['throw', 'it stopped unexpectedly'],
] as const;

test.each(faults)('%s: the question is refused, the next one is answered', async (fault, why) => {
  const { ask, failures } = open(fault === 'hang' ? { ...limited, timeoutMs: 3_000 } : limited);
  expect(await outcome(ask(null))).toBe('ALLOW');
  const [failed, next] = await Promise.all([outcome(ask(fault)), outcome(ask(null, 'ben'))]);
  expect(failed).toBe(`failed: the playground did not answer: ${why}`);
  expect(next).toBe('ALLOW');
  expect(failures).toHaveLength(1);
});

test('a thread that cannot be started is a refusal each time, without a path of this machine', async () => {
  const { ask } = open({ script: new URL('./not-there.ts', import.meta.url) });
  for (const _ of [1, 2])
    expect(await outcome(ask(null))).toBe('failed: the playground did not answer: it stopped unexpectedly');
});

test('of one person the latest try takes the place of the one that waits', async () => {
  const { ask } = open(limited);
  const answers = await Promise.all(
    [ask('slow'), ask(null), ask(null), ask(null, 'ben'), ask(null)].map(outcome),
  );
  const given = 'busy: replaced by your later question';
  expect(answers).toEqual(['ALLOW', given, given, 'ALLOW', 'ALLOW']);
});

test('what waits is bounded, for a person and for all', async () => {
  const { ask, playground } = open(limited);
  const slow = outcome(ask('slow'));
  const asked = (person: string) =>
    playground.ask('vocabulary', null, { person, texts }).then(
      () => 'answered',
      ({ message }: Error) => message,
    );
  const own = await Promise.all([1, 2, 3, 4].map(() => asked('ann')));
  const tooMuch = 'your earlier questions are still being answered';
  expect(own).toEqual(['answered', 'answered', 'answered', tooMuch]);
  expect(await slow).toBe('ALLOW');
  const others = ['b', 'c', 'd', 'e', 'f'].flatMap((person) => [person, person, person, person]);
  const answers = await Promise.all([outcome(ask('slow')), ...others.map(asked)]);
  expect(answers.filter((answer) => answer === 'answered')).toHaveLength(16);
  expect(answers.filter((answer) => answer === 'too many questions are waiting')).toHaveLength(4);
});

test('a thread is kept for the next question, and ended when nobody asks', async () => {
  const threads = async (idleMs: number) => {
    const { ask, failures } = open({ ...limited, idleMs });
    await outcome(ask('throw'));
    await new Promise((resolve) => setTimeout(resolve, 300));
    await outcome(ask('throw'));
    return new Set(failures.map((failure) => /thread \d+/.exec(failure)?.[0])).size;
  };
  expect([await threads(60_000), await threads(1)]).toEqual([1, 2]);
});

test('a close refuses whoever waits, at once, though the thread hangs', async () => {
  const { ask, playground } = open(limited);
  const answers = [ask('hang'), ask(null, 'ben')].map(outcome);
  await new Promise((resolve) => setTimeout(resolve, 500));
  await playground.close();
  const stopping = 'failed: the service is stopping';
  expect(await Promise.all([...answers, outcome(ask(null))])).toEqual([stopping, stopping, stopping]);
});

test('the active policies may change from one question to the next', async () => {
  const { playground, ask } = open(limited);
  expect(await outcome(ask(null))).toBe('ALLOW');
  const stricter = textsOf({ 'demo.policy': demo.replace('10 USD', '1 USD') });
  const asked = { files: [], request };
  expect(await outcome(playground.ask('try', asked, { person: 'ann', texts: stricter }))).toBe('DENY');
  expect(await outcome(ask(null))).toBe('ALLOW');
});
