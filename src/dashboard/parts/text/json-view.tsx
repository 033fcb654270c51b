// A JSON value for people, field by field, in the order in which it arrived. INVARIANT: texts of other people
// are shown as plain text, invisible characters as their code points. Digests that replace secrets are named
// as such. Folded parts are marked in their place and above the value.

import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import {
  aboutJson,
  entriesOf,
  partsShown,
  pathInto,
  secretDigest,
  textLengthShown,
} from '../../../language/value/json-parts.ts';
import { Button } from '../layout/button.tsx';
import { Icon } from '../layout/icon.tsx';
import { useIsPrinting } from '../layout/printing.ts';
import './json-view.css';
import { type CharacterMarks, cutText } from '../../../language/value/text-pieces.ts';
import { PlainPieces } from './plain-text.tsx';

interface JsonViewProps {
  readonly value: unknown;
  /** Name of the value for screen readers, such as "Payload". */
  readonly label: string;
  /**
   * Returns what is shown beside a value without parts, by its path (`items[].price`) and its JSON Pointer.
   */
  readonly beside?: (path: string, value: unknown, pointer: string) => ComponentChildren;
  /** Returns the characters to mark in a text, by its path; null for none. */
  readonly marks?: (path: string, text: string) => CharacterMarks | null;
}

type Notes = Required<Pick<JsonViewProps, 'beside' | 'marks'>>;

export function JsonView({ value, label, beside = () => null, marks = () => null }: JsonViewProps) {
  const notes = { beside, marks };
  const about = useMemo(() => aboutJson(value), [value]);
  const [isAskedWhole, setAskedWhole] = useState(false);
  const isUnfolded = useIsPrinting() || isAskedWhole;
  return (
    <div class="json">
      {about.folded > 0 && (
        <div class="json-bar">
          <span class="json-warning">
            <Icon name="warning" size={14} />
            {isUnfolded
              ? 'Unfolded: everything is shown'
              : `${about.folded} ${about.folded === 1 ? 'part is' : 'parts are'} folded`}
          </span>
          <Button aria-expanded={isUnfolded} onClick={() => setAskedWhole(!isUnfolded)}>
            {isUnfolded ? 'Fold long parts' : 'Show all of it'}
          </Button>
        </div>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section class="json-box" aria-label={label} tabIndex={0}>
        {entriesOf(value) === null || secretDigest(value) !== null ? (
          <Leaf value={value} marks={null} isUnfolded={isUnfolded} />
        ) : (
          <Entries
            key={String(isUnfolded)}
            value={value}
            path=""
            pointer=""
            notes={notes}
            isUnfolded={isUnfolded}
          />
        )}
      </section>
      <CopyJson value={value} label={label} />
    </div>
  );
}

function CopyJson({ value, label }: { readonly value: unknown; readonly label: string }) {
  const [copyState, setCopyState] = useState('');
  const copy = async (): Promise<void> => {
    const isCopied = await navigator.clipboard.writeText(JSON.stringify(value, null, 2)).then(
      () => true,
      () => false,
    );
    setCopyState(isCopied ? 'Copied' : 'Could not copy: select the text');
    setTimeout(() => setCopyState(''), 2_000);
  };
  return (
    <div class="json-copy">
      <span role="status">{copyState}</span>
      <Button variant="quiet" icon={copyState === 'Copied' ? 'check' : 'copy'} onClick={copy}>
        Copy as JSON<span class="visually-hidden">: {label}</span>
      </Button>
    </div>
  );
}

interface EntriesProps {
  readonly value: unknown;
  readonly path: string;
  readonly pointer: string;
  readonly notes: Notes;
  readonly isUnfolded: boolean;
}

const partsMoreShown = 1_000;

function Entries({ value, path, pointer, notes, isUnfolded }: EntriesProps) {
  const entries = entriesOf(value) ?? [];
  const [shownMax, setShownMax] = useState(partsShown);
  const shown = isUnfolded ? entries : entries.slice(0, shownMax);
  const hidden = entries.length - shown.length;
  const isList = Array.isArray(value);
  if (entries.length === 0) return <span class="json-kind">{isList ? '[ ] empty' : '{ } empty'}</span>;
  return (
    <ul class="json-list">
      {shown.map(([name, inner]) => (
        <Entry
          key={name}
          name={name}
          isList={isList}
          value={inner}
          path={pathInto(path, value, name)}
          pointer={`${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`}
          notes={notes}
          isUnfolded={isUnfolded}
        />
      ))}
      {hidden > 0 && (
        <li class="json-entry">
          <span class="json-folded">
            {hidden.toLocaleString()} more are not shown
            <Button variant="quiet" onClick={() => setShownMax(shownMax + partsMoreShown)}>
              Show {Math.min(hidden, partsMoreShown).toLocaleString()} more
            </Button>
          </span>
        </li>
      )}
    </ul>
  );
}

function Entry({
  name,
  isList,
  value,
  path,
  pointer,
  notes,
  isUnfolded,
}: EntriesProps & { readonly name: string; readonly isList: boolean }) {
  const inner = secretDigest(value) === null ? entriesOf(value) : null;
  const isOpen = inner !== null && inner.length > 0;
  const kind = Array.isArray(value) ? `[ ${inner?.length} ]` : '{ }';
  return (
    <li class="json-entry">
      <div class="json-line">
        <span class={isList ? 'json-index' : 'json-key'}>
          {isList ? name : <PlainPieces text={plainKey(name)} />}:
        </span>
        {isOpen ? (
          <span class="json-kind">{kind}</span>
        ) : (
          <Leaf
            value={value}
            marks={typeof value === 'string' ? notes.marks(path, value) : null}
            isUnfolded={isUnfolded}
          />
        )}
        {inner === null && <span class="json-beside">{notes.beside(path, value, pointer)}</span>}
      </div>
      {isOpen && (
        <Entries value={value} path={path} pointer={pointer} notes={notes} isUnfolded={isUnfolded} />
      )}
    </li>
  );
}

/** Quotes a name that could be mistaken for more than a name. */
function plainKey(name: string): string {
  return /^[\p{L}_][\p{L}\p{N}_.-]*$/u.test(name) ? name : JSON.stringify(name);
}

interface LeafProps {
  readonly value: unknown;
  readonly marks: CharacterMarks | null;
  readonly isUnfolded: boolean;
}

function Leaf({ value, marks, isUnfolded }: LeafProps) {
  const digest = secretDigest(value);
  if (digest !== null) {
    return (
      <span class="json-secret">
        <Icon name="key" size={13} /> secret <span>{digest}</span>
      </span>
    );
  }
  if (typeof value === 'string') return <TextLeaf text={value} marks={marks} isUnfolded={isUnfolded} />;
  if (typeof value === 'number') return <span class="json-value json-number">{String(value)}</span>;
  if (entriesOf(value) !== null) {
    return <span class="json-kind">{Array.isArray(value) ? '[ ] empty' : '{ } empty'}</span>;
  }
  return <span class="json-value json-word">{String(value)}</span>;
}

function TextLeaf({ text, marks, isUnfolded }: Omit<LeafProps, 'value'> & { readonly text: string }) {
  const [isWhole, setWhole] = useState(false);
  const isFolded = !isUnfolded && !isWhole && text.length > textLengthShown;
  // A text with line breaks becomes a block, because its lines must not look like lines of the surrounding
  // value.
  const isBlock = text.includes('\n') || text.length > textLengthShown;
  return (
    <>
      <span class={`json-value json-text${isBlock ? ' json-block' : ''}`}>
        "<PlainPieces text={isFolded ? cutText(text, textLengthShown) : text} marks={marks} />
        {!isFolded && '"'}
      </span>
      {isFolded && (
        <span class="json-folded">
          {(text.length - textLengthShown).toLocaleString()} more characters are not shown
          <Button variant="quiet" onClick={() => setWhole(true)}>
            Show all {text.length.toLocaleString()}
          </Button>
        </span>
      )}
    </>
  );
}
