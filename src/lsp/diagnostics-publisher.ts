// Sends diagnostics to the editor without being asked. Diagnostics of the check come at once; for a set that
// was not checked before, errors come first, and those of open files before all others. Failing cases of open
// test files, and changes since HEAD while they are shown, follow when the second thread has them.

import {
  type Connection,
  DiagnosticSeverity,
  LSPErrorCodes,
  ResponseError,
  type Diagnostic as Shown,
  type TextDocuments,
} from 'vscode-languageserver';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import type { Finding } from '../analysis/findings/findings.ts';
import { readTestFile } from '../testing/read-test-file.ts';
import {
  type FileDiagnostics,
  newDiagnostics,
  newDiagnosticsOf,
  type PublishedDiagnostics,
  toLspDiagnostic,
} from './diagnostics.ts';
import { documentOf, fileNameOf, type OpenSets, pathOf, type SetSnapshot, uriOf } from './set/workspace.ts';
import type { SlowAnswers } from './slow-answers.ts';
import type { ChangesView } from './thread/questions.ts';

export interface DiagnosticsPublisher {
  /** Sends new diagnostics once the text has not changed for a moment. */
  soon(): void;
  /**
   * Shows or hides what a set changes since HEAD. The result holds a text when the changes cannot be shown.
   */
  showChanges(snapshot: SetSnapshot, isShown: boolean): Promise<ChangesView>;
  areChangesShown(root: string): boolean;
  close(): void;
}

interface PublisherOptions {
  readonly connection: Connection;
  readonly workspace: OpenSets;
  readonly documents: TextDocuments<TextDocument>;
  readonly slow: SlowAnswers;
}

/**
 * Milliseconds without a change before the set is checked again, so edits that an editor sends together are
 * checked once.
 */
const restMs = 5;

type ByFile = ReadonlyMap<string, readonly Shown[]>;

/** What the editor has been sent about a set. */
interface PublishedSet {
  readonly published: PublishedDiagnostics;
  /** Diagnostics for the cases of open test files, by file. */
  tests: ByFile;
  /** Diagnostics for changes since HEAD, by file; null while they are not shown. */
  changes: ByFile | null;
}

export function createDiagnosticsPublisher({
  connection,
  workspace,
  documents,
  slow,
}: PublisherOptions): DiagnosticsPublisher {
  /** The sets by their root. */
  const sets = new Map<string, PublishedSet>();
  const setOf = (root: string): PublishedSet => {
    const one = sets.get(root) ?? { published: new Map(), tests: new Map(), changes: null };
    sets.set(root, one);
    return one;
  };
  const send = async (snapshot: SetSnapshot, files: readonly FileDiagnostics[]): Promise<void> => {
    for (const { file, diagnostics } of files)
      await connection.sendDiagnostics({ uri: uriOf(snapshot, file), diagnostics: [...diagnostics] });
  };
  const publish = async (snapshot: SetSnapshot): Promise<void> => {
    const { published, tests, changes } = setOf(snapshot.root);
    await send(snapshot, newDiagnostics(snapshot, published, joined(tests, changes ?? new Map())));
  };
  const publishOpen = async (snapshot: SetSnapshot): Promise<void> => {
    const { published } = setOf(snapshot.root);
    const files = snapshot.open.map(({ path }) => path).filter((path) => snapshot.texts.has(path));
    await send(snapshot, newDiagnosticsOf(files, snapshot, published, new Map()));
  };
  const tellSlow = async (snapshot: SetSnapshot, files: readonly string[]): Promise<void> => {
    const one = setOf(snapshot.root);
    for (const file of files) {
      const { files: run } = await slow.tests(snapshot, file);
      const slowDiagnostics = run.flatMap(({ diagnostics }) =>
        diagnostics.map((diagnostic) => toLspDiagnostic(snapshot, diagnostic)),
      );
      one.tests = new Map([...one.tests, [file, slowDiagnostics]]);
      await publish(snapshot);
    }
    if (one.changes === null) return;
    one.changes = shownChanges(snapshot, (await slow.changes(snapshot)).findings);
    await publish(snapshot);
  };
  const tell = async (): Promise<void> => {
    for (const snapshot of await workspace.openErrorsFirst()) await publishOpen(snapshot);
    for (const snapshot of await workspace.errorsFirst()) await publish(snapshot);
    for (const snapshot of await workspace.snapshots()) {
      const one = setOf(snapshot.root);
      const { malformed, sound } = readOpenTests(snapshot, documents);
      const ownTests = [...one.tests].filter(([file]) => sound.includes(file));
      one.tests = new Map([...ownTests, ...malformed]);
      await publish(snapshot);
      tellSlow(snapshot, sound).catch(report);
    }
  };
  const report = (error: unknown): void => {
    const isOvertaken = error instanceof ResponseError && error.code === LSPErrorCodes.ContentModified;
    if (!isOvertaken) connection.console.error(`could not check the policies: ${String(error)}`);
  };
  let timer: NodeJS.Timeout | undefined;
  return {
    soon() {
      clearTimeout(timer);
      timer = setTimeout(() => void tell().catch(report), restMs);
    },
    async showChanges(snapshot, isShown) {
      const answer = isShown ? await slow.changes(snapshot) : { findings: [], failure: null };
      const isThere = isShown && answer.failure === null;
      setOf(snapshot.root).changes = isThere ? shownChanges(snapshot, answer.findings) : null;
      await publish(snapshot);
      return answer;
    },
    areChangesShown: (root) => setOf(root).changes !== null,
    close: () => clearTimeout(timer),
  };
}

/** The open test files of the set: malformed files with their diagnostics, and sound ones. */
function readOpenTests(snapshot: SetSnapshot, documents: TextDocuments<TextDocument>) {
  const names = documents
    .all()
    .filter(({ uri }) => pathOf(uri) !== null)
    .map(({ uri }) => fileNameOf(snapshot, uri))
    .filter((file) => snapshot.tests.has(file));
  const read = names.map((file) => {
    const { diagnostics } = readTestFile({ path: file, text: documentOf(snapshot, file).getText() });
    return [file, diagnostics.map((one) => toLspDiagnostic(snapshot, one))] as const;
  });
  return {
    malformed: read.filter(([, shown]) => shown.length > 0),
    sound: read.filter(([, shown]) => shown.length === 0).map(([file]) => file),
  };
}

function joined(some: ByFile, others: ByFile): ByFile {
  const files = new Set([...some.keys(), ...others.keys()]);
  return new Map([...files].map((file) => [file, [...(some.get(file) ?? []), ...(others.get(file) ?? [])]]));
}

/**
 * The changes as diagnostics by file. A change without a place in the current set stands at the top of the
 * set's first file.
 */
function shownChanges(snapshot: SetSnapshot, findings: readonly Finding[]): ByFile {
  const [first = ''] = [...snapshot.texts.keys()].toSorted();
  const fileOf = ({ file }: Finding): string => (snapshot.texts.has(file) ? file : first);
  const byFile = Map.groupBy(findings, fileOf);
  return new Map(
    [...byFile].map(([file, those]) => [file, those.map((one) => shownChange(snapshot, one, file))]),
  );
}

function shownChange(snapshot: SetSnapshot, finding: Finding, file: string): Shown {
  const { code, message, start } = finding;
  const line = start === null ? 0 : start.line - 1;
  const [text = ''] = documentOf(snapshot, file).getText().split('\n').slice(line);
  const indent = text.length - text.trimStart().length;
  return {
    range: { start: { line, character: indent }, end: { line, character: text.length } },
    severity: DiagnosticSeverity.Information,
    source: 'writ diff',
    code,
    message,
  };
}
