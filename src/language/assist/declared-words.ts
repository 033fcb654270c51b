// The names that a policy may use: those of the active policies, and those that the edited texts declare in
// addition.

import { piecesOf } from './policy-words.ts';
import type { ActionWords, NameKind, Vocabulary } from './vocabulary.ts';

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
const field = /^\s*("(?:[^"\\]|\\.)*"|\w+)(\?)?:\s*(.+?),?\s*(?:#.*)?$/;

/**
 * Returns the vocabulary with everything that a text declares at the start of its lines. An action in the
 * text replaces the action of the same key in the vocabulary.
 */
export function withDeclared(vocabulary: Vocabulary, text: string): Vocabulary {
  const names: Record<NameKind, readonly string[]> = { ...vocabulary.names };
  const actions = new Map(vocabulary.actions.map((action) => [action.key, action]));
  const lines = text.split('\n');
  for (const [index, line] of lines.entries()) {
    const [, word = '', name = ''] = declaration.exec(line) ?? [];
    const kind = Object.hasOwn(nameKinds, word) ? nameKinds[word as keyof typeof nameKinds] : undefined;
    if (kind !== undefined && !names[kind].includes(name)) names[kind] = [...names[kind], name].toSorted();
    if (line.startsWith('action '))
      for (const action of actionsOf(lines.slice(index, index + fieldLinesMax)))
        actions.set(action.key, action);
  }
  return { ...vocabulary, names, actions: [...actions.values()] };
}

const fieldLinesMax = 200;

/** Returns the actions of the declaration that begins on the first line. */
function actionsOf(lines: readonly string[]): readonly ActionWords[] {
  const [, keys, groups = ''] = actionHead.exec(lines[0] ?? '') ?? [];
  if (keys === undefined) return [];
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
        fields.push({
          path: `payload.${name}`,
          type: `${type}${optional === undefined ? '' : ' (may be absent)'}`,
        });
    }
    if (depth === 0) break;
  }
  const groupNames = groups.split(',').map((name) => name.trim());
  return keys
    .split(',')
    .map((key) => ({ key: key.trim(), groups: groupNames.filter((name) => name !== ''), fields }));
}

/** Whether a pattern matches an action: a key, a group, `*`, `area.*` or `*.verb`. */
export function isPatternOf(pattern: string, { key, groups }: Pick<ActionWords, 'key' | 'groups'>): boolean {
  if (pattern === '*' || pattern === key || groups.includes(pattern)) return true;
  if (pattern.endsWith('.*')) return key.startsWith(pattern.slice(0, -1));
  return pattern.startsWith('*.') && key.endsWith(pattern.slice(1));
}
