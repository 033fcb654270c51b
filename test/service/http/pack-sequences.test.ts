// The sequences of the packs, sent over HTTP. A service that runs each pack decides step by step as the tests
// of the pack state, with people who answer, results that are reported, and the time between the steps.

import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addAgent, setSigning } from '../../../src/service/agents/registry.ts';
import { readTestFile } from '../../../src/testing/read-test-file.ts';
import type { PastRequest, TestCase } from '../../../src/testing/test-file.ts';
import { type Client, firstAdmin, personWith, send } from './person-client.ts';
import { authorize, type Service, startService } from './service.ts';
import type { View } from './written-policies.ts';

const root = join(import.meta.dirname, '../../..');

interface Pack {
  readonly name: string;
  readonly text: string;
  readonly sequences: readonly Sequence[];
}

interface Sequence {
  readonly name: string;
  readonly steps: readonly Step[];
}

interface Step extends PastRequest {
  readonly decision: string;
}

function packsIn(folder: string): readonly Pack[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => {
      const files = readdirSync(join(root, folder, name)).map((file) => join(root, folder, name, file));
      const policies = files.filter((file) => file.endsWith('.policy'));
      const tests = files.filter((file) => file.endsWith('.test.yaml'));
      const sequences = tests.flatMap((path) => sequencesOf(path));
      const text = policies
        .map((file) => withLists(readFileSync(file, 'utf8'), join(root, folder, name)))
        .join('\n');
      return sequences.length === 0 ? [] : [{ name, text, sequences }];
    });
}

/** The policies with the entries of their list files written in, so that they are one text. */
function withLists(text: string, folder: string): string {
  return text.replaceAll(/^(list .*?) *from "([^"]+)"/gm, (_, head: string, file: string) => {
    const lines = readFileSync(join(folder, file), 'utf8')
      .split('\n')
      .map((line) => line.trim());
    const entries = lines.filter((line) => line !== '' && !line.startsWith('#'));
    return `${head} = [${entries.map((entry) => JSON.stringify(entry)).join(', ')}]`;
  });
}

function sequencesOf(path: string): readonly Sequence[] {
  const { cases, diagnostics } = readTestFile({ path, text: readFileSync(path, 'utf8') });
  expect(diagnostics).toEqual([]);
  const starts = [...cases.keys()].filter((at) => cases[at]!.before?.length === 0);
  return starts.map((start) => {
    const after = cases.findIndex(({ before }, at) => at > start && !before?.length);
    const asked = cases.slice(start, after === -1 ? undefined : after);
    return { name: asked[0]!.name, steps: asked.map((one, at) => stepOf(one, asked[at + 1])) };
  });
}

/** The step of a test case. The result of a call is stated in the next case, so `next` supplies it. */
function stepOf({ situation, answer, expectation, name }: TestCase, next: TestCase | undefined): Step {
  const { decision } = expectation;
  if (decision === null) throw new Error(`${name} does not name a decision`);
  return { situation, answer, decision, result: next?.before?.at(-1)?.result ?? null };
}

interface Caller {
  readonly key: string;
  readonly signingSecret: string | null;
}

interface Asking {
  readonly service: Service;
  /** The agents, by the ids that the tests of the pack give them. */
  readonly callers: ReadonlyMap<string, Caller>;
  readonly clock: () => number;
  /** The people, in the order in which they are asked to answer. */
  readonly people: readonly { readonly group: string; readonly client: Client }[];
}

/** Two people of each group, and the control owner of the agent. */
async function peopleOf(service: Service, pack: Pack): Promise<Asking['people']> {
  const admin = await firstAdmin(service);
  const owner = await personWith(service, admin, { email: ownerEmail, roles: ['owner'] });
  const groups = [...pack.text.matchAll(/^approvers (\w+)/gm)].map((match) => match[1]!);
  const people: { group: string; client: Client }[] = [{ group: 'owner', client: owner }];
  for (const group of groups)
    for (const at of [1, 2]) {
      const email = `${group}-${at}@example.com`;
      const client = await personWith(service, admin, { email, roles: ['approver'], groups: [group] });
      people.push({ group, client });
    }
  return people;
}

const ownerEmail = 'owner@example.com';

/** Starts a service for the pack, with the agents of the sequence. */
async function startAsking(pack: Pack, steps: readonly Step[], clock: () => number): Promise<Asking> {
  const service = await startService({ startsWith: pack.text, clock });
  const callers = new Map<string, Caller>();
  for (const { situation } of steps)
    if (!callers.has(nameOf(situation))) callers.set(nameOf(situation), await addCaller(service, situation));
  const people = steps.some(({ answer }) => answer !== null) ? await peopleOf(service, pack) : [];
  return { service, callers, clock, people };
}

function nameOf({ agent }: Step['situation']): string {
  return agent.id ?? 'agt-1';
}

async function addCaller(service: Service, situation: Step['situation']): Promise<Caller> {
  const { agent, request } = situation;
  const added = await addAgent(service.store, {
    name: nameOf(situation),
    riskTier: agent.risk_tier ?? 'low',
    controlOwner: ownerEmail,
    tags: [...(agent.tags ?? [])],
  });
  if (added.kind !== 'added') throw new Error(added.kind);
  const signing =
    request.signed === true
      ? await setSigning(service.store, { agentId: added.agent.id, signing: 'optional', nowMs: Date.now() })
      : null;
  return { key: added.apiKey, signingSecret: signing?.kind === 'changed' ? signing.signingSecret : null };
}

let nonce = 0;

function signed(
  { signingSecret }: Caller,
  clock: () => number,
  body: string,
): Readonly<Record<string, string>> {
  if (signingSecret === null) return {};
  nonce += 1;
  const [time, id] = [Math.trunc(clock() / 1_000), `nonce-${String(nonce).padStart(6, '0')}`];
  const digest = createHmac('sha256', signingSecret).update(`v1:${time}:${id}:POST:/v1/authorize:${body}`);
  return { 'x-service-signature': `t=${time},n=${id},v1=${digest.digest('hex')}` };
}

function callerOf({ callers }: Asking, situation: Step['situation']): Caller {
  const caller = callers.get(nameOf(situation));
  if (caller === undefined) throw new Error(`no agent ${nameOf(situation)}`);
  return caller;
}

async function askFor(asking: Asking, { situation }: Step): Promise<View> {
  const body = JSON.stringify({ action_key: situation.action, payload: situation.payload });
  const caller = callerOf(asking, situation);
  const headers = signed(caller, asking.clock, body);
  const reply = await authorize(asking.service, { body, key: caller.key, headers });
  if (reply.status !== 200) throw new Error(await reply.text());
  return (await reply.json()) as View;
}

type Answered = NonNullable<Step['answer']>['kind'];

/** Votes on the request until it is no longer pending; returns its status. */
async function answered({ people }: Asking, id: string, kind: Answered): Promise<string> {
  for (const { group, client } of people) {
    const body = {
      comment: 'looked at',
      ...(group !== 'owner' && { group }),
      ...(kind === 'standing' && { standing: {} }),
    };
    const path = `/v1/requests/${id}/${kind === 'rejected' ? 'reject' : 'approve'}`;
    const reply = await client.send(path, { method: 'POST', body });
    if (reply.status === 200 && reply.body.status !== 'pending') return reply.body.status;
  }
  return 'pending';
}

async function carryOut(asking: Asking, step: Step): Promise<void> {
  const view = await askFor(asking, step);
  expect
    .soft(view.decision, `${step.situation.action} ${JSON.stringify(step.situation.payload)}`)
    .toBe(step.decision);
  const id = view.request_id;
  if (step.answer !== null) {
    const { kind } = step.answer;
    expect(await answered(asking, id, kind)).toBe(kind === 'rejected' ? 'rejected' : 'approved');
  }
  if (step.result === null) return;
  const body = { executed: true, result: step.result.json };
  const headers = { 'x-agent-api-key': callerOf(asking, step.situation).key };
  const told = await send(asking.service, `/v1/requests/${id}/outcome`, { method: 'POST', body, headers });
  expect(told.status).toBe(200);
}

const packs = ['policies', 'examples/packs'].flatMap(packsIn);

describe.each(packs)('the pack $name over HTTP', (pack) => {
  it.each(pack.sequences)('$name', async ({ steps }) => {
    const [first] = steps;
    const startMs = Date.now();
    const time = { elapsedMs: 0 };
    const clock = () => Date.now() - startMs + first!.situation.nowMs + time.elapsedMs;
    const asking = await startAsking(pack, steps, clock);
    for (const step of steps) {
      time.elapsedMs = step.situation.nowMs - first!.situation.nowMs;
      await carryOut(asking, step);
    }
  });
});

it('the starter packs pass their sequences', () => {
  const names = readdirSync(join(root, 'examples/packs'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  expect(packs.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
});
