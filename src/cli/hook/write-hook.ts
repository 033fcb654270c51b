// `writ hook install`: writes the hook into the settings of a coding agent, tries it with the event of a tool that does
// not exist, and says what the host asks about, what it does not, and what keeps the hook from running. INVARIANT: it
// says that the host asks only when nothing that it knows of speaks against that.

import { accessSync, constants } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { isPointKey } from '../client/key-file.ts';
import { type ExitCode, exitCodes, print, UsageError } from '../output/output.ts';
import { replaceFile } from '../output/replace-file.ts';
import { changeConfiguration, readTextOrNull } from '../support/configuration-file.ts';
import { answerHook, answerWithin, type HookAnswer } from './answer-hook.ts';
import { askHelper } from './ask-helper.ts';
import { dialects } from './dialects.ts';
import { disabledBy } from './disabled-hooks.ts';
import { type HookedHost, type HostName, hookedHosts, type Service } from './install-hook.ts';

export interface InstallChoice {
  readonly url?: string;
  readonly socket?: string;
  readonly wait: number;
  readonly escalate: 'deny' | 'defer';
  readonly file?: string;
  readonly dryRun?: boolean;
  readonly jsonText?: readonly string[];
}

/** The longest that the service waits for people when a host asks it itself. */
const serviceWaitSecondsMax = 55;

export async function installHook(host: HostName, choice: InstallChoice): Promise<ExitCode> {
  const hooked = hookedHosts[host];
  const service = serviceOf(host, choice);
  const { file = hooked.path, dryRun } = choice;
  const before = await readTextOrNull(file);
  const text = changedText({ file, before, hooked, service });
  if (dryRun === true) {
    print(text);
    return exitCodes.ok;
  }
  await mkdir(dirname(file), { recursive: true });
  if (before === null) await writeFile(file, text);
  else if (text !== before) await replaceFile(file, text);
  const faults = [...disabledBy(host, file, service), ...missingCommand(service, host)];
  const tried = await tryHook(hooked, service);
  const where = service.url === null ? `the helper at ${service.socket}` : new URL(service.url).origin;
  print(report({ file, hooked, where, service, faults, tried }));
  return faults.length === 0 && tried.kind !== 'failed' ? exitCodes.ok : exitCodes.wrong;
}

function serviceOf(
  host: HostName,
  { url = process.env.WRIT_URL, socket, wait, escalate, jsonText = [] }: InstallChoice,
): Service {
  const isOwn = socket === undefined;
  if (isOwn && (url === undefined || !/^https?:\/\/[^\s']+$/.test(url) || !URL.canParse(url)))
    throw new UsageError(
      '--socket (the helper) or --url (the service, such as https://writ.example.com) is required',
    );
  if (!isOwn && !/^\/[^\s']+$/.test(socket))
    throw new UsageError(`\`--socket ${socket}\` is not an absolute path`);
  if (isOwn && isPointKey(process.env.WRIT_API_KEY ?? ''))
    throw new UsageError(
      "WRIT_API_KEY is an enforcement point's key, and the agent can read its own environment: run `writ hook serve` as another user, and install the hook with --socket",
    );
  if (isOwn && host === 'claude-code' && wait > serviceWaitSecondsMax)
    throw new UsageError(
      `claude-code asks the service directly, which waits for people for at most ${serviceWaitSecondsMax} seconds`,
    );
  if (host !== 'claude-code' && escalate === 'defer')
    throw new UsageError('only claude-code supports --escalate defer: omit --escalate');
  refuseJsonText(host, isOwn, jsonText);
  return {
    url: isOwn ? (url ?? null) : null,
    socket: socket ?? null,
    waitSeconds: wait,
    isDeferring: escalate === 'defer',
    jsonText,
  };
}

/** Throws a UsageError when the hook cannot read the text of these tools, or their names do not fit into a command. */
function refuseJsonText(host: HostName, isOwn: boolean, jsonText: readonly string[]): void {
  if (jsonText.length === 0) return;
  if (!isOwn)
    throw new UsageError('with --socket the helper reads results: give --json-text to `writ hook serve`');
  if (host === 'claude-code')
    throw new UsageError(
      'claude-code reports to the service directly, which reads no text: omit --json-text',
    );
  const odd = jsonText.find((action) => !/^[\w.-]+$/.test(action));
  if (odd !== undefined) throw new UsageError(`\`--json-text ${odd}\` is not an action`);
}

interface Change {
  readonly file: string;
  /** The settings as they are; null when there is no file. */
  readonly before: string | null;
  readonly hooked: HookedHost;
  readonly service: Service;
}

/** The settings with the hook; comments in them stay. Throws a UsageError when they cannot be understood. */
function changedText({ file, before, hooked, service }: Change): string {
  return changeConfiguration(file, before, (settings) => {
    const changed = hooked.add(settings, service);
    if (changed === null) throw new UsageError(`${file}: \`hooks\` has an unexpected shape`);
    return changed;
  });
}

/** The hosts start `writ` by its name, but for Claude Code, which asks an address itself. */
function missingCommand({ url }: Service, host: HostName): readonly string[] {
  if (host === 'claude-code' && url !== null) return [];
  const names = process.platform === 'win32' ? ['writ.cmd', 'writ.exe'] : ['writ'];
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const isThere = folders.some((folder) => names.some((name) => isExecutable(join(folder, name))));
  return isThere ? [] : ['`writ` is not on the PATH, so every tool is refused'];
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

type TrialResult =
  | { readonly kind: 'refused' }
  | { readonly kind: 'not tried' }
  | { readonly kind: 'failed'; readonly why: string };

const trialMs = 10_000;

/** Asks about a tool that does not exist, in the way that the hook will ask. */
async function tryHook({ dialect, trial }: HookedHost, { url, socket }: Service): Promise<TrialResult> {
  const event = JSON.stringify(trial);
  const form = { waitMs: 0, isDeferring: false, isApart: false, isAfter: false };
  if (socket !== null)
    return triedOf(
      await answerWithin(trialMs, (signal) =>
        askHelper({ ...form, socket, dialect }, Buffer.from(event), signal),
      ),
    );
  const key = process.env.WRIT_API_KEY ?? '';
  if (key === '' || url === null) return { kind: 'not tried' };
  const access = { url, key, agent: undefined, session: null, jsonText: [] };
  const options = { ...form, ...access, dialect: dialects[dialect], withinMs: trialMs };
  return triedOf(await answerHook(options, Readable.from([event])));
}

function triedOf({ code, stderr, isDecided }: HookAnswer): TrialResult {
  if (code === 0)
    return { kind: 'failed', why: 'the policies allow a tool that does not exist (WritTrial).' };
  return isDecided ? { kind: 'refused' } : { kind: 'failed', why: stderr.trim() };
}

interface Installation extends Omit<Change, 'before'> {
  readonly where: string;
  readonly faults: readonly string[];
  readonly tried: TrialResult;
}

function report({ file, hooked, where, service, faults, tried }: Installation): string {
  const { name, asks, reports, limits } = hooked;
  const says =
    faults.length === 0
      ? [`${file}: ${name} asks ${where} before ${asks}.`, `It reports the results of ${reports}.`]
      : [`${file} has the hook, but it does not work in ${name}:`, ...faults.map((one) => `  - ${one}`)];
  return [
    ...says,
    ...limits,
    triedText(tried),
    ...(service.socket === null ? [ownKey] : []),
    outOfReach,
    '',
  ].join('\n');
}

function triedText(tried: TrialResult): string {
  switch (tried.kind) {
    case 'refused':
      return 'Tested with a tool that does not exist: it was refused, as expected.';
    case 'not tried':
      return "Not tested, because WRIT_API_KEY is not set here: set it to the agent's key where the agent starts.";
    case 'failed':
      return `Tested with a tool that does not exist, and it does not work: ${tried.why}`;
  }
}

const ownKey =
  'The agent can read its own key, and so choose its sessions. With `writ hook serve` and --socket it has no key.';
const outOfReach =
  'The agent can turn off a hook that it can edit: only managed settings are out of its reach.';
