// The only source of JavaScript text. Only the `js` tag makes fragments; every other value in a template
// becomes a literal, so no text of a policy or an agent can become code. INVARIANT: only objects that this
// file has made are spliced as code.

/** A piece of JavaScript. Only `render` can see its text. */
export interface Js {
  readonly kind: 'js';
}

export type JsPart = Js | string | number | boolean | null | undefined;

const texts = new WeakMap<object, string>();

/**
 * Makes a fragment of the template's own text and its parts. Parts that are fragments are inserted unchanged,
 * all other parts as literals. Numbers may be finite or infinite, but not NaN. Throws a TypeError for any
 * other part.
 */
export function js(template: TemplateStringsArray, ...parts: readonly JsPart[]): Js {
  if (!Object.hasOwn(template, 'raw')) throw new TypeError('js is a tag of templates');
  let text = template[0] ?? '';
  for (const [at, part] of parts.entries()) text += partText(part) + (template[at + 1] ?? '');
  return fragment(text);
}

/** Joins fragments, with a separator between each two. */
export function joinJs(fragments: readonly Js[], separator: Js): Js {
  return fragment(fragments.map(render).join(render(separator)));
}

/** Makes an identifier of letters, which the code generator chooses, and a number. */
export function identifier(letters: string, at: number): Js {
  if (!/^[a-zA-Z]+$/.test(letters) || !Number.isSafeInteger(at) || at < 0) {
    throw new TypeError('an identifier is letters and a number');
  }
  return fragment(`${letters}${at}`);
}

/** Returns the fragment's text. Throws a TypeError for an object that this file has not made. */
export function render(code: Js): string {
  const text = texts.get(code);
  if (text === undefined) throw new TypeError('only what the js tag has made is code');
  return text;
}

function fragment(text: string): Js {
  const code: Js = Object.freeze({ kind: 'js' });
  texts.set(code, text);
  return code;
}

function partText(part: JsPart): string {
  switch (typeof part) {
    case 'string':
      return stringText(part);
    case 'number':
      return numberText(part);
    case 'boolean':
      return String(part);
    case 'undefined':
      return 'undefined';
    default:
      return part === null ? 'null' : render(part);
  }
}

/**
 * A string literal as in JSON. Characters that end a line or a script element for some readers are escaped as
 * well.
 */
function stringText(text: string): string {
  return JSON.stringify(text)
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029')
    .replaceAll('</', '<\\/');
}

/** A number literal. Negative numbers are in parentheses, because their sign could join what precedes it. */
function numberText(value: number): string {
  if (Number.isNaN(value)) throw new TypeError('NaN is no value of a policy');
  if (Object.is(value, -0)) return '(-0)';
  return value < 0 ? `(${value})` : String(value);
}
