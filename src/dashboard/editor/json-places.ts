// JSON as a person types it: its value with the place of each part, or the first fault with its place. Stricter than
// JSON.parse where the service is: a name stands once in an object, and a number has at most 15 significant digits.

export interface TextRange {
  readonly from: number;
  readonly to: number;
}

export interface JsonFault extends TextRange {
  readonly message: string;
}

export type ReadJson =
  | {
      readonly value: unknown;
      /** By JSON pointer; of a member, its value. */
      readonly places: ReadonlyMap<string, TextRange>;
      readonly fault: null;
    }
  | { readonly value: null; readonly places: ReadonlyMap<string, TextRange>; readonly fault: JsonFault };

const depthMax = 32;
const significantMax = 15;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids these within a text.
const stringPattern = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"/y;
const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const wordPattern = /(?:true|false|null)\b/y;

export function readJson(text: string): ReadJson {
  const places = new Map<string, TextRange>();
  let at = 0;

  const fail = (message: string, from = at, to = Math.min(from + 1, text.length)): never => {
    throw new Fault({ message, from, to: Math.max(from, to) });
  };
  const skip = (): void => {
    while (/[ \t\r\n]/.test(text.charAt(at))) at += 1;
  };
  const take = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0] ?? null;
    at += found?.length ?? 0;
    return found;
  };
  const expect = (character: string, message: string): void => {
    skip();
    if (text.charAt(at) !== character) fail(message);
    at += 1;
  };

  function value(pointer: string, depth: number): unknown {
    skip();
    if (depth > depthMax) fail(`it is nested more than ${depthMax} deep`);
    const from = at;
    const read = anyValue(pointer, depth);
    places.set(pointer, { from, to: at });
    return read;
  }

  function anyValue(pointer: string, depth: number): unknown {
    const first = text.charAt(at);
    if (first === '{') return object(pointer, depth);
    if (first === '[') return array(pointer, depth);
    if (first === '"') return string();
    const word = take(wordPattern);
    if (word !== null) return word === 'null' ? null : word === 'true';
    const from = at;
    const number = take(numberPattern);
    if (number === null)
      return fail(at >= text.length ? 'a value is missing at the end' : 'a value is expected here');
    if (/^[\w.]/.test(text.slice(at))) fail('this is no number as JSON writes it', from, at + 1);
    const digits = number
      .replace(/[eE].*$/, '')
      .replace(/[-.]/g, '')
      .replace(/^0+/, '')
      .replace(/0+$/, '');
    if (digits.length > significantMax)
      fail(`a number has at most ${significantMax} significant digits`, from, at);
    return Number(number);
  }

  function string(): string {
    const from = at;
    const found = take(stringPattern);
    // The pattern admits exactly what JSON does.
    if (found !== null) return JSON.parse(found) as string;
    const end = text.indexOf('\n', from);
    return fail('the text is not closed, or holds a bad escape', from, end === -1 ? text.length : end);
  }

  function object(pointer: string, depth: number): unknown {
    const members = new Map<string, unknown>();
    at += 1;
    skip();
    if (text.charAt(at) === '}') {
      at += 1;
      return {};
    }
    for (;;) {
      skip();
      const from = at;
      if (text.charAt(at) !== '"') fail('a name in double quotes is expected here');
      const name = string();
      if (members.has(name)) fail(`\`${name}\` stands here twice`, from, at);
      expect(':', 'a colon is expected here');
      members.set(name, value(`${pointer}/${escapePointer(name)}`, depth + 1));
      skip();
      if (text.charAt(at) === '}') break;
      expect(',', 'a comma or } is expected here');
    }
    at += 1;
    return Object.fromEntries(members);
  }

  function array(pointer: string, depth: number): unknown {
    const items: unknown[] = [];
    at += 1;
    skip();
    if (text.charAt(at) === ']') {
      at += 1;
      return items;
    }
    for (;;) {
      items.push(value(`${pointer}/${items.length}`, depth + 1));
      skip();
      if (text.charAt(at) === ']') break;
      expect(',', 'a comma or ] is expected here');
    }
    at += 1;
    return items;
  }

  try {
    const read = value('', 0);
    skip();
    if (at < text.length) fail('nothing may follow the value', at, text.length);
    return { value: read, places, fault: null };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { value: null, places, fault: error.fault };
  }
}

/** A class because it is thrown, from any depth. */
class Fault extends Error {
  readonly fault: JsonFault;

  constructor(fault: JsonFault) {
    super(fault.message);
    this.fault = fault;
  }
}

function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The place that a pointer names, or of the nearest part around it that is there. */
export function placeOf(places: ReadonlyMap<string, TextRange>, pointer: string): TextRange {
  for (let around = pointer; around !== ''; around = around.slice(0, around.lastIndexOf('/'))) {
    const place = places.get(around);
    if (place !== undefined) return place;
  }
  const root = places.get('');
  return root === undefined ? { from: 0, to: 0 } : { from: root.from, to: Math.min(root.from + 1, root.to) };
}
