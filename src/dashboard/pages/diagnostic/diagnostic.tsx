// The page of a diagnostic: what to avoid, what to prefer and why. It supports only the part of Markdown that
// these pages use.

import { useResource } from '../../api/resource.ts';
import { Loading, ProblemNote } from '../../parts/layout/note.tsx';
import { PageFrame, Section } from '../../parts/layout/page.tsx';
import { PolicySource } from '../../parts/policy/policy-source.tsx';
import { MessageText } from '../../parts/text/message-text.tsx';
import './diagnostic.css';
import { type Block, sectionsOf } from './markdown.ts';

export default function Diagnostic({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const code = params.code ?? '';
  const { data, problem, reload } = useResource('getDiagnostic', { params: { code } });
  const [head, ...sections] = data === null ? [] : sectionsOf(data.text);
  return (
    <PageFrame title={head?.title ?? code} lead="What the checker says, and what to write instead.">
      <ProblemNote problem={problem} onRetry={reload} />
      {data === null && problem === null && <Loading label="The page is loading" lines={8} />}
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
