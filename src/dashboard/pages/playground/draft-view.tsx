// The draft: the changed files beside the active policies, what the checker and the proof say of them, and the patch
// that carries them into the repository. INVARIANT: nothing here changes the active policies.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { gitPatch } from '../../../language/assist/git-patch.ts';
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { Note, ProblemNote } from '../../parts/layout/note.tsx';
import { Facts } from '../../parts/layout/page.tsx';
import { Ago } from '../../parts/layout/time.tsx';
import { showToast } from '../../parts/layout/toast.tsx';
import { ProposeButton } from '../../parts/policy/propose.tsx';
import { ChangeList } from './change-list.tsx';
import { diagnosticCounts } from './diagnostic-list.tsx';
import { DiffLink } from './diff-view.tsx';
import type { PlaygroundState } from './use-playground.ts';
import { isSavedAs, type SavedDraftState } from './use-saved-draft.ts';
import type { TryState } from './use-try.ts';

interface DraftViewProps {
  readonly playground: PlaygroundState;
  readonly saved: SavedDraftState;
  readonly tried: TryState['tried'];
}

export function DraftView({ playground, saved, tried }: DraftViewProps) {
  const { changes, digest } = playground;
  return (
    <div class="playground-changes">
      <SavedState playground={playground} saved={saved} />
      {changes.length > 0 && (
        <Facts
          items={[
            ['Checks', tried === null ? 'being checked…' : diagnosticCounts(tried.answer.diagnostics)],
            ['Diff with active', <DiffLink key="diff" changes={changes} digest={digest} />],
            ['Files', filesText(changes.length)],
          ]}
        />
      )}
      {changes.length > 0 && <PatchActions playground={playground} saved={saved} />}
      <ChangeList playground={playground} />
    </div>
  );
}

function SavedState({ playground, saved }: Pick<DraftViewProps, 'playground' | 'saved'>) {
  const { changes } = playground;
  const { draft, isLoaded, isBusy, problem, save } = saved;
  const [isDeleting, setDeleting] = useState(false);
  const isSaved = isSavedAs(changes, draft);
  return (
    <>
      <div class="playground-draft">
        <p role="status">
          {isSaved && draft !== null ? (
            <>
              Saved <Ago at={draft.saved_at} /> on the service, only for you. It is not active.
            </>
          ) : changes.length === 0 ? (
            'Nothing is changed in this window.'
          ) : (
            'Not saved yet: only this window has these changes.'
          )}
        </p>
        {changes.length > 0 && !isSaved && (
          <Button variant="primary" isBusy={isBusy} disabled={!isLoaded} onClick={() => save(changes)}>
            Save draft
          </Button>
        )}
        {draft !== null && <Button onClick={() => setDeleting(true)}>Delete saved draft…</Button>}
      </div>
      <ProblemNote problem={problem} />
      {draft !== null && !isSaved && <OtherDraft playground={playground} saved={saved} />}
      {isDeleting && draft !== null && (
        <ConfirmDialog
          title="Delete the saved draft?"
          word="Delete"
          variant="danger"
          done="The saved draft is deleted"
          work={saved.remove}
          onDone={() => undefined}
          onClose={() => setDeleting(false)}
        >
          The service deletes {filesText(draft.files.length)}. The changes in this window stay.
        </ConfirmDialog>
      )}
    </>
  );
}

/** Says that a draft is saved that is not open in this window, and opens it; nothing when there is none. */
export function OtherDraft({ playground, saved: { draft } }: Pick<DraftViewProps, 'playground' | 'saved'>) {
  if (draft === null || isSavedAs(playground.changes, draft)) return null;
  return (
    <Note icon="policy">
      <p>
        You saved a draft of {filesText(draft.files.length)} <Ago at={draft.saved_at} />
        {draft.policy_set !== playground.digest && ', when other policies were active'}.
        {playground.changes.length > 0 && ' Opening it replaces the changes in this window.'}
      </p>
      <Button
        onClick={() => {
          playground.setChanges(draft.files);
          showToast('Your draft is open');
        }}
      >
        Open it
      </Button>
    </Note>
  );
}

function PatchActions({ playground, saved }: Pick<DraftViewProps, 'playground' | 'saved'>) {
  const { changes, active, texts, digest } = playground;
  const files = changes.map(({ path, text }) => ({
    path,
    before: active.includes(path) ? texts.byPath.get(path)?.text : null,
    after: text,
  }));
  const editedFiles = files.flatMap(({ before, ...file }) =>
    before === undefined ? [] : [{ ...file, before }],
  );
  // A patch without one of the files would be taken for the whole.
  if (!saved.isLoaded || editedFiles.length < files.length) return null;
  const patch = gitPatch(editedFiles, saved.repositoryPath);
  return (
    <>
      <div class="playground-bar playground-patch">
        <Button icon="download" onClick={() => download(patch)}>
          Download .patch
        </Button>
        <Button icon="copy" onClick={() => copy(patch)}>
          Copy patch
        </Button>
        {digest !== null && (
          <ProposeButton change={{ active_digest: digest, files: changes }} about="the draft" />
        )}
      </div>
      <p class="playground-soft">
        {saved.repositoryPath === null ? 'In the policy directory: ' : 'In the repository of the policies: '}
        <code>git apply draft.patch</code>. The service reads the files when they change.
      </p>
      <details>
        <summary>Patch as text</summary>
        <PatchText>{patch}</PatchText>
      </details>
    </>
  );
}

function PatchText({ children }: { readonly children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
    <pre class="playground-patch-text" tabIndex={0}>
      {children}
    </pre>
  );
}

function download(patch: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([patch], { type: 'text/x-patch' }));
  link.download = 'draft.patch';
  link.click();
  URL.revokeObjectURL(link.href);
}

function copy(patch: string): Promise<void> {
  return navigator.clipboard.writeText(patch).then(
    () => showToast('The patch is copied'),
    () => showToast('It could not be copied: open the patch as text and select it'),
  );
}

function filesText(count: number): string {
  return count === 1 ? '1 file' : `${count} files`;
}
