// `writ lsp`: the language server. It answers each request from one snapshot of the policy set; what fails is one request.

import type { Readable, Writable } from 'node:stream';
import {
  type Connection,
  type InitializeParams,
  type InitializeResult,
  TextDocumentSyncKind,
  TextDocuments,
} from 'vscode-languageserver';
import {
  createConnection,
  ProposedFeatures,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { legendTypes, tokenModifiers } from './colours.ts';
import { newDiagnostics, type Told } from './diagnostics.ts';
import { answerFeatures } from './features.ts';
import { createOpenSets, pathOf, uriOf } from './workspace.ts';

const capabilities: InitializeResult['capabilities'] = {
  textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental, save: true },
  completionProvider: { triggerCharacters: ['.', ' '] },
  hoverProvider: true,
  signatureHelpProvider: { triggerCharacters: ['(', ','] },
  definitionProvider: true,
  referencesProvider: true,
  documentHighlightProvider: true,
  renameProvider: { prepareProvider: true },
  documentSymbolProvider: true,
  workspaceSymbolProvider: true,
  foldingRangeProvider: true,
  documentFormattingProvider: true,
  documentRangeFormattingProvider: true,
  inlayHintProvider: true,
  codeActionProvider: { codeActionKinds: ['quickfix', 'source.fixAll'] },
  semanticTokensProvider: { legend: { tokenTypes: [...legendTypes], tokenModifiers }, full: true },
  workspace: { workspaceFolders: { supported: true, changeNotifications: true } },
};

/** How long a text rests before the set is checked again, in milliseconds. */
const restMs = 30;

interface ServerOptions {
  readonly connection: Connection;
  /** Null where the extension that starts it says its own. */
  readonly version: string | null;
}

/** Resolves when the editor has ended it, or is gone. */
export function serveStreams(input: Readable, output: Writable, version: string | null): Promise<void> {
  const [reader, writer] = [new StreamMessageReader(input), new StreamMessageWriter(output)];
  serveLanguage({ connection: createConnection(ProposedFeatures.all, reader, writer), version });
  return new Promise((resolve) => {
    input.on('end', resolve);
    input.on('close', resolve);
  });
}

function serveLanguage({ connection, version }: ServerOptions): void {
  const documents = new TextDocuments(TextDocument);
  const workspace = createOpenSets();
  let canWatch = false;
  let timer: NodeJS.Timeout | undefined;
  /** By the root of each set. */
  const told = new Map<string, Told>();

  const tell = async (): Promise<void> => {
    for (const snapshot of await workspace.snapshots()) {
      const ofSet: Told = told.get(snapshot.root) ?? new Map();
      told.set(snapshot.root, ofSet);
      for (const { file, diagnostics } of newDiagnostics(snapshot, ofSet))
        await connection.sendDiagnostics({ uri: uriOf(snapshot, file), diagnostics: [...diagnostics] });
    }
  };
  const tellSoon = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      tell().catch((error: unknown) =>
        connection.console.error(`the policies were not checked: ${String(error)}`),
      );
    }, restMs);
  };

  connection.onInitialize((asked): InitializeResult => {
    workspace.setFolders(foldersOf(asked), policiesOf(asked.initializationOptions));
    canWatch = asked.capabilities.workspace?.didChangeWatchedFiles?.dynamicRegistration === true;
    return { capabilities, serverInfo: { name: 'writ', ...(version === null ? {} : { version }) } };
  });
  connection.onInitialized(() => {
    if (canWatch) {
      const registerOptions = { watchers: [{ globPattern: '**/*.{policy,txt,csv}' }] };
      const registered = connection.sendRequest('client/registerCapability', {
        registrations: [{ id: 'files', method: 'workspace/didChangeWatchedFiles', registerOptions }],
      });
      // A client that cannot watch so many files says so; what is typed is seen all the same.
      registered.catch((error: unknown) =>
        connection.console.warn(`files are not watched: ${String(error)}`),
      );
    }
    tellSoon();
  });
  documents.onDidChangeContent(({ document }) => {
    workspace.put(document.uri, document.getText());
    tellSoon();
  });
  documents.onDidClose(({ document }) => {
    workspace.put(document.uri, null);
    workspace.forget();
    tellSoon();
  });
  const forget = (): void => {
    workspace.forget();
    tellSoon();
  };
  documents.onDidSave(forget);
  connection.onDidChangeWatchedFiles(forget);

  answerFeatures({ connection, workspace, documents });
  connection.onShutdown(() => clearTimeout(timer));

  documents.listen(connection);
  connection.listen();
}

function foldersOf({ workspaceFolders, rootUri }: InitializeParams): readonly string[] {
  const uris = workspaceFolders?.map(({ uri }) => uri) ?? (rootUri == null ? [] : [rootUri]);
  return uris.flatMap((uri) => pathOf(uri) ?? []);
}

/** `{"policies": "rules"}`: the folder of the policies, from each workspace folder. */
function policiesOf(options: unknown): string | null {
  const given =
    typeof options === 'object' && options !== null && 'policies' in options ? options.policies : null;
  return typeof given === 'string' ? given : null;
}
