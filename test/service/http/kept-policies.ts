// Policy directories with the thread that follows each, kept from one service to the next, also across test
// files. A thread that has loaded its code and compiled once is ready in a moment. INVARIANT: whoever takes a
// kept directory finds the same active policies as in a new one.

import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  openPolicies,
  type PolicyHost,
  type PolicyState,
} from '../../../src/service/policies/policy-host.ts';

export interface KeptPolicies {
  /**
   * The policy directory. It holds `policies/demo.policy`; all other files are removed when it is given back.
   */
  readonly directory: string;
  /** The policy host. Closing it closes nothing and gives the directory back. */
  readonly host: PolicyHost;
  readonly giveBack: () => Promise<void>;
}

const file = 'demo.policy';

/**
 * The directories that no service uses at present. Their threads end with the test worker, their folders with
 * the run.
 */
const free: Kept[] = [];
const freeMax = 3;

/** A directory with these policies, kept from an earlier service if possible. */
export async function takePolicies(text: string): Promise<KeptPolicies> {
  const kept = (await reuse(text)) ?? (await openKept(text));
  const listeners: ((state: PolicyState) => void)[] = [];
  kept.listener = (state) => {
    for (const listener of listeners) listener(state);
  };
  const { directory, host } = kept;
  const lent: PolicyHost = {
    current: () => host.current(),
    state: () => host.state(),
    isReady: () => host.isReady(),
    reload: () => host.reload(),
    onChange: (listener) => void listeners.push(listener),
    close: async () => undefined,
  };
  let givenBack: Promise<void> | null = null;
  return {
    directory,
    host: lent,
    giveBack() {
      givenBack ??= giveBack(kept);
      return givenBack;
    },
  };
}

interface Kept {
  readonly directory: string;
  readonly host: PolicyHost;
  listener: (state: PolicyState) => void;
  readonly remove: () => Promise<void>;
}

async function openKept(text: string): Promise<Kept> {
  const directory = mkdtempSync(join(tmpdir(), 'writ-server-'));
  mkdirSync(join(directory, 'policies'));
  writeFileSync(join(directory, 'policies', file), text);
  const host = await openPolicies({ directory: join(directory, 'policies') });
  const remove = async () => {
    await host.close();
    rmSync(directory, { recursive: true, force: true });
  };
  const kept: Kept = { directory, host, listener: () => undefined, remove };
  host.onChange((state) => kept.listener(state));
  return kept;
}

/** A free directory that already has the policies, or one that can take them now; null when there is none. */
async function reuse(text: string): Promise<Kept | null> {
  const at = free.findIndex(({ directory }) => textIn(directory) === text);
  const kept = at === -1 ? free.pop() : free.splice(at, 1)[0];
  if (kept === undefined || at !== -1) return kept ?? null;
  putText(kept.directory, text);
  await kept.host.reload();
  return kept;
}

async function giveBack(kept: Kept): Promise<void> {
  const { directory, host, remove } = kept;
  kept.listener = () => undefined;
  for (const name of readdirSync(directory))
    if (name !== 'policies') rmSync(join(directory, name), { recursive: true, force: true });
  const isWhole = textIn(directory) !== null && host.state().status === 'current';
  if (isWhole && free.length < freeMax) free.push(kept);
  else await remove();
}

/** Writes the text by a rename, which the policy host notices sooner than a write in place. */
export function putText(directory: string, text: string): void {
  const path = join(directory, 'policies', file);
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

/** The text of the only policy file; null when a test has left other files, or no file. */
function textIn(directory: string): string | null {
  const folder = join(directory, 'policies');
  try {
    return readdirSync(folder).join() === file ? readFileSync(join(folder, file), 'utf8') : null;
  } catch {
    return null;
  }
}
