// Sends e-mail by SMTP, if configured: one message at a time, with a few retries. A message that still fails
// is dropped and noted in the log. INVARIANT: posting only pushes onto a bounded list, so no request waits
// for mail or fails with it. The mail library is loaded with the first message.

import type { Transporter } from 'nodemailer';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface Mailer {
  /** Never throws, and returns at once. */
  post(mail: Mail): void;
  counts(): MailCounts;
  /** Resolves when no message waits; for tests. */
  settled(): Promise<void>;
  /** Starts no further message, and waits a moment for the one under way. */
  close(): Promise<void>;
}

/** Attempts and messages since the start. */
export interface MailCounts {
  readonly delivered: number;
  /** Attempts that failed, of which some were tried again. */
  readonly failed: number;
  readonly givenUp: number;
  /** Messages that wait now. */
  readonly pending: number;
}

export interface MailerOptions {
  /** An `smtp:` or `smtps:` URL, with a user and a password if the server needs them. */
  readonly url: string;
  readonly from: string;
  /** Called when a message is given up; the error holds no address and no text of the message. */
  readonly onFailure: (error: unknown) => void;
  /** Milliseconds before each further attempt. */
  readonly retryMs?: readonly number[];
  readonly timeoutMs?: number;
}

const retryMsDefault = [5_000, 60_000];
const timeoutMsDefault = 15_000;
/** A line break would begin another header. */
const lineBreak = /[\p{Cc}\p{Zl}\p{Zp}]/u;
const waitingMax = 1_000;
const closeMs = 2_000;

export function createMailer(options: MailerOptions): Mailer {
  const { onFailure, retryMs = retryMsDefault } = options;
  const waiting: Mail[] = [];
  const ending = new AbortController();
  let transport: Transporter | null = null;
  let work: Promise<void> | null = null;
  const counts = { delivered: 0, failed: 0, givenUp: 0 };

  async function sendAll(): Promise<void> {
    for (let mail = waiting.shift(); mail !== undefined; mail = waiting.shift()) {
      try {
        await sendWithRetries(mail);
      } catch (error) {
        counts.givenUp += 1;
        if (!ending.signal.aborted) onFailure(withoutNames(error));
      }
    }
    work = null;
  }

  async function sendWithRetries(mail: Mail): Promise<void> {
    for (const delayMs of [...retryMs, null]) {
      try {
        transport ??= await openTransport(options);
        await transport.sendMail({
          from: options.from,
          subject: mail.subject,
          text: mail.text,
          // Given as an object, the text is one address, whatever characters it holds.
          to: { name: '', address: mail.to },
        });
        counts.delivered += 1;
        return;
      } catch (error) {
        counts.failed += 1;
        if (delayMs === null || ending.signal.aborted) throw error;
        await pause(delayMs, ending.signal);
      }
    }
  }

  return {
    post(mail) {
      if (ending.signal.aborted) return;
      if (lineBreak.test(mail.to) || lineBreak.test(mail.subject))
        return onFailure(
          new Error('an address or a subject contains a line break: the message was not sent'),
        );
      if (waiting.length >= waitingMax) {
        counts.givenUp += 1;
        return onFailure(new Error(`more than ${waitingMax} messages wait`));
      }
      waiting.push(mail);
      work ??= sendAll();
    },
    counts: () => ({ ...counts, pending: waiting.length + (work === null ? 0 : 1) }),
    settled: async () => {
      while (work !== null) await work;
    },
    async close() {
      waiting.length = 0;
      ending.abort();
      const late = new Promise<void>((done) => setTimeout(done, closeMs).unref());
      await Promise.race([work, late]);
      transport?.close();
    },
  };
}

/** Signs in at the server and sends nothing. Rejects with the library's error. */
export async function tryMailServer(options: Pick<MailerOptions, 'url' | 'timeoutMs'>): Promise<void> {
  const transport = await openTransport(options);
  try {
    await transport.verify();
  } finally {
    transport.close();
  }
}

/** Messages of the server or the library may hold addresses; their codes are enough to find the cause. */
function withoutNames(error: unknown): Error {
  const { code, responseCode } = (error ?? {}) as {
    readonly code?: unknown;
    readonly responseCode?: unknown;
  };
  const codes = [code, responseCode].filter((one) => typeof one === 'string' || typeof one === 'number');
  return new Error(`the mail server did not take a message (${codes.join(' ') || 'no code'})`);
}

async function openTransport({
  url,
  timeoutMs = timeoutMsDefault,
}: Pick<MailerOptions, 'url' | 'timeoutMs'>): Promise<Transporter> {
  const { createTransport } = await import('nodemailer');
  return createTransport({
    url,
    // Keeps the library from reading a file or an address, whatever a message holds.
    disableFileAccess: true,
    disableUrlAccess: true,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
  });
}

/** Resolves early when the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(done, ms);
    const end = (): void => {
      clearTimeout(timer);
      done();
    };
    signal.addEventListener('abort', end, { once: true });
    timer.unref();
  });
}
