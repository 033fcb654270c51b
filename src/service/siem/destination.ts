// The receiver that the settings name, with its format and its connection: turns events into texts, and delivers a batch
// of texts.

import { readFileSync } from 'node:fs';
import type { SiemEvent } from './events/event.ts';
import { cefMessage } from './formats/cef.ts';
import { ocsfEvent } from './formats/ocsf.ts';
import { otlpLogRecord, otlpLogsRequest, rejectedIn } from './formats/otlp.ts';
import { type SiemSettings, syslogPort } from './siem-settings.ts';
import type { Delivery, TlsFiles } from './transports/delivery.ts';
import { createHttpsSender } from './transports/https.ts';
import { sendSyslog } from './transports/syslog-tls.ts';

export interface Destination {
  /** Whether the receiver says that it has a batch. */
  readonly isAcknowledged: boolean;
  /** The event as it is sent, without what surrounds a batch. */
  encode(event: SiemEvent): string;
  /** Never rejects. */
  deliver(texts: readonly string[]): Promise<Delivery>;
  close(): void;
}

export interface DestinationSource {
  /** The version of Writ. */
  readonly version: string;
  readonly host: string;
  readonly now: () => number;
}

/** Throws an error for operators when a certificate cannot be read. */
export function createDestination(settings: SiemSettings, source: DestinationSource): Destination {
  return settings.format === 'cef' ? syslog(settings, source) : https(settings, source);
}

function syslog(settings: SiemSettings, { version, host }: DestinationSource): Destination {
  const { hostname, port } = new URL(settings.url);
  const closing = new AbortController();
  const options = {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? syslogPort : Number(port),
    timeoutMs: settings.timeoutMs,
    tls: tlsFiles(settings),
    signal: closing.signal,
  };
  return {
    isAcknowledged: false,
    encode: (event) => cefMessage(event, { version, host, processId: process.pid }),
    deliver: (texts) => sendSyslog(options, texts),
    close: () => closing.abort(),
  };
}

function https(settings: SiemSettings, { version, now }: DestinationSource): Destination {
  const sender = createHttpsSender({ ...settings, tls: tlsFiles(settings) });
  if (settings.format === 'otlp')
    return {
      isAcknowledged: true,
      encode: (event) => otlpLogRecord(event, now()),
      deliver: (texts) =>
        sender.send({
          body: otlpLogsRequest(texts, version),
          contentType: 'application/json',
          problemIn: partialProblem,
        }),
      close: sender.close,
    };
  const isLines = settings.body === 'lines';
  return {
    isAcknowledged: true,
    encode: (event) => {
      const text = ocsfEvent(event, version);
      return settings.body === 'splunk' ? splunkEnvelope(event, text) : text;
    },
    deliver: (texts) =>
      sender.send({
        body: settings.body === 'array' ? `[${texts.join(',')}]` : `${texts.join('\n')}\n`,
        contentType: isLines ? 'application/x-ndjson' : 'application/json',
        problemIn: () => null,
      }),
    close: sender.close,
  };
}

/** An event of the HTTP Event Collector; `time` is in seconds. */
function splunkEnvelope({ atMs }: SiemEvent, text: string): string {
  return `{"time":${(atMs / 1_000).toFixed(3)},"source":"writ","sourcetype":"_json","event":${text}}`;
}

/** A receiver that took only some of a batch does not say which, so smaller batches have to find them. */
function partialProblem(answer: string): string | null {
  const { count, reason } = rejectedIn(answer);
  return count === 0 ? null : `the receiver rejected ${count} log records: ${reason}`;
}

function tlsFiles({ ca, certificate, key }: SiemSettings): TlsFiles {
  const read = (path: string | null) => (path === null ? null : readFileSync(path, 'utf8'));
  return { ca: read(ca), certificate: read(certificate), key: read(key) };
}
