// A service that is killed while a receiver has its batch, before the answer, sends the same records again after its next
// start, and all that follow.

import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { addAgent, startService, temporary } from '../e2e/acceptance/service.ts';
import { authority } from '../service/siem/certificates.ts';
import { startHttpReceiver } from '../service/siem/receivers.ts';
import { writtenFile } from '../service/siem/stream.ts';

it('sends every record at least once, in order, also when it is killed in the middle of a batch', async () => {
  const data = temporary('stream');
  const policies = dirname(writtenFile('a.policy', 'action a.b { ... }\n'));
  const receiver = await startHttpReceiver();
  const env = {
    WRIT_SIEM_URL: receiver.url,
    WRIT_SIEM_CA: writtenFile('ca.pem', authority),
    WRIT_SIEM_START: 'beginning',
    WRIT_SIEM_TIMEOUT_SECONDS: '2',
    WRIT_SIEM_HEADERS: 'authorization=Bearer%20t',
  };
  const sequencesIn = (body: string) =>
    (JSON.parse(body) as { readonly metadata: { readonly sequence: number } }[]).map(
      ({ metadata }) => metadata.sequence,
    );
  const asked = new Promise<readonly number[]>((resolve) => {
    receiver.reply = ({ body }) => {
      resolve(sequencesIn(body));
      return 'silent';
    };
  });
  const first = await startService({ policies, data, env });
  const unanswered = await asked;
  await first.end('SIGKILL');
  receiver.reply = () => ({ status: 200 });
  const second = await startService({ policies, data, env });
  await addAgent(data, 'one');
  const sent = () => receiver.batches.flatMap(({ body }) => sequencesIn(body));
  await expect.poll(() => JSON.stringify(receiver.batches), { timeout: 60_000 }).toContain('agent-added');
  await expect.poll(() => sent().length, { timeout: 60_000 }).toBeGreaterThan(unanswered.length);
  expect(await second.end('SIGTERM')).toBe(0);
  const sequences = sent();
  expect(sequences.slice(0, unanswered.length)).toEqual(unanswered);
  expect(sequences).toEqual(Array.from({ length: sequences.length }, (_, at) => at + 1));
  expect(receiver.batches[0]?.headers.authorization).toBe('Bearer t');
});
