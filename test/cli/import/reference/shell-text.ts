// Cuts a shell line as the documentation of coding agents describes it: at operators and line breaks outside of quotes.
// Independent of the reader of shell lines in `src`.

export interface CutLine {
  /** The commands as text, also those within substitutions and parentheses. */
  readonly segments: readonly string[];
  readonly hasSubstitution: boolean;
  readonly hasRedirection: boolean;
  /** Whether the line has variables, globs, braces, parentheses, background jobs or open quotes. */
  readonly hasOther: boolean;
}

export function cutLine(line: string): CutLine {
  const segments: string[] = [];
  let [text, quote] = ['', ''];
  let [hasSubstitution, hasRedirection, hasOther] = [false, false, false];
  const end = (): void => {
    if (text.trim() !== '') segments.push(text.trim());
    text = '';
  };
  for (let at = 0; at < line.length; at += 1) {
    const [sign, two] = [line[at]!, line.slice(at, at + 2)];
    if (quote === "'") {
      if (sign === "'") quote = '';
      text += sign;
    } else if (sign === '\\') {
      text += line.slice(at, at + 2);
      at += 1;
      if (quote === '') hasOther = true;
    } else if (two === '$(' || sign === '`' || (quote === '' && (two === '<(' || two === '>('))) {
      hasSubstitution = true;
      end();
      if (sign !== '`') at += 1;
    } else if (quote === '"') {
      if (sign === '"') quote = '';
      if (sign === '$') hasOther = true;
      text += sign;
    } else if (sign === '"' || sign === "'") {
      quote = sign;
      text += sign;
    } else if (sign === '#' && /(?:^|[\s;&|(])$/.test(line.slice(0, at))) {
      const next = line.indexOf('\n', at);
      at = next === -1 ? line.length : next - 1;
    } else if (two === '&&' || two === '||' || two === '|&' || two === ';;') {
      end();
      at += 1;
    } else if (sign === '&' && (/[<>]$/.test(text) || line[at + 1] === '>')) {
      hasRedirection = true;
      text += sign;
    } else if (';|&\n'.includes(sign)) {
      if (sign === '&') hasOther = true;
      end();
    } else if ('()'.includes(sign)) {
      hasOther = true;
      end();
    } else {
      if ('<>'.includes(sign)) hasRedirection = true;
      if ('$*?[]{}~!'.includes(sign)) hasOther = true;
      text += sign;
    }
  }
  if (quote !== '') hasOther = true;
  end();
  return { segments, hasSubstitution, hasRedirection, hasOther };
}

/** The words of a command without their quotes; null when a quote is open. */
export function wordsOf(command: string): readonly string[] | null {
  const words: string[] = [];
  let [word, quote] = ['', ''];
  let isOpen = false;
  for (const sign of command) {
    if (quote !== '') {
      if (sign === quote) quote = '';
      else word += sign;
    } else if (sign === '"' || sign === "'") {
      quote = sign;
      isOpen = true;
    } else if (/\s/.test(sign)) {
      if (isOpen) words.push(word);
      [word, isOpen] = ['', false];
    } else {
      word += sign;
      isOpen = true;
    }
  }
  if (quote !== '') return null;
  return isOpen ? [...words, word] : words;
}

export type Effect = 'allow' | 'ask' | 'deny';

/** Whether a text begins with a prefix that ends where a word ends. */
export function hasWordPrefix(text: string, prefix: string): boolean {
  return text === prefix || text.startsWith(`${prefix} `);
}

/** Whether a text is one of those that a glob describes, with `*` for any text. */
export function globs(pattern: string, text: string): boolean {
  const [first = '', ...parts] = pattern.split('*');
  if (parts.length === 0) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts.slice(0, -1)) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  const last = parts.at(-1)!;
  return text.length - last.length >= at && text.endsWith(last);
}

/** Resolves a path without looking at the disk. */
export function resolved(path: string, folder: string): string {
  const parts: string[] = [];
  for (const part of (path.startsWith('/') ? path : `${folder}/${path}`).split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}

/** Whether segments of a path match segments of a glob, and all of them. */
export function matchesSegments(pattern: readonly string[], path: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return path.length === 0;
  if (first === '**') {
    if (rest.length === 0) return path.length > 0;
    return Array.from({ length: path.length + 1 }, (_, at) => path.slice(at)).some((tail) =>
      matchesSegments(rest, tail),
    );
  }
  const [name, ...below] = path;
  return name !== undefined && matchesName(first, name) && matchesSegments(rest, below);
}

function matchesName(pattern: string, name: string): boolean {
  if (pattern === '') return name === '';
  if (pattern[0] === '*')
    return Array.from({ length: name.length + 1 }, (_, at) => name.slice(at)).some((tail) =>
      matchesName(pattern.slice(1), tail),
    );
  return (
    name !== '' &&
    (pattern[0] === '?' || pattern[0] === name[0]) &&
    matchesName(pattern.slice(1), name.slice(1))
  );
}
