// What the service says to the person who starts it: where it listens, the active policies, and, while it is new, a key
// and a request that works. INVARIANT: a key or a token is printed at the start that made it and never again.

import { firstAgentName } from '../agents/first-agent.ts';
import type { PolicyState } from '../policies/policy-host.ts';

export interface Welcome {
  readonly url: string;
  readonly policies: PolicyState;
  /** Absolute path of the data directory. */
  readonly dataDirectory: string;
  /** Address of the database; null where the store lies in the data directory. */
  readonly database: string | null;
  /** Where the store is: a file, or the address of a database without its password. */
  readonly dataFile: string;
  /** Keys of the declared actions, sorted. */
  readonly actionKeys: readonly string[];
  /** Of the agent that this start has registered; null where there were agents already. */
  readonly firstKey: string | null;
  /** Where this start has made it; null else. */
  readonly newSandboxToken: string | null;
  /** Of the first admin, where this start has made it; null else. */
  readonly setUpUrl: string | null;
}

/** Whole, so that it works where it is pasted. */
function keyCommand({ dataDirectory, database }: Welcome): string {
  const place = [
    `--data ${shellWord(dataDirectory)}`,
    ...(database === null ? [] : ['--store "$WRIT_STORE"']),
  ].join(' ');
  return `${writCommand()} agent add NAME --tier low --owner you@example.com ${place}`;
}

/** In a folder that has the package, against a checkout. */
export const isPackage = import.meta.url.includes('/node_modules/');

function writCommand(): string {
  return isPackage ? 'npx writ' : 'npm run writ --';
}

/** A text as a shell takes it for one word. */
function shellWord(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Lines of text, the last one ended. */
export function welcome(facts: Welcome): string {
  const { url, policies, dataFile } = facts;
  const lines = [
    `Writ listens on ${url} (the dashboard, too)`,
    `  policies  ${policies.place} (${count(policies.actions, 'action')}, ${count(policies.rules, 'rule')}, set ${policies.digest.slice(0, 12)})`,
    `  data      ${dataFile}`,
    ...(facts.newSandboxToken === null ? [] : [`  sandbox   token ${facts.newSandboxToken} (shown once)`]),
    ...setUpLines(facts),
    '',
    ...keyLines(facts),
    '',
  ];
  return `${lines.join('\n')}\n`;
}

function setUpLines({ setUpUrl }: Welcome): readonly string[] {
  if (setUpUrl === null) return [];
  return [
    '',
    'Nobody has access yet. Open this link to become the first admin; it works once:',
    '',
    `  ${setUpUrl}`,
  ];
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function keyLines(facts: Welcome): readonly string[] {
  const { url, firstKey, actionKeys } = facts;
  if (firstKey === null) return [`Another agent and its key: ${keyCommand(facts)}`];
  return [
    `An agent \`${firstAgentName}\` was registered. Its key, shown once:`,
    '',
    `  ${firstKey}`,
    '',
    'Ask for a decision:',
    '',
    ...askLines({ url, key: firstKey, actionKeys }),
    '',
    `Another agent and its key: ${keyCommand(facts)}`,
  ];
}

interface Asking {
  readonly url: string;
  readonly key: string;
  /** Of the declared actions. */
  readonly actionKeys: readonly string[];
}

/** A line to paste that asks for a decision, on several lines of text. */
export function askLines({ url, key, actionKeys }: Asking): readonly string[] {
  return [
    `  curl -sS ${url}/v1/authorize \\`,
    `    -H 'Content-Type: application/json' \\`,
    `    -H 'X-Agent-API-Key: ${key}' \\`,
    `    -d '${sampleBody(actionKeys)}'`,
  ];
}

/** Of the policies that are shipped, and of those that `writ init` makes. */
const samples: Readonly<Record<string, object>> = {
  'payment.create': { amount: 120, currency: 'USD', vendor: 'Staples', description: 'paper' },
  'refund.create': { order: 'A-1001', amount: 20, currency: 'EUR' },
};

function sampleBody(actionKeys: readonly string[]): string {
  const known = Object.keys(samples).find((key) => actionKeys.includes(key));
  const key = known ?? actionKeys[0] ?? 'example.action';
  const sample = { action_key: key, payload: samples[key] ?? {} };
  // A quoted action key may hold an apostrophe, which would end the shell's quotes.
  return JSON.stringify(sample).replaceAll("'", `'\\''`);
}
