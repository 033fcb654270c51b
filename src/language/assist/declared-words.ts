// The names that a policy may use: those of the active policies, and those that the edited texts declare in
// addition.

import { piecesOf } from './policy-words.ts';
import type { ActionWords, NameKind, PlaceName, TableWords, Vocabulary } from './vocabulary.ts';

/** The names that each declaring word adds to: `list` adds to `lists` of the vocabulary. */
export const nameKinds = {
  list: 'lists',
  table: 'tables',
  meter: 'meters',
  let: 'lets',
  hours: 'hours',
  group: 'groups',
  approvers: 'approvers',
  policy: 'policies',
  type: 'types',
  guarantee: 'guarantees',
} as const satisfies Readonly<Record<string, NameKind>>;

const declaration =
  /^(?:shadow\s+)?(list|table|meter|let|hours|group|approvers|policy|type|guarantee)\s+([a-z]\w*)/;
const actionHead = /^action\s+([^{]*?)(?:\s+in\s+([\w, ]+?))?\s*\{/;
const tableHead = /^table\s+([a-z]\w*)\b[^{=]*\{/;
const placeName = /^let\s+([a-z]\w*)\s*=\s*(?:(payload(?:\.(?:\w+|"[^"]*"))+)|([a-z]\w*)\[.*\])\s*(?:#.*)?$/;
const field = /^\s*("(?:[^"\\]|\\.)*"|\w+)(\?)?:\s*(.+?),?\s*(?:#.*)?$/;

/**
 * Returns the vocabulary with everything that a text declares at the start of its lines. An action or a table in
 * the text replaces that of the same key or name in the vocabulary.
 */
export function withDeclared(vocabulary: Vocabulary, text: string): Vocabulary {
  const names: Record<NameKind, readonly string[]> = { ...vocabulary.names };
  const actions = new Map(vocabulary.actions.map((action) => [action.key, action]));
  const tables = new Map(vocabulary.tables.map((table) => [table.name, table]));
  const places = new Map(vocabulary.places.map((place) => [place.name, place]));
  const lines = text.split('\n');
  for (const [index, line] of lines.entries()) {
    const [, word = '', name = ''] = declaration.exec(line) ?? [];
    const kind = Object.hasOwn(nameKinds, word) ? nameKinds[word as keyof typeof nameKinds] : undefined;
    if (kind !== undefined && !names[kind].includes(name)) names[kind] = [...names[kind], name].toSorted();
    if (word === 'let') {
      const place = declaredNameIn(line);
      if (place === null) places.delete(name);
      else places.set(name, place);
    }
    if (word !== 'table' && !line.startsWith('action ')) continue;
    const declared = lines.slice(index, index + fieldLinesMax);
    for (const action of actionsOf(declared)) actions.set(action.key, action);
    const table = tableOf(declared);
    if (table !== null) tables.set(table.name, table);
  }
  return {
    ...vocabulary,
    names,
    actions: [...actions.values()],
    tables: [...tables.values()],
    places: [...places.values()],
  };
}

function declaredNameIn(line: string): PlaceName | null {
  const [, name = '', path, table] = placeName.exec(line) ?? [];
  if (path !== undefined) return { kind: 'record', name, of: path };
  return table === undefined ? null : { kind: 'row', name, of: table };
}

const fieldLinesMax = 200;

/** Returns the actions of the declaration that begins on the first line. */
function actionsOf(lines: readonly string[]): readonly ActionWords[] {
  const [, keys, groups = ''] = actionHead.exec(lines[0] ?? '') ?? [];
  if (keys === undefined) return [];
  const fields = fieldsOf(lines).map(({ path, type }) => ({ path: `payload.${path}`, type }));
  const groupNames = groups.split(',').map((name) => name.trim());
  return keys
    .split(',')
    .map((key) => ({ key: key.trim(), groups: groupNames.filter((name) => name !== ''), fields }));
}

/** Returns the table of the declaration that begins on the first line; null when its rows have no columns. */
function tableOf(lines: readonly string[]): TableWords | null {
  const [, name] = tableHead.exec(lines[0] ?? '') ?? [];
  return name === undefined ? null : { name, columns: fieldsOf(lines) };
}

/** Returns the fields between the braces that begin on the first line. */
function fieldsOf(lines: readonly string[]): TableWords['columns'] {
  const fields: { path: string; type: string }[] = [];
  let depth = 0;
  for (const [index, one] of lines.entries()) {
    const start = depth;
    for (const { kind, text } of piecesOf(one))
      if (kind === 'sign') depth += text === '{' ? 1 : text === '}' ? -1 : 0;
    const inner =
      index === 0 ? one.slice(one.indexOf('{') + 1).replace(/\}\s*$/, '') : start === 1 ? one : '';
    const parts = index === 0 ? inner.split(',') : [inner];
    for (const part of parts) {
      const [, name, optional, type] = field.exec(part) ?? [];
      if (name !== undefined && type !== undefined)
        fields.push({ path: name, type: `${type}${optional === undefined ? '' : ' (may be absent)'}` });
    }
    if (depth === 0) break;
  }
  return fields;
}

/** Whether a pattern matches an action: a key, a group, `*`, `area.*` or `*.verb`. */
export function isPatternOf(pattern: string, { key, groups }: Pick<ActionWords, 'key' | 'groups'>): boolean {
  if (pattern === '*' || pattern === key || groups.includes(pattern)) return true;
  if (pattern.endsWith('.*')) return key.startsWith(pattern.slice(0, -1));
  return pattern.startsWith('*.') && key.endsWith(pattern.slice(1));
}
