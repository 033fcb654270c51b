// The sets of the history: their names, the two of the first diff, and the address of a diff.

import type { Reply } from '../../../api/operations.ts';
import { minuteTime } from '../layout/time-format.ts';

export type Activation = Reply<'listActivations'>['items'][number];

export interface SetPair {
  readonly old: string;
  readonly new: string;
}

export function diffHref({ old, new: now }: SetPair): string {
  return `/diff?${new URLSearchParams({ old, new: now })}`;
}

export function shortDigest(digest: string): string {
  return digest.replace('sha256:', '').slice(0, 10);
}

/** One line of a choice. A set that was active several times is named after its latest activation. */
export function setName({ activated_at: at, digest, commit }: Activation): string {
  const revision = commit === null ? '' : `, commit ${commit.slice(0, 10)}`;
  return `${minuteTime.format(Date.parse(at))}, ${shortDigest(digest)}${revision}`;
}

/** Each set once, by its latest activation, if its texts are kept. */
export function keptSets(activations: readonly Activation[]): readonly Activation[] {
  const seen = new Set<string>();
  return activations.filter(({ digest, has_texts: hasTexts }) => {
    if (seen.has(digest) || !hasTexts) return false;
    seen.add(digest);
    return true;
  });
}

/**
 * The pair that the address names, else the active policies and the set before them; null when there is only
 * one set.
 */
export function chosenPair(
  activations: readonly Activation[],
  range: { readonly old: string | null; readonly new: string | null },
): SetPair | null {
  const now = range.new ?? activations[0]?.digest ?? null;
  const old = range.old ?? (now === null ? null : predecessorOf(activations, now)?.digest) ?? null;
  return old === null || now === null ? null : { old, new: now };
}

/** The set that was active before the latest activation of this one. */
function predecessorOf(activations: readonly Activation[], digest: string): Activation | undefined {
  const at = activations.findIndex((one) => one.digest === digest);
  return at < 0 ? undefined : activations[at + 1];
}
