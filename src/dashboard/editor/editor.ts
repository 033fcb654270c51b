// The editor, which loads when it is asked for. INVARIANT: it lives in a shadow root, where its styles are sheets of the
// root and no style elements, which the page's content policy forbids; and the keyboard always gets out of it: Escape,
// then Tab, until something is typed.

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
import type { Completed } from '../../language/assist/completed.ts';
import { editorColours, editorTheme } from './editor-theme.ts';
import { jsonLanguage } from './json-language.ts';
import { type NameAnswers, namesChanged, nameView } from './name-view.ts';
import { policyLanguage } from './policy-language.ts';
import { changeBetween } from './text-places.ts';

export interface EditorMark {
  readonly from: number;
  readonly to: number;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  /** What would fix it. */
  readonly fix: { readonly title: string; readonly apply: () => void } | null;
}

export interface EditorOptions {
  readonly host: HTMLElement;
  readonly text: string;
  /** For screen readers. */
  readonly label: string;
  readonly language: 'policy' | 'json' | 'plain';
  readonly onChange: (text: string) => void;
  /** `isAsked` is true where the person asked by key. */
  readonly complete: (
    text: string,
    at: number,
    isAsked: boolean,
  ) => Completed | null | Promise<Completed | null>;
  /** What else is answered of a policy; null for what is none. */
  readonly policy: Omit<PolicyAnswers, 'complete'> | null;
}

/** What is asked of a policy while it is written; null where nothing can be said. */
export interface PolicyAnswers extends NameAnswers {
  readonly complete: (text: string, at: number, isAsked: boolean) => Promise<Completed | null>;
  /** The text in its canonical form. */
  readonly format: (text: string) => Promise<string | null>;
}

export interface Editor {
  /** Changes what differs, so that the cursor and the history stay. */
  setText(text: string): void;
  setMarks(marks: readonly EditorMark[]): void;
  /** Names of other files have come or gone. */
  askNamesAgain(): void;
  /** Puts the cursor there, in sight, and the focus with it. */
  goTo(at: number): void;
  close(): void;
}

export function openEditor(options: EditorOptions): Editor {
  const { host, text } = options;
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  /** While the text is set from outside, nobody is told. */
  let isTold = true;
  const state = EditorState.create({
    doc: text,
    extensions: [
      extensionsOf(options),
      EditorView.updateListener.of(({ docChanged, view }) => {
        if (!docChanged) return;
        view.setTabFocusMode(false);
        if (isTold) options.onChange(view.state.doc.toString());
      }),
    ],
  });
  const view = new EditorView({ state, parent: root, root });
  return {
    setText(next) {
      const changes = changeBetween(view.state.doc.toString(), next);
      if (changes === null) return;
      isTold = false;
      view.dispatch({ changes });
      isTold = true;
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
      const place = Math.min(at, view.state.doc.length);
      view.dispatch({
        selection: EditorSelection.cursor(place),
        effects: EditorView.scrollIntoView(place, { y: 'center' }),
      });
      view.focus();
    },
    close: () => view.destroy(),
  };
}

/** Characters that CodeMirror does not know as invisible: fillers, selectors, tags. */
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
      // Behind the keys of completion: the first Escape closes its list.
      { key: 'Escape', run: leaveWithTab },
      { key: 'F8', run: nextDiagnostic },
      ...(policy === null ? [] : [{ key: 'Shift-Alt-f', run: (view: EditorView) => format(view, policy) }]),
      ...[...defaultKeymap, ...historyKeymap, indentWithTab],
    ]),
    EditorView.contentAttributes.of({
      // It can be reached without it, too; tools that look for what scrolls want it said.
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
 * What is typed over a selection is put in here: the browser, doing it in the page, would keep the look of what was
 * there by a style attribute, which the content policy forbids.
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

/** What is typed while the answer is on its way is not written over. */
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
