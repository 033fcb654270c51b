// /v1/policies/history and GET /v1/policies/diff: the sets that have been active, and what one of them
// decides differently from another. INVARIANT: a set is compared by the texts that it was made from, never by
// those on the disk.

import type { Playground } from '../../../../analysis/playground.ts';
import { isoTime } from '../../../../language/value/iso-time.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import type { Activation, PolicyHistory } from '../../../policies/policy-history.ts';
import type { PolicyHost } from '../../../policies/policy-host.ts';
import { noRollBack } from '../../../policies/roll-back.ts';
import { entriesOf, type SetTexts, type TextEntry, textOfFile } from '../../../policies/texts.ts';
import type { Store } from '../../../store/contract/store.ts';
import { type Route, route } from '../../routing/route.ts';
import { askPlayground, playgroundProblems } from './playground-view.ts';
import {
  activationExample,
  activationsSchema,
  type ChangedFile,
  compareSetsExample,
  compareSetsSchema,
  setParameters,
  setsOf,
} from './policy-history-view.ts';

interface HistoryDeps {
  readonly signInDeps: SignInDeps;
  readonly policies: Pick<PolicyHost, 'current' | 'state'>;
  readonly policyHistory: PolicyHistory;
  readonly playground: Playground;
  readonly store: Pick<Store, 'replicas'>;
}

const listActivations = route<HistoryDeps>({
  method: 'GET',
  url: '/v1/policies/history',
  access: 'policies.view',
  operation: {
    id: 'listActivations',
    summary: 'The history of active policy sets, newest first',
    description: 'The last 200 sets are kept. Their texts are kept up to 16 MiB, compressed.',
    replies: {
      200: {
        description: 'The sets',
        schema: activationsSchema,
        example: { items: [activationExample], no_roll_back: null },
      },
    },
  },
  handle: async ({ policies, policyHistory, store }) => ({
    items: (await policyHistory.activations()).map(activationView),
    no_roll_back: noRollBack(policies.state(), store.replicas),
  }),
});

function activationView({ digest, commit, atMs, policies, actions, hasTexts }: Activation) {
  return { digest, commit, activated_at: isoTime(atMs), policies, actions, has_texts: hasTexts };
}

const diffPolicySets = route<HistoryDeps>({
  method: 'GET',
  url: '/v1/policies/diff',
  access: 'policies.try',
  operation: {
    id: 'diffPolicySets',
    summary: 'The diff between two policy sets of the history: requests with different decisions',
    description:
      'Findings, loosest first, each with an example, the proof that nothing else changes, and the texts of the changed files.',
    parameters: setParameters,
    replies: {
      200: { description: 'The diff', schema: compareSetsSchema, example: compareSetsExample },
    },
    problems: ['not_found', ...playgroundProblems],
  },
  handle: async (deps, call) => {
    const { playground, policies } = deps;
    const sets = await setsOf(deps, call.query);
    const active = policies.current();
    const compared = await askPlayground(playground, 'compare sets', sets, { call, active });
    return { ...compared, files: changedFiles(sets) };
  },
});

export const policyHistoryRoutes: readonly Route<HistoryDeps>[] = [listActivations, diffPolicySets];

/** Nobody reads more files than this line by line. */
const filesMax = 100;
const shownBytesMax = 128 * 1024;

function changedFiles({
  old,
  new: now,
}: {
  readonly old: SetTexts;
  readonly new: SetTexts;
}): readonly ChangedFile[] {
  const [before, after] = [old, now].map(
    (texts) => new Map(entriesOf(texts).map((entry) => [entry.path, entry])),
  );
  const paths = [...new Set([...before!.keys(), ...after!.keys()])].toSorted();
  const changed = paths.filter(
    (path) => !areSame(bytesOf(old, before!.get(path)), bytesOf(now, after!.get(path))),
  );
  return changed.slice(0, filesMax).map((path) => {
    const [a, b] = [shownText(old, before!.get(path)), shownText(now, after!.get(path))];
    return { path, old: a.text, new: b.text, is_complete: a.isWhole && b.isWhole };
  });
}

function bytesOf({ bytes }: SetTexts, entry: TextEntry | undefined): Uint8Array | null {
  return entry === undefined ? null : new Uint8Array(bytes, entry.start, entry.end - entry.start);
}

function areSame(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a !== null && b !== null && Buffer.compare(a, b) === 0;
}

function shownText(
  texts: SetTexts,
  entry: TextEntry | undefined,
): { readonly text: string | null; readonly isWhole: boolean } {
  if (entry === undefined) return { text: null, isWhole: true };
  const isWhole = entry.end - entry.start <= shownBytesMax;
  return { text: textOfFile(texts, entry, shownBytesMax), isWhole };
}
