// `writ hook`: the hook of a coding agent, which decides about a tool call that it reads from standard input.
// `writ hook install` writes the hook into the agent's settings. INVARIANT: `writ hook` exits with 0 or 2,
// never with another code.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Argument, type Command, Option } from 'commander';
import { readJson } from '../../../../language/json/read.ts';
import { isJsonObject, type JsonObject } from '../../../../language/model/json.ts';
import { answerHook } from '../../hook/answer-hook.ts';
import { type DialectName, dialectNames, dialects } from '../../hook/dialects.ts';
import { type HostName, hookedHosts, hostNames, waitSecondsDefault } from '../../hook/install-hook.ts';
import { fileError } from '../../output/file-error.ts';
import { type ExitCode, exitCodes, print, printError, UsageError } from '../../output/output.ts';

interface HookOptions {
  readonly dialect: DialectName;
  readonly url?: string;
  readonly agent?: string;
  readonly wait: number;
  readonly escalate: 'deny' | 'defer';
}

/** The longest that the service waits for people when a host asks it itself. */
const serviceWaitSecondsMax = 55;
/**
 * Milliseconds for all work besides waiting for people. Together with the default wait, less than the time
 * that hosts give a hook.
 */
const slackMs = 5_000;

export function defineHook(command: Command, finish: (code: ExitCode) => void): void {
  command
    .addOption(new Option('--dialect <name>', 'whose event it is').choices(dialectNames))
    .option('--url <address>', 'where the service is (WRIT_URL)')
    .option('--agent <agent>', 'with the key of an enforcement point: for whom it asks (WRIT_AGENT)')
    .addOption(waitOption())
    .addOption(escalateOption())
    .addHelpText('after', examples)
    .action(async (options: HookOptions) => {
      finish(await hook(options));
    });
  defineInstall(command, finish);
}

function waitOption(): Option {
  return new Option('--wait <seconds>', 'how long people are waited for')
    .argParser(readSeconds)
    .default(waitSecondsDefault);
}

function escalateOption(): Option {
  const what = 'what the agent hears while people decide; claude alone knows defer';
  return new Option('--escalate <word>', what).choices(['deny', 'defer']).default('deny');
}

const examples = `
Examples:
  writ hook --dialect gemini < event.json
  writ hook install claude-code --url https://writ.example.com
  writ hook install codex --url https://writ.example.com --wait 300

The key is in WRIT_API_KEY. Exit codes: 0 the tool may run, 2 it may not, also where anything is in doubt.`;

function readSeconds(text: string): number {
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw new UsageError(`\`${text}\` is not a number of seconds`);
}

async function hook({ dialect, url = process.env.WRIT_URL, agent, wait, escalate }: HookOptions) {
  // An error that nothing else catches must not let the tool run.
  process.on('uncaughtException', () => process.exit(exitCodes.usage));
  const key = process.env.WRIT_API_KEY ?? '';
  const missing = dialect === undefined ? '--dialect' : url === undefined ? '--url' : 'WRIT_API_KEY';
  if (dialect === undefined || url === undefined || key === '')
    throw new UsageError(`nothing was granted: ${missing} is missing`);
  const answer = await answerHook(
    {
      dialect: dialects[dialect],
      url,
      key,
      agent: agent ?? process.env.WRIT_AGENT,
      waitMs: wait * 1_000,
      withinMs: wait * 1_000 + slackMs,
      isDeferring: escalate === 'defer',
    },
    process.stdin,
  );
  if (answer.stdout !== '') print(`${answer.stdout}\n`);
  printError(answer.stderr);
  // Standard input may never end, so the hook closes it.
  process.stdin.destroy();
  return answer.code === 0 ? exitCodes.ok : exitCodes.usage;
}

interface InstallOptions extends Pick<HookOptions, 'url' | 'wait' | 'escalate'> {
  readonly file?: string;
  readonly dryRun?: boolean;
}

function defineInstall(command: Command, finish: (code: ExitCode) => void): void {
  command
    .command('install')
    .description('write the hook into the settings of a coding agent')
    .addArgument(new Argument('<host>', 'the coding agent').choices(hostNames))
    .option('--url <address>', 'where the service is (WRIT_URL)')
    .addOption(waitOption())
    .addOption(escalateOption())
    .option('--file <path>', "the settings; the project's own unless said otherwise")
    .option('--dry-run', 'print the settings and write nothing')
    .action(async (host: HostName, _options: unknown, called: Command) => {
      finish(await install(host, called.optsWithGlobals<InstallOptions>()));
    });
}

async function install(host: HostName, options: InstallOptions): Promise<ExitCode> {
  const { url = process.env.WRIT_URL, wait, escalate, dryRun } = options;
  if (url === undefined || !/^https?:\/\/[^\s']+$/.test(url))
    throw new UsageError('say with --url where the service is, such as https://writ.example.com');
  if (host === 'claude-code' && wait > serviceWaitSecondsMax)
    throw new UsageError(
      `claude-code asks the service itself, which waits for people for at most ${serviceWaitSecondsMax} seconds`,
    );
  if (host !== 'claude-code' && escalate === 'defer')
    throw new UsageError('claude-code alone can put a run off: leave --escalate out');
  const { path, add } = hookedHosts[host];
  const file = options.file ?? path;
  const settings = add(await settingsIn(file), {
    url,
    waitSeconds: wait,
    isDeferring: escalate === 'defer',
  });
  if (settings === null) throw new UsageError(`${file}: \`hooks\` has another shape than it should`);
  const text = `${JSON.stringify(settings, null, 2)}\n`;
  if (dryRun === true) {
    print(text);
    return exitCodes.ok;
  }
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  print(`${file} asks ${new URL(url).origin} before each tool. ${outOfReach}\n`);
  return exitCodes.ok;
}

const outOfReach =
  'Set WRIT_API_KEY where the agent starts, and WRIT_AGENT with the key of an enforcement point. What the agent can edit, it can turn off: only managed settings are out of its reach.';

/**
 * Reads the settings; returns an empty object when the file does not exist. Throws a UsageError when the file
 * cannot be read or holds no JSON object.
 */
async function settingsIn(file: string): Promise<JsonObject> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new UsageError(`cannot read ${file}: ${fileError(error)}`);
  }
  const json = readJson(bytes);
  if (json.ok && isJsonObject(json.value)) return json.value;
  throw new UsageError(`${file} holds no JSON object${json.ok ? '' : `: ${json.issue.detail}`}`);
}
