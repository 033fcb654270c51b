// Answers requests for code actions: the fixes of diagnostics, and for a failing test case a change of the policies
// after which it passes. That change is a suggestion of `writ suggest`: compiled, decided, compared and proved.
// INVARIANT: it is never part of a fix of everything, because it lets more pass.

import {
  type CodeAction,
  CodeActionKind,
  type Connection,
  LSPErrorCodes,
  ResponseError,
  type TextEdit,
} from 'vscode-languageserver';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { fixesOf, toLspDiagnostic } from './diagnostics.ts';
import { lineEdits } from './formatting.ts';
import { placeIn } from './set/positions.ts';
import { fileNameOf, type OpenSets, type SetSnapshot, uriOf } from './set/workspace.ts';
import type { SlowAnswers } from './slow-answers.ts';

interface AnsweringActions {
  readonly connection: Connection;
  readonly workspace: OpenSets;
  readonly slow: SlowAnswers;
  /** Whether the editor asks for the edit of an action when a person picks the action. */
  readonly canResolve: () => boolean;
}

/** What an action without its edit is about. */
interface ActionData {
  readonly uri: string;
  /** The offset at which the case begins. */
  readonly start: number;
}

export function answerCodeActions({ connection, workspace, slow, canResolve }: AnsweringActions): void {
  connection.onCodeAction(async ({ textDocument: { uri }, range }) => {
    const snapshot = await workspace.snapshotOf(uri);
    if (snapshot === null) return [];
    const { file, document } = placeIn(snapshot, uri, range.start);
    const selected = { start: document.offsetAt(range.start), end: document.offsetAt(range.end) };
    if (!snapshot.tests.has(file)) return [...fixesOf(snapshot, uri, selected)];
    const actions = await caseActions(snapshot, uri, { ...selected, slow });
    if (canResolve()) return [...actions];
    const edited = await Promise.allSettled(actions.map((one) => withEdit(one, snapshot, slow)));
    return edited.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  });
  connection.onCodeActionResolve(async (action) => {
    // The editor sends the data of an action back unchanged.
    const data = action.data as ActionData | undefined;
    const snapshot = data === undefined ? null : await workspace.snapshotOf(data.uri);
    return snapshot === null ? action : await withEdit(action, snapshot, slow);
  });
}

interface SelectedCases {
  readonly start: number;
  readonly end: number;
  readonly slow: SlowAnswers;
}

/** The actions for the failing cases whose first line lies between two offsets, without their edits. */
async function caseActions(
  snapshot: SetSnapshot,
  uri: string,
  { start, end, slow }: SelectedCases,
): Promise<readonly CodeAction[]> {
  const { files } = await slow.tests(snapshot, fileNameOf(snapshot, uri));
  return files.flatMap(({ cases, diagnostics }) =>
    diagnostics
      .filter(({ span }) => span.start <= end && start <= span.end)
      .filter(({ span }) => cases.some((one) => one.start === span.start && one.expectsMilder))
      .map((diagnostic): CodeAction => {
        return {
          title: 'Change the policies so that this case passes',
          kind: CodeActionKind.QuickFix,
          diagnostics: [toLspDiagnostic(snapshot, diagnostic)],
          data: { uri, start: diagnostic.span.start } satisfies ActionData,
        };
      }),
  );
}

/** The action with its edit. Throws an error of the protocol with the reason when nothing is suggested. */
async function withEdit(action: CodeAction, snapshot: SetSnapshot, slow: SlowAnswers): Promise<CodeAction> {
  const { uri, start } = action.data as ActionData;
  const { files, failure } = await slow.suggestion(snapshot, fileNameOf(snapshot, uri), start);
  if (failure !== null) throw new ResponseError(LSPErrorCodes.RequestFailed, failure);
  const changes = files.map(({ path, before, after }): readonly [string, TextEdit[]] => {
    const document = TextDocument.create(uriOf(snapshot, path), 'policy', 0, before);
    return [document.uri, [...lineEdits(document, after)]];
  });
  return { ...action, edit: { changes: Object.fromEntries(changes) } };
}
