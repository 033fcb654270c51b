// The real servers of the tests: how each is started, the state in which a client finds it, and a call of
// each of its tools.

import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface RealServer {
  readonly kind: 'command';
  readonly command: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
}

export function realServer(name: string, folder: string): RealServer {
  const file = join(
    import.meta.dirname,
    `../../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`,
  );
  const rest = name === 'filesystem' ? [folder] : name === 'everything' ? ['stdio'] : [];
  const environment = { ...inherited(), MEMORY_FILE_PATH: join(folder, 'memory.jsonl') };
  return { kind: 'command', command: [process.execPath, file, ...rest], environment };
}

/** The variables that clients pass on by default, in their order, because a server prints them. */
function inherited(): NodeJS.ProcessEnv {
  const names = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER'];
  return Object.fromEntries(
    names.flatMap((name) => (name in process.env ? [[name, process.env[name]]] : [])),
  );
}

/**
 * Removes all traces of another client's calls, except for a file that is never read, so that its times stay
 * the same.
 */
export function resetState(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (name !== 'kept.txt') rmSync(join(folder, name), { recursive: true });
  }
  if (!existsSync(join(folder, 'kept.txt'))) writeFileSync(join(folder, 'kept.txt'), 'kept');
  writeFileSync(join(folder, 'a.txt'), 'hello\nworld\n');
  writeFileSync(join(folder, 'dot.gif'), Buffer.from('R0lGODlhAQABAAAAACw=', 'base64'));
  mkdirSync(join(folder, 'sub'));
}

/** The text without the time of day that a server adds. */
export function timeless(said: string): string {
  return said.replace(/created at [\d:]+ [AP]M/g, 'created at some time');
}

export type RealCall = readonly [tool: string, given: object];

/** Tools that can only be called as a task of an earlier draft; each client refuses them in its own words. */
export const taskTools: ReadonlySet<string> = new Set(['simulate-research-query']);

/** Calls every other tool at least once, in an order in which each has something to do. */
export function realCalls(name: string, folder: string): readonly RealCall[] {
  const path = (file: string) => join(folder, file);
  const calls: Readonly<Record<string, readonly RealCall[]>> = {
    filesystem: [
      ['list_allowed_directories', {}],
      ['read_text_file', { path: path('a.txt') }],
      ['read_text_file', { path: '/etc/nothing' }],
      ['read_file', { path: path('a.txt'), head: 1 }],
      ['read_media_file', { path: path('dot.gif') }],
      ['read_multiple_files', { paths: [path('a.txt'), path('missing')] }],
      ['write_file', { path: path('b.txt'), content: 'é☕' }],
      ['edit_file', { path: path('b.txt'), edits: [{ oldText: '☕', newText: 'ü' }], dryRun: false }],
      ['create_directory', { path: path('sub/deep') }],
      ['move_file', { source: path('b.txt'), destination: path('sub/deep/c.txt') }],
      ['list_directory', { path: folder }],
      ['list_directory_with_sizes', { path: folder, sortBy: 'name' }],
      ['directory_tree', { path: folder, excludePatterns: [] }],
      ['search_files', { path: folder, pattern: '**/*.txt', excludePatterns: [] }],
      ['get_file_info', { path: path('kept.txt') }],
    ],
    memory: [
      [
        'create_entities',
        {
          entities: ['n', 'm'].map((one) => ({ name: one, entityType: 't', observations: ['é☕'] })),
        },
      ],
      ['create_relations', { relations: [{ from: 'n', to: 'm', relationType: 'knows' }] }],
      ['add_observations', { observations: [{ entityName: 'n', contents: ['second'] }] }],
      ['search_nodes', { query: 'sec' }],
      ['open_nodes', { names: ['m', 'nobody'] }],
      ['delete_observations', { deletions: [{ entityName: 'n', observations: ['second'] }] }],
      ['delete_relations', { relations: [{ from: 'n', to: 'm', relationType: 'knows' }] }],
      ['delete_entities', { entityNames: ['m'] }],
      ['read_graph', {}],
    ],
    everything: [
      ['echo', { message: 'ünï' }],
      ['get-annotated-message', { messageType: 'error', includeImage: true }],
      ['get-env', {}],
      ['get-resource-links', { count: 2 }],
      ['get-resource-reference', { resourceType: 'Text', resourceId: 1 }],
      ['get-structured-content', { location: 'Chicago' }],
      ['get-sum', { a: 0.1, b: 0.2 }],
      ['get-tiny-image', {}],
      ['gzip-file-as-resource', { name: 'a.gz', data: 'data:text/plain,hi', outputType: 'resource' }],
      ['trigger-long-running-operation', { duration: 0.01, steps: 1 }],
      ['toggle-simulated-logging', {}],
      ['toggle-subscriber-updates', {}],
    ],
  };
  return calls[name] ?? [];
}
