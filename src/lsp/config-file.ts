// `writ.yaml` in an editor: the problems that `writ config` would report, the settings that exist, and what
// each takes.

import { dirname } from 'node:path';
import {
  type CompletionItem,
  CompletionItemKind,
  DiagnosticSeverity,
  type Hover,
  type Position,
  type Diagnostic as Shown,
} from 'vscode-languageserver';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import type { Span } from '../language/diagnostic/span.ts';
import { loadConfig } from '../service/settings/load.ts';
import {
  environmentVariableOf,
  flagOf,
  type Setting,
  type SettingName,
  settings,
} from '../service/settings/table.ts';
import { type LocatedMap, readYaml } from '../testing/yaml.ts';
import { rangeOf } from './set/positions.ts';
import { pathOf } from './set/workspace.ts';
import { yamlPositionAt } from './yaml-position.ts';

export function isConfigFile(uri: string): boolean {
  return uri.endsWith('/writ.yaml');
}

/**
 * A diagnostic for each problem, at the key that it names. Problems of the environment are left out, because
 * the file cannot solve them.
 */
export function configDiagnostics(document: TextDocument): readonly Shown[] {
  const path = pathOf(document.uri);
  if (path === null) return [];
  const sources = { directory: dirname(path), file: path, text: document.getText(), flags: {} };
  const loaded = loadConfig({ ...sources, environment: process.env });
  if (loaded.ok) return [];
  const keys = keysOf(document);
  return loaded.problems
    .filter((problem) => !/^unknown environment variable |\(from WRIT_/.test(problem))
    .map((problem): Shown => {
      const message = problem.startsWith(`${path}: `) ? problem.slice(path.length + 2) : problem;
      const named = keys
        .filter(({ name }) => names(message, name))
        .toSorted((a, b) => b.name.length - a.name.length);
      const span = named[0]?.span ?? {
        file: '',
        start: 0,
        end: document.getText().split('\n', 1)[0]?.length ?? 0,
      };
      return { range: rangeOf(document, span), severity: DiagnosticSeverity.Error, source: 'writ', message };
    });
}

function names(message: string, name: string): boolean {
  return message.split(/[\s`:]+/).includes(name);
}

interface Key {
  /** The key in dotted form, as settings are named. */
  readonly name: string;
  readonly span: Span;
}

function keysOf(document: TextDocument): readonly Key[] {
  const root = readYaml({ path: document.uri, text: document.getText() }, () => undefined);
  return root?.kind === 'map' ? keysIn(root, '') : [];
}

function keysIn({ entries }: LocatedMap, prefix: string): readonly Key[] {
  return entries.flatMap(({ key, keySpan, value }) => {
    const name = `${prefix}${key}`;
    return [{ name, span: keySpan }, ...(value.kind === 'map' ? keysIn(value, `${name}.`) : [])];
  });
}

/** Offers keys at the start of a key, and values for a setting that takes one of a few. */
export function configCompletions(document: TextDocument, position: Position): readonly CompletionItem[] {
  const { keys, isKey } = yamlPositionAt(document.getText(), document.offsetAt(position));
  const path = keys.join('.');
  if (isKey) return keyOffers(path === '' ? '' : `${path}.`);
  if (!isSetting(path)) return [];
  return valuesOf(path).map((label) => ({ label, kind: CompletionItemKind.Value }));
}

function keyOffers(prefix: string): readonly CompletionItem[] {
  return settingNames
    .filter((name) => name.startsWith(prefix))
    .map((name) => ({
      label: name.slice(prefix.length),
      kind: CompletionItemKind.Property,
      detail: takenText(name),
      insertText: `${name.slice(prefix.length)}: `,
    }));
}

const settingNames = Object.keys(settings).filter(isSetting);

function isSetting(name: string): name is SettingName {
  return Object.hasOwn(settings, name);
}

function valuesOf(name: SettingName): readonly string[] {
  const { kind }: Setting = settings[name];
  if (kind.is === 'choice') return kind.of;
  return kind.is === 'boolean' ? ['true', 'false'] : [];
}

/** What a setting takes, its default, and where else it can be set. Null when the place is no setting. */
export function configHover(document: TextDocument, position: Position): Hover | null {
  const offset = document.offsetAt(position);
  const key = keysOf(document).find(({ span }) => span.start <= offset && offset <= span.end);
  if (key === undefined || !isSetting(key.name)) return null;
  const value = `\`${key.name}\`: ${takenText(key.name)}\n\nAlso \`${environmentVariableOf(key.name)}\` and \`${flagOf(key.name)}\``;
  return { contents: { kind: 'markdown', value }, range: rangeOf(document, key.span) };
}

function takenText(name: SettingName): string {
  const { kind, default: unset }: Setting = settings[name];
  const taken =
    kind.is === 'integer'
      ? `whole number from ${kind.from} to ${kind.to}`
      : kind.is === 'choice'
        ? kind.of.join(' | ')
        : kind.is;
  return unset === null || unset === '' ? taken : `${taken} (default ${String(unset)})`;
}
