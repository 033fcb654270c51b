// `writ infer`: what it reads, writes and prints, with and without policies that exist, and what it says about
// wrong input.

import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeHistory, policyText } from '../analysis/replay/history.ts';
import { type Ran, writ } from './writ.ts';

function folder(): string {
  return mkdtempSync(join(tmpdir(), 'writ-infer-'));
}

/** Lines of requests without a decision, of one agent, a minute apart. */
function lines(count: number, payloadOf: (at: number) => object, action = 'mail.send'): string {
  return Array.from({ length: count }, (_, at) =>
    JSON.stringify({
      action_key: action,
      payload: payloadOf(at),
      agent: { name: 'writer' },
      now: new Date(Date.UTC(2026, 2, 2) + at * 60_000).toISOString(),
    }),
  ).join('\n');
}

const mails = lines(200, (at) => ({ to: `${'abcd'[at % 4]}@example.com`, copies: at % 3 }));

interface Files {
  readonly [name: string]: string;
}

/** Runs the command in a new folder with these files. */
async function inferIn(files: Files, args: readonly string[]): Promise<Ran & { readonly cwd: string }> {
  const cwd = folder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
  return { cwd, ...(await writ(['infer', ...args], { cwd })) };
}

describe('writ infer', () => {
  it('writes files that pass the strict check and are formatted, and prints their basis', async () => {
    const { cwd, code, stdout, stderr } = await inferIn({ 'log.jsonl': mails }, [
      '--from',
      'log.jsonl',
      '--out',
      'inferred',
    ]);
    expect([code, stderr]).toEqual([0, '']);
    expect(readdirSync(join(cwd, 'inferred'))).toEqual(['mail.policy']);
    expect(await writ(['check', '--strict', 'inferred'], { cwd })).toMatchObject({ code: 0 });
    expect(await writ(['fmt', '--check', 'inferred'], { cwd })).toMatchObject({ code: 0 });
    expect(stdout).toContain('200 requests, 2026-03-02 to 2026-03-02\n');
    expect(stdout).toMatch(/mail\.send +140 +60 +0 +0 +4\.9 %\n/);
    expect(stdout).toContain('At most 4.9 % of such requests would be refused or wait');
    expect(stdout).toContain(
      'People would be asked about 0 requests a day, and about 0 by the existing policies.',
    );
    expect(stdout).toContain('🔓 DENY → ALLOW, refused before any rule until now   mail.send');
    expect(stdout).toContain('✓ Nothing else changes: proved for all requests of 1 action');
    expect(stdout).toMatch(/Wrote mail\.policy into inferred\n$/);
  });

  it('writes nothing without a folder, and prints all of it as JSON', async () => {
    const { cwd, code, stdout } = await inferIn({ 'log.jsonl': mails }, ['--from', 'log.jsonl', '--json']);
    expect(code).toBe(0);
    expect(readdirSync(cwd)).toEqual(['log.jsonl']);
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({
      requests: 200,
      policy_sets: 0,
      held_out: { share: 0.3, by: 'random', seed: 1 },
      confidence: 0.95,
      total: { requests: 60, refused: 0, waiting: 0 },
      actions: [
        {
          action: 'mail.send',
          learned_from: 140,
          problem: null,
          fields: [
            { field: 'agent.name', basis: '1 value', is_restricted: true },
            { field: 'payload.copies', basis: '0 to 2', is_restricted: true },
            { field: 'payload.to', basis: '4 values', is_restricted: true },
          ],
        },
      ],
      files: [{ path: 'mail.policy', text: expect.stringContaining('action mail.send') }],
      written_to: null,
      diff: { loosened: 1, limits: [] },
    });
    expect(report.total.share_at_most).toBeCloseTo(1 - 0.05 ** (1 / 60), 9);
  });

  it('narrows the policies of a folder by a folder in it', async () => {
    const policy = `action mail.send {
  to:     email
  copies: integer
}

policy mails on mail.send {
  allow few
    when payload.copies in 0..5
}
`;
    const log = { 'log.jsonl': mails, 'mail.policy': policy };
    const { cwd, code, stdout } = await inferIn(log, ['.', '--from', 'log.jsonl', '--out', 'inferred']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/0 loosened · [1-9] stricter · 0 undecided/);
    expect(readFileSync(join(cwd, 'inferred/mail.policy'), 'utf8')).not.toMatch(/^ *(allow|action) /m);
    expect(await writ(['check', '--strict', '.'], { cwd })).toMatchObject({ code: 0 });
  });

  it('uses ./policies if it exists, where denied requests stay denied unless the option is given', async () => {
    const cwd = folder();
    writeFileSync(join(cwd, 'log.jsonl'), mails);
    await writ(['init', 'policies'], { cwd });
    const refused = await writ(['infer', '--from', 'log.jsonl'], { cwd });
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toContain(
      'its requests are denied, so they are not learned from (--allow-denied does)',
    );
    const allowed = await writ(['infer', '--from', 'log.jsonl', '--allow-denied'], { cwd });
    expect([allowed.code, allowed.stderr]).toEqual([0, '']);
    expect(allowed.stdout).toContain('DENY → ALLOW');
  });

  it('reads the records of a service and an export of them alike', async () => {
    const data = folder();
    await makeHistory(21, 400, { folder: data });
    const cwd = folder();
    writeFileSync(join(cwd, 'all.policy'), policyText);
    const { stdout } = await writ(['audit', 'export', '--data', data]);
    writeFileSync(join(cwd, 'log.jsonl'), stdout);
    const inferred = await Promise.all(
      [data, 'log.jsonl'].map((from) => writ(['infer', '.', '--from', from, '--json'], { cwd })),
    );
    expect(inferred[0]).toEqual(inferred[1]);
    const report = JSON.parse(inferred[0]!.stdout);
    expect(report.actions.map(({ action }: { action: string }) => action)).toContain('pay.send');
    expect(report.diff).toMatchObject({ loosened: 0 });
    expect(report.asks_per_day.before).toBeGreaterThan(0);
    const sums = report.actions.map((one: { not_learned_from: object }) => Object.keys(one.not_learned_from));
    expect(sums.flat()).toContain('rejected');
  });

  it('reports that the policies allow no more than was recorded', async () => {
    const policy = `action ping.send { n: integer 1..1 }
policy pings on ping.send { allow own when agent.name == "writer" }`;
    const log = { 'log.jsonl': lines(60, () => ({ n: 1 }), 'ping.send'), 'a.policy': policy };
    const { cwd, code, stdout } = await inferIn(log, ['.', '--from', 'log.jsonl', '--out', 'inferred']);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /There is nothing to write: the existing policies allow no more than what was recorded\.\n$/,
    );
    expect(existsSync(join(cwd, 'inferred'))).toBe(false);
  });

  it('infers the named actions only', async () => {
    const log = { 'log.jsonl': `${mails}\n${lines(60, () => ({}), 'mail.sync')}` };
    const { stdout } = await inferIn(log, ['--from', 'log.jsonl', '--action', '*.sync', '--json']);
    expect(JSON.parse(stdout).actions.map(({ action }: { action: string }) => action)).toEqual(['mail.sync']);
  });
});

describe('requests that are held out', () => {
  it.each([
    [
      ['--hold-out-latest'],
      'The latest requests were held out: the bound shows how policies inferred earlier fared later.',
    ],
    [
      ['--hold-out', '0'],
      'No request was held out, so the share of requests that will be stopped is not known.',
    ],
    [['--seed', '7'], 'The requests were held out at random (seed 7).'],
  ])('are described: %s', async (args, text) => {
    const { code, stdout } = await inferIn({ 'log.jsonl': mails }, ['--from', 'log.jsonl', ...args]);
    expect(code).toBe(0);
    expect(stdout).toContain(text);
  });
});

describe('wrong input of writ infer', () => {
  it.each([
    ['an empty file', { 'log.jsonl': '\n' }, [], 2, '`log.jsonl` has no requests'],
    ['no file', {}, [], 2, 'cannot read `log.jsonl`: '],
    [
      'a policy file',
      { 'log.jsonl': 'action a.b {}' },
      [],
      2,
      'this is a policy file, not a file of requests',
    ],
    ['a JSON list', { 'log.jsonl': '[{}]' }, [], 2, 'convert it with `jq -c .[]`'],
    [
      'an unknown action',
      { 'log.jsonl': mails },
      ['--action', 'mail.sent'],
      2,
      'no request has an action that `mail.sent` matches: did you mean `mail.send`?',
    ],
    ['a malformed pattern', { 'log.jsonl': mails }, ['--action', 'mail.se*'], 2, '`mail.se*` is no pattern'],
    [
      'too few requests',
      { 'log.jsonl': lines(9, () => ({})) },
      [],
      1,
      'with 3 held out, the bound would be 63.2 %',
    ],
    [
      'a wrong share',
      { 'log.jsonl': mails },
      ['--hold-out', '1'],
      2,
      '--hold-out takes a share from 0 to 0.9',
    ],
    ['a wrong seed', { 'log.jsonl': mails }, ['--seed', 'x'], 2, '--seed takes a whole number'],
    [
      'an odd group',
      { 'log.jsonl': mails },
      ['--approvers', 'a b'],
      2,
      '--approvers takes the name of a group',
    ],
    [
      'an unknown group',
      {
        'log.jsonl': mails,
        'a.policy':
          'approvers finance "F"\naction mail.send {}\npolicy p on mail.send { allow x after approval by finance }',
      },
      ['.', '--approvers', 'finanse'],
      2,
      'the policies declare no approvers `finanse`: did you mean `finance`?',
    ],
    ['broken policies', { 'log.jsonl': mails, 'a.policy': 'action mail' }, ['.'], 1, 'error'],
    ['a full folder', { 'log.jsonl': mails }, ['--out', '.'], 2, '. is not empty; nothing was written'],
  ] as const)('%s gets a message, and nothing is written', async (_name, files, args, code, message) => {
    const ran = await inferIn(files, ['--from', 'log.jsonl', ...args]);
    expect(ran.stderr).toContain(message);
    expect([ran.code, ran.stdout]).toEqual([code, '']);
    expect(readdirSync(ran.cwd).toSorted()).toEqual(Object.keys(files).toSorted());
  });

  it('names unreadable lines, and infers from the others', async () => {
    const exported = JSON.stringify({
      request_id: 'r',
      action_key: 'mail.send',
      payload: {},
      agent: {},
      created_at: '2026-03-02T00:00:00Z',
    });
    const log = { 'log.jsonl': `${mails}\nnot json\n{"action_key": 5}\n${exported}\n` };
    const { cwd, code, stdout, stderr } = await inferIn(log, ['--from', 'log.jsonl', '--out', 'new']);
    expect(code).toBe(1);
    expect(stderr).toContain('error: log.jsonl:201: ');
    expect(stderr).toContain('error: log.jsonl:202: `action_key` must be a string');
    expect(stderr).toContain('error: log.jsonl:203: the line is of an export, and the first line is not');
    expect(stderr).toContain('3 unreadable, not in the figures');
    expect(stdout).toContain('200 requests');
    expect(existsSync(join(cwd, 'new/mail.policy'))).toBe(true);
  });

  it('reports that several versions of policies decided the requests', async () => {
    const record = (at: number) => ({
      request_id: `r${at}`,
      action_key: 'mail.send',
      payload: { to: 'a@example.com' },
      agent: { id: 'a', name: 'writer' },
      created_at: new Date(Date.UTC(2026, 2, 2) + at * 60_000).toISOString(),
      policy_set: { digest: at < 30 ? 'one' : 'two' },
      recorded: {
        request: {},
        meters: {},
        satisfied: { escalate: [], reauth: [] },
        decision: { outcome: at % 9 === 0 ? 'DENY' : 'ALLOW', by: 'p/r', rules: [] },
        expires_at: '2026-03-03T00:00:00Z',
        events: [],
      },
    });
    const log = { 'log.jsonl': Array.from({ length: 90 }, (_, at) => JSON.stringify(record(at))).join('\n') };
    const { code, stdout, stderr } = await inferIn(log, ['--from', 'log.jsonl']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('2 versions of policies decided them');
    expect(stdout).toContain('not learned from: 10 requests that policies denied');
  });
});
