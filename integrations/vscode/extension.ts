// The extension for VS Code: starts the language server that is shipped with the extension, or the command
// that the settings name.

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import {
  commands,
  DebugAdapterExecutable,
  type DebugConfiguration,
  debug,
  type ExtensionContext,
  Location,
  Range,
  TestMessage,
  tests,
  ViewColumn,
  window,
  workspace,
} from 'vscode';
import { LanguageClient, type ServerOptions, TransportKind } from 'vscode-languageclient/node';
import { showPlayground } from './playground-view.ts';
import { showTests } from './testing-view.ts';

let client: LanguageClient | null = null;

export async function activate(context: ExtensionContext): Promise<void> {
  client = createClient(context);
  context.subscriptions.push(
    debug.registerDebugAdapterDescriptorFactory('writ', {
      createDebugAdapterDescriptor: () => debuggerOf(context),
    }),
    debug.registerDebugConfigurationProvider('writ', {
      // Without a launch.json the configuration has no type.
      resolveDebugConfiguration: (_folder, given) => (given.type === undefined ? launchHere() : given),
    }),
    commands.registerCommand('writ.debug', debugHere),
    commands.registerCommand('writ.playground', openPlayground),
    commands.registerCommand('writ.restart', () => client?.restart()),
    commands.registerCommand('writ.check', () => inTerminal('check', '--strict')),
    commands.registerCommand('writ.test', () => inTerminal('test', '--coverage')),
  );
  await client.start();
  const view = viewTests(context);
  context.subscriptions.push(workspace.onDidSaveTextDocument(() => void view.refresh()));
  await view.refresh();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

function createClient(context: ExtensionContext): LanguageClient {
  const settings = workspace.getConfiguration('writ');
  const options = { module: join(context.extensionPath, 'server.mjs'), transport: TransportKind.stdio };
  const [command, ...args] = workspace.isTrusted ? settings.get<readonly string[]>('server', []) : [];
  const server: ServerOptions = command === undefined ? options : { command, args };
  return new LanguageClient('writ', 'Writ', server, {
    documentSelector: [
      { scheme: 'file', language: 'writ' },
      { scheme: 'file', pattern: '**/*.test.yaml' },
      { scheme: 'file', pattern: '**/writ.yaml' },
    ],
    initializationOptions: { policies: policiesFolder() },
    synchronize: { fileEvents: workspace.createFileSystemWatcher('**/*.{policy,txt,csv,jsonl,test.yaml}') },
  });
}

/**
 * Returns the debugger that is shipped with the extension, or that of the `writ` command that the settings
 * name.
 */
function debuggerOf(context: ExtensionContext): DebugAdapterExecutable {
  const named = workspace.isTrusted
    ? workspace.getConfiguration('writ').get<readonly string[]>('server', [])
    : [];
  const [command, ...args] = named.map((word, at) =>
    at === named.length - 1 && word === 'lsp' ? 'dap' : word,
  );
  return command === undefined
    ? new DebugAdapterExecutable(process.execPath, [join(context.extensionPath, 'debugger.mjs')], {
        env: { ELECTRON_RUN_AS_NODE: '1' },
      })
    : new DebugAdapterExecutable(command, args);
}

/**
 * Returns a configuration that decides the test case at the cursor, or the request in the JSON file in the
 * editor; undefined for other files.
 */
function launchHere(): DebugConfiguration | undefined {
  const editor = window.activeTextEditor;
  const launch = { type: 'writ', request: 'launch', cwd: workspace.workspaceFolders?.[0]?.uri.fsPath };
  const path = editor?.document.uri.fsPath ?? '';
  if (editor !== undefined && path.endsWith('.test.yaml')) {
    const line = editor.selection.active.line + 1;
    return { ...launch, name: 'Decide the case at the cursor', test: path, line };
  }
  if (!path.endsWith('.json')) return undefined;
  return { ...launch, name: 'Decide this request', decide: path, policies: policiesFolder() };
}

async function debugHere(): Promise<void> {
  const launch = launchHere();
  if (launch === undefined)
    return void window.showInformationMessage(
      'Open a test file, with the cursor in a case, or a request in a JSON file.',
    );
  await debug.startDebugging(workspace.workspaceFolders?.[0], launch);
}

/** Shows cases and claims in the Testing view; the language server runs them. */
function viewTests(context: ExtensionContext): ReturnType<typeof showTests> {
  const controller = tests.createTestController('writ', 'Writ');
  context.subscriptions.push(controller);
  return showTests({
    controller,
    ask: (command, ...args) => commands.executeCommand(command, ...args),
    findFiles: (ending) => workspace.findFiles(`**/*${ending}`, '**/node_modules/**'),
    messageOf: (text, item) => {
      const message = new TestMessage(text);
      if (item.uri !== undefined && item.range !== undefined)
        message.location = new Location(item.uri, item.range);
      return message;
    },
    setLine: (item, line) => {
      item.range = new Range(line, 0, line, 0);
    },
  });
}

/** Opens the playground for the policy file in the editor, or for the first policy file of the workspace. */
async function openPlayground(): Promise<void> {
  const written = window.activeTextEditor?.document.uri;
  const [first] = await workspace.findFiles('**/*.policy', '**/node_modules/**', 1);
  const policy = written?.path.endsWith('.policy') === true ? written : first;
  if (policy === undefined) return void window.showInformationMessage('There is no policy file yet.');
  const panel = window.createWebviewPanel('writ.playground', 'Try a request', ViewColumn.Beside, {
    enableScripts: true,
    localResourceRoots: [],
  });
  showPlayground({
    webview: panel.webview,
    nonce: randomUUID(),
    decide: (request) => commands.executeCommand('writ.tryRequest', policy.toString(), request),
    openLine: (file, line) => void openLine(file, line),
  });
}

async function openLine(file: string, line: number): Promise<void> {
  const [uri] = await workspace.findFiles(`**/${file}`, '**/node_modules/**', 1);
  if (uri === undefined) return;
  const at = new Range(line - 1, 0, line - 1, 0);
  await window.showTextDocument(uri, { selection: at, viewColumn: ViewColumn.One });
}

function policiesFolder(): string {
  return workspace.getConfiguration('writ').get('policies', 'policies');
}

/**
 * Runs the `writ` of the workspace in a terminal, so that the result is the same as in continuous
 * integration.
 */
function inTerminal(...args: readonly string[]): void {
  const terminal = window.terminals.find(({ name }) => name === 'Writ') ?? window.createTerminal('Writ');
  terminal.show();
  terminal.sendText(['npx', '--no', 'writ', ...args, JSON.stringify(policiesFolder())].join(' '));
}
