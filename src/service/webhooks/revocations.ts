// Finds revocations in the record of changes, whichever process made them, including the command line.
// INVARIANT: of several processes with the same store, one tells of each revocation, once: the messages are
// stored together with the position of the look.

import type { Directory } from '../people/directory.ts';
import type { DocumentWrite } from '../store/contract/documents.ts';
import type { ChainStore } from '../store/contract/store.ts';
import type { PreparedEvent } from './dispatch.ts';

export interface Revocation {
  readonly agentId: string;
  readonly atMs: number;
}

interface Deps {
  readonly directory: Directory;
  readonly chain: Pick<ChainStore, 'changes'>;
  readonly prepare: (revocation: Revocation) => Promise<PreparedEvent>;
}

const changesAtOnce = 100;
const [kind, id] = ['webhook-cursor', 'revocations'];

/**
 * Returns a function that looks once for new revocations. The first look of a store only notes its end, so
 * that earlier revocations are not told.
 */
export function followRevocations({ directory, chain, prepare }: Deps): () => Promise<void> {
  const { documents } = directory;
  let seen: number | null = null;

  async function latestSequence(): Promise<number> {
    return (await chain.changes({ beforeSequence: null, countMax: 1 }))[0]?.sequence ?? 0;
  }

  /**
   * Stores the position up to which changes were looked at, together with the messages about them. Returns
   * false when another process did so.
   */
  async function moveTo(
    sequence: number,
    version: number,
    messages: readonly DocumentWrite[] = [],
  ): Promise<boolean> {
    const put = {
      kind,
      id,
      seen: version,
      name: null,
      parent: null,
      endsAtMs: null,
      createdAtMs: Math.trunc(directory.clock()),
      json: JSON.stringify({ sequence }),
    };
    return (await documents.write([put, ...messages], null)) === 'changed';
  }

  return async () => {
    const latest = await latestSequence();
    if (latest === seen) return;
    const cursor = await documents.find(kind, id);
    if (cursor === null) {
      if (await moveTo(latest, 0)) seen = latest;
      return;
    }
    const { sequence } = JSON.parse(cursor.json) as { sequence: number };
    const revocations: Revocation[] = [];
    // Changes that arrive during this look are left to the next one.
    for (let before = latest + 1; before > sequence + 1; ) {
      const page = await chain.changes({ beforeSequence: before, countMax: changesAtOnce });
      for (const change of page.filter((one) => one.sequence > sequence && one.what === 'agent-revoked')) {
        revocations.unshift({ agentId: change.subject, atMs: change.atMs });
      }
      before = page.at(-1)?.sequence ?? 0;
    }
    const prepared = await Promise.all(revocations.map(prepare));
    const messages = prepared.flatMap(({ writes }) => writes);
    if (latest > sequence && !(await moveTo(latest, cursor.version, messages))) return;
    seen = latest;
    for (const { taken } of prepared) taken();
  };
}
