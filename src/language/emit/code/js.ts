// The one way in which JavaScript text comes about. A fragment is made by the `js` tag alone; whatever else is put
// into a template becomes a literal, so that no text of a policy or an agent can ever become code.
// INVARIANT: only objects that this file has made are spliced as code.

/** A piece of JavaScript. It shows nothing of its text but to `render`. */
export interface Js {
  readonly kind: 'js';
}

export type JsPart = Js | string | number | boolean | null | undefined;

const texts = new WeakMap<object, string>();

/**
 * A fragment of the template's own text and its parts: fragments as they are, all other parts as literals. Numbers
 * are finite or infinite, never NaN. Throws TypeError for anything else.
 */
export function js(template: TemplateStringsArray, ...parts: readonly JsPart[]): Js {
  if (!Object.hasOwn(template, 'raw')) throw new TypeError('js is a tag of templates');
  let text = template[0] ?? '';
  for (const [at, part] of parts.entries()) text += partText(part) + (template[at + 1] ?? '');
  return fragment(text);
}

/** The fragments one after the other, with a fragment between each two. */
export function joinJs(fragments: readonly Js[], separator: Js): Js {
  return fragment(fragments.map(render).join(render(separator)));
}

/** An identifier: letters that the code generator chooses, and a number. */
export function identifier(letters: string, at: number): Js {
  if (!/^[a-zA-Z]+$/.test(letters) || !Number.isSafeInteger(at) || at < 0) {
    throw new TypeError('an identifier is letters and a number');
  }
  return fragment(`${letters}${at}`);
}

/** The fragment's text; throws TypeError for what this file has not made. */
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

/** A JSON string; what ends a line or a script element in some reader is escaped too. */
function stringText(text: string): string {
  return JSON.stringify(text)
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029')
    .replaceAll('</', '<\\/');
}

/** In parentheses where a sign could join what stands before it. */
function numberText(value: number): string {
  if (Number.isNaN(value)) throw new TypeError('NaN is no value of a policy');
  if (Object.is(value, -0)) return '(-0)';
  return value < 0 ? `(${value})` : String(value);
}
