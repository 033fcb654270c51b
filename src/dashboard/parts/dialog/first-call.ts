// Makes a first request that the policies know: an action with a payload made from the types of its fields,
// and what sends it: a shell command, or a few lines of a program. INVARIANT: whatever the action's name is, it is
// data in the text, and no part of a command.

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

export interface Sender {
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

/** A program that uses the client for TypeScript; its key is in the environment. */
export function typescriptLines(url: string, { askedFor }: Sender, request: SampleRequest): string {
  const { action_key: action, payload } = request;
  const agent = askedFor === undefined ? '' : `, agent: ${JSON.stringify(askedFor)}`;
  return [
    "import { connect } from 'writ/client';",
    '',
    `const writ = connect({ url: '${url}', key: process.env.WRIT_API_KEY ?? ''${agent} });`,
    `const payload = ${JSON.stringify(payload)};`,
    `await writ.run(${JSON.stringify(action)}, payload, async () => console.log('granted'));`,
  ].join('\n');
}

/** A program that uses the client for Python; its key is in the environment. */
export function pythonLines(url: string, { askedFor }: Sender, request: SampleRequest): string {
  const { action_key: action, payload } = request;
  const agent = askedFor === undefined ? '' : `, agent=${JSON.stringify(askedFor)}`;
  return [
    'import os, writ',
    '',
    `client = writ.Writ('${url}', os.environ['WRIT_API_KEY']${agent})`,
    `payload = ${pythonLiteral(payload)}`,
    `client.run(${JSON.stringify(action)}, payload, lambda grant: print('granted'))`,
  ].join('\n');
}

/** JSON and Python write texts and numbers alike, and truth values differently. */
function pythonLiteral(payload: SampleRequest['payload']): string {
  const words = { true: 'True', false: 'False' } as const;
  const members = Object.entries(payload).map(([name, value]) => {
    const text = typeof value === 'boolean' ? words[`${value}`] : JSON.stringify(value);
    return `${JSON.stringify(name)}: ${text}`;
  });
  return `{${members.join(', ')}}`;
}

/** Commands that put the proxy before the MCP servers of a client. */
export function mcpLines(url: string): string {
  return [
    'install -m 600 /dev/null writ.key && printf %s "$WRIT_API_KEY" > writ.key',
    'writ mcp actions --as files -- npx -y @modelcontextprotocol/server-filesystem .  # its actions',
    'writ mcp lock --as files -- npx -y @modelcontextprotocol/server-filesystem .  # its texts',
    `writ mcp wrap .mcp.json --key-file writ.key --lock mcp.lock --service ${url}`,
  ].join('\n');
}

/** Commands that put the hook into Claude Code; its key is in the environment. */
export function hookLines(url: string): string {
  return [
    '# Claude Code, and all that it starts, can read this key.',
    `writ hook install claude-code --url ${url} --dry-run  # shows the settings`,
    `writ hook install claude-code --url ${url}`,
    'claude',
  ].join('\n');
}

/** Puts the key into the environment of a POSIX shell. */
export function exportLine(key: string): string {
  return `export WRIT_API_KEY=${quoted(key)}`;
}

/** Quotes a text for the shell; an apostrophe would end the quotes, so it is escaped. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
