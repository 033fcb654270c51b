// An editor on the page, loaded when it is first shown. Until then the text is shown plain. If the editor
// cannot be loaded, the text can be changed in a plain field.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Note } from '../parts/layout/note.tsx';
import type { Editor, EditorMark, EditorOptions, PolicyAnswers } from './editor.ts';
import './editor-box.css';

export interface MarkedText {
  /** The text that the marks belong to; they are shown on no other text. */
  readonly text: string;
  readonly items: readonly EditorMark[];
}

interface EditorBoxProps
  extends Pick<EditorOptions, 'text' | 'label' | 'language' | 'onChange' | 'complete'> {
  /** Answers about a policy; null until the worker is ready. */
  readonly policy?: PolicyAnswers | null;
  readonly marks: MarkedText;
  /** Where to put the cursor; a new object with the same place goes there again. */
  readonly target: { readonly at: number } | null;
}

/** Needs another key when `label` or `language` changes, because that makes another editor. */
export function EditorBox(props: EditorBoxProps) {
  const { text, label, marks, target, policy, onChange } = props;
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const [state, setState] = useState<'loading' | 'open' | 'failed'>('loading');

  useEffect(() => {
    let isWanted = true;
    import('./editor.ts').then(
      ({ openEditor }) => {
        if (!isWanted || host.current === null) return;
        editor.current = openEditor({
          ...latest.current,
          host: host.current,
          onChange: (next) => latest.current.onChange(next),
          complete: (whole, at, isAsked) => latest.current.complete(whole, at, isAsked),
          policy:
            latest.current.language === 'policy'
              ? {
                  colours: async (whole) => (await latest.current.policy?.colours(whole)) ?? null,
                  hover: async (whole, at) => (await latest.current.policy?.hover(whole, at)) ?? null,
                  format: async (whole) => (await latest.current.policy?.format(whole)) ?? null,
                }
              : null,
        });
        setState('open');
      },
      () => {
        if (isWanted) setState('failed');
      },
    );
    return () => {
      isWanted = false;
      editor.current?.close();
      editor.current = null;
    };
  }, []);
  // A layout effect runs before anything else is typed: a text that is set later would undo the typing.
  // `state` is a dependency because the text may have changed while the editor was loading.
  useLayoutEffect(() => editor.current?.setText(text), [text, state]);
  useLayoutEffect(() => {
    if (marks.text === latest.current.text) editor.current?.setMarks(marks.items);
  }, [marks, state]);
  useEffect(() => {
    if (policy != null) editor.current?.askNamesAgain();
  }, [policy, state]);
  useEffect(() => {
    if (target !== null) editor.current?.goTo(target.at);
  }, [target, state]);

  return (
    <div class="editor-box">
      <div ref={host} class={state === 'open' ? 'editor-open' : ''} />
      {state === 'loading' && (
        <>
          <p role="status" class="visually-hidden">
            The editor is loading
          </p>
          <pre class="editor-waiting">{text}</pre>
        </>
      )}
      {state === 'failed' && (
        <>
          <Note icon="warning">
            The editor could not be loaded; the text can be changed without it. Loading the page again may
            help.
          </Note>
          <textarea
            class="editor-plain"
            aria-label={label}
            value={text}
            spellcheck={false}
            onInput={({ currentTarget }) => onChange(currentTarget.value)}
          />
        </>
      )}
    </div>
  );
}

/** Tells how to leave the editor without a mouse, and its other keys. */
export function EditorHint({ isPolicy = false }: { readonly isPolicy?: boolean }) {
  return (
    <p class="editor-hint">
      <kbd>Tab</kbd> indents; <kbd>Esc</kbd> then <kbd>Tab</kbd> leaves. <kbd>Ctrl</kbd>+<kbd>Space</kbd>{' '}
      completes, <kbd>F8</kbd> goes to the next problem
      {isPolicy && (
        <>
          , <kbd>Shift</kbd>+<kbd>Alt</kbd>+<kbd>F</kbd> formats
        </>
      )}
      .
    </p>
  );
}
