// The changed texts of two sets: their files line by line, and the plain sentences that only one of them says.

import { Empty } from '../layout/note.tsx';
import { PlainText } from '../text/plain-text.tsx';
import './changed-texts.css';
import { TextDiff } from './text-diff.tsx';

export interface ChangedText {
  readonly path: string;
  /** Null for a new file; the other is null for one that is gone. */
  readonly old: string | null;
  readonly new: string | null;
  /** False where only the beginning of a long file is shown. */
  readonly is_complete: boolean;
}

export function ChangedFiles({ files }: { readonly files: readonly ChangedText[] }) {
  if (files.length === 0)
    return (
      <Empty icon="policy" title="No file differs">
        Both sets were made from the same texts.
      </Empty>
    );
  return (
    <div class="diff-files">
      {files.map(({ path, old, new: now, is_complete: isWhole }) => (
        <section key={path} aria-label={path}>
          <h3>
            <PlainText text={path} isShort />
            {old === null && ' (new)'}
            {now === null && ' (gone)'}
          </h3>
          {!isWhole && <p>The file is long: this is the diff of its beginning.</p>}
          <TextDiff before={old ?? ''} after={now ?? ''} label={path} />
        </section>
      ))}
    </div>
  );
}

interface SentenceChange {
  readonly subject: string;
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

export function SentenceList({ items }: { readonly items: readonly SentenceChange[] }) {
  return (
    <ul class="diff-sentences" aria-label="Sentences that differ">
      {items.map(({ subject, removed, added }) => (
        <li key={subject}>
          <h3>
            <PlainText text={subject} isShort />
          </h3>
          <ul>
            {removed.map((text) => (
              <li key={text}>
                <del>
                  <span class="visually-hidden">removed: </span>
                  <PlainText text={text} />
                </del>
              </li>
            ))}
            {added.map((text) => (
              <li key={text}>
                <ins>
                  <span class="visually-hidden">added: </span>
                  <PlainText text={text} />
                </ins>
              </li>
            ))}
          </ul>
        </li>
      ))}
    </ul>
  );
}
