// The state of the playground: the active files with a person's changes over them, the open file, and the
// written request. The state is kept in this window. A copy that equals the active text is no longer a
// change.

import { useEffect, useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import type { Vocabulary } from '../../../language/assist/vocabulary.ts';
import { type Resource, useResource } from '../../api/resource.ts';
import { usePerson } from '../../api/session.tsx';
import { useAddress } from '../../navigation/navigation.ts';
import { type Change, type Draft, keepDraft, readDraft, withText } from './draft-files.ts';
import { exampleText } from './example-request.ts';
import { startPath } from './start-path.ts';
import { useFailedFile } from './use-failed-file.ts';
import { type Texts, useTexts } from './use-texts.ts';

export interface PlaygroundState {
  /** Digest of the active policies; null until it is known. */
  readonly digest: string | null;
  readonly active: readonly string[];
  /** Paths of all files, active or added in the playground. */
  readonly paths: readonly string[];
  /** Path of the open file. */
  readonly path: string;
  readonly changes: readonly Change[];
  readonly texts: Texts;
  /** The text of a file in the playground; null until it is loaded. */
  readonly textOf: (path: string) => string | null;
  readonly setText: (path: string, text: string) => void;
  /** Replaces all changes. */
  readonly setChanges: (changes: readonly Change[]) => void;
  /** Discards the changes of a file; null discards all. */
  readonly reset: (path: string | null) => void;
  readonly request: string;
  /** Whether the first example is still being loaded; the request is empty until then. */
  readonly isRequestLoading: boolean;
  /** Whether neither a policy nor the request has been written yet. */
  readonly isUntouched: boolean;
  readonly setRequest: (text: string) => void;
  /** False when the window cannot store the draft. */
  readonly isKept: boolean;
  /** When the playground was opened; examples use this time. */
  readonly openedAt: string;
  readonly vocabulary: Vocabulary | null;
  readonly looks: readonly Pick<Resource<unknown>, 'data' | 'problem' | 'reload'>[];
}

export function usePlayground(): PlaygroundState {
  const { query } = useAddress();
  const files = useResource('listPolicyFiles', {}, ['policies']);
  const words = useResource('getVocabulary', {}, ['policies']);
  const { draft, setDraft, isKept } = useDraft(usePerson().id);
  const { changes } = draft;
  const isWritten = draft.request !== null || query.has('request');
  const first = useResource('getFirstRequest', isWritten ? null : {}, ['policies']);
  const digest = files.data?.digest ?? null;
  const active = files.data?.items.map((item) => item.path) ?? [];
  const changed = changes.map((change) => change.path);
  const paths = [...new Set([...active, ...changed])].toSorted();
  const path = startPath(query.get('file'), paths);
  const texts = useTexts(
    digest,
    [...new Set([path, ...changed, ...namedIn(files.data?.items ?? [])])].filter((one) =>
      active.includes(one),
    ),
  );
  const activeText = (one: string): string | null =>
    active.includes(one) ? (texts.byPath.get(one)?.text ?? null) : null;
  useEffect(() => {
    const isChange = ({ path: one, text }: Change): boolean => text !== activeText(one);
    if (!changes.every(isChange))
      setDraft((before) => ({ ...before, changes: before.changes.filter(isChange) }));
  }, [changes, texts.byPath]);
  useFailedFile(changes, (change) =>
    setDraft((before) => ({ ...before, changes: withText(before.changes, change, null) })),
  );
  const [openedAt] = useState(() => `${new Date().toISOString().slice(0, 16)}:00Z`);
  return {
    digest,
    active,
    paths,
    path,
    changes,
    texts,
    isKept,
    openedAt,
    textOf: (one) => changes.find((change) => change.path === one)?.text ?? activeText(one),
    setText: (one, text) =>
      setDraft((before) => ({
        ...before,
        changes: withText(before.changes, { path: one, text }, activeText(one)),
      })),
    setChanges: (to) =>
      setDraft((before) => ({ ...before, changes: to.toSorted((a, b) => (a.path < b.path ? -1 : 1)) })),
    reset: (one) =>
      setDraft((before) => ({
        ...before,
        changes: one === null ? [] : before.changes.filter((change) => change.path !== one),
      })),
    request: draft.request ?? firstText(first, words.data, openedAt),
    isRequestLoading:
      draft.request === null && first.data === null && (first.isLoading || words.data === null),
    isUntouched: draft.request === null && changes.length === 0,
    setRequest: (request) => setDraft((before) => ({ ...before, request })),
    vocabulary: words.data,
    looks: [files, words, { data: null, problem: texts.problem, reload: texts.retry }],
  };
}

/** Byte limit for the files whose names the editor knows: the first files whose total size is within it. */
const knownBytesMax = 512 * 1024;

function namedIn(items: Reply<'listPolicyFiles'>['items']): readonly string[] {
  let bytes = 0;
  return items.flatMap((item) => {
    if (item.kind !== 'policy') return [];
    bytes += item.bytes;
    return bytes <= knownBytesMax ? [item.path] : [];
  });
}

type FirstRequest = Pick<Resource<Reply<'getFirstRequest'>>, 'data' | 'isLoading'>;

/** The first example. A request that waits for people shows more than one that is allowed. */
function firstText({ data, isLoading }: FirstRequest, vocabulary: Vocabulary | null, at: string): string {
  if (data !== null && data.request !== null) return `${JSON.stringify(data.request, null, 2)}\n`;
  if (isLoading) return '';
  const [action] = vocabulary?.actions ?? [];
  return vocabulary === null || action === undefined ? '' : exampleText(action, vocabulary, at);
}

function useDraft(person: string) {
  const [draft, setDraft] = useState<Draft>(() => readDraft(window.sessionStorage, person));
  const [isKept, setKept] = useState(true);
  useEffect(() => setKept(keepDraft(window.sessionStorage, person, draft)), [draft, person]);
  return { draft, setDraft, isKept };
}
