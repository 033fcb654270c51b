// The text for the person who starts the service: where it listens, the active policies, and, while it is
// new, a key and a request that works. INVARIANT: a key or a token is printed at the start that made it and
// never again.

import type { Json } from '../../language/model/json.ts';
import { firstAgentName } from '../agents/first-agent.ts';
import type { PolicyState } from '../policies/policy-host.ts';
import { writCommand } from './writ-command.ts';

export interface Welcome {
  readonly url: string;
  readonly policies: PolicyState;
  /** The address in links, where `public_url` should replace it; else null. */
  readonly localLinks: string | null;
  /** Absolute path of the data directory. */
  readonly dataDirectory: string;
  /** Address of the database; null when the store is in the data directory. */
  readonly database: string | null;
  /** Place of the store: a file, or the address of a database without its password. */
  readonly dataFile: string;
  /** The key of the agent that this start has registered; null when there were agents already. */
  readonly firstKey: string | null;
  /** A request to try with that key; null without one. */
  readonly request: PrintedRequest | null;
  /** Whether an earlier start has registered the first agent, and nobody has used its key yet. */
  readonly isFirstKeyLost: boolean;
  /** The sandbox token, when this start has made it; else null. */
  readonly newSandboxToken: string | null;
  /** The link that sets up the first admin; null when there are people. */
  readonly setUpUrl: string | null;
}

/** A whole command for the store of the service, so that it works wherever it is pasted. */
function commandOn({ dataDirectory, database }: Welcome, command: string): string {
  return writCommand(command, { data: dataDirectory, store: database ?? undefined });
}

/** The lines of the welcome; the last line ends with a line feed. */
export function welcome(facts: Welcome): string {
  const { url, policies, dataFile, localLinks } = facts;
  const lines = [
    `Writ listens on ${url} (API and dashboard)`,
    `  policies  ${policies.location} (${count(policies.actions, 'action')}, ${count(policies.rules, 'rule')}, set ${policies.digest.slice(0, 12)})`,
    `  data      ${dataFile}`,
    ...(localLinks === null
      ? []
      : [`  links     ${localLinks}: set public_url to the address that people and agents use`]),
    ...setUpLines(facts),
    '',
    ...keyLines(facts),
    ...sandboxLines(facts),
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

/** Last, because nobody needs it to begin with. */
function sandboxLines({ newSandboxToken }: Welcome): readonly string[] {
  if (newSandboxToken === null) return [];
  return [`To try POST /plants, which makes no decision: token ${newSandboxToken}, shown once`];
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function keyLines(facts: Welcome): readonly string[] {
  const { url, firstKey, request } = facts;
  const adding = commandOn(facts, 'agent add NAME --tier low --owner you@example.com');
  const another = `To register another agent: ${adding}`;
  if (firstKey === null || request === null) return [...lostKeyLines(facts), another];
  return [
    `An agent \`${firstAgentName}\` was registered. Its key, shown once:`,
    '',
    `  ${firstKey}`,
    '',
    'Ask for a decision:',
    '',
    ...askLines({ url, key: firstKey, request }),
    '',
    another,
  ];
}

/** A start that ended before its welcome was read has shown the key to nobody. */
function lostKeyLines(facts: Welcome): readonly string[] {
  if (!facts.isFirstKeyLost) return [];
  const rotating = commandOn(facts, `agent rotate ${firstAgentName} --grace now`);
  return [`The key of \`${firstAgentName}\` was never used. To create a new key: ${rotating}`];
}

/** As it is sent. */
export interface PrintedRequest {
  readonly action_key: string;
  readonly payload: Json;
}

/** A request by the shipped policies. */
export const paymentRequest: PrintedRequest = {
  action_key: 'payment.create',
  payload: { amount: 120, currency: 'USD', vendor: 'Staples', description: 'paper' },
};

interface AskOptions {
  readonly url: string;
  readonly key: string;
  readonly request: PrintedRequest;
}

/** A command to paste that asks for a decision, in several lines. */
export function askLines({ url, key, request }: AskOptions): readonly string[] {
  // An apostrophe would end the shell's quotes.
  const body = JSON.stringify(request).replaceAll("'", `'\\''`);
  return [
    `  curl -sS ${url}/v1/authorize \\`,
    `    -H 'Content-Type: application/json' \\`,
    `    -H 'X-Agent-API-Key: ${key}' \\`,
    `    -d '${body}'`,
  ];
}
