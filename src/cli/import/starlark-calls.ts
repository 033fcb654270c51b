// Reads a file of Starlark calls with constant arguments, such as `prefix_rule(pattern = ["git", "push"])`: comments, texts,
// lists and names. INVARIANT: any other construct is an error, so no rule is read as another one.

import { SettingsError } from './host-settings.ts';

export type StarlarkValue = string | boolean | readonly StarlarkValue[];

export interface StarlarkCall {
  readonly name: string;
  readonly args: ReadonlyMap<string, StarlarkValue>;
  /** The call as written, in one line. */
  readonly text: string;
}

interface StarlarkToken {
  readonly kind: 'name' | 'text' | 'sign';
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const tokenPattern =
  /(?<skipped>(?:\s+|#[^\n]*)+)|(?<name>[A-Za-z_]\w*)|(?<text>"(?:[^"\\\n]|\\["\\nt'])*"|'(?:[^'\\\n]|\\["\\nt'])*')|(?<sign>[()[\],=])/y;

/** Returns the calls in order. Throws a SettingsError for anything else. */
export function readCalls(source: string): readonly StarlarkCall[] {
  const reader = { source, tokens: tokensOf(source), at: 0 };
  const calls: StarlarkCall[] = [];
  while (reader.at < reader.tokens.length) calls.push(readCall(reader));
  return calls;
}

function tokensOf(source: string): readonly StarlarkToken[] {
  const tokens: StarlarkToken[] = [];
  for (let at = 0; at < source.length; ) {
    tokenPattern.lastIndex = at;
    const match = tokenPattern.exec(source);
    if (match === null) throw failure(source, at, 'not a constant, a list or a call');
    const { name, text, sign } = match.groups ?? {};
    const end = at + match[0].length;
    if (name !== undefined) tokens.push({ kind: 'name', text: name, start: at, end });
    else if (text !== undefined) tokens.push({ kind: 'text', text: unescaped(text), start: at, end });
    else if (sign !== undefined) tokens.push({ kind: 'sign', text: sign, start: at, end });
    at = end;
  }
  return tokens;
}

function unescaped(text: string): string {
  return text.slice(1, -1).replaceAll(/\\(.)/g, (_, sign: string) => ({ n: '\n', t: '\t' })[sign] ?? sign);
}

interface StarlarkReader {
  readonly source: string;
  readonly tokens: readonly StarlarkToken[];
  at: number;
}

function readCall(reader: StarlarkReader): StarlarkCall {
  const first = reader.tokens[reader.at]!;
  if (first.kind !== 'name') throw failure(reader.source, first.start, 'expected a call');
  reader.at += 1;
  expectSign(reader, '(');
  const args = new Map<string, StarlarkValue>();
  while (!isSign(reader, ')')) {
    const { kind, text, start } = nextToken(reader);
    if (kind !== 'name' || args.has(text))
      throw failure(reader.source, start, 'expected the name of an argument');
    expectSign(reader, '=');
    args.set(text, readValue(reader));
    if (!isSign(reader, ')')) expectSign(reader, ',');
  }
  const { end } = nextToken(reader);
  const text = reader.source.slice(first.start, end).replaceAll(/\s*\n\s*/g, ' ');
  return { name: first.text, args, text };
}

function readValue(reader: StarlarkReader): StarlarkValue {
  const { kind, text, start } = nextToken(reader);
  if (kind === 'text') return text;
  if (kind === 'name' && (text === 'True' || text === 'False')) return text === 'True';
  if (kind !== 'sign' || text !== '[') throw failure(reader.source, start, 'expected a text or a list');
  const values: StarlarkValue[] = [];
  while (!isSign(reader, ']')) {
    values.push(readValue(reader));
    if (!isSign(reader, ']')) expectSign(reader, ',');
  }
  nextToken(reader);
  return values;
}

function isSign({ tokens, at }: StarlarkReader, sign: string): boolean {
  return tokens[at]?.kind === 'sign' && tokens[at].text === sign;
}

function expectSign(reader: StarlarkReader, sign: string): void {
  const { kind, text, start } = nextToken(reader);
  if (kind !== 'sign' || text !== sign) throw failure(reader.source, start, `expected \`${sign}\``);
}

function nextToken(reader: StarlarkReader): StarlarkToken {
  const token = reader.tokens[reader.at];
  if (token === undefined) throw failure(reader.source, reader.source.length, 'the file ends within a call');
  reader.at += 1;
  return token;
}

function failure(source: string, at: number, message: string): SettingsError {
  return new SettingsError(`line ${source.slice(0, at).split('\n').length}: ${message}`);
}
