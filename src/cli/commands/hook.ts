// `writ hook`: the hook of a coding agent, which decides about a tool call that it reads from standard input.
// `writ hook serve` is the helper that has the key, and `writ hook install` writes the hook into the agent's
// settings. INVARIANT: `writ hook` exits with 0 or 2, never with another code.

import { Argument, type Command, Option } from 'commander';
import { sessionOf } from '../../../integrations/mcp/calls/authority.ts';
import { tokenFile } from '../../../integrations/typescript/token-file.ts';
import { isPointKey, keyIn } from '../client/key-file.ts';
import { answerHook, answerInput } from '../hook/answer-hook.ts';
import { askHelper } from '../hook/ask-helper.ts';
import { type DialectName, dialectNames, dialects } from '../hook/dialects.ts';
import { type HostName, hostNames, waitSecondsDefault } from '../hook/install-hook.ts';
import { createHelper, listenOnSocket } from '../hook/serve-hook.ts';
import { type InstallChoice, installHook } from '../hook/write-hook.ts';
import { fileError } from '../output/file-error.ts';
import { type ExitCode, exitCodes, print, printError, UsageError } from '../output/output.ts';
import { addExamples } from '../support/help-layout.ts';

interface HookOptions {
  readonly dialect: DialectName;
  readonly url?: string;
  readonly socket?: string;
  readonly wait: number;
  readonly escalate: 'deny' | 'defer';
  readonly apart?: boolean;
  readonly after?: boolean;
  readonly jsonText?: readonly string[];
}

/** The longest that people are waited for: an hour. */
const waitSecondsMax = 3_600;
/**
 * Milliseconds for all work besides waiting for people. Together with the default wait, less than the time
 * that hosts give a hook.
 */
const slackMs = 5_000;

export function defineHook(command: Command, finish: (code: ExitCode) => void): void {
  command
    .addOption(new Option('--dialect <name>', 'the format of the event').choices(dialectNames))
    .option('--url <address>', "the address of the service (WRIT_URL); the agent's key is in WRIT_API_KEY")
    .option('--socket <path>', 'ask the helper at this socket instead of --url')
    .addOption(waitOption())
    .addOption(escalateOption())
    .option(
      '--apart',
      'cursor: allow shell commands and reads in `preToolUse`, because other hooks ask about them',
    )
    .option('--after', 'the event comes after a tool: report the result, and exit with 0 in any case')
    .addOption(jsonTextOption())
    .action(async (options: HookOptions) => {
      finish(await hook(options));
    });
  addExamples(command, examples);
  defineServe(command, finish);
  defineInstall(command, finish);
}

function waitOption(): Option {
  return new Option('--wait <seconds>', 'how long to wait for people')
    .argParser(readSeconds)
    .default(waitSecondsDefault);
}

function escalateOption(): Option {
  const description = 'the answer while people decide; defer only for claude';
  return new Option('--escalate <word>', description).choices(['deny', 'defer']).default('deny');
}

function jsonTextOption(): Option {
  return new Option('--json-text <action...>', 'read the text that these tools return as JSON fields');
}

const examples = `
Examples:
  writ hook serve --socket /run/writ/hook.sock --key-file /etc/writ/hook.key --agent coder --url https://writ.example.com
  writ hook install claude-code --socket /run/writ/hook.sock
  writ hook --dialect gemini --socket /run/writ/hook.sock < event.json
  writ hook install codex --url https://writ.example.com --wait 300

Exit codes: before a tool, 0 the tool may run, 2 in every other case; after a tool, always 0.`;

function readSeconds(text: string): number {
  if (/^\d{1,4}$/.test(text) && Number(text) <= waitSecondsMax) return Number(text);
  throw new UsageError(`\`${text}\` is not a number of seconds up to ${waitSecondsMax}`);
}

/** After a tool, nothing is left to stop, so a fault is told and the exit code is 0. */
async function hook(options: HookOptions): Promise<ExitCode> {
  if (options.after !== true) return await answer(options);
  try {
    return await answer(options);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    printError(`error: ${error.message}\n`);
    return exitCodes.ok;
  }
}

async function answer(options: HookOptions): Promise<ExitCode> {
  // An error that nothing else catches must not let the tool run.
  process.on('uncaughtException', () =>
    process.exit(options.after === true ? exitCodes.ok : exitCodes.usage),
  );
  const { dialect, wait, escalate, apart, after, socket } = options;
  if (dialect === undefined)
    throw new UsageError(`nothing was granted: --dialect is missing: ${dialectNames.join(', ')}`);
  const form = {
    waitMs: wait * 1_000,
    isDeferring: escalate === 'defer',
    isApart: apart === true,
    isAfter: after === true,
  };
  const limits = { dialect: dialects[dialect], withinMs: form.waitMs + slackMs };
  const answered =
    socket === undefined
      ? await answerHook({ ...form, ...ownAccess(options), ...limits }, process.stdin)
      : await answerInput({ ...form, ...limits }, process.stdin, (event, signal) =>
          askHelper({ ...form, socket, dialect }, event, signal),
        );
  if (answered.stdout !== '') print(`${answered.stdout}\n`);
  printError(answered.stderr);
  // Standard input may never end, so the hook closes it.
  process.stdin.destroy();
  return answered.code === 0 ? exitCodes.ok : exitCodes.usage;
}

/** Access to the service with the agent's own key. */
function ownAccess({ url = process.env.WRIT_URL, jsonText = [] }: HookOptions) {
  const { WRIT_API_KEY, WRIT_TOKEN_FILE } = process.env;
  const key = WRIT_API_KEY || (WRIT_TOKEN_FILE ? tokenIn(WRIT_TOKEN_FILE) : '');
  if (url === undefined || key === '')
    throw new UsageError(`nothing was granted: ${url === undefined ? '--url' : 'WRIT_API_KEY'} is missing`);
  if (isPointKey(key)) throw new UsageError(`nothing was granted: ${pointKeyIsOpen}`);
  return { url, key, agent: undefined, session: null, jsonText };
}

/** The token of a workload. A hook runs for one call, so it reads the file once. */
function tokenIn(file: string): string {
  try {
    return tokenFile(file)();
  } catch (error) {
    throw new UsageError(`nothing was granted: cannot read ${file}: ${fileError(error)}`);
  }
}

const pointKeyIsOpen =
  "WRIT_API_KEY is an enforcement point's key, and the agent can read its own environment: keep the key in another user's file, and run `writ hook serve` as that user";

interface ServeOptions extends Pick<HookOptions, 'url' | 'socket' | 'wait' | 'jsonText'> {
  readonly keyFile: string;
  readonly agent: string;
}

function defineServe(command: Command, finish: (code: ExitCode) => void): void {
  command
    .command('serve')
    .description('answer hooks at a socket, as another user, so that the agent has no key')
    .option('--socket <path>', "listen at this socket, for users of this process's group")
    .requiredOption('--key-file <file>', "the file with an enforcement point's key")
    .requiredOption('--agent <agent>', 'the agent to ask for')
    .option('--url <address>', 'the address of the service (WRIT_URL)')
    .addOption(waitOption())
    .addOption(jsonTextOption())
    .action(async (_options: unknown, called: Command) => {
      finish(await serve(called.optsWithGlobals<ServeOptions>()));
    });
}

async function serve({
  socket,
  url = process.env.WRIT_URL,
  keyFile,
  agent,
  wait,
  jsonText = [],
}: ServeOptions): Promise<ExitCode> {
  if (socket === undefined) throw new UsageError('--socket is missing: the socket to listen at');
  if (process.getuid === undefined) throw new UsageError('this system has no sockets with an owner');
  const key = keyIn(keyFile);
  if (!isPointKey(key)) throw new UsageError(`${keyFile} does not contain an enforcement point's key`);
  const options = {
    url: addressIn(url),
    key,
    agent,
    session: sessionOf({ key, agent }),
    jsonText,
    waitMsMax: wait * 1_000,
  };
  const server = createHelper(options);
  await listenOnSocket(server, socket);
  printError(`writ hook: listening on ${socket} for ${agent}\n`);
  await new Promise<void>((resolve) => {
    server.on('close', resolve);
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.once(signal, () => {
        server.close();
        server.closeAllConnections();
      });
  });
  return exitCodes.ok;
}

/** Throws a UsageError when there is no address, or none that can be written into settings. */
function addressIn(url: string | undefined): string {
  if (url !== undefined && /^https?:\/\/[^\s']+$/.test(url) && URL.canParse(url)) return url;
  throw new UsageError('--url is missing: the address of the service, such as https://writ.example.com');
}

function defineInstall(command: Command, finish: (code: ExitCode) => void): void {
  command
    .command('install')
    .description('add the hook to the settings of a coding agent, and test it')
    .addArgument(new Argument('<host>', 'the coding agent').choices(hostNames))
    .option('--socket <path>', 'ask the helper at this socket; the agent needs no key')
    .option('--url <address>', "the address of the service (WRIT_URL); the agent's key is in WRIT_API_KEY")
    .addOption(waitOption())
    .addOption(escalateOption())
    .addOption(jsonTextOption())
    .option('--file <path>', "the settings file (default: the project's)")
    .option('--dry-run', 'print the settings, write nothing')
    .action(async (host: HostName, _options: unknown, called: Command) => {
      finish(await installHook(host, called.optsWithGlobals<InstallChoice>()));
    });
}
