// `owners.yaml` in the commands: an error of `writ check`, groups in `writ diff` and `writ summary`, and CODEOWNERS.

import { describe, expect, it } from 'vitest';
import { createFolder } from '../service/policies/folder.ts';
import { writ } from './writ.ts';

const owners = `owners:
  payments/**: { actions: [payment.*], reviewers: ["@acme/payments"] }
  platform/**: { actions: ["*"], reviewers: ["@acme/platform", "@acme/security"] }
`;

const actions = `action payment.create {
  amount: integer 1..1000
}

action deploy.start {
  minutes: integer 1..60
}
`;

function rule(name: string, action: string, condition: string): string {
  return `policy ${name} on ${action} {
  allow known
    when ${condition}
    because "Known"
}
`;
}

function files(amount: number, minutes: number): Readonly<Record<string, string>> {
  return {
    'owners.yaml': owners,
    'platform/a.policy': `${actions}\n${rule('deploys', 'deploy.start', `payload.minutes <= ${minutes}`)}`,
    'payments/p.policy': rule('payments', 'payment.create', `payload.amount <= ${amount}`),
  };
}

describe('owners.yaml', () => {
  it('is checked by `writ check`', async () => {
    const cwd = createFolder({
      ...files(10, 5),
      'payments/q.policy': rule('q', 'deploy.start', 'payload.minutes > 9'),
    });
    const ran = await writ(['check', '.'], { cwd });
    expect(ran.code).toBe(1);
    expect(ran.stdout).toContain('payments/q.policy:2:9');
    expect(ran.stdout).toContain(
      '`payments/q.policy` may not allow by `known`: `owners.yaml` does not give it `deploy.start`',
    );
    expect(await writ(['check', '.'], { cwd: createFolder(files(10, 5)) })).toMatchObject({ code: 0 });
  });

  it('groups the output of `writ diff` and `writ summary`', async () => {
    const [old, now] = [createFolder(files(10, 5)), createFolder(files(20, 6))];
    const diff = await writ(['diff', '--old', old, '--new', now]);
    expect(diff.stdout).toMatch(/\nplatform\/\*\*\n.*deploy\.start.*\npayments\/\*\*\n.*payment\.create/s);
    const markdown = await writ(['diff', '--old', old, '--new', now, '--format', 'markdown']);
    expect(markdown.stdout).toContain('\n#### `payments/**`\n');
    const summary = await writ(['summary', now]);
    expect(summary.stdout).toMatch(/platform\/\*\*\n\ndeploy\.start.*payments\/\*\*\n\npayment\.create/s);
    const page = await writ(['summary', now, '--format', 'markdown']);
    expect(page.stdout).toContain('## `payments/**`\n\n### `payment.create`');
  });

  it('is written as CODEOWNERS, the smallest folders last, itself for those who own everything', async () => {
    const cwd = createFolder(
      Object.fromEntries(Object.entries(files(1, 1)).map(([path, text]) => [`policies/${path}`, text])),
    );
    const ran = await writ(['owners', '--codeowners'], { cwd });
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(ran.stdout.split('\n').slice(1)).toEqual([
      '/policies/payments/ @acme/payments',
      '/policies/platform/ @acme/platform @acme/security',
      '/policies/owners.yaml @acme/platform @acme/security',
      '',
    ]);
    const json = await writ(['owners', '--json'], { cwd });
    expect(JSON.parse(json.stdout)).toMatchObject({
      owners: [{ files: 'payments/**', actions: ['payment.*'] }, {}],
    });
    expect((await writ(['owners'], { cwd })).stdout).toContain('payment.*');
  });

  it('is not written as CODEOWNERS if that would leave out an owner', async () => {
    const cwd = createFolder({ ...files(1, 1), 'owners.yaml': 'owners: { "**": ["*"] }\n' });
    expect(await writ(['owners', '.', '--codeowners'], { cwd })).toMatchObject({
      code: 1,
      stderr: 'error: `**` names no reviewers\n',
    });
    const none = createFolder({ 'a.policy': actions + rule('p', 'payment.create', 'payload.amount < 9') });
    expect(await writ(['owners', '.'], { cwd: none })).toMatchObject({ code: 1 });
  });
});
