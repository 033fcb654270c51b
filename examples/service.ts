// Starts a service for the examples, on a free port and with a data directory that is deleted afterwards. It
// is the real command with the policies of this folder, one admin, and one person of the group that approves.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const command = join(import.meta.dirname, '../src/cli/writ.js');
const policies = join(import.meta.dirname, 'policies');

export interface ExampleService {
  readonly url: string;
  /** The account of the person who approves. */
  readonly approver: { readonly email: string; readonly password: string };
  /** Registers an agent and returns the agent's key. */
  readonly addAgent: (name: string) => Promise<string>;
  /** Approves everything that waits now, in place of a person. Returns the number of approved requests. */
  readonly approveAll: () => Promise<number>;
  readonly stop: () => Promise<void>;
}

const password = 'correct horse battery';
const admin = { email: 'ann@example.com', name: 'Ann', password };
const approver = { email: 'ben@example.com', name: 'Ben', password };

export async function startExampleService(port = 0, folder = policies): Promise<ExampleService> {
  const data = mkdtempSync(join(tmpdir(), 'writ-example-'));
  const flags = ['--port', String(port), '--policies', folder, '--data', data];
  const child = spawn(process.execPath, [command, 'serve', ...flags], {
    env: { ...process.env, WRIT_LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.kill()) await once(child, 'exit');
    rmSync(data, { recursive: true, force: true });
  };
  try {
    const { origin: url, hash } = await firstLink(child);
    const addAgent = await addPeople(url, hash.replace('#token=', ''));
    return { url, approver, addAgent, approveAll: await createApprover(url), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Returns the address that creates the first admin, which the service prints when it is ready. Throws when
 * the service ends before.
 */
async function firstLink(child: ChildProcess): Promise<URL> {
  let printed = '';
  for await (const chunk of child.stdout ?? []) {
    printed += String(chunk);
    const [link] = /http:\/\/\S+\/setup#token=\S+/.exec(printed) ?? [];
    if (link === undefined) continue;
    child.stdout?.resume();
    return new URL(link);
  }
  const [code, signal] =
    child.exitCode === null && child.signalCode === null
      ? await once(child, 'exit')
      : [child.exitCode, child.signalCode];
  throw new Error(`the service did not start (${signal ?? code}):\n${printed}`);
}

/** Creates the admin and the approver of a new service. Returns a function that registers agents. */
export async function addPeople(url: string, token: string): Promise<ExampleService['addAgent']> {
  const post = poster(url);
  await post('/v1/setup', { token, ...admin });
  const asAdmin = await signIn(post, admin);
  const { email, name } = approver;
  const draft = { email, name, roles: ['approver'], groups: ['support'] };
  const { body } = await post('/v1/invitations', draft, asAdmin);
  await post('/v1/invitations/accept', { token: body.token, password });
  return async (agent) => {
    const registered = { name: agent, risk_tier: 'low', control_owner: admin.email, tags: [] };
    return String((await post('/v1/agents', registered, asAdmin)).body.api_key);
  };
}

/** Signs in as the approver. Returns a function that approves everything that waits. */
export async function createApprover(url: string): Promise<ExampleService['approveAll']> {
  const post = poster(url);
  const asApprover = await signIn(post, approver);
  return async () => {
    const reply = await fetch(`${url}/v1/approvals`, { headers: asApprover });
    const { items } = (await reply.json()) as { readonly items: readonly { readonly request_id: string }[] };
    for (const { request_id: id } of items)
      await post(`/v1/requests/${id}/approve`, { comment: 'Looks right' }, asApprover);
    return items.length;
  };
}

type Headers = Readonly<Record<string, string>>;

interface Reply {
  readonly headers: globalThis.Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

type Post = (path: string, body: object, headers?: Headers) => Promise<Reply>;

function poster(url: string): Post {
  return async (path, body, headers = {}) => {
    const reply = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${path}: ${text}`);
    return { headers: reply.headers, body: JSON.parse(text) as Reply['body'] };
  };
}

async function signIn(post: Post, { email, password }: typeof approver): Promise<Headers> {
  const { headers, body } = await post('/v1/session', { email, password });
  const cookie = headers.getSetCookie().map((each) => each.split(';')[0]);
  return { cookie: cookie.join('; '), 'x-csrf-token': String(body.csrf_token) };
}
