// Where each client keeps the servers of a project, and the text of its configuration with the author server.
// INVARIANT: whatever else the configuration holds keeps its text; a text that is not understood is not changed.

import { isJsonObject, type JsonObject } from '../../language/model/json.ts';
import { UsageError } from '../output/output.ts';
import { changeConfiguration } from '../support/configuration-file.ts';

export const clientNames = ['claude-code', 'cursor', 'vscode', 'codex'] as const;
export type ClientName = (typeof clientNames)[number];

export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
}

export interface AuthorClient {
  readonly name: string;
  /** The configuration of a project. */
  readonly path: string;
  /** How the client names the project's folder; it starts servers there, or replaces this text. */
  readonly project: string;
  /** The folder in which it looks for skills. */
  readonly skills: string;
  /** The configuration with the server, and the part of it that is about the server. */
  readonly add: (before: string | null, server: ServerCommand, file: string) => ChangedConfiguration;
  /** What a person does next. */
  readonly next: string;
}

export interface ChangedConfiguration {
  readonly text: string;
  readonly entry: string;
}

const serverName = 'writ';

export const authorClients: Readonly<Record<ClientName, AuthorClient>> = {
  'claude-code': {
    name: 'Claude Code',
    path: '.mcp.json',
    project: '.',
    skills: '.claude/skills',
    add: addTo('mcpServers'),
    next: 'Start Claude Code in this folder, and approve the server `writ` when it asks.',
  },
  cursor: {
    name: 'Cursor',
    path: '.cursor/mcp.json',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the client replaces it
    project: '${workspaceFolder}',
    skills: '.agents/skills',
    add: addTo('mcpServers'),
    next: 'Open this folder in Cursor, and switch on the server `writ` in the settings under MCP.',
  },
  vscode: {
    name: 'VS Code',
    path: '.vscode/mcp.json',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the client replaces it
    project: '${workspaceFolder}',
    skills: '.agents/skills',
    add: addTo('servers'),
    next: 'Open this folder in VS Code, start the server `writ` in `.vscode/mcp.json`, and trust it when VS Code asks.',
  },
  codex: {
    name: 'Codex',
    path: '.codex/config.toml',
    project: '.',
    skills: '.agents/skills',
    add: addToToml,
    next: 'Start `codex` in this folder. It reads the file only in a project that you trust.',
  },
};

function addTo(section: 'mcpServers' | 'servers'): AuthorClient['add'] {
  return (before, server, file) => {
    let entry: JsonObject = {};
    const text = changeConfiguration(file, before, (whole) => {
      const servers = whole[section] ?? {};
      if (!isJsonObject(servers)) throw new UsageError(`${file}: \`${section}\` is not an object`);
      const own = servers[serverName];
      entry = { ...(isJsonObject(own) ? own : {}), type: 'stdio', ...server, args: [...server.args] };
      return { ...whole, [section]: { ...servers, [serverName]: entry } };
    });
    return { text, entry: `${JSON.stringify({ [section]: { [serverName]: entry } }, null, 2)}\n` };
  };
}

/** Codex keeps a table for each server. An existing table of the server keeps its other lines. */
function addToToml(
  before: string | null,
  { command, args }: ServerCommand,
  file: string,
): ChangedConfiguration {
  const header = `[mcp_servers.${serverName}]`;
  // Texts of JSON are texts of TOML.
  const lines = [
    `command = ${JSON.stringify(command)}`,
    `args = [${args.map((one) => JSON.stringify(one)).join(', ')}]`,
  ];
  const entry = `${[header, ...lines].join('\n')}\n`;
  const text = before ?? '';
  const refuse = (): never => {
    throw new UsageError(
      `${file} is unchanged, because it names MCP servers in a way that is not understood: add this by hand\n${entry}`,
    );
  };
  const rows = text.split('\n');
  const at = rows.findIndex((row) => /^\s*\[\s*mcp_servers\s*\.\s*["']?writ["']?\s*\]/.test(row));
  if (at === -1) {
    // A table that is written inside of another one cannot be extended by a header.
    if (/^\s*(mcp_servers\s*[.=]|\[\s*mcp_servers\s*\])/m.test(text)) refuse();
    const gap = text === '' || text.endsWith('\n\n') ? '' : text.endsWith('\n') ? '\n' : '\n\n';
    return { text: `${text}${gap}${entry}`, entry };
  }
  const next = rows.slice(at + 1).findIndex((row) => /^\s*\[/.test(row));
  const end = next === -1 ? rows.length : at + 1 + next;
  const own = rows.slice(at + 1, end);
  const isOurs = (row: string): boolean => /^\s*(command|args)\s*=/.test(row);
  const isWhole = (row: string): boolean => /=\s*("[^"\\]*"|'[^']*'|\[.*\])\s*(#.*)?$/.test(row);
  if (/"""|'''/.test(text) || own.some((row) => isOurs(row) && !isWhole(row))) refuse();
  const kept = own.filter((row) => !isOurs(row));
  return { text: [...rows.slice(0, at + 1), ...lines, ...kept, ...rows.slice(end)].join('\n'), entry };
}
