// E-mail through a real, small SMTP server of the test.

import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createMailer, type MailerOptions } from '../../../src/service/webhooks/mail.ts';
import { startMailServer } from './mail-server.ts';

function start(options: Pick<MailerOptions, 'url'> & Partial<MailerOptions>) {
  const failures: unknown[] = [];
  const mailer = createMailer({
    from: 'Writ <writ@example.com>',
    retryMs: [10],
    timeoutMs: 1_000,
    onFailure: (error) => failures.push(error),
    ...options,
  });
  onTestFinished(() => mailer.close());
  return { mailer, failures };
}

const mail = {
  to: 'ann@example.com',
  subject: 'Writ: hello',
  text: 'Look here:\nhttps://writ.example.com\n',
};

test('mail reaches its one recipient', async () => {
  const { url, taken } = await startMailServer();
  const { mailer, failures } = start({ url });
  mailer.post(mail);
  mailer.post({ ...mail, to: 'a,b@example.com' });
  await mailer.settled();
  expect(failures).toEqual([]);
  expect(taken).toHaveLength(2);
  expect(taken[0]?.to).toEqual(['RCPT TO:<ann@example.com>']);
  expect(taken[0]?.text).toContain('From: Writ <writ@example.com>');
  expect(taken[0]?.text).toContain('Subject: Writ: hello');
  expect(taken[0]?.text).toContain('https://writ.example.com');
  expect(taken[1]?.to).toHaveLength(1);
});

test('a server that says later is asked again', async () => {
  const { url, taken } = await startMailServer(1);
  const { mailer, failures } = start({ url });
  mailer.post(mail);
  await mailer.settled();
  expect([taken.length, failures.length]).toEqual([1, 0]);
});

test('a server that is down delays nobody, and is reported once', async () => {
  const { mailer, failures } = start({ url: 'smtp://127.0.0.1:1' });
  expect(mailer.post(mail)).toBeUndefined();
  await mailer.settled();
  expect(failures).toEqual([new Error('the mail server did not take a message (ESOCKET)')]);
});

test('a refusal is reported without the address, which the server repeats', async () => {
  const { url, taken } = await startMailServer(2);
  const { mailer, failures } = start({ url });
  mailer.post(mail);
  await mailer.settled();
  expect(taken).toEqual([]);
  expect(failures).toEqual([new Error('the mail server did not take a message (EENVELOPE 451)')]);
});

test('what waits is bounded', async () => {
  const { mailer, failures } = start({ url: 'smtp://127.0.0.1:1', retryMs: [60_000] });
  for (let i = 0; i < 1_005; i++) mailer.post(mail);
  expect(failures).toHaveLength(4);
});

test('a stop waits for no server', async () => {
  const silent = createServer(() => undefined);
  await new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening));
  onTestFinished(() => void silent.close());
  const { mailer } = start({
    url: `smtp://127.0.0.1:${(silent.address() as AddressInfo).port}`,
    timeoutMs: 60_000,
  });
  mailer.post(mail);
  await mailer.close();
});

test.each([
  { to: 'ann@example.com\r\nBcc: eve@example.com' },
  { to: 'ann@example.com\n' },
  { subject: 'Writ\r\nBcc: eve@example.com' },
])('a message that would begin another header is not sent: %j', async (change) => {
  const { url, taken } = await startMailServer();
  const { mailer, failures } = start({ url });
  mailer.post({ ...mail, ...change });
  await mailer.settled();
  expect(taken).toEqual([]);
  expect(failures).toEqual([expect.objectContaining({ message: expect.stringContaining('line break') })]);
});
