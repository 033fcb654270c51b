// `writ audit replay` on requests that a service decided: what is the same, what differs, and what cannot be
// known.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { verifyChain } from '../../src/service/audit/verify.ts';
import { serve } from '../../src/service/http/main.ts';
import { openStore } from '../../src/service/store/open.ts';
import { createFolder } from '../service/policies/folder.ts';
import { writ, writProcess } from './writ.ts';

const policyText = `
action a.b { n: integer 0..100, token?: secret string 4..20 }
policy p on a.* {
  allow small when payload.n < 50
  deny odd when payload.n == 13 because "thirteen: {payload.n}"
  risk base_risk +3
}
`;

interface Recorded {
  readonly ids: readonly string[];
  readonly run: (...args: readonly string[]) => ReturnType<typeof writ>;
  readonly policyFile: string;
  readonly tamper: (statement: string) => void;
  readonly data: string;
  readonly policies: string;
}

/** Lets a service decide each payload; then stops the service. */
function recordPayloads(...payloads: readonly object[]): Promise<Recorded> {
  return record({ policies: { 'p.policy': policyText }, payloads });
}

interface ToRecord {
  /** Files of the policy directory by name. */
  readonly policies: Readonly<Record<string, string>>;
  readonly payloads: readonly object[];
}

async function record({ policies: files, payloads }: ToRecord): Promise<Recorded> {
  const directory = createFolder();
  const policies = join(directory, 'policies');
  const policyFile = join(policies, 'p.policy');
  const data = join(directory, 'var');
  mkdirSync(policies);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(policies, name), text);
  let welcome = '';
  const service = await serve({
    directory,
    environment: {},
    flags: { port: 0 },
    logStream: { write: () => undefined },
    print: (text) => {
      welcome += text;
    },
  });
  const key = /writ_\w{46}/.exec(welcome)?.[0] ?? '';
  const ids: string[] = [];
  for (const payload of payloads) {
    const reply = await fetch(`${service.url}/v1/authorize`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-agent-api-key': key },
      body: JSON.stringify({ action_key: 'a.b', payload }),
    });
    ids.push(((await reply.json()) as { request_id: string }).request_id);
  }
  await service.stop();
  const tamper = (statement: string) => {
    const database = new Database(join(data, 'writ.db'));
    if (database.prepare(statement).run().changes === 0) throw new Error(`nothing changed: ${statement}`);
    database.close();
  };
  const run: Recorded['run'] = (...args) =>
    writ(['audit', 'replay', ...args, '--data', data, '--policies', policies]);
  return { ids, run, policyFile, tamper, data, policies };
}

describe('writ audit replay', () => {
  it('decides one request or all again, and reports that they are the same', async () => {
    const { ids, run } = await recordPayloads({ n: 1 }, { n: 13 }, { n: 99 }, { n: 'x' }, {});
    expect(await run(ids[1]!)).toMatchObject({
      code: 0,
      stdout: '✓ 1 decided the same again, 0 differently\n',
      stderr: '',
    });
    expect(await run('--all')).toMatchObject({
      code: 0,
      stdout: '✓ 5 decided the same again, 0 differently\n',
    });
  });

  it('compares only the decision if secrets were withheld, and names what cannot be repeated', async () => {
    const { run } = await recordPayloads(
      { n: 1, token: 'sesame' },
      { n: 13, token: 'sesame' },
      { n: 'x', token: 'sesame' },
    );
    const { code, stdout } = await run('--all', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ same: 2, decision_only: 2, withheld: 1, different: 0 });
  });

  it('lists differences to the record with their places', async () => {
    const { ids, run, tamper } = await recordPayloads({ n: 1 }, { n: 13 });
    tamper(
      `UPDATE requests SET record_json = replace(record_json, '"outcome":"DENY"', '"outcome":"ALLOW"') WHERE id = '${ids[1]}'`,
    );
    const [text, json, one] = await Promise.all([run('--all'), run('--all', '--json'), run(ids[1]!)]);
    expect(text).toMatchObject({ code: 1 });
    // A single request is read as the service reads it, which refuses a record that it did not write.
    expect(one).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('writ audit verify') });
    expect(text.stdout).toBe(
      `✗ ${ids[1]} (a.b)\n    decision.outcome: recorded "ALLOW", now "DENY"\n✗ 1 decided the same again, 1 differently\n`,
    );
    expect(JSON.parse(json.stdout)).toMatchObject({
      different: 1,
      differing: [
        {
          id: ids[1],
          action: 'a.b',
          differences: [{ path: 'decision.outcome', recorded: 'ALLOW', replayed: 'DENY' }],
        },
      ],
    });
  });

  it('only compares requests decided by the same policies', async () => {
    const { ids, run, policyFile } = await recordPayloads({ n: 1 }, { n: 13 });
    writeFileSync(policyFile, policyText.replace('< 50', '< 60'));
    expect(await run(ids[0]!)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('1 was decided by other policies'),
    });
    expect(await run('--all')).toMatchObject({ code: 1, stdout: expect.stringContaining('2 were decided') });
    writeFileSync(policyFile, `# a comment is no other policy\n${policyText}`);
    expect(await run('--all')).toMatchObject({ code: 0 });
  });

  it('names the cells of tables that have changed', async () => {
    const text = `
action a.b { n: integer 0..100, token?: secret string 4..20 }
table grades from "grades.csv" key n: integer { name: string, open: boolean }
policy p on a.* { allow small when grades[payload.n].name == "low" and grades[payload.n].open or payload.n in grades }
`;
    const { ids, run, policies } = await record({
      policies: { 'p.policy': text, 'grades.csv': 'n,name,open\n1,low,true\n2,low,true\n' },
      payloads: [{ n: 1 }, { n: 2 }, { n: 3 }],
    });
    expect(await run('--all')).toMatchObject({ code: 0 });
    writeFileSync(join(policies, 'grades.csv'), 'n,name,open\n1,high,true\n3,low,false\n');
    const { code, stdout } = await run('--all');
    expect(code).toBe(1);
    expect(stdout).toBe(
      [
        `rows of ${ids[0]} (a.b)`,
        '    grades[payload.n].name: recorded "low", now "high"',
        `rows of ${ids[1]} (a.b)`,
        '    grades[payload.n].name: recorded "low", now "unknown"',
        '    grades[payload.n].open: recorded true, now "unknown"',
        '    payload.n in grades: recorded true, now false',
        `rows of ${ids[2]} (a.b)`,
        '    grades[payload.n].name: recorded "unknown", now "low"',
        '    grades[payload.n].open: recorded "unknown", now false',
        '    payload.n in grades: recorded false, now true',
        '✗ 0 decided the same again, 0 differently',
        '  3 were decided by other policies',
        '',
      ].join('\n'),
    );
    const { rows } = JSON.parse((await run(ids[0]!, '--json')).stdout);
    expect(rows).toEqual([
      {
        id: ids[0],
        action: 'a.b',
        differences: [{ path: 'grades[payload.n].name', recorded: 'low', replayed: 'high' }],
      },
    ]);
  });

  it('reports that another engine decided', async () => {
    const { ids, data, policies } = await recordPayloads({ n: 1 });
    const preload = join(createFolder(), 'unicode.mjs');
    writeFileSync(
      preload,
      "Object.defineProperty(process, 'versions', { value: Object.assign({}, process.versions, { unicode: '9.9' }) });",
    );
    const places = ['--data', data, '--policies', policies];
    const later = (...args: readonly string[]) =>
      writProcess([...args, ...places], { env: { NODE_OPTIONS: `--import ${preload}` } });
    expect(await later('audit', 'replay', '--all')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/\n {2}recorded under Unicode \S+, now 9\.9\n$/),
    });
    expect((await later('explain', ids[0]!)).stdout).toMatch(/^note: decided under Unicode \S+, now 9\.9$/m);
  });

  it('requires one known id or --all', async () => {
    const { run, data } = await recordPayloads({ n: 1 });
    expect(await run()).toMatchObject({ code: 2 });
    expect(await run('x', '--all')).toMatchObject({ code: 2 });
    expect(await run('nothing')).toMatchObject({ code: 1, stderr: 'error: there is no request `nothing`\n' });
    const store = await openStore({ path: join(data, 'writ.db') });
    onTestFinished(() => store.close());
    expect(await verifyChain(store)).toMatchObject({ kind: 'whole' });
  });
});
