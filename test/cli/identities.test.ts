// `writ agent identity` on a data directory: maps tokens to an agent, lists and removes identities, and says why a
// token is refused.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addAgent } from '../../src/service/agents/registry.ts';
import { openStore } from '../../src/service/store/open.ts';
import { makeKey, shareIssuer } from '../service/http/issuer.ts';
import { account, audience, workloadToken } from '../service/http/workload-service.ts';
import { temporaryFolder } from '../service/store/rows.ts';
import { writ } from './writ.ts';

const issuer = shareIssuer();

test('maps, lists, tries and removes', async () => {
  const data = temporaryFolder();
  const store = await openStore({ path: join(data, 'writ.db') });
  for (const name of ['buyer', 'seller'])
    await addAgent(store, { name, riskTier: 'low', controlOwner: 'ops', tags: [] });
  await store.close();
  const key = await makeKey('first');
  issuer.keys = [key];
  const run = (...args: string[]) => writ(['agent', 'identity', ...args, '--data', data]);
  const map = (agent: string, ...claims: string[]) =>
    run('map', agent, '--json', '--issuer', issuer.url, ...claims.flatMap((claim) => ['--require', claim]));

  const made = await map('buyer', `sub=${account}`, 'sub=another', 'ref=main');
  expect(made).toMatchObject({ code: 0 });
  const { id } = JSON.parse(made.stdout);
  expect(JSON.parse(made.stdout)).toMatchObject({
    required_claims: { sub: [account, 'another'], ref: ['main'] },
  });
  expect(await map('seller', 'sub=another')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`a token could also fit the identity \`${id}\``),
  });
  expect(await map('seller', 'sub=spiffe://example.org/*')).toMatchObject({ code: 1 });
  expect(await map('seller', 'iss=x')).toMatchObject({ code: 1, stderr: expect.stringContaining('`iss`') });
  expect(await map('seller', 'sub')).toMatchObject({ code: 2 });
  const list = await run('list', 'buyer');
  for (const text of [issuer.url, `sub=${account}`, 'ref=main', 'active', id])
    expect(list.stdout).toContain(text);

  const file = join(data, 'token');
  const config = join(data, 'writ.yaml');
  writeFileSync(config, JSON.stringify({ agents: { issuers: [{ issuer: issuer.url, audience }] } }));
  const trial = async (token: string) => {
    writeFileSync(file, `${token}\n`);
    const { code, stdout } = await run('try', 'buyer', file, '--config', config);
    expect(stdout).not.toContain(token);
    return { code, stdout };
  };
  const claims = { ref: 'main' };
  expect(await trial(await workloadToken(issuer.url, key, claims))).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`the identity ${id} fits`),
  });
  const refused: readonly (readonly [object, string])[] = [
    [{ ...claims, aud: 'x' }, `is for another service (the setting has ${audience})`],
    [{ ref: 'test' }, 'requires ref to be main, and the token has test'],
    [{ ...claims, iss: 'https://other.example' }, 'not in the setting agents.issuers'],
    [{ ...claims, act: { sub: 'planner' } }, 'names an actor that the identity does not know'],
  ];
  for (const [own, words] of refused)
    expect(await trial(await workloadToken(issuer.url, key, { ...own }))).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(words),
    });
  expect(await trial('nonsense')).toMatchObject({ code: 1, stdout: expect.stringContaining('not a JWT') });

  expect(await run('remove', 'seller', id)).toMatchObject({ code: 1 });
  expect(await run('remove', 'buyer', id)).toMatchObject({ code: 0, stdout: `identity ${id} is removed\n` });
  expect((await run('list', 'buyer')).stdout).toContain('ended');
  expect(await map('seller', 'sub=another')).toMatchObject({ code: 0 });
});
