// What became of a batch of events that was sent to the receiver.

export type Delivery =
  | { readonly kind: 'delivered' }
  /** The receiver does not accept one of the events, so that sending the same batch again is of no use. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** The receiver is out of reach, busy, or refuses everything. */
  | { readonly kind: 'failed'; readonly reason: string; readonly retryAfterMs: number | null };

/** Certificates in PEM for connections to the receiver. */
export interface TlsFiles {
  /** Authorities to trust in place of the usual ones; null for the usual ones. */
  readonly ca: string | null;
  readonly certificate: string | null;
  readonly key: string | null;
}

/** The options of a connection. INVARIANT: the receiver's name is always verified. */
export function tlsOptions({ ca, certificate, key }: TlsFiles) {
  return {
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    ...(ca === null ? {} : { ca }),
    ...(certificate === null || key === null ? {} : { cert: certificate, key }),
  } as const;
}

const reasonLengthMax = 200;

/** A text of the receiver as a short reason: visible characters in one line. */
export function reasonText(text: string): string {
  const line = text.replace(/[\p{C}\p{Z}]+/gu, ' ').trim();
  return line.length <= reasonLengthMax ? line : `${line.slice(0, reasonLengthMax)}…`;
}
