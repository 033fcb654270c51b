// Turns a key or the token of a workload into the headers of one try of a request. A token that is bound to a key
// is sent with a proof of that key (DPoP, RFC 9449). INVARIANT: a proof is made for one try, and for the very token
// that it is sent with.

/** A key, a token, or a function that returns the present one, such as `tokenFile` makes. */
export type KeySource = string | (() => string);

/** A key pair of Web Crypto. Its type follows from the platform, because not all of them declare a name for it. */
export interface ProofKey {
  readonly publicKey: PlatformKey;
  readonly privateKey: PlatformKey;
}
type PlatformKey = Parameters<typeof crypto.subtle.exportKey>[1];

export interface Holder {
  readonly key: KeySource;
  /** The key pair to which the token is bound: ECDSA with P-256. Absent for a key, and for a token that is not bound. */
  readonly proofKey?: ProofKey;
  /** The address of the service in its setting `public_url`, where that is not the address that is called. */
  readonly publicUrl?: string;
}

interface Target {
  readonly method: string;
  readonly url: string;
}

const tokenForm = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** The headers of a caller without proofs. */
export function credentialHeaders(key: KeySource): Readonly<Record<string, string>> {
  const text = currentOf(key);
  return tokenForm.test(text) ? { authorization: `Bearer ${text}` } : { 'x-agent-api-key': text };
}

/** The headers of one try. */
export async function headersOfTry(
  holder: Holder,
  target: Target,
): Promise<Readonly<Record<string, string>>> {
  const { proofKey } = holder;
  if (proofKey === undefined) return credentialHeaders(holder.key);
  const token = currentOf(holder.key);
  return { authorization: `DPoP ${token}`, dpop: await proofOf(token, { ...holder, proofKey }, target) };
}

/** Names the caller of a key or token: a token that is renewed stays the same caller. */
export function callerName(key: KeySource): string {
  const text = currentOf(key);
  if (!tokenForm.test(text)) return `key ${text}`;
  const { iss, sub } = claimsOf(text);
  return `token ${JSON.stringify([iss, sub])}`;
}

function claimsOf(token: string): { readonly iss?: unknown; readonly sub?: unknown } {
  try {
    const [, payload = ''] = token.split('.');
    const text = atob(payload.replaceAll('-', '+').replaceAll('_', '/'));
    return Object(JSON.parse(text)) as { readonly iss?: unknown; readonly sub?: unknown };
  } catch {
    return { sub: token };
  }
}

function currentOf(key: KeySource): string {
  return typeof key === 'function' ? key() : key;
}

const bytes = new TextEncoder();

async function proofOf(
  token: string,
  { proofKey, publicUrl }: Holder & { readonly proofKey: ProofKey },
  { method, url }: Target,
): Promise<string> {
  const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', proofKey.publicKey);
  const address = new URL(url);
  const head = { typ: 'dpop+jwt', alg: 'ES256', jwk: { kty, crv, x, y } };
  const claims = {
    jti: crypto.randomUUID(),
    htm: method,
    htu: `${publicUrl === undefined ? address.origin : new URL(publicUrl).origin}${address.pathname}`,
    iat: Math.trunc(Date.now() / 1_000),
    ath: base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes.encode(token)))),
  };
  const signed = [head, claims].map((part) => base64url(bytes.encode(JSON.stringify(part)))).join('.');
  const algorithm = { name: 'ECDSA', hash: 'SHA-256' };
  const signature = await crypto.subtle.sign(algorithm, proofKey.privateKey, bytes.encode(signed));
  return `${signed}.${base64url(new Uint8Array(signature))}`;
}

function base64url(data: Uint8Array): string {
  const text = btoa(String.fromCharCode(...data));
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
