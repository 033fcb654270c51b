// The inbox over HTTP: what waits for a person, counted, searched, filtered and in the order that they ask for.

import { beforeAll, describe, expect, test } from 'vitest';
import { addAgent } from '../../src/service/agents/registry.ts';
import { type Client, firstAdmin, personWith } from './person-client.ts';
import { shareService } from './service.ts';
import { ask, codeOf, usePolicies, type View } from './written-policies.ts';

const policies = `
approvers finance "Finance"
approvers legal "Legal"
action pay.small, pay.large, pay.both, pay.step { amount: number, vendor?: string, ... }
policy pay on pay.* {
  allow all for 10m
  escalate small to finance within 1h when action.key == "pay.small" risk +10
  escalate large to finance needs 2 within 4h when action.key == "pay.large" risk +60
  escalate money to finance within 2h when action.key == "pay.both" risk +30
  escalate words to legal within 2h when action.key == "pay.both"
  reauth stepped within 15m when action.key == "pay.step" risk +20
}
`;

const service = shareService();

interface Inbox {
  readonly ann: Client;
  /** Of finance, and the control owner of the second agent. */
  readonly ben: Client;
  readonly small: View;
  readonly large: View;
  readonly both: View;
  readonly step: View;
}

let scene: Promise<Inbox> | null = null;

async function build(): Promise<Inbox> {
  await usePolicies(service(), policies);
  const admin = await firstAdmin(service());
  const ann = await personWith(service(), admin, {
    email: 'anna@example.com',
    roles: ['approver'],
    groups: ['finance'],
  });
  const ben = await personWith(service(), admin, {
    email: 'ben@example.com',
    roles: ['approver', 'owner'],
    groups: ['finance', 'legal'],
  });
  const draft = { name: 'Second', riskTier: 'low', controlOwner: 'ben@example.com', tags: [] } as const;
  const added = await addAgent(service().store, draft);
  if (added.kind !== 'added') throw new Error(added.kind);
  const small = await ask(service(), 'pay.small', { payload: { amount: 1, vendor: 'Staples' } });
  const large = await ask(service(), 'pay.large', { payload: { amount: 2, vendor: 'Acme' } });
  const both = await ask(service(), 'pay.both', { payload: { amount: 3 }, key: added.apiKey });
  const step = await ask(service(), 'pay.step', { payload: { amount: 4 }, key: added.apiKey });
  return { ann, ben, small, large, both, step };
}

beforeAll(async () => {
  scene = build();
  await scene;
});

function inbox(): Promise<Inbox> {
  if (scene === null) throw new Error('only for use inside a test');
  return scene;
}

type Name = 'small' | 'large' | 'both' | 'step';

/** What is asked by a query, by name, with the count. */
async function found(person: Client, query: string): Promise<readonly [count: number, ...names: Name[]]> {
  const { small, large, both, step } = await inbox();
  const names = new Map<string, Name>([
    [small.request_id, 'small'],
    [large.request_id, 'large'],
    [both.request_id, 'both'],
    [step.request_id, 'step'],
  ]);
  const { body } = await person.send(`/v1/approvals?${query}`);
  return [body.count, ...body.items.map((item: View) => names.get(item.request_id))];
}

describe('the inbox', () => {
  test('holds what waits for the caller, step-ups beside approvals, and counts it', async () => {
    const { ann, ben } = await inbox();
    expect(await found(ann, '')).toEqual([3, 'small', 'both', 'large']);
    expect(await found(ben, '')).toEqual([4, 'step', 'small', 'both', 'large']);
    expect(await found(ben, 'limit=1')).toEqual([4, 'step']);
  });

  test.each<[string, readonly [number, ...Name[]]]>([
    ['order=oldest', [4, 'small', 'large', 'both', 'step']],
    ['order=risk', [4, 'large', 'both', 'step', 'small']],
    ['kind=step_up', [1, 'step']],
    ['kind=approval', [3, 'small', 'both', 'large']],
    ['agent=second', [2, 'step', 'both']],
    ['agent=nobody', [0]],
    ['action=pay.large', [1, 'large']],
    ['group=legal', [1, 'both']],
    ['text=STAPLES', [1, 'small']],
    ['text=second', [2, 'step', 'both']],
    ['older_than=0', [4, 'step', 'small', 'both', 'large']],
    ['older_than=3600', [0]],
    ['kind=approval&agent=second', [1, 'both']],
  ])('asked for %s', async (query, expected) => {
    const { ben } = await inbox();
    expect(await found(ben, query)).toEqual(expected);
  });

  test.each(['deadline', 'oldest', 'risk'])('goes on page by page, by %s', async (order) => {
    const { ben } = await inbox();
    const whole = (await ben.send(`/v1/approvals?order=${order}`)).body.items;
    const walked: View[] = [];
    let cursor = '';
    for (let pages = 0; pages < 4; pages += 1) {
      const { body } = await ben.send(`/v1/approvals?order=${order}&limit=1${cursor}`);
      expect(body.count).toBe(4);
      walked.push(...body.items);
      cursor = `&cursor=${body.next_cursor}`;
    }
    expect(cursor).toBe('&cursor=null');
    expect(walked.map((one) => one.request_id)).toEqual(whole.map((one: View) => one.request_id));
  });

  test.each([
    ['order=newest', '`order` is one of deadline, oldest, risk'],
    ['kind=all', '`kind` is one of approval, step_up'],
    ['older_than=1h', '`older_than` is a whole number of seconds'],
  ])('refuses %s with words', async (query, words) => {
    const { ben } = await inbox();
    const answer = await ben.send(`/v1/approvals?${query}`);
    expect(codeOf(answer)).toEqual([400, 'invalid_query']);
    expect(answer.body.detail).toBe(words);
  });
});
