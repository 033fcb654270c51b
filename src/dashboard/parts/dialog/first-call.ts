// Makes a first request that the policies know: an action with a payload made from the types of its fields,
// and the shell command that sends it. INVARIANT: whatever the action's name is, the text is one command and
// its body is data.

export interface KnownAction {
  readonly key: string;
  readonly fields: readonly { readonly path: string; readonly type: string }[];
}

export interface SampleRequest {
  readonly action_key: string;
  readonly payload: Readonly<Record<string, string | number | boolean>>;
}

type Sample = string | number | boolean;

const preferred = 'payment.create';

/** Returns the simplest meaningful request among `actions`. */
export function sampleRequest(actions: readonly KnownAction[], today: string): SampleRequest {
  const samples = actions
    .map(({ key, fields }) => ({ key, payload: samplePayload(fields, today) }))
    .filter((one): one is { key: string; payload: Record<string, Sample> } => one.payload !== null);
  const chosen =
    samples.find(({ key }) => key === preferred) ??
    samples.find(({ payload }) => Object.keys(payload).length > 0) ??
    samples[0];
  return { action_key: chosen?.key ?? actions[0]?.key ?? 'example.action', payload: chosen?.payload ?? {} };
}

/** Returns null when a field has a type for which no value can be made up. */
function samplePayload(fields: KnownAction['fields'], today: string): Record<string, Sample> | null {
  const payload: Record<string, Sample> = {};
  for (const { path, type } of fields) {
    if (type.includes('may be absent')) continue;
    const name = path.replace(/^payload\./, '');
    const value = name.includes('.') || name.includes('[') ? null : sampleOf(name, type, today);
    if (value === null) return null;
    payload[name] = value;
  }
  return payload;
}

const byName: Readonly<Record<string, string>> = { vendor: 'Staples', description: 'paper' };

function sampleOf(name: string, type: string, today: string): Sample | null {
  const literal = /^"((?:[^"\\]|\\.)*)"/.exec(type)?.[1];
  if (literal !== undefined) return literal;
  const word = /^(?:secret )?([a-z_]+)/.exec(type)?.[1];
  if (word === 'number' || word === 'integer' || word === 'money') return sampleNumber(type);
  if (word === 'string') return sampleText(byName[name] ?? 'example', type);
  if (word === 'boolean') return false;
  if (word === 'date') return today;
  if (word === 'email') return 'ann@example.com';
  if (word === 'path') return '/tmp/example.txt';
  return word === 'web_address' ? 'https://example.com/' : null;
}

const usualNumber = 120;

function sampleNumber(type: string): number {
  const [least, most] = rangeOf(type);
  return Math.min(Math.max(usualNumber, least ?? usualNumber), most ?? Number.POSITIVE_INFINITY);
}

function sampleText(text: string, type: string): string {
  const [least, most] = rangeOf(type);
  return text.padEnd(least ?? 0, 'x').slice(0, most ?? text.length + (least ?? 0));
}

/** The bounds before and after `..`; null for a missing one. */
function rangeOf(type: string): readonly [number | null, number | null] {
  const [, least = '', most = ''] = / (-?\d*\.?\d*)\.\.(-?\d*\.?\d*)/.exec(type) ?? [];
  return [least === '' ? null : Number(least), most === '' ? null : Number(most)];
}

interface Sender {
  readonly key: string;
  /** Id of the agent for which an enforcement point asks; absent with an agent's own key. */
  readonly askedFor?: string;
}

/** A command for a POSIX shell. */
export function curlLine(url: string, { key, askedFor }: Sender, request: SampleRequest): string {
  return [
    `curl -sS ${url}/v1/authorize`,
    "-H 'Content-Type: application/json'",
    `-H 'X-Agent-API-Key: ${key}'`,
    ...(askedFor === undefined ? [] : [`-H 'X-Writ-Agent: ${askedFor}'`]),
    `-d ${quoted(JSON.stringify(request))}`,
  ].join(' \\\n  ');
}

/** Quotes a text for the shell; an apostrophe would end the quotes, so it is escaped. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
