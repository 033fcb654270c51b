// The inbox over HTTP: requests that wait for a person, counted, searched, filtered and sorted as the person
// chooses.

import { beforeAll, describe, expect, test } from 'vitest';
import { addAgent } from '../../../src/service/agents/registry.ts';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import { createEventMessages } from '../../../src/service/http/events/event-messages.ts';
import { createDirectory } from '../../../src/service/people/directory.ts';
import { createRequestEvents } from '../../../src/service/requests/record/request-events.ts';
import { type Client, firstAdmin, personWith } from './person-client.ts';
import { shareService } from './service.ts';
import { ask, codeOf, give, look, usePolicies, type View } from './written-policies.ts';

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
  /** A member of `finance`, and the control owner of the second agent. */
  readonly ben: Client;
  /** A person whose groups no rule asks. */
  readonly eve: Client;
  readonly secondKey: string;
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
  const eve = await personWith(service(), admin, {
    email: 'eve@example.com',
    roles: ['approver'],
    groups: ['security'],
  });
  const draft = { name: 'Second', riskTier: 'low', controlOwner: 'ben@example.com', tags: [] } as const;
  const added = await addAgent(service().store, draft);
  if (added.kind !== 'added') throw new Error(added.kind);
  const small = await ask(service(), 'pay.small', { payload: { amount: 1, vendor: 'Staples' } });
  const large = await ask(service(), 'pay.large', { payload: { amount: 2, vendor: 'Acme' } });
  const both = await ask(service(), 'pay.both', { payload: { amount: 3 }, key: added.apiKey });
  const step = await ask(service(), 'pay.step', { payload: { amount: 4 }, key: added.apiKey });
  return { ann, ben, eve, secondKey: added.apiKey, small, large, both, step };
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

/** The count of the requests that a query finds, and their names. */
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
  test('contains the pending requests of the caller, with step-ups and approvals, and counts them', async () => {
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

  test.each(['deadline', 'oldest', 'risk'])('returns the next pages by %s', async (order) => {
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
    ['order=newest', '`order` must be one of deadline, oldest, risk'],
    ['kind=all', '`kind` must be one of approval, step_up'],
    ['older_than=1h', '`older_than` must be a whole number of seconds'],
  ])('refuses %s with words', async (query, words) => {
    const { ben } = await inbox();
    const answer = await ben.send(`/v1/approvals?${query}`);
    expect(codeOf(answer)).toEqual([400, 'invalid_query']);
    expect(answer.body.detail).toBe(words);
  });
});

async function say(person: Client, id: string, kind: string, text = 'what for?') {
  return await person.send(`/v1/requests/${id}/comments`, { method: 'POST', body: { kind, text } });
}

async function revokeVote(person: Client, id: string) {
  return await person.send(`/v1/requests/${id}/revoke-approval`, { method: 'POST' });
}

describe('without deciding', () => {
  test('people comment, ask and answer, the request stays pending, and its agent is not told', async () => {
    const { ann, ben, eve, large, both, secondKey } = await inbox();
    const { request_id: id } = both;
    const marked = async (person: Client) =>
      (await person.send('/v1/approvals')).body.items.flatMap(
        (one: { question: string; request_id: string }) =>
          one.question === null ? [] : [[one.question, one.request_id]],
      );
    expect(codeOf(await say(ben, id, 'answer'))).toEqual([409, 'conflict']);
    expect(await marked(ben)).toEqual([]);
    expect(codeOf(await say(ann, id, 'question'))).toEqual([200, 'pending']);
    expect(codeOf(await say(ann, id, 'comment', 'in the meantime'))).toEqual([200, 'pending']);
    // Requests that ask the control owner come first, also across pages, unless the query names another
    // order.
    expect([await marked(ann), await marked(ben)]).toEqual([[['others', id]], [['yours', id]]]);
    expect(await found(ben, '')).toEqual([4, 'both', 'step', 'small', 'large']);
    expect(await found(ben, 'order=oldest')).toEqual([4, 'small', 'large', 'both', 'step']);
    const { next_cursor } = (await ben.send('/v1/approvals?limit=1')).body;
    expect(await found(ben, `limit=2&cursor=${next_cursor}`)).toEqual([4, 'step', 'small']);
    expect(codeOf(await say(ben, id, 'answer', 'for the fair'))).toEqual([200, 'pending']);
    expect([await marked(ann), await marked(ben)]).toEqual([[], []]);
    const { body } = await say(ann, id, 'comment', 'thanks');
    expect(body.comments).toMatchObject([
      { by: expect.stringContaining('anna@example.com'), kind: 'question', text: 'what for?' },
      { by: expect.stringContaining('anna@example.com'), kind: 'comment', text: 'in the meantime' },
      { by: expect.stringContaining('ben@example.com'), kind: 'answer', text: 'for the fair' },
      { by: expect.stringContaining('anna@example.com'), kind: 'comment', text: 'thanks' },
    ]);
    expect(body.requires.approvals).toMatchObject([{ given: 0 }, { given: 0 }]);
    const asAgent = await look({ ...service(), apiKey: secondKey }, id);
    expect([asAgent.status, asAgent.body.comments]).toEqual([200, []]);
    expect(codeOf(await say(eve, id, 'comment'))).toEqual([404, 'request_not_found']);
    expect(codeOf(await say(ann, id, 'comment', ''))).toEqual([400, 'invalid_body']);
    expect(codeOf(await say(ann, id, 'shout'))).toEqual([400, 'invalid_body']);
    expect(codeOf(await say(ann, large.request_id, 'answer'))).toEqual([409, 'conflict']);
    expect(await verifyChain(service().store)).toMatchObject({ kind: 'whole' });
  });

  test('a question is mailed to the control owner, its answer to the asker, and webhooks get both', async () => {
    const { ann } = await inbox();
    const mails: string[] = [];
    const events: string[] = [];
    const messages = createEventMessages({
      directory: createDirectory(service().store.documents, Date.now),
      publicUrl: 'https://writ.example.com',
      dispatcher: { emit: ({ type }) => void events.push(type), prepare: () => expect.unreachable() },
      mailer: { post: ({ to, subject }) => void mails.push(`${to}: ${subject}`) },
      onFailure: (error) => expect.unreachable(String(error)),
      controlOwnerOf: async () => 'ben@example.com',
    });
    const requests = createRequestEvents();
    messages.follow(requests, { onChange: () => () => undefined });
    const asker = (await ann.send('/v1/session')).body.person.id;
    const at = {
      requestId: 'r1',
      agentId: 'a1',
      actionKey: 'pay.both',
      title: 'Pay 9.00 USD to Staples',
      groups: [],
      asksStepUp: false,
      atMs: 0,
    };
    for (const kind of ['comment', 'question', 'answer'] as const)
      requests.emit({ ...at, kind: 'commented', status: 'pending', comment: { kind, askers: [asker] } });
    await expect.poll(() => mails).toHaveLength(2);
    expect(mails.toSorted()).toEqual([
      'anna@example.com: Writ: an answer to your question (Pay 9.00 USD to Staples)',
      'ben@example.com: Writ: a question about a request (Pay 9.00 USD to Staples)',
    ]);
    expect(events).toEqual(['request.commented', 'request.commented', 'request.commented']);
  });

  test('comments on decided requests are refused', async () => {
    const { ann } = await inbox();
    const { request_id: id } = await ask(service(), 'pay.small', { payload: { amount: 9 } });
    await give(ann, id, 'reject');
    expect(codeOf(await say(ann, id, 'comment'))).toEqual([409, 'conflict']);
  });
});

describe('an approval', () => {
  test('can be withdrawn by its giver while others are missing, and given again', async () => {
    const { ann, ben, large } = await inbox();
    const { request_id: id } = large;
    expect(codeOf(await revokeVote(ann, id))).toEqual([409, 'conflict']);
    expect((await give(ann, id, 'approve')).body.allowed_actions).toMatchObject({
      approve: [],
      revoke_approval: true,
    });
    expect(codeOf(await revokeVote(ben, id))).toEqual([409, 'conflict']);
    const { body } = await revokeVote(ann, id);
    expect(body).toMatchObject({
      status: 'pending',
      allowed_actions: { approve: ['finance'], revoke_approval: false },
    });
    expect(body.requires.approvals).toEqual([{ group: 'finance', needs: 2, given: 0 }]);
    expect(body.approvals).toMatchObject([{ is_approved: true, invalid_reason: 'revoked it' }]);
    expect(codeOf(await revokeVote(ann, id))).toEqual([409, 'conflict']);
    // The approval was taken back, so one approval is no longer enough.
    expect((await give(ben, id, 'approve')).body.status).toBe('pending');
    expect((await give(ann, id, 'approve')).body.status).toBe('approved');
    expect(codeOf(await revokeVote(ann, id))).toEqual([409, 'conflict']);
    expect(await verifyChain(service().store)).toMatchObject({ kind: 'whole' });
  });

  test('for one of two groups that is withdrawn is missing again', async () => {
    const { ann, ben } = await inbox();
    const { request_id: id } = await ask(service(), 'pay.both', { payload: { amount: 8 } });
    expect((await give(ann, id, 'approve')).body.requires.approvals).toMatchObject([{ group: 'legal' }]);
    const { body } = await revokeVote(ann, id);
    expect(body.requires.approvals).toMatchObject([{ group: 'finance' }, { group: 'legal' }]);
    expect((await give(ben, id, 'approve', 'legal')).body.status).toBe('pending');
    expect((await give(ann, id, 'approve')).body.status).toBe('approved');
  });

  test('withdrawn together with the last one leaves either a grant by two or a pending request', async () => {
    const { ann, ben } = await inbox();
    for (let round = 0; round < 4; round += 1) {
      const { request_id: id } = await ask(service(), 'pay.large', { payload: { amount: 10 + round } });
      await give(ann, id, 'approve');
      const [given, back] = await Promise.all([give(ben, id, 'approve'), revokeVote(ann, id)]);
      const { body } = await ben.send(`/v1/requests/${id}`);
      expect([given.status, back.status, body.status]).toEqual(
        body.status === 'approved' ? [200, 409, 'approved'] : [200, 200, 'pending'],
      );
    }
  });
});
