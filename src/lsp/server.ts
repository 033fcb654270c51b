// `writ lsp`: the language server. It answers each request from one snapshot of the policy set. An error ends
// only the request in which it happens.

import type { Readable, Writable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import {
  CodeLensRefreshRequest,
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
import { answerCodeActions } from './code-actions.ts';
import { legendTypes, tokenModifiers } from './colours.ts';
import { answerLenses } from './command-answers.ts';
import { configDiagnostics, isConfigFile } from './config-file.ts';
import { createDiagnosticsPublisher } from './diagnostics-publisher.ts';
import { answerFeatures } from './features.ts';
import { commandNames } from './lenses.ts';
import { type PolicyService, serviceOf } from './service.ts';
import { createOpenSets, pathOf } from './set/workspace.ts';
import { createSlowAnswers } from './slow-answers.ts';

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
  codeLensProvider: { resolveProvider: true },
  executeCommandProvider: { commands: Object.values(commandNames) },
  codeActionProvider: { codeActionKinds: ['quickfix', 'source.fixAll'], resolveProvider: true },
  semanticTokensProvider: { legend: { tokenTypes: [...legendTypes], tokenModifiers }, full: true },
  workspace: { workspaceFolders: { supported: true, changeNotifications: true } },
};

interface ServerOptions {
  readonly connection: Connection;
  /** The version that the server reports; null when the extension that starts the server has its own. */
  readonly version: string | null;
}

/**
 * Serves one editor. Resolves when the editor has ended the server or is gone. The process must belong to the
 * server alone.
 */
export function serveStreams(input: Readable, output: Writable, version: string | null): Promise<void> {
  keepYoungHeapSmall();
  const [reader, writer] = [new StreamMessageReader(input), new StreamMessageWriter(output)];
  serveLanguage({ connection: createConnection(ProposedFeatures.all, reader, writer), version });
  return new Promise((resolve) => {
    input.on('end', resolve);
    input.on('close', resolve);
  });
}

/**
 * Stops the space for young objects from growing. A growing space takes 100 MB of a large set's 550 MB and
 * saves no time, because most objects made while a set is read stay in use.
 */
function keepYoungHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

function serveLanguage({ connection, version }: ServerOptions): void {
  const documents = new TextDocuments(TextDocument);
  const workspace = createOpenSets();
  const slow = createSlowAnswers();
  const telling = createDiagnosticsPublisher({ connection, workspace, documents, slow });
  let [canWatch, canRefresh, canResolve] = [false, false, false];
  let service: PolicyService | null = null;

  connection.onInitialize((params): InitializeResult => {
    const folders = foldersOf(params);
    workspace.setFolders(folders, policiesOf(params.initializationOptions));
    service = serviceOf(folders, process.env);
    canWatch = params.capabilities.workspace?.didChangeWatchedFiles?.dynamicRegistration === true;
    canRefresh = params.capabilities.workspace?.codeLens?.refreshSupport === true;
    const { resolveSupport } = params.capabilities.textDocument?.codeAction ?? {};
    canResolve = resolveSupport?.properties.includes('edit') === true;
    return { capabilities, serverInfo: { name: 'writ', ...(version === null ? {} : { version }) } };
  });
  connection.onInitialized(() => {
    if (canWatch) watchFiles(connection);
    telling.soon();
  });
  documents.onDidChangeContent(({ document }) => {
    if (isConfigFile(document.uri)) {
      const diagnostics = [...configDiagnostics(document)];
      void connection.sendDiagnostics({ uri: document.uri, diagnostics });
      return;
    }
    workspace.put(document.uri, document.getText());
    telling.soon();
  });
  const forget = (): void => {
    workspace.forget();
    telling.soon();
  };
  documents.onDidClose(({ document }) => {
    if (isConfigFile(document.uri)) void connection.sendDiagnostics({ uri: document.uri, diagnostics: [] });
    workspace.put(document.uri, null);
    forget();
  });
  documents.onDidSave(forget);
  connection.onDidChangeWatchedFiles(forget);

  const answering = { connection, workspace, documents, slow, telling, service: () => service };
  const refreshLenses = (): void => {
    if (canRefresh) connection.sendRequest(CodeLensRefreshRequest.type).catch(() => undefined);
  };
  answerFeatures(answering);
  answerCodeActions({ ...answering, canResolve: () => canResolve });
  answerLenses({ ...answering, refreshLenses });
  connection.onShutdown(async () => {
    telling.close();
    await slow.close();
  });

  documents.listen(connection);
  connection.listen();
}

/** A client that cannot watch as many files reports that. The server sees typed text all the same. */
function watchFiles(connection: Connection): void {
  const registerOptions = { watchers: [{ globPattern: '**/*.{policy,txt,csv,jsonl,test.yaml}' }] };
  const registered = connection.sendRequest('client/registerCapability', {
    registrations: [{ id: 'files', method: 'workspace/didChangeWatchedFiles', registerOptions }],
  });
  registered.catch((error: unknown) => connection.console.warn(`cannot watch files: ${String(error)}`));
}

function foldersOf({ workspaceFolders, rootUri }: InitializeParams): readonly string[] {
  const uris = workspaceFolders?.map(({ uri }) => uri) ?? (rootUri == null ? [] : [rootUri]);
  return uris.flatMap((uri) => pathOf(uri) ?? []);
}

/**
 * Reads options such as `{"policies": "rules"}`: the folder of the policies, relative to each workspace
 * folder.
 */
function policiesOf(options: unknown): string | null {
  const given =
    typeof options === 'object' && options !== null && 'policies' in options ? options.policies : null;
  return typeof given === 'string' ? given : null;
}
