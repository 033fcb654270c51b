// Parses the part of Markdown that pages of diagnostics use into blocks: headings, paragraphs, lists and
// fenced code.

export type Block =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly string[] }
  | { readonly kind: 'code'; readonly language: string; readonly text: string };

export interface MarkdownSection {
  readonly title: string;
  readonly blocks: readonly Block[];
}

/** Sections by heading, whatever its level; the first has the page's title. */
export function sectionsOf(markdown: string): readonly MarkdownSection[] {
  const sections: { readonly title: string; readonly blocks: Block[] }[] = [];
  // Odd parts are fenced code, in which `#` begins a comment.
  for (const [index, part] of markdown.split(/^```/m).entries()) {
    if (index % 2 === 1) {
      const end = part.indexOf('\n');
      const code: Block = { kind: 'code', language: part.slice(0, end), text: part.slice(end + 1) };
      sections.at(-1)?.blocks.push(code);
      continue;
    }
    for (const one of part.split(/\n{2,}/).map((paragraph) => paragraph.trim())) {
      const [, title] = /^#+ (.*)$/.exec(one) ?? [];
      if (title !== undefined) sections.push({ title, blocks: [] });
      else if (one !== '') sections.at(-1)?.blocks.push(paragraphOf(one));
    }
  }
  return sections;
}

function paragraphOf(text: string): Block {
  const plain = (one: string): string => one.replace(/\s*\n\s*/g, ' ').replaceAll('**', '');
  if (!text.startsWith('- ')) return { kind: 'text', text: plain(text) };
  return { kind: 'list', items: text.slice(2).split(/\n- /).map(plain) };
}
