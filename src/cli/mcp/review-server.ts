// `writ mcp actions`, `lock` and `diff`: read the tools of a server, and print them as declarations, record
// them as reviewed, or compare them with an earlier review.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { openServer } from '../../../integrations/mcp/proxy.ts';
import { declareTools } from '../../../integrations/mcp/review/declarations.ts';
import { readServer, SilentServer } from '../../../integrations/mcp/review/live-server.ts';
import {
  type Difference,
  differences,
  type LiveServer,
  type Lock,
  LockFault,
  lockServer,
  readLock,
  writeLock,
} from '../../../integrations/mcp/review/lock.ts';
import { type ExitCode, exitCodes, print, printError, printJson, UsageError } from '../output/output.ts';
import { replaceFile } from '../output/replace-file.ts';
import { nameOfServer, type ServerOptions, serverTarget, sourceOf } from './server-options.ts';

export const lockFileDefault = 'mcp.lock';

export interface ActionOptions extends ServerOptions {
  readonly open?: boolean;
}

export async function printActions(command: readonly string[], options: ActionOptions): Promise<ExitCode> {
  const as = nameOfServer(options);
  const live = await liveServer(command, options);
  if (live === null) return exitCodes.wrong;
  const { text, anyCount, left } = declareTools(live.tools, { as, isOpen: options.open === true });
  print(text);
  for (const name of left)
    printError(`writ mcp: ${JSON.stringify(name)} is not a valid action name: omitted\n`);
  const unknown = anyCount === 0 ? '' : `, with ${anyCount} values of type any`;
  printError(`writ mcp: ${live.tools.length - left.length} actions${unknown}\n`);
  return left.length === 0 ? exitCodes.ok : exitCodes.wrong;
}

export interface LockOptions extends ServerOptions {
  readonly lock: string;
}

export async function writeReview(command: readonly string[], options: LockOptions): Promise<ExitCode> {
  const as = nameOfServer(options);
  const lock = existsSync(options.lock) ? lockAt(options.lock) : { version: 1 as const, servers: {} };
  const live = await liveServer(command, options);
  if (live === null) return exitCodes.wrong;
  const before = Object.hasOwn(lock.servers, as) ? lock.servers[as] : undefined;
  const changes = before === undefined ? [] : differences(before, live);
  const today = new Date().toISOString().slice(0, 10);
  const servers = { ...lock.servers, [as]: lockServer(as, live, before, today) };
  const text = writeLock({ version: 1, servers });
  if (existsSync(options.lock)) await replaceFile(options.lock, text);
  else writeFileSync(options.lock, text, { flag: 'wx' });
  printError(changes.map((one) => `writ mcp: ${sentence(one)}\n`).join(''));
  printError(
    `writ mcp: ${options.lock} has ${live.tools.length} tools of ${as}: review them before you commit it\n`,
  );
  return exitCodes.ok;
}

export interface DifferenceOptions extends LockOptions {
  readonly json?: boolean;
}

export async function showDifferences(
  command: readonly string[],
  options: DifferenceOptions,
): Promise<ExitCode> {
  const as = nameOfServer(options);
  const locked = lockedServer(options.lock, as);
  const live = await liveServer(command, options);
  if (live === null) return exitCodes.wrong;
  const changes = differences(locked, live);
  if (options.json === true) printJson({ server: as, differences: changes });
  else
    print(
      changes.length === 0 ? `${as}: as reviewed\n` : changes.map((one) => `${sentence(one)}\n`).join(''),
    );
  return changes.length === 0 ? exitCodes.ok : exitCodes.wrong;
}

/** The reviewed server of a lock file. Throws a UsageError when the file does not hold the server. */
export function lockedServer(path: string, as: string) {
  const { servers } = lockAt(path);
  const locked = Object.hasOwn(servers, as) ? servers[as] : undefined;
  if (locked === undefined)
    throw new UsageError(`${path} has no server \`${as}\`: run \`writ mcp lock\` first`);
  return locked;
}

function lockAt(path: string): Lock {
  try {
    return readLock(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof LockFault) throw new UsageError(`${path}: ${error.message}`);
    throw new UsageError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

/** Reads the tools of a server. Null when the server cannot be asked; the reason is printed then. */
async function liveServer(command: readonly string[], options: ServerOptions): Promise<LiveServer | null> {
  const target = serverTarget(command, options);
  const warn = (line: string) => printError(`writ mcp: ${line}\n`);
  try {
    return await readServer(openServer(target, warn), sourceOf(target));
  } catch (error) {
    if (error instanceof SilentServer || error instanceof Error) warn(error.message);
    return null;
  }
}

function sentence({ tool, kind }: Difference): string {
  switch (kind) {
    case 'new':
      return `${tool}: not reviewed; the proxy does not show it`;
    case 'gone':
      return `${tool}: the server no longer has it`;
    case 'texts':
      return `${tool}: the server's description has changed; the proxy shows the reviewed text`;
    case 'shape':
      return `${tool}: schema, annotations or execution have changed; the proxy refuses it`;
    case 'instructions':
      return "the server's instructions for models have changed; the proxy sends the reviewed text";
  }
}
