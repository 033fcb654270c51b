// `npm run example -- NAME [--approve]`: runs one of the agents of this folder with a service of its own.
// Prints where to sign in to approve what waits; with `--approve` the program approves by itself.

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { startExampleService } from './service.ts';

const parts = ['mails.ts', 'frameworks/mock-model.ts', 'run.ts', 'service.ts'];
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    approve: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

const files = globSync(['*.{ts,py}', 'frameworks/*.ts', '*/agent.ts'], { cwd: import.meta.dirname }).filter(
  (each) => !parts.includes(each),
);
const nameOf = (each: string) =>
  basename(each) === 'agent.ts' ? dirname(each) : basename(each, extname(each));
const names = files.map(nameOf).toSorted();
const file = files.find((each) => nameOf(each) === positionals[0]);

if (values.help || file === undefined) {
  console.log(`Usage: npm run example -- NAME [--approve]\n\nNAME is one of ${names.join(', ')}.`);
  console.log('\nWithout --approve, a person approves: the address and how to sign in are printed.');
  process.exitCode = values.help ? 0 : 2;
} else {
  process.exitCode = await run(file);
}

async function run(file: string): Promise<number> {
  if (dirname(file) === 'frameworks' && !installFrameworks()) return 1;
  const service = await startExampleService();
  const { email, password } = service.approver;
  if (!values.approve) console.log(`Sign in at ${service.url}/approvals as ${email} with "${password}".`);
  const timer = values.approve ? setInterval(() => void service.approveAll(), 500) : null;
  try {
    const key = await service.addAgent(nameOf(file));
    return await ended(file, {
      ...process.env,
      PYTHONPATH: join(import.meta.dirname, '../integrations/python'),
      WRIT_URL: service.url,
      WRIT_API_KEY: key,
    });
  } finally {
    if (timer !== null) clearInterval(timer);
    await service.stop();
  }
}

/** Installs the frameworks unless they are there. Returns whether they are now. */
function installFrameworks(): boolean {
  const folder = join(import.meta.dirname, 'frameworks');
  if (existsSync(join(folder, 'node_modules'))) return true;
  console.log('Installing the frameworks of examples/frameworks (once, 280 MB)');
  const { status } = spawnSync('npm', ['ci', '--prefix', folder], { stdio: ['ignore', 'ignore', 'inherit'] });
  return status === 0;
}

async function ended(file: string, env: NodeJS.ProcessEnv): Promise<number> {
  const path = join(import.meta.dirname, file);
  const program = file.endsWith('.py') ? 'python3' : process.execPath;
  if (!existsSync(path)) throw new Error(`there is no ${path}`);
  const child = spawn(program, [path], { env, stdio: 'inherit' });
  return await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}
