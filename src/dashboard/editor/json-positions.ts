// Reads JSON as a person types it: returns its value with the place of each part, or the first fault with its
// place. It is stricter than JSON.parse where the service is: a name occurs once in an object, and a number
// has the digits that a double keeps.

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
      /** Places by JSON pointer; the place of a member is the place of its value. */
      readonly positions: ReadonlyMap<string, TextRange>;
      readonly fault: null;
    }
  | { readonly value: null; readonly positions: ReadonlyMap<string, TextRange>; readonly fault: JsonFault };

const depthMax = 32;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids these within a text.
const stringPattern = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"/y;
const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const wordPattern = /(?:true|false|null)\b/y;

export function readJson(text: string): ReadJson {
  const reader = new JsonReader(text);
  try {
    return { value: reader.whole(), positions: reader.positions, fault: null };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { value: null, positions: reader.positions, fault: error.fault };
  }
}

/** A class because all its methods share the position in the text. */
class JsonReader {
  readonly positions = new Map<string, TextRange>();
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): unknown {
    const read = this.#value('', 0);
    this.#skip();
    if (this.#at < this.#text.length) this.#fail('nothing may follow the value', this.#at, this.#text.length);
    return read;
  }

  #value(pointer: string, depth: number): unknown {
    this.#skip();
    if (depth > depthMax) this.#fail(`it is nested more than ${depthMax} deep`);
    const from = this.#at;
    const read = this.#anyValue(pointer, depth);
    this.positions.set(pointer, { from, to: this.#at });
    return read;
  }

  #anyValue(pointer: string, depth: number): unknown {
    const first = this.#here();
    if (first === '{') return this.#object(pointer, depth);
    if (first === '[') return this.#array(pointer, depth);
    if (first === '"') return this.#string();
    const word = this.#take(wordPattern);
    if (word !== null) return word === 'null' ? null : word === 'true';
    return this.#number();
  }

  #number(): number {
    const from = this.#at;
    const number = this.#take(numberPattern);
    if (number === null) {
      const isAtEnd = this.#at >= this.#text.length;
      return this.#fail(isAtEnd ? 'a value is missing at the end' : 'a value is expected here');
    }
    if (/^[\w.]/.test(this.#text.slice(this.#at)))
      this.#fail('this is not a JSON number', from, this.#at + 1);
    if (significantDigits(number) !== significantDigits(String(Number(number))))
      this.#fail('a double cannot represent this number: use fewer digits, or a string', from, this.#at);
    return Number(number);
  }

  #string(): string {
    const from = this.#at;
    const literal = this.#take(stringPattern);
    // The pattern matches exactly the strings of JSON.
    if (literal !== null) return JSON.parse(literal) as string;
    const end = this.#text.indexOf('\n', from);
    return this.#fail(
      'the string is not closed, or has an invalid escape',
      from,
      end === -1 ? this.#text.length : end,
    );
  }

  #object(pointer: string, depth: number): unknown {
    const members = new Map<string, unknown>();
    this.#at += 1;
    this.#skip();
    if (this.#here() === '}') {
      this.#at += 1;
      return {};
    }
    for (;;) {
      this.#skip();
      const from = this.#at;
      if (this.#here() !== '"') this.#fail('a name in double quotes is expected here');
      const name = this.#string();
      if (members.has(name)) this.#fail(`\`${name}\` is written twice`, from, this.#at);
      this.#expect(':', 'a colon is expected here');
      members.set(name, this.#value(`${pointer}/${escapePointer(name)}`, depth + 1));
      this.#skip();
      if (this.#here() === '}') break;
      this.#expect(',', 'a comma or } is expected here');
    }
    this.#at += 1;
    return Object.fromEntries(members);
  }

  #array(pointer: string, depth: number): unknown {
    const items: unknown[] = [];
    this.#at += 1;
    this.#skip();
    if (this.#here() === ']') {
      this.#at += 1;
      return items;
    }
    for (;;) {
      items.push(this.#value(`${pointer}/${items.length}`, depth + 1));
      this.#skip();
      if (this.#here() === ']') break;
      this.#expect(',', 'a comma or ] is expected here');
    }
    this.#at += 1;
    return items;
  }

  #here(): string {
    return this.#text.charAt(this.#at);
  }

  #skip(): void {
    while (/[ \t\r\n]/.test(this.#here())) this.#at += 1;
  }

  #take(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const token = pattern.exec(this.#text)?.[0] ?? null;
    this.#at += token?.length ?? 0;
    return token;
  }

  #expect(character: string, message: string): void {
    this.#skip();
    if (this.#here() !== character) this.#fail(message);
    this.#at += 1;
  }

  #fail(message: string, from = this.#at, to = Math.min(from + 1, this.#text.length)): never {
    throw new Fault({ message, from, to: Math.max(from, to) });
  }
}

/** The digits without sign, point, exponent, and zeros at either end. */
function significantDigits(number: string): string {
  const digits = number.split(/[eE]/, 1)[0]!.replace(/[-.]/g, '');
  let [first, last] = [0, digits.length];
  while (first < last && digits[first] === '0') first += 1;
  while (last > first && digits[last - 1] === '0') last -= 1;
  return digits.slice(first, last);
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

/**
 * The place that a pointer names. If there is none, the place of the nearest enclosing part; for the root,
 * only its first character.
 */
export function rangeAtPointer(positions: ReadonlyMap<string, TextRange>, pointer: string): TextRange {
  for (let ancestor = pointer; ancestor !== ''; ancestor = ancestor.slice(0, ancestor.lastIndexOf('/'))) {
    const position = positions.get(ancestor);
    if (position !== undefined) return position;
  }
  const root = positions.get('');
  return root === undefined ? { from: 0, to: 0 } : { from: root.from, to: Math.min(root.from + 1, root.to) };
}
