// Marks that a kill switch was turned on, by its scope. They stay after the switch is off, so that what it ended
// stays ended. INVARIANT: a mark is written together with its switch.

import type { DocumentPut, DocumentStore } from './documents.ts';

const kind = 'stop-mark';
/** Longer than anything that a switch ends may last. */
const keptMs = 35 * 24 * 60 * 60 * 1000;

/** Returns the mark of a switch; `scope` is its scope as text. */
export function stopMark(id: string, scope: string, atMs: number): DocumentPut {
  const json = JSON.stringify({ id, scope, createdAtMs: atMs });
  return { kind, id, seen: 0, name: null, parent: scope, createdAtMs: atMs, endsAtMs: atMs + keptMs, json };
}

/** Whether a switch that stops the action was turned on at or after a moment. */
export async function wasStoppedSince(
  documents: Pick<DocumentStore, 'list'>,
  {
    agentId,
    tier,
    actionKeys,
  }: { readonly agentId: string; readonly tier: string; readonly actionKeys: readonly string[] },
  sinceMs: number,
): Promise<boolean> {
  const scopes = new Set(['all', `tier:${tier}`, `agent:${agentId}`, ...actionKeys.flatMap(areasOf)]);
  const marks = await Promise.all(
    [...scopes].map((parent) => documents.list({ kind, parent, after: null, countMax: 1 })),
  );
  return marks.flat().some(({ createdAtMs }) => createdAtMs >= sinceMs);
}

/** The areas that hold an action, such as `area:mail` and `area:mail.draft` for `mail.draft.send`. */
function areasOf(actionKey: string): readonly string[] {
  const segments = actionKey.split('.');
  return segments.slice(1).map((_, at) => `area:${segments.slice(0, at + 1).join('.')}`);
}
