// Warns approvers of texts that could be mistaken for others: words that mix letters of several scripts, and
// values that look like one that was granted before.

import type { Operations } from '../../../api/operations.ts';
import { useResource } from '../../api/resource.ts';
import { Button } from '../../parts/layout/button.tsx';
import { Note } from '../../parts/layout/note.tsx';
import { PlainPieces } from '../../parts/text/plain-text.tsx';
import type { CharacterMarks } from '../../parts/text/text-pieces.ts';

type Confusable = Operations['listConfusables']['reply']['items'][number];

export interface Confusables {
  /** Null until the service has answered. */
  readonly items: readonly Confusable[] | null;
  readonly isFailed: boolean;
  readonly reload: () => void;
}

/** How far the check is, and what it has found. */
export type CheckState = 'checking' | 'failed' | 'clear' | 'deceptive';

export function checkStateOf({ items, isFailed }: Confusables): CheckState {
  if (isFailed) return 'failed';
  if (items === null) return 'checking';
  return items.length === 0 ? 'clear' : 'deceptive';
}

const placesShown = 10;

export function useConfusables(id: string): Confusables {
  const { data, problem, isLoading, reload } = useResource('listConfusables', { params: { id } });
  return { items: data?.items ?? null, isFailed: problem !== null && !isLoading, reload };
}

/** The characters to mark in a text of the payload, each with its name. */
export function marksOf({ items }: Confusables, path: string, text: string): CharacterMarks | null {
  const found = items?.find((one) => one.path === path && isCutOf(one.value, text));
  if (found === undefined || found.characters.length === 0) return null;
  return new Map(found.characters.map((one) => [one.character, nameOf(one)]));
}

export function ConfusablesNote({
  confusables: { items, isFailed, reload },
}: {
  readonly confusables: Confusables;
}) {
  if (isFailed)
    return (
      <Note tone="escalate" icon="warning">
        <p>
          The service could not check this request for letters that may deceive. You can approve it once the
          check succeeds.
        </p>
        <Button onClick={reload}>Check again</Button>
      </Note>
    );
  if (items === null || items.length === 0) return null;
  const more = items.length - placesShown;
  return (
    <Note tone="escalate" icon="warning">
      <strong>Contains letters that may deceive</strong>
      <ul>
        {items.slice(0, placesShown).map((one, index) => (
          <li key={index}>
            <About confusable={one} />
          </li>
        ))}
        {more > 0 && <li>and {more} more</li>}
      </ul>
    </Note>
  );
}

function About({
  confusable: { path, value, scripts, confusable_with: known, characters },
}: {
  readonly confusable: Confusable;
}) {
  const marks = new Map(characters.map((one) => [one.character, nameOf(one)]));
  return (
    <>
      <code>
        <PlainPieces text={path} />
      </code>{' '}
      {scripts.length > 0 && <>mixes {listed(scripts)}: </>}
      <strong>
        <PlainPieces text={value} marks={marks} />
      </strong>
      {characters.length > 0 && <> ({characters.map(nameOf).join('; ')})</>}
      {known !== null && (
        <>
          . It looks like{' '}
          <strong>
            <PlainPieces text={known.value} />
          </strong>
          , which the agent was granted {known.count === 1 ? 'once' : `${known.count} times`} before
        </>
      )}
      .
    </>
  );
}

function nameOf({ code_point, name }: Confusable['characters'][number]): string {
  return name === '' ? code_point : `${code_point} ${name}`;
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

/** Whether a text is the value that the service reported, which is cut to its first code points when long. */
function isCutOf(cut: string, text: string): boolean {
  return cut === text || ([...cut].length === cutLength && text.startsWith(cut));
}

const cutLength = 100;
