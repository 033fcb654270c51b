// Which files may decide about which actions, by `owners.yaml`.

import { describe, expect, it } from 'vitest';
import { compile, type PolicySources } from '../../../../src/pipeline.ts';

const owners = `owners:
  payments/**: [payment.*]
  platform/**: ["*"]
`;

const actions = `action payment.create {
  amount: integer 1..1000
}

action deploy.start {
  service: string ..40
}
`;

type Files = Readonly<Record<string, string>>;

function sourcesOf(files: Files): PolicySources {
  const policies = Object.entries(files).filter(([path]) => path.endsWith('.policy'));
  return {
    files: policies.map(([path, text]) => ({ path, text })).toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    readListFile: (path) =>
      path in files
        ? { text: files[path]! }
        : { code: 'list-file-missing', message: `\`${path}\` does not exist` },
  };
}

/** The codes of the errors, each with the file that it is in; without errors there is a set. */
function errorsOf(files: Files): readonly string[] {
  const { diagnostics, set, engine } = compile(sourcesOf({ 'owners.yaml': owners, ...files }));
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  expect(set === null).toBe(errors.length > 0);
  expect(engine === null).toBe(errors.length > 0);
  return errors.map(({ code, span }) => `${code} ${span.file}`);
}

function policy(name: string, action: string, rules: string): string {
  return `policy ${name} on ${action} {\n  ${rules}\n}\n`;
}

const grant = 'allow r\n    because "yes"';

describe('owners.yaml', () => {
  it('lets a file allow the actions of its owner', () => {
    expect(
      errorsOf({ 'platform/a.policy': actions, 'payments/p.policy': policy('p', 'payment.create', grant) }),
    ).toEqual([]);
  });

  it('refuses an allow for an action of another owner, and one in a file that nobody owns', () => {
    const rule = policy('p', 'deploy.start', grant);
    expect(errorsOf({ 'platform/a.policy': actions, 'payments/p.policy': rule })).toEqual([
      'action-not-owned payments/p.policy',
    ]);
    expect(errorsOf({ 'platform/a.policy': actions, 'p.policy': rule })).toEqual([
      'action-not-owned p.policy',
    ]);
    expect(errorsOf({ 'platform/a.policy': actions, 'payments-old/p.policy': rule })).toEqual([
      'action-not-owned payments-old/p.policy',
    ]);
  });

  it('takes the entry of the smallest folder, whatever the order', () => {
    const rule = policy('p', 'deploy.start', grant);
    const entries = ['"**": ["*"]', 'payments/**: [payment.*]', 'payments/deploys.policy: [deploy.*]'];
    for (const order of [entries, entries.toReversed()]) {
      const files = {
        'owners.yaml': `owners:\n${order.map((one) => `  ${one}\n`).join('')}`,
        'a.policy': actions,
      };
      expect(errorsOf({ ...files, 'other/p.policy': rule })).toEqual([]);
      expect(errorsOf({ ...files, 'payments/deploys.policy': rule })).toEqual([]);
      expect(errorsOf({ ...files, 'payments/p.policy': rule })).toEqual([
        'action-not-owned payments/p.policy',
      ]);
    }
  });

  it('refuses an allow that reaches another action by a pattern or a group', () => {
    const grouped = actions.replace('deploy.start', 'deploy.start in all_of').concat('group all_of\n');
    for (const on of ['*', 'all_of, payment.create'])
      expect(
        errorsOf({ 'platform/a.policy': grouped, 'payments/p.policy': policy('p', on, grant) }),
      ).toContain('action-not-owned payments/p.policy');
  });

  it('lets every file guard every action, but not add points', () => {
    const guards = 'deny a\n    because "no"\n\n  escalate b to owner\n\n  reauth c within 5m';
    expect(
      errorsOf({
        'platform/a.policy': actions + policy('q', 'deploy.start', grant),
        'payments/p.policy': policy('p', 'deploy.start', guards),
      }),
    ).toEqual([]);
    for (const rule of ['risk a -20', 'deny a\n    when payload.service == "x"\n    risk +10'])
      expect(
        errorsOf({
          'platform/a.policy': actions + policy('q', 'deploy.start', grant),
          'payments/p.policy': policy('p', 'deploy.start', rule),
        }),
      ).toEqual(['action-not-owned payments/p.policy']);
  });

  it('refuses the declaration of an action of another owner', () => {
    expect(
      errorsOf({
        'platform/a.policy': actions,
        'payments/p.policy': 'action deploy.stop {}\n',
      }),
    ).toEqual(['action-not-owned payments/p.policy']);
  });

  it.each([
    ['a list', 'list names = ["a"]\n', 'payload.service in names'],
    ['a list through a let', 'list names = ["a"]\nlet known = "a" in names\n', 'known'],
    ['a let with parameters', 'let known(x: string) = x == "a"\n', 'known(payload.service)'],
    ['a table', 'table limits = { a: 3 }\n', 'payload.service in limits'],
    ['hours', 'hours office = mon-fri 09:00-17:00 in "UTC"\n', 'now in office'],
    ['a meter', 'meter runs = count() of deploy.start per agent over 1h\n', 'runs < 3'],
  ])('refuses a rule of the owner that reads %s of another', (_, declared, condition) => {
    const rule = policy('q', 'deploy.start', `allow r\n    when ${condition}\n    because "yes"`);
    const found = { 'platform/a.policy': actions + rule };
    expect(errorsOf({ ...found, 'platform/names.policy': declared })).toEqual([]);
    expect(errorsOf({ ...found, 'payments/names.policy': declared })).toEqual([
      'read-not-owned platform/a.policy',
    ]);
  });

  it('refuses a guard of the owner that reads a list of another, and lets the guard of the other read it', () => {
    const guard = 'deny r\n    when payload.service in names\n    because "no"';
    const list = { 'payments/names.policy': 'list names = ["a"]\n' };
    const granted = actions + policy('q', 'deploy.start', grant);
    expect(errorsOf({ ...list, 'platform/a.policy': granted + policy('g', 'deploy.start', guard) })).toEqual([
      'read-not-owned platform/a.policy',
    ]);
    expect(
      errorsOf({
        ...list,
        'platform/a.policy': granted,
        'payments/g.policy': policy('g', 'deploy.start', guard),
      }),
    ).toEqual([]);
  });

  it('refuses types, fields of groups and list files of another', () => {
    const rule = policy('q', 'deploy.start', grant);
    const typed = actions.replace('string ..40', 'short');
    expect(
      errorsOf({ 'platform/a.policy': typed + rule, 'payments/t.policy': 'type short = string ..40\n' }),
    ).toEqual(['read-not-owned platform/a.policy']);
    const grouped = actions.replace('deploy.start {\n  service: string ..40\n}', 'deploy.start in named {}');
    const group = 'group named {\n  service: string ..40\n}\n';
    expect(errorsOf({ 'platform/a.policy': grouped + rule, 'payments/g.policy': group })).toEqual([
      'read-not-owned platform/a.policy',
    ]);
    const listed = policy(
      'q',
      'deploy.start',
      'allow r\n    when payload.service in names\n    because "yes"',
    );
    const list = 'list names from "../payments/names.txt"\n';
    expect(errorsOf({ 'platform/a.policy': actions + listed + list, 'payments/names.txt': 'a\n' })).toEqual([
      'read-not-owned platform/a.policy',
    ]);
  });

  it('is an error that allows nothing when it cannot be understood', () => {
    const files = { 'platform/a.policy': actions + policy('q', 'deploy.start', grant) };
    for (const text of [
      '',
      'owners:',
      'owners: []',
      'owner: { "platform/**": ["*"] }',
      'owners: { "platform/**": ["*"] }\nmore: 1',
      'owners: { "platform/*": ["*"] }',
      'owners: { "../platform/**": ["*"] }',
      'owners: { "/platform/**": ["*"] }',
      'owners: { "platform/**": "*" }',
      'owners: { "platform/**": [] }',
      'owners: { "platform/**": ["deploy*"] }',
      'owners: { "platform/**": { actions: ["*"], people: [] } }',
      'owners: { "platform/**": ["*"], "platform/**": ["deploy.*"] }',
      'owners: { a/**: &x ["*"], "platform/**": *x }',
      'owners: { "platform/**": ["*"',
    ])
      expect(errorsOf({ ...files, 'owners.yaml': text }), text).toEqual(
        expect.arrayContaining(['owners-malformed owners.yaml']),
      );
  });

  it('is an error when it cannot be read, and nothing without the file', () => {
    const files = { 'platform/a.policy': actions + policy('q', 'deploy.start', grant) };
    const sources = sourcesOf(files);
    expect(compile(sources).set).not.toBeNull();
    const readListFile = () => ({ code: 'list-file-unreadable', message: 'EIO' }) as const;
    const unreadable = compile({ ...sources, readListFile });
    expect(unreadable).toMatchObject({ set: null, engine: null, program: null });
    expect(unreadable.diagnostics.map(({ code }) => code)).toContain('owners-malformed');
  });
});
