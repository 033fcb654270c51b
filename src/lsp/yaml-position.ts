// Finds where a place of an unfinished YAML text stands, by indentation and open brackets alone, because text
// that is being typed is seldom valid YAML.

export interface YamlPosition {
  /** Names of keys from the root, with `-` for an item of a list. For a value, its own key comes last. */
  readonly keys: readonly string[];
  /** Whether a key may begin at the place. */
  readonly isKey: boolean;
  /** The typed part of the key or value, and the offset at which it begins. */
  readonly typed: string;
  readonly from: number;
}

export function yamlPositionAt(text: string, offset: number): YamlPosition {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  const before = text.slice(lineStart, offset);
  const line = lineOf(before);
  const above = text.slice(0, lineStart).split('\n').slice(0, -1).map(lineOf);
  const outer = keysAbove(above, line);
  const [, key, rest = ''] = /^("[^"]*"|[^\s:#{[]+):(?:\s+(.*))?$/s.exec(line.content) ?? [];
  if (key === undefined && !/^[{[]/.test(line.content))
    return { keys: outer, isKey: true, typed: line.content, from: offset - line.content.length };
  const keys = key === undefined ? outer : [...outer, unquoted(key)];
  const value = key === undefined ? line.content : rest;
  return inFlow(value, { keys, offset });
}

interface Line {
  /** The columns of the line's dashes. */
  readonly dashes: readonly number[];
  /** The column of the content behind the dashes. */
  readonly column: number;
  readonly content: string;
}

function lineOf(text: string): Line {
  const [lead = ''] = /^\s*(?:-\s+|-$)*/.exec(text) ?? [];
  const dashes = [...lead.matchAll(/-/g)].map(({ index }) => index);
  return { dashes, column: lead.length, content: text.slice(lead.length) };
}

/** The keys and list items that enclose a line. */
function keysAbove(above: readonly Line[], line: Line): readonly string[] {
  const keys: string[] = [];
  let column = line.column;
  const enter = (dashes: readonly number[]): void => {
    for (const dash of dashes.filter((one) => one < column).toReversed()) {
      keys.unshift('-');
      column = dash;
    }
  };
  enter(line.dashes);
  for (const { dashes, column: own, content } of above.toReversed()) {
    if (content === '' && dashes.length === 0) continue;
    if (content.startsWith('#')) continue;
    const [, key] = /^("[^"]*"|[^\s:]+):\s*(?:#.*)?$/.exec(content) ?? [];
    // A list may be indented as little as the key that it belongs to.
    const isOuter = own < column || (own === column && keys[0] === '-' && dashes.length === 0);
    if (key !== undefined && isOuter) {
      keys.unshift(unquoted(key));
      column = own;
    }
    // The first key of an item stands behind its dash.
    if (own <= column || dashes.some((dash) => dash < column)) enter(dashes);
    if (column === 0 && keys[0] !== '-') break;
  }
  return keys;
}

/** Finds the place within a value that may have open brackets. */
function inFlow(
  value: string,
  { keys, offset }: { readonly keys: readonly string[]; readonly offset: number },
): YamlPosition {
  const open: { readonly bracket: string; key: string | null }[] = [];
  let typed = '';
  let quote = '';
  for (const character of value) {
    const top = open.at(-1);
    if (quote !== '') {
      if (character === quote) quote = '';
      else typed += character;
    } else if (character === '"' || character === "'") quote = character;
    else if (character === '{' || character === '[') {
      open.push({ bracket: character, key: null });
      typed = '';
    } else if (character === '}' || character === ']') {
      open.pop();
      typed = '';
    } else if (character === ',' && top !== undefined) {
      top.key = null;
      typed = '';
    } else if (character === ':' && top?.bracket === '{') {
      top.key = typed.trim();
      typed = '';
    } else typed += character;
  }
  const inner = open.flatMap(({ bracket, key }) => (bracket === '[' ? ['-'] : key === null ? [] : [key]));
  const last = open.at(-1);
  const trimmed = typed.trimStart();
  return {
    keys: [...keys, ...inner],
    isKey: last?.bracket === '{' && last.key === null,
    typed: trimmed,
    from: offset - trimmed.length,
  };
}

function unquoted(key: string): string {
  return key.replace(/^"(.*)"$/, '$1');
}
