// An alert begins when its rule is met. It is announced once, whichever process sees it, and once more when
// it is over.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { alertsOf, alertsOn, alertText } from '../../../src/service/alerts/alert.ts';
import {
  allRules,
  changeRule,
  makeRule,
  removeRule,
  shippedRules,
} from '../../../src/service/alerts/alert-rule.ts';
import { type AlertWatch, watchAlerts } from '../../../src/service/alerts/watch-alerts.ts';
import { createEventMessages } from '../../../src/service/http/events/event-messages.ts';
import { apply, declineApplication } from '../../../src/service/people/access.ts';
import { createKillSwitchBoard } from '../../../src/service/people/kill-switches.ts';
import { sweep } from '../../../src/service/people/sweep.ts';
import type { SiemStatus } from '../../../src/service/siem/status.ts';
import { createStatistics, type Statistics } from '../../../src/service/statistics/statistics.ts';
import type { LogFault } from '../../../src/service/transparency-log/transparency-log.ts';
import { webhooksOf } from '../../../src/service/webhooks/webhook.ts';
import { agentRow, keyRow, pendingRow } from '../store/rows.ts';
import {
  dayMs,
  type Hooks,
  minuteMs,
  type Receiver,
  startHooks,
  startReceiver,
} from '../webhooks/service.ts';

/** So long that no timer of the service fires during the test. */
const neverMs = 2 ** 30;

interface World {
  readonly hooks: Hooks;
  readonly receiver: Receiver;
  readonly statistics: Statistics;
  readonly watch: AlertWatch;
  readonly another: AlertWatch;
  readonly mails: { readonly to: string; readonly subject: string; readonly text: string }[];
  readonly changes: number[];
  stale: number | null;
  gaps: readonly number[];
  logFaults: readonly LogFault[];
  siem: Pick<SiemStatus, 'lackingSinceMs' | 'refused' | 'gap'>;
  /** Advances the clock and checks the rules, in both processes. */
  readonly pass: (ms: number) => Promise<void>;
  readonly told: () => readonly string[];
}

const nothingLacks = { lackingSinceMs: null, refused: null, gap: null };

async function setUp(): Promise<World> {
  const hooks = await startHooks();
  const { directory, store, time } = hooks;
  const receiver = await startReceiver();
  await hooks.hook(receiver.url, ['alert.began', 'alert.over'], 'chat');
  const statistics = createStatistics({
    store: store.statistics,
    isRecorded: async (id) => (await store.requests.find(id)) !== null,
    clock: () => time.nowMs,
    everyMs: neverMs,
    onFailure: (error) => hooks.failures.push(error),
  });
  await statistics.start();
  const mails: World['mails'] = [];
  const changes: number[] = [];
  const switches = createKillSwitchBoard({ directory, steadyMs: () => time.nowMs });
  const watchOne = () => {
    const messages = createEventMessages({
      directory,
      publicUrl: 'https://writ.example.com',
      dispatcher: hooks.dispatcher,
      mailer: { post: (mail) => mails.push(mail) },
      onFailure: (error) => hooks.failures.push(error),
      controlOwnerOf: async () => null,
    });
    return watchAlerts({
      directory,
      statistics,
      switches,
      staleSinceMs: () => world.stale,
      siem: async () => ({ ...world.siem }) as SiemStatus,
      policyGaps: { update: async () => world.gaps },
      logFaults: async () => world.logFaults,
      messagesOf: messages.alertMessages,
      onChange: () => changes.push(time.nowMs),
      onFailure: (error) => hooks.failures.push(error),
      everyMs: neverMs,
    });
  };
  const world: World = {
    hooks,
    receiver,
    statistics,
    watch: watchOne(),
    another: watchOne(),
    mails,
    changes,
    stale: null,
    gaps: [],
    logFaults: [],
    siem: nothingLacks,
    pass: async (ms) => {
      time.nowMs += ms;
      await Promise.all([world.watch.evaluate(), world.another.evaluate()]);
      await hooks.pass(0);
    },
    told: () => receiver.received.splice(0).map(({ body }) => JSON.parse(body).text as string),
  };
  return world;
}

/** The world of the running test. */
let world: World;
const begin = async (): Promise<World> => {
  world = await setUp();
  return world;
};

const refuse = (count: number, code = 'rate_limited') => {
  for (let i = 0; i < count; i++)
    world.statistics.refused({ agentId: 'a1', code, atMs: world.hooks.time.nowMs });
};

async function setRule(id: string, change: Omit<Parameters<typeof changeRule>[2], 'id'>) {
  expect(await changeRule(world.hooks.directory, world.hooks.admin, { id, ...change })).toMatchObject({
    kind: 'stored',
  });
}

describe('an alert', () => {
  test('of two processes is announced once when it begins and once when it ends, by chat and mail, and recorded', async () => {
    const { hooks, mails, changes, pass, told } = await begin();
    refuse(99);
    await pass(1_000);
    expect(told()).toEqual([]);
    refuse(1);
    await pass(1_000);
    await pass(10_000);
    const began =
      'Alert: Many refusals. 100 requests were refused within 5 minutes (100 is the threshold).\nhttps://writ.example.com/overview';
    expect(told()).toEqual([began]);
    expect(mails.splice(0)).toEqual([
      { to: 'ann@example.com', subject: 'Writ: alert: Many refusals', text: `${began}\n` },
    ]);
    expect(changes).toHaveLength(1);
    expect(await alertsOn(hooks.directory)).toMatchObject([{ value: { ruleId: 'refusals', value: 100 } }]);
    // The window is over, and so is the time in which another process may still add to it.
    await pass(4 * minuteMs);
    await pass(2 * minuteMs - 1_000);
    expect(told()).toEqual([]);
    await pass(1_000);
    await pass(minuteMs);
    expect(told()).toEqual([
      expect.stringMatching(/^Ended: Many refusals\. It lasted from 2026-03-02T10:00/),
    ]);
    expect(mails.splice(0)).toMatchObject([{ subject: 'Writ: over: Many refusals' }]);
    expect(await alertsOn(hooks.directory)).toEqual([]);
    const records = await hooks.store.chain.changes({ beforeSequence: null, countMax: 2 });
    const shown = records.map(({ who, what, afterJson }) => [who, what, JSON.parse(afterJson ?? '')]);
    expect(shown).toEqual([
      ['system', 'alert-over', { name: 'Many refusals' }],
      [
        'system',
        'alert-began',
        expect.objectContaining({ name: 'Many refusals', value: 100, threshold: 100 }),
      ],
    ]);
    expect(hooks.failures).toEqual([]);
  });

  test('ends with its rule, and is deleted long after its end', async () => {
    const { hooks, pass, told } = await begin();
    await setRule('refusals', { threshold: 5, code: 'too_many_open_requests' });
    refuse(200);
    await pass(1_000);
    expect(told()).toEqual([]);
    refuse(5, 'too_many_open_requests');
    await pass(1_000);
    expect(told()).toEqual([
      expect.stringContaining('5 requests were refused with too_many_open_requests within 5 minutes'),
    ]);
    await setRule('refusals', { isOn: false });
    await pass(1_000);
    expect(told()).toEqual([expect.stringMatching(/^Ended: /)]);
    expect(await removeRule(hooks.directory, hooks.admin, 'refusals')).toBe('removed');
    expect(
      (await allRules(hooks.directory)).find(({ value }) => value.id === 'refusals')?.value,
    ).toMatchObject({
      isOn: true,
      threshold: 100,
    });
    const count = async () => (await alertsOf(hooks.directory).list({ countMax: 100 })).length;
    expect(await count()).toBe(1);
    await sweep(hooks.store.documents, hooks.time.nowMs + 89 * dayMs);
    expect(await count()).toBe(1);
    await sweep(hooks.store.documents, hooks.time.nowMs + 91 * dayMs);
    expect(await count()).toBe(0);
  });

  test('begins while the policies need something that the installation lacks', async () => {
    const { hooks, pass } = await begin();
    world.gaps = [hooks.time.nowMs, hooks.time.nowMs];
    await pass(1_000);
    const [alert, ...others] = await alertsOn(hooks.directory);
    expect(others).toEqual([]);
    expect(alertText(alert!.value)).toBe(
      '2 conditions of the policies cannot be satisfied in this installation: the Policies page lists what is missing.',
    );
    world.gaps = [];
    await pass(3 * minuteMs);
    expect(await alertsOn(hooks.directory)).toEqual([]);
  });

  test('begins when a witness is late for long, and at once when it refuses', async () => {
    const { hooks, pass } = await begin();
    const late = {
      message: 'the witness w does not answer',
      sinceMs: hooks.time.nowMs,
      isContradiction: false,
    };
    world.logFaults = [late];
    await pass(14 * minuteMs);
    expect(await alertsOn(hooks.directory)).toEqual([]);
    await pass(minuteMs);
    expect(await alertsOn(hooks.directory)).toMatchObject([{ value: { kind: 'log_faults', value: 1 } }]);
    world.logFaults = [];
    await pass(minuteMs);
    expect(await alertsOn(hooks.directory)).toEqual([]);
    world.logFaults = [{ ...late, sinceMs: hooks.time.nowMs, isContradiction: true }];
    await pass(1_000);
    expect(await alertsOn(hooks.directory)).toMatchObject([{ value: { kind: 'log_faults' } }]);
  });

  test('is sent to the webhooks and roles of its rule', async () => {
    const { hooks, mails, pass, told } = await begin();
    const other = await startReceiver();
    const { webhook } = await hooks.hook(other.url, ['agent.revoked']);
    await setRule('policies', { windowMinutes: 0, mailRoles: [], webhookIds: [webhook.id] });
    world.stale = hooks.time.nowMs;
    await pass(1_000);
    expect(told()).toEqual([]);
    expect(mails).toEqual([]);
    expect(JSON.parse(other.received[0]?.body ?? '')).toMatchObject({
      type: 'alert.began',
      data: { links: {} },
    });
    world.stale = null;
    await pass(3 * minuteMs);
    expect(other.received).toHaveLength(2);
    await removeRule(hooks.directory, hooks.admin, 'policies');
  });
});

describe('what is measured', () => {
  const decide = (outcome: string, count: number) => {
    for (let i = 0; i < count; i++)
      world.statistics.decided({
        createdAtMs: world.hooks.time.nowMs,
        decision: { outcome, risk: { low: 0, high: 0 }, by: 'p', matchedPolicy: 'p', rules: [] },
        trace: { form: { rules: [] }, truths: '' },
        timing: { decideMicroseconds: 5 },
      } as never);
  };

  test('is the share of denials, if there are enough decisions', async () => {
    const { pass, told } = await begin();
    decide('DENY', 19);
    await pass(1_000);
    expect(told()).toEqual([]);
    decide('ALLOW', 20);
    await pass(1_000);
    expect(told()).toEqual([]);
    decide('DENY', 1);
    await pass(1_000);
    expect(told()).toEqual([
      expect.stringMatching(/^Alert: Many denials\. 50 % of the decisions within 15 minutes were denials/),
    ]);
    await pass(60 * minuteMs);
    expect(told()).toHaveLength(1);
  });

  test('is a state, from when it has lasted for the window until it ends', async () => {
    const { hooks, pass, told } = await begin();
    const { directory, admin } = hooks;
    const board = createKillSwitchBoard({ directory, steadyMs: () => hooks.time.nowMs });
    const turned = await board.turnOn(admin, { scope: { kind: 'all' }, reason: 'a drill' });
    const asked = { email: 'ben@example.com', name: 'Ben', reason: 'I approve' };
    const applied = await apply(directory, asked);
    await pass(1_000);
    expect(told()).toEqual([expect.stringMatching(/^Alert: Kill switch on\. 1 kill switch is on\.\n/)]);
    if (turned.kind === 'on') await board.turnOff(admin, turned.switch.id, 'it was a drill');
    await pass(1_000);
    expect(told()).toEqual([expect.stringMatching(/^Ended: Kill switch on/)]);
    await pass(11 * 60 * minuteMs);
    expect(told()).toEqual([]);
    await pass(60 * minuteMs);
    expect(told()).toEqual([
      expect.stringMatching(
        /^Alert: Applications waiting\. 1 application for access has waited for 12 hours/,
      ),
    ]);
    if (applied.kind === 'applied')
      await declineApplication(directory, admin, { id: applied.application.id, reason: 'no' });
    const failing = await hooks.hook('http://127.0.0.1:1/', ['agent.revoked']);
    const found = await webhooksOf(directory).find(failing.webhook.id);
    if (found === null) throw new Error('the webhook is there');
    const since = { ...found.value, failingSinceMs: hooks.time.nowMs - 15 * minuteMs };
    await directory.documents.write([webhooksOf(directory).put(since, found.version)], null);
    world.stale = hooks.time.nowMs;
    await pass(minuteMs);
    expect(told().toSorted()).toEqual([
      expect.stringMatching(
        /^Alert: Policies on disk not active\. The policies on disk have not been active/,
      ),
      expect.stringMatching(/^Alert: Webhook failing\. 1 webhook has failed for 15 minutes or longer\./),
      expect.stringMatching(/^Ended: Applications waiting/),
    ]);
  });

  test('is a stream to a SIEM that is behind, that has stopped, or that has a gap', async () => {
    const { hooks, pass, told } = await begin();
    const { time } = hooks;
    world.siem = { ...nothingLacks, lackingSinceMs: time.nowMs };
    await pass(14 * minuteMs);
    expect(told()).toEqual([]);
    await pass(minuteMs);
    expect(told()).toEqual([
      expect.stringMatching(
        /^Alert: SIEM behind\. Records have not been sent to the SIEM for 15 minutes or longer\./,
      ),
    ]);
    world.siem = { ...nothingLacks, refused: { sequence: 7, reason: 'no', sinceMs: time.nowMs } };
    await pass(0);
    expect(told().toSorted()).toEqual([
      expect.stringMatching(/^Alert: SIEM lacks records\. 1 fault of the stream to the SIEM: it refuses/),
      expect.stringMatching(/^Ended: SIEM behind/),
    ]);
    world.siem = { ...nothingLacks, gap: { firstSequence: 1, sequence: 3, atMs: time.nowMs } };
    await pass(0);
    expect(told()).toEqual([]);
    await pass(dayMs);
    expect(told()).toEqual([expect.stringMatching(/^Ended: SIEM lacks records/)]);
  });

  test('is expired requests, step-ups apart from approvals', async () => {
    const { hooks, pass, told } = await begin();
    const { requests, agents } = hooks.store;
    const agent = agentRow();
    await agents.add(agent, keyRow(agent.id));
    const wait = (outcome: 'ESCALATE' | 'REAUTH_REQUIRED') =>
      requests.append(
        pendingRow({
          agentId: agent.id,
          outcome,
          createdAtMs: hooks.time.nowMs,
          expiresAtMs: hooks.time.nowMs + 1,
        }),
        { openMax: 99 },
      );
    await wait('ESCALATE');
    for (let i = 0; i < 3; i++) await wait('REAUTH_REQUIRED');
    await requests.expireDue(hooks.time.nowMs + 1, 10);
    await pass(1_000);
    expect(told()).toEqual([
      expect.stringMatching(/^Alert: Requests unanswered\. 1 request expired unanswered within 1 hour\./),
      expect.stringMatching(/^Alert: Step-ups expired\. 3 step-ups expired within 1 hour\./),
    ]);
  });
});

describe('a rule', () => {
  const draft = {
    name: 'Mine',
    kind: 'denials',
    isOn: true,
    threshold: 10,
    windowMinutes: 10,
    code: null,
    mailRoles: [],
    webhookIds: null,
  } as const;

  test('is created, changed and removed on record', async () => {
    const { directory, admin, store } = (await begin()).hooks;
    const made = await makeRule(directory, admin, draft);
    if (made.kind !== 'stored') throw new Error(made.kind);
    await setRule(made.rule.id, { threshold: 20 });
    expect((await allRules(directory)).at(-1)?.value).toMatchObject({ name: 'Mine', threshold: 20 });
    expect(await removeRule(directory, admin, made.rule.id)).toBe('removed');
    expect(await removeRule(directory, admin, made.rule.id)).toBe('unknown');
    const records = await store.chain.changes({ beforeSequence: null, countMax: 3 });
    expect(records.map(({ what, subject }) => [what, subject])).toEqual(
      ['alert-rule-removed', 'alert-rule-changed', 'alert-rule-made'].map((what) => [what, made.rule.id]),
    );
  });

  test('that is invalid is refused', async () => {
    const { directory, admin } = (await begin()).hooks;
    for (const [change, field] of [
      [{ name: ' ' }, 'name'],
      [{ threshold: 101 }, 'threshold'],
      [{ windowMinutes: 0 }, 'window_minutes'],
      [{ windowMinutes: 61 }, 'window_minutes'],
      [{ kind: 'kill_switch', windowMinutes: 1_441 }, 'window_minutes'],
      [{ code: 'rate_limited' }, 'code'],
      [{ webhookIds: ['nobody'] }, 'webhook_ids'],
    ] as const) {
      const result = await makeRule(directory, admin, { ...draft, ...change });
      expect(result).toMatchObject({ kind: 'invalid', problems: [{ field }] });
    }
  });
});

test('the page about alerts names the shipped rules', () => {
  const [, table = ''] = readFileSync('docs/service/alerts.md', 'utf8').split(
    '| Rule | An alert when |\n|---|---|\n',
  );
  const [rows = ''] = table.split('\n\n');
  const named = Array.from(rows.matchAll(/^\| `([a-z-]+)` \|/gm), ([, id]) => id);
  expect(named).toEqual(shippedRules.map(({ id }) => id));
});
