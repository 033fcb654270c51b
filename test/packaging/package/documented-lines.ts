// The lines of shell that the pages show for `writ`, and a place in which they run as written: with the files, the people
// and the pending requests that the pages assume.

import { execFile } from 'node:child_process';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { password, send, signedIn } from '../../service/http/person-client.ts';

const root = resolve(import.meta.dirname, '../../..');
const run = promisify(execFile);

export interface DocumentedLine {
  readonly page: string;
  readonly text: string;
}

/** Lines that are not run here, each with the reason. */
const leftOut: readonly (readonly [RegExp, string])[] = [
  [/writ serve(?: |$)/, 'runs until it is stopped; the tests of the package and of the service start it'],
  [
    /postgres:\/\/writ@db\.example\.com/,
    'needs that database; test/service and test/cli run it on one of their own',
  ],
  [/ -- web-server\b/, 'needs an MCP server; test/cli/mcp and test/integrations/mcp start one'],
  [
    /^writ infer policies --from \/var\/lib\/writ/,
    'needs a store with many requests; test/cli/infer has one',
  ],
  [/^writ import cedar /, 'needs Cedar and its policies; test/cli/import/cedar has both'],
  [
    /^writ audit (?:prove|consistency|witness) /,
    'needs a checkpoint that covers the request, or waits for one; test/cli/transparency-log has them',
  ],
  [/^writ agent identity /, 'needs issuers of tokens in the settings; test/cli/identities has them'],
  [/^writ propose /, 'needs a change of the active policies; test/cli/client proposes one'],
  [/^sudo -u /, 'needs another user of the machine; test/cli/hook-helper does it'],
  [/^writ hook install /, 'needs a helper of another user; test/cli/hook-install does it'],
  [
    /^npm run (?:-s )?writ -- (?:check|test|bench) /,
    'test/cli/packs and test/cli/bench do it with the shipped policies',
  ],
];

/**
 * Every line for `writ` in the pages, without those that are left out: guides first, then the reference, which uses files
 * of the guides, and incidents last, because they stop everything.
 */
export function documentedLines(): readonly DocumentedLine[] {
  const pages = globSync(['README.md', '{docs,policies,examples,integrations}/**/*.md'], {
    cwd: root,
    exclude: ['**/node_modules/**'],
  });
  const rank = (page: string): number =>
    page.endsWith('INCIDENTS.md') ? 2 : page.startsWith('docs/cli/') ? 1 : 0;
  const lines = pages
    .toSorted((one, other) => rank(one) - rank(other) || (one < other ? -1 : 1))
    .flatMap((page) => linesOf(readFileSync(join(root, page), 'utf8')).map((text) => ({ page, text })));
  const unmet = leftOut.filter(([form]) => !lines.some(({ text }) => form.test(text)));
  if (unmet.length > 0) throw new Error(`no page has such a line: ${unmet.join(', ')}`);
  return lines.filter(({ text }) => !leftOut.some(([form]) => form.test(text)));
}

function linesOf(page: string): readonly string[] {
  const isForWrit = /^(?:\w+=\S+ |sudo -u \S+ |\. <\()*(?:npx --no |npm run (?:-s )?)?writ (?!&&)/;
  return [...page.matchAll(/^```sh\n([\s\S]*?)^```/gm)]
    .flatMap(([, block = '']) => block.replaceAll(/ *\\\n */g, ' ').split('\n'))
    .filter((line) => isForWrit.test(line));
}

const commandsOfPolicies = [
  'check',
  'test',
  'fmt',
  'diff',
  'decide',
  'build',
  'verify-bundle',
  'types',
  'completion',
];

/** Whether the line needs no service and no records, and is not for a checkout. */
export function isOfPolicies({ text }: DocumentedLine): boolean {
  const [, command = ''] = /(?<!run |-s )\bwrit ([\w-]+)/.exec(text) ?? [];
  return commandsOfPolicies.includes(command);
}

/** An installation with the policies in `policies`. */
interface Installation {
  readonly place: string;
  readonly env: NodeJS.ProcessEnv;
}

export interface RunningService {
  readonly url: string;
  readonly setUpToken: string;
  /** The key of an agent that may ask for payments. */
  readonly key: string;
}

/** Runs the lines in their order; returns those that fail, with what they print. */
export async function runLines(
  installation: Installation,
  lines: readonly DocumentedLine[],
  service: RunningService | null,
): Promise<readonly string[]> {
  const world = await prepare(installation, service);
  const failures: string[] = [];
  for (const { page, text } of lines) {
    const line = await lineFor(world, text);
    const cwd = text.startsWith('npm run ') ? root : installation.place;
    const env = { ...world.env, ...(/ approve /.test(line) ? { WRIT_TOKEN: world.approverToken } : {}) };
    try {
      // A proxy ends with its client.
      await run('sh', ['-c', `exec 0</dev/null\n${line}`], { cwd, env });
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
      // A decision to stop the request.
      if (code === 3 && / decide /.test(line)) continue;
      failures.push(`${page}: ${line}\n  exit code ${code}: ${stderr || stdout}`);
    }
  }
  return failures;
}

interface World {
  readonly env: NodeJS.ProcessEnv;
  readonly approverToken: string;
  readonly approverId: string;
  /** The id of a new request that people have to decide. */
  readonly pendingRequest: () => Promise<string>;
}

/** The line with the paths, ids and addresses of this place in the stead of the invented ones. */
async function lineFor(world: World, text: string): Promise<string> {
  const server = join(root, 'test/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js');
  const line = text
    .replace(/^\. <\((.*)\)/, '$1')
    .replace(/^npx --no /, '')
    .replace('WRIT_TOKEN=writp_... ', '')
    .replace(/ \| jq .*/, '')
    .replace(
      'npx -y @modelcontextprotocol/server-filesystem /workspace',
      `${process.execPath} ${server} workspace`,
    )
    .replaceAll('/srv/writ/policies', 'policies')
    .replaceAll('/var/lib/writ', 'stopped')
    .replaceAll(/\/backup\/writ-[\d-]+\.db/g, 'backup/writ.db')
    .replaceAll('/another-machine/', 'elsewhere/')
    .replaceAll('b3f1c2d4-0000-4000-8000-000000000000', world.approverId);
  const request = /019a0000-0000-7000-8000-000000000000|REQUEST_ID/;
  return request.test(line) ? line.replace(request, await world.pendingRequest()) : line;
}

async function prepare(installation: Installation, service: RunningService | null): Promise<World> {
  const { place } = installation;
  const bundleKey = writeFiles(place);
  const env: NodeJS.ProcessEnv = {
    ...installation.env,
    PATH: [join(place, 'node_modules/.bin'), dirname(process.execPath), process.env.PATH].join(delimiter),
    BUNDLE_KEY: bundleKey,
  };
  await makeRepository(place, env);
  if (service === null) {
    const none = () => Promise.reject(new Error('there is no service here'));
    return { env, approverToken: '', approverId: '', pendingRequest: none };
  }
  return await preparePeople({ place, env }, service);
}

/** Writes what the lines read; returns the public key of the key that signs bundles. */
function writeFiles(place: string): string {
  cpSync(join(root, 'policies/payments'), join(place, 'policies'), { recursive: true });
  for (const folder of [
    'src',
    'workspace',
    'backup',
    'elsewhere',
    'home/.writ',
    'home/.config/fish/completions',
  ])
    mkdirSync(join(place, folder), { recursive: true });
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const pem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' });
  writeFileSync(join(place, 'bundle.pem'), pem(privateKey), { mode: 0o600 });
  writeFileSync(join(place, 'home/.writ/key'), 'writ_key\n', { mode: 0o600 });
  writeFileSync(join(place, '.mcp.json'), '{"mcpServers": {"files": {"command": "files-server"}}}');
  return String(publicKey.export({ format: 'jwk' }).x);
}

/** A repository with a branch on top of `origin/main`, for comparisons of revisions. */
async function makeRepository(place: string, env: NodeJS.ProcessEnv): Promise<void> {
  const who = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com'];
  const git = (...args: readonly string[]) => run('git', [...who, ...args], { cwd: place, env });
  await git('init', '--quiet');
  await git('add', 'policies');
  await git('commit', '--quiet', '--message', 'policies');
  await git('update-ref', 'refs/remotes/origin/main', 'HEAD');
}

async function preparePeople(installation: Installation, service: RunningService): Promise<World> {
  const { place } = installation;
  const { url, setUpToken, key } = service;
  const [admin, approver] = ['ann@example.com', 'dora@example.com'];
  const body = { token: setUpToken, email: admin, name: 'Ann', password };
  await send({ url }, '/v1/setup', { method: 'POST', body });
  const env = {
    ...installation.env,
    WRIT_URL: url,
    WRIT_API_KEY: key,
    WRIT_TOKEN: await tokenOf(url, admin, 'admin'),
  };
  const writ = async (...args: readonly string[]) =>
    (await run(process.execPath, [join(place, 'node_modules/.bin/writ'), ...args], { cwd: place, env }))
      .stdout;
  const invitation = await writ(
    'people',
    'invite',
    approver,
    '--name',
    'Dora',
    '--role',
    'approver',
    '--group',
    'finance',
  );
  const [, token = ''] = /#token=([\w-]+)/.exec(invitation) ?? [];
  const joined = await send({ url }, '/v1/invitations/accept', { method: 'POST', body: { token, password } });
  for (const data of ['var', 'stopped'])
    await writ('agent', 'add', 'buyer-1', '--tier', 'low', '--owner', 'ops@example.com', '--data', data);
  writeFileSync(join(place, 'writ.yaml'), `policies: policies\ndata: var\nport: ${new URL(url).port}\n`);
  let amount = 1_500;
  const pendingRequest = async (): Promise<string> => {
    amount += 1;
    const headers = { 'x-agent-api-key': key };
    const payload = { amount, currency: 'USD', vendor: 'Staples' };
    const sent = { method: 'POST', body: { action_key: 'payment.create', payload }, headers };
    return (await send({ url }, '/v1/authorize', sent)).body.request_id;
  };
  return {
    env,
    approverToken: await tokenOf(url, approver, 'approver'),
    approverId: joined.body.id,
    pendingRequest,
  };
}

async function tokenOf(url: string, email: string, role: string): Promise<string> {
  const person = await signedIn({ url }, email);
  const body = { name: 'lines', roles: [role], days: 1, password };
  return (await person.send('/v1/tokens', { method: 'POST', body })).body.token;
}
