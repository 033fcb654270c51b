// A client of the language server, which runs as the real command in a process of its own, over standard
// input and output.

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll } from 'vitest';
import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from 'vscode-jsonrpc/node';

// biome-ignore lint/suspicious/noExplicitAny: a test looks into what it got
export type Got = any;

export interface Editor {
  readonly folder: string;
  uri(file: string): string;
  write(file: string, text: string): void;
  /** Opens a file; `|` marks the returned position and is not part of the text. */
  open(file: string, marked: string): Position;
  change(file: string, text: string): void;
  close(file: string): void;
  ask(method: string, params: object): Promise<Got>;
  /** Sends a request about a position in a file. */
  at(method: string, file: string, position: Position, more?: object): Promise<Got>;
  /** The latest diagnostics of a file. */
  diagnostics(file: string): readonly Got[] | undefined;
  notify(method: string, params: object): void;
  readonly capabilities: Got;
  /** Messages that the server had the editor show. */
  readonly messages: readonly string[];
}

export interface Position {
  readonly line: number;
  readonly character: number;
}

const entry = join(import.meta.dirname, '../../src/cli/writ.js');

export async function openEditor(
  files: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string>> = {},
  textDocument: object = {},
): Promise<Editor> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'writ-lsp-')));
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  for (const [file, text] of Object.entries(files)) write(file, text);
  const child = spawn(process.execPath, [entry, 'lsp', '--stdio'], {
    cwd: folder,
    env: { ...process.env, ...environment },
  });
  const connection = createMessageConnection(
    new StreamMessageReader(child.stdout),
    new StreamMessageWriter(child.stdin),
  );
  const said = new Map<string, readonly Got[]>();
  connection.onNotification('textDocument/publishDiagnostics', ({ uri, diagnostics }: Got) => {
    said.set(uri, diagnostics);
  });
  const messages: string[] = [];
  connection.onNotification('window/showMessage', ({ message }: Got) => void messages.push(message));
  // Fails like a client that can watch no more files.
  connection.onRequest('client/registerCapability', () => {
    throw new Error('too many files are watched');
  });
  connection.listen();
  afterAll(async () => {
    await connection.sendRequest('shutdown');
    const ended = new Promise((resolve) => child.on('exit', resolve));
    await connection.sendNotification('exit');
    await ended;
    connection.dispose();
    rmSync(folder, { recursive: true, force: true });
  });
  const uri = (file: string) => pathToFileURL(join(folder, file)).href;
  const { capabilities } = await connection.sendRequest<Got>('initialize', {
    processId: process.pid,
    rootUri: pathToFileURL(folder).href,
    workspaceFolders: [{ uri: pathToFileURL(folder).href, name: 'policies' }],
    capabilities: { workspace: { didChangeWatchedFiles: { dynamicRegistration: true } }, textDocument },
  });
  const notify = (method: string, params: object) => void connection.sendNotification(method, params);
  notify('initialized', {});
  let version = 0;
  return {
    folder,
    uri,
    write,
    capabilities,
    notify,
    open(file, marked) {
      const offset = marked.indexOf('|');
      const text = marked.replace('|', '');
      version += 1;
      notify('textDocument/didOpen', {
        textDocument: { uri: uri(file), languageId: 'writ', version, text },
      });
      const before = marked.slice(0, Math.max(offset, 0)).split('\n');
      return { line: before.length - 1, character: before.at(-1)?.length ?? 0 };
    },
    change(file, text) {
      version += 1;
      notify('textDocument/didChange', {
        textDocument: { uri: uri(file), version },
        contentChanges: [{ text }],
      });
    },
    close: (file) => notify('textDocument/didClose', { textDocument: { uri: uri(file) } }),
    ask: (method, params) => connection.sendRequest(method, params),
    at: (method, file, position, more = {}) =>
      connection.sendRequest(method, { textDocument: { uri: uri(file) }, position, ...more }),
    diagnostics: (file) => said.get(uri(file)),
    messages,
  };
}
