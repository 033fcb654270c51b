// The editor itself, loaded on demand. INVARIANT: the editor lives in a shadow root, where its styles are
// sheets of the root and not style elements, which the page's content policy forbids. The keyboard can always
// leave the editor: Escape, then Tab, until something is typed.

import {
  autocompletion,
  type CompletionContext,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { lintGutter, nextDiagnostic, setDiagnostics } from '@codemirror/lint';
import { EditorSelection, EditorState, type Extension } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import type { CompletionList } from '../../language/assist/completion-list.ts';
import { editorColours, editorTheme } from './editor-theme.ts';
import { jsonLanguage } from './json-language.ts';
import { type NameAnswers, namesChanged, nameView } from './name-view.ts';
import { policyLanguage } from './policy-language.ts';
import { changeBetween } from './text-positions.ts';

export interface EditorMark {
  readonly from: number;
  readonly to: number;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  /** A fix for the marked mistake. */
  readonly fix: { readonly title: string; readonly apply: () => void } | null;
}

export interface EditorOptions {
  readonly host: HTMLElement;
  readonly text: string;
  /** For screen readers. */
  readonly label: string;
  readonly language: 'policy' | 'json' | 'plain';
  readonly onChange: (text: string) => void;
  /** `isAsked`: whether the person asked by key. */
  readonly complete: (
    text: string,
    at: number,
    isAsked: boolean,
  ) => CompletionList | null | Promise<CompletionList | null>;
  /** The other answers about a policy; null for a text that is not a policy. */
  readonly policy: Omit<PolicyAnswers, 'complete'> | null;
}

/** Answers about a policy while it is being written; null when nothing is known. */
export interface PolicyAnswers extends NameAnswers {
  readonly complete: (text: string, at: number, isAsked: boolean) => Promise<CompletionList | null>;
  /** Returns the text in its canonical form. */
  readonly format: (text: string) => Promise<string | null>;
}

export interface Editor {
  /** Changes only what differs, so that the cursor and the history stay. */
  setText(text: string): void;
  setMarks(marks: readonly EditorMark[]): void;
  /** Asks for the colours of names again, because names of other files have come or gone. */
  askNamesAgain(): void;
  /** Moves the cursor and the focus to the place and scrolls it into sight. */
  goTo(at: number): void;
  close(): void;
}

export function openEditor(options: EditorOptions): Editor {
  const { host, text } = options;
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  /** False while the text is set from outside, when `onChange` is not called. */
  let isReported = true;
  const state = EditorState.create({
    doc: text,
    extensions: [
      extensionsOf(options),
      EditorView.updateListener.of(({ docChanged, view }) => {
        if (!docChanged) return;
        view.setTabFocusMode(false);
        if (isReported) options.onChange(view.state.doc.toString());
      }),
    ],
  });
  const view = new EditorView({ state, parent: root, root });
  return {
    setText(next) {
      const changes = changeBetween(view.state.doc.toString(), next);
      if (changes === null) return;
      isReported = false;
      view.dispatch({ changes });
      isReported = true;
    },
    setMarks(marks) {
      const last = view.state.doc.length;
      const placed = marks.map(({ from, to, severity, message, fix }) => ({
        from: Math.min(from, last),
        to: Math.min(to, last),
        severity,
        message,
        ...(fix === null ? {} : { actions: [{ name: fix.title, apply: fix.apply }] }),
      }));
      view.dispatch(setDiagnostics(view.state, placed));
    },
    askNamesAgain: () => view.dispatch({ effects: namesChanged.of(null) }),
    goTo(at) {
      const offset = Math.min(at, view.state.doc.length);
      view.dispatch({
        selection: EditorSelection.cursor(offset),
        effects: EditorView.scrollIntoView(offset, { y: 'center' }),
      });
      view.focus();
    },
    close: () => view.destroy(),
  };
}

/** Invisible characters that CodeMirror does not recognise: fillers, selectors, tags. */
const moreInvisible =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each is looked for by itself.
  /[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u202a-\u202e\u2060-\u2069\u2800\u3164\uffa0\ufe00-\ufe0f\u{e0000}-\u{e01ef}]/gu;

function extensionsOf({ label, language, complete, policy }: EditorOptions): Extension {
  return [
    ...[lineNumbers(), highlightActiveLineGutter(), lintGutter(), history(), drawSelection()],
    ...[indentOnInput(), bracketMatching(), closeBrackets(), highlightActiveLine()],
    highlightSpecialChars({ addSpecialChars: moreInvisible }),
    ...[indentUnit.of('  '), EditorState.tabSize.of(2), EditorState.lineSeparator.of('\n')],
    ...(language === 'policy' ? [policyLanguage] : language === 'json' ? [jsonLanguage] : []),
    syntaxHighlighting(editorColours),
    ...(policy === null ? [] : [nameView(policy)]),
    autocompletion({
      override: [(ctx: CompletionContext) => complete(ctx.state.doc.toString(), ctx.pos, ctx.explicit)],
      icons: false,
    }),
    keymap.of([
      ...[...closeBracketsKeymap, ...completionKeymap],
      // After the keys of completion, so that the first Escape closes the list.
      { key: 'Escape', run: leaveWithTab },
      { key: 'F8', run: nextDiagnostic },
      ...(policy === null ? [] : [{ key: 'Shift-Alt-f', run: (view: EditorView) => format(view, policy) }]),
      ...[...defaultKeymap, ...historyKeymap, indentWithTab],
    ]),
    EditorView.contentAttributes.of({
      // The element is focusable without this too, but accessibility checkers require it of scrollable areas.
      tabindex: '0',
      'aria-label': `${label}. Press Escape, then Tab, to leave.`,
      spellcheck: 'false',
      autocorrect: 'off',
      autocapitalize: 'off',
      translate: 'no',
    }),
    EditorView.domEventHandlers({ beforeinput: replaceSelected }),
    editorTheme,
  ];
}

/**
 * Replaces a selection by typed text in the editor. If the browser did so in the page, it would keep the old
 * look by a style attribute, which the content policy forbids.
 */
function replaceSelected(event: InputEvent, view: EditorView): boolean {
  const { data, inputType } = event;
  const { empty, from, to } = view.state.selection.main;
  if (inputType !== 'insertText' || data === null || empty || view.composing) return false;
  const insert = () =>
    view.state.update(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
  const isHandled = view.state
    .facet(EditorView.inputHandler)
    .some((handle) => handle(view, from, to, data, insert));
  if (!isHandled) view.dispatch(insert());
  return true;
}

/** Text that is typed while the formatted text is on its way is not overwritten. */
function format(view: EditorView, policy: Pick<PolicyAnswers, 'format'>): boolean {
  const before = view.state.doc.toString();
  void policy.format(before).then((after) => {
    const changes = after === null ? null : changeBetween(before, after);
    if (changes !== null && view.state.doc.toString() === before)
      view.dispatch({ changes, userEvent: 'input' });
  });
  return true;
}

function leaveWithTab(view: EditorView): boolean {
  view.setTabFocusMode(true);
  return true;
}
