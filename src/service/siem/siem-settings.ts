// What the settings say of the receiver of records. INVARIANT: the address fits the format, so that records never leave
// without encryption, except to this machine.

export const siemFormats = ['ocsf', 'otlp', 'cef'] as const;
export type SiemFormat = (typeof siemFormats)[number];

export const siemBodies = ['array', 'lines', 'splunk'] as const;
/** How the OCSF events of a batch stand in a body: a JSON array, a line each, or the envelopes of Splunk. */
export type SiemBody = (typeof siemBodies)[number];

export const cursorStarts = ['now', 'beginning'] as const;
/** Where a destination begins that has no cursor yet. */
export type CursorStart = (typeof cursorStarts)[number];

/** What the settings say of the receiver. */
export interface SiemSettings {
  readonly name: string;
  readonly url: string;
  readonly format: SiemFormat;
  readonly body: SiemBody;
  readonly headers: ReadonlyMap<string, string>;
  readonly start: CursorStart;
  /** The paths of the payload fields that are sent. */
  readonly payloadFields: readonly string[];
  readonly recordsMax: number;
  readonly bytesMax: number;
  readonly timeoutMs: number;
  readonly isCompressed: boolean;
  /** Paths of PEM files; null for none. */
  readonly ca: string | null;
  readonly certificate: string | null;
  readonly key: string | null;
  /** The number of a refused record that the receiver gets no more; null for none. */
  readonly skip: number | null;
}

/** The port of syslog over TLS (RFC 5425, section 4.1). */
export const syslogPort = 6_514;

/** Whether an address may be that of a receiver, without regard to its format. */
export function isSiemAddress(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.hostname === '' || url.username !== '' || url.password !== '') return false;
  switch (url.protocol) {
    case 'https:':
      return true;
    case 'http:':
      return ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
    case 'syslog+tls:':
      return ['', '/'].includes(url.pathname) && url.search === '';
    default:
      return false;
  }
}

/** Whether the format goes over the protocol of the address: CEF over syslog, all others over HTTP. */
export function isAddressOfFormat(address: string, format: SiemFormat): boolean {
  return (format === 'cef') === address.startsWith('syslog+tls:');
}
