// Policy directories with the thread that follows each, kept from one service to the next, also of another test file: a
// thread that has its code and has compiled once takes over in a moment. INVARIANT: whoever takes one finds the policies that it
// would have found in a new one, active.

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
import { openPolicies, type PolicyHost, type PolicyState } from '../../src/service/policies/policy-host.ts';

export interface KeptPolicies {
  /** `policies/demo.policy` is in it; whatever else is put there goes when it is given back. */
  readonly directory: string;
  /** Closing it closes nothing: it is given back. */
  readonly host: PolicyHost;
  readonly giveBack: () => Promise<void>;
}

const file = 'demo.policy';

/** Those that nobody has at present; they end with the worker, and their folders with the run. */
const free: Kept[] = [];
const freeMax = 3;

/** A directory with these policies. */
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

/** One that has the policies already, or else one that takes them now. */
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

/** By a rename, which is taken sooner than what is written in place. */
export function putText(directory: string, text: string): void {
  const path = join(directory, 'policies', file);
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

/** Of the only file; null where a test has left others, or none. */
function textIn(directory: string): string | null {
  const folder = join(directory, 'policies');
  try {
    return readdirSync(folder).join() === file ? readFileSync(join(folder, file), 'utf8') : null;
  } catch {
    return null;
  }
}
