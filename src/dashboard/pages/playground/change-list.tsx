// How the copy differs from the active policies, line by line, with buttons that discard changes.

import { useState } from 'preact/hooks';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { TextDiff } from '../../parts/diff/text-diff.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { Empty, Loading } from '../../parts/layout/note.tsx';
import { showToast } from '../../parts/layout/toast.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import type { Change } from './draft-files.ts';
import type { PlaygroundState } from './use-playground.ts';

export function ChangeList({ playground }: { readonly playground: PlaygroundState }) {
  const { changes, active, texts, reset } = playground;
  /** The file whose changes the dialog would discard; `path` is null for all files. */
  const [confirming, setConfirming] = useState<{ readonly path: string | null } | null>(null);
  if (changes.length === 0)
    return (
      <Empty icon="policy" title="No changes yet">
        Your changes are listed here line by line, with a patch for the repository of the policies.
      </Empty>
    );
  return (
    <div class="playground-changes">
      {changes.map((change) => {
        const base = active.includes(change.path) ? (texts.byPath.get(change.path)?.text ?? null) : '';
        return (
          <section key={change.path} aria-label={change.path}>
            <header>
              <h3>
                <PlainText text={change.path} isShort />
                {!active.includes(change.path) && ' (new)'}
              </h3>
              <CopyFile change={change} />
              <Button onClick={() => setConfirming({ path: change.path })}>
                Discard<span class="visually-hidden"> {change.path}</span>
              </Button>
            </header>
            {base === null ? (
              <Loading lines={3} />
            ) : (
              <TextDiff before={base} after={change.text} label={change.path} />
            )}
          </section>
        );
      })}
      {changes.length > 1 && (
        <div>
          <Button onClick={() => setConfirming({ path: null })}>Discard all</Button>
        </div>
      )}
      {confirming !== null && (
        <ResetDialog
          path={confirming.path}
          onClose={() => setConfirming(null)}
          onReset={() => {
            setConfirming(null);
            reset(confirming.path);
          }}
        />
      )}
    </div>
  );
}

/** Copies the file to the clipboard, for the policy directory. */
function CopyFile({ change: { path, text } }: { readonly change: Change }) {
  const copy = (): Promise<void> =>
    navigator.clipboard.writeText(text).then(
      () => showToast(`${path}: copied`),
      () => showToast('It could not be copied: open the file and select its text'),
    );
  return (
    <Button icon="copy" onClick={copy}>
      Copy<span class="visually-hidden"> {path}</span>
    </Button>
  );
}

interface ResetDialogProps {
  readonly path: string | null;
  readonly onClose: () => void;
  readonly onReset: () => void;
}

function ResetDialog({ path, onClose, onReset }: ResetDialogProps) {
  return (
    <Dialog title="Discard your changes?" onClose={onClose}>
      <p>
        {path === null ? 'All files' : <PlainText text={path} isShort />} will be as in the active policies.
        Your changes are lost.
      </p>
      <div class="form-actions">
        <Button variant="danger" onClick={onReset}>
          Discard
        </Button>
        <Button onClick={onClose}>Keep it</Button>
      </div>
    </Dialog>
  );
}
