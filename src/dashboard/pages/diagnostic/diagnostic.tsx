// The page of a diagnostic: what to avoid, what to prefer and why. It supports only the part of Markdown that
// these pages use.

import { useResource } from '../../api/resource.ts';
import { PageFrame, Section } from '../../parts/layout/page.tsx';
import { ResourceView } from '../../parts/layout/resource-view.tsx';
import { PolicySource } from '../../parts/policy/policy-source.tsx';
import { MessageText } from '../../parts/text/message-text.tsx';
import './diagnostic.css';

export default function Diagnostic({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const code = params.code ?? '';
  const loaded = useResource('getDiagnostic', { params: { code } });
  const [head, ...sections] = loaded.data === null ? [] : sectionsOf(loaded.data.text);
  return (
    <PageFrame title={head?.title ?? code} lead="What the checker says, and what to write instead.">
      <ResourceView resource={loaded} loading="The page is loading" lines={8}>
        {() => (
          <div class="diagnostic-page">
            {head?.blocks.map((block, index) => (
              <BlockView key={index} block={block} label={code} />
            ))}
            {sections.map(({ title, blocks }) => (
              <Section key={title} title={title}>
                {blocks.map((block, index) => (
                  <BlockView key={index} block={block} label={`${title}: text ${index + 1}`} />
                ))}
              </Section>
            ))}
          </div>
        )}
      </ResourceView>
    </PageFrame>
  );
}

function BlockView({ block, label }: { readonly block: Block; readonly label: string }) {
  if (block.kind === 'code')
    return <PolicySource text={block.text} label={label} isPlain={block.language !== 'writ'} />;
  if (block.kind === 'list')
    return (
      <ul>
        {block.items.map((item) => (
          <li key={item}>
            <MessageText text={item} />
          </li>
        ))}
      </ul>
    );
  return (
    <p>
      <MessageText text={block.text} />
    </p>
  );
}

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
