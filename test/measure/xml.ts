// A strict reader of XML for tests: elements, attributes and text.

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
}

const space = /^[ \t\r\n]+/;
const attribute = /^([A-Za-z_:][\w:.-]*)="([^<"]*)"/;
const entity = /&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[\da-fA-F]+);)/;
/** XML excludes most control characters, lone surrogates, and two noncharacters. */
const allowed = /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u;

/** Every element in order. Throws when the text is not one well-formed element. */
export function parseXml(text: string): readonly Element[] {
  if (!allowed.test(text)) throw new Error('a character that XML does not know');
  const elements: Element[] = [];
  const open: string[] = [];
  let rest = text;
  while (rest !== '') {
    const tag = rest.indexOf('<');
    const content = tag < 0 ? rest : rest.slice(0, tag);
    if (entity.test(content) || content.includes(']]>')) throw new Error(`text is not escaped: ${content}`);
    if (open.length === 0 && content.trim() !== '') throw new Error(`text outside of elements: ${content}`);
    if (tag < 0) break;
    rest = rest.slice(tag);
    const closing = /^<\/([\w:-]+)>/.exec(rest);
    if (closing !== null) {
      if (open.pop() !== closing[1]) throw new Error(`${closing[0]} closes nothing`);
      rest = rest.slice(closing[0].length);
      continue;
    }
    const opening = /^<([A-Za-z][\w:-]*)/.exec(rest);
    if (opening === null) throw new Error(`not a tag: ${rest.slice(0, 40)}`);
    if (open.length === 0 && elements.length > 0) throw new Error('a second root');
    const { attributes, after } = readAttributes(rest.slice(opening[0].length));
    elements.push({ name: opening[1]!, attributes });
    if (after.startsWith('/>')) rest = after.slice(2);
    else if (after.startsWith('>')) {
      open.push(opening[1]!);
      rest = after.slice(1);
    } else throw new Error(`not the end of a tag: ${after.slice(0, 40)}`);
  }
  if (open.length > 0 || elements.length === 0) throw new Error('an element is not closed');
  return elements;
}

function readAttributes(text: string): {
  readonly attributes: Record<string, string>;
  readonly after: string;
} {
  const attributes: Record<string, string> = {};
  let after = text;
  for (;;) {
    const gap = space.exec(after);
    if (gap === null) return { attributes, after };
    after = after.slice(gap[0].length);
    const found = attribute.exec(after);
    if (found === null) return { attributes, after };
    const [whole, name, value] = found as unknown as [string, string, string];
    if (name in attributes || entity.test(value)) throw new Error(`attribute ${whole}`);
    attributes[name] = value;
    after = after.slice(whole.length);
  }
}
