// The setting `agents.issuers`: a list of maps or of texts in a file, one text in a variable or a flag. INVARIANT:
// each issuer has an audience, which names this service, and no issuer is listed twice.

import { isAbsolute, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { WorkloadIssuer } from '../workloads/read-token.ts';
import { isAddress, isIssuer } from './address-forms.ts';

const lifetimeDefault = 86_400;
const lifetimeMin = 60;
const lifetimeMax = 7 * 86_400;
const issuersMax = 20;

/**
 * Audiences that name another service or none: a token for them was made to be sent elsewhere, or is made by
 * default.
 */
const foreignAudiences: ReadonlySet<string> = new Set([
  'sts.amazonaws.com',
  'api://AzureADTokenExchange',
  'https://kubernetes.default.svc',
  'https://kubernetes.default.svc.cluster.local',
  'kubernetes',
]);

/** The issuers as one text in canonical form; null when the value is no list of issuers. */
export function issuersText(value: unknown, base: string): string | null {
  const items = typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value : [null];
  const issuers = items.map((item) => issuerOf(item, base));
  if (!issuers.every((issuer) => issuer !== null) || issuers.length > issuersMax) return null;
  const isOnce = new Set(issuers.map(({ issuer }) => issuer)).size === issuers.length;
  return isOnce ? issuers.map(textOf).join(', ') : null;
}

/** The issuers of a text in canonical form; none when the setting is not set. */
export function issuersOf(text: unknown): readonly WorkloadIssuer[] {
  if (typeof text !== 'string') return [];
  return text.split(',').flatMap((item) => issuerOf(item, '/') ?? []);
}

function textOf({ issuer, audience, keys, lifetimeSeconds }: WorkloadIssuer): string {
  const own = lifetimeSeconds === lifetimeDefault ? [] : [`lifetime=${lifetimeSeconds}`];
  return [issuer, `audience=${audience}`, ...(keys === null ? [] : [`keys=${keys}`]), ...own].join(' ');
}

function issuerOf(item: unknown, base: string): WorkloadIssuer | null {
  const fields = typeof item === 'string' ? fieldsOf(item) : item;
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) return null;
  const { issuer, audience, keys = null, lifetime, ...others } = fields as Readonly<Record<string, unknown>>;
  if (Object.keys(others).length > 0 || !isAddress(issuer) || !isIssuer(issuer)) return null;
  if (typeof audience !== 'string' || !/^[^\s,]{1,255}$/.test(audience) || foreignAudiences.has(audience))
    return null;
  const keysAddress = keys === null ? null : keysOf(keys, base);
  const lifetimeSeconds = lifetime === undefined ? lifetimeDefault : Number(lifetime);
  const isBounded = Number.isInteger(lifetimeSeconds) && lifetimeSeconds >= lifetimeMin;
  if (keysAddress === undefined || !isBounded || lifetimeSeconds > lifetimeMax) return null;
  return { issuer, audience, keys: keysAddress, lifetimeSeconds };
}

/** An issuer and `name=value` words; null when a word has another form or comes twice. */
function fieldsOf(item: string): Readonly<Record<string, unknown>> | null {
  const [issuer, ...words] = item.trim().split(/\s+/);
  const fields = new Map<string, unknown>([['issuer', issuer]]);
  for (const word of words) {
    const at = word.indexOf('=');
    const name = word.slice(0, at);
    if (at < 1 || fields.has(name)) return null;
    fields.set(name, word.slice(at + 1));
  }
  return Object.fromEntries(fields);
}

/** The address of keys, or of a file with them; undefined when the value is neither. */
function keysOf(value: unknown, base: string): string | undefined {
  if (typeof value !== 'string' || value === '' || /[\s,]/.test(value)) return undefined;
  if (value.startsWith('file:')) return URL.parse(value)?.href;
  if (!/^[a-z]+:\/\//.test(value))
    return pathToFileURL(isAbsolute(value) ? value : resolve(base, value)).href;
  return isAddress(value) && isIssuer(value) ? value : undefined;
}
