// The extension for VS Code: starts the language server that lies beside it, or the one that the settings name.

import { join } from 'node:path';
import { commands, type ExtensionContext, window, workspace } from 'vscode';
import { LanguageClient, type ServerOptions, TransportKind } from 'vscode-languageclient/node';

let client: LanguageClient | null = null;

export async function activate(context: ExtensionContext): Promise<void> {
  client = createClient(context);
  context.subscriptions.push(
    commands.registerCommand('writ.restart', () => client?.restart()),
    commands.registerCommand('writ.check', () => inTerminal('check', '--strict')),
    commands.registerCommand('writ.test', () => inTerminal('test', '--coverage')),
  );
  await client.start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

function createClient(context: ExtensionContext): LanguageClient {
  const settings = workspace.getConfiguration('writ');
  const own = { module: join(context.extensionPath, 'server.mjs'), transport: TransportKind.stdio };
  const [command, ...args] = workspace.isTrusted ? settings.get<readonly string[]>('server', []) : [];
  const server: ServerOptions = command === undefined ? own : { command, args };
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

function policiesFolder(): string {
  return workspace.getConfiguration('writ').get('policies', 'policies');
}

/** By the `writ` of the workspace, so that the result is that of continuous integration. */
function inTerminal(...args: readonly string[]): void {
  const terminal = window.terminals.find(({ name }) => name === 'Writ') ?? window.createTerminal('Writ');
  terminal.show();
  terminal.sendText(['npx', 'writ', ...args, JSON.stringify(policiesFolder())].join(' '));
}
