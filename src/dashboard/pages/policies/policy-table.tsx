// The policies, each with its purpose, its owner, and how often it has decided.

import type { Reply } from '../../api/client.ts';
import { Empty } from '../../parts/layout/note.tsx';
import { TableScroll } from '../../parts/layout/table-scroll.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { fileHref } from './links.ts';

interface PolicyTableProps {
  readonly items: Reply<'getPolicies'>['items'];
  readonly rules: Reply<'getPolicyHits'>['items'];
}

export function PolicyTable({ items, rules }: PolicyTableProps) {
  if (items.length === 0)
    return (
      <Empty icon="policy" title="There is no policy: every request is refused">
        Nothing passes unless some <code>allow</code> is definitely true. Begin with a file in the policy
        directory, or try one in the <a href="/playground">playground</a>.
      </Empty>
    );
  const decided = new Map<string, number>();
  const isAnyTold = items.some(({ doc }) => doc !== null);
  for (const rule of rules) decided.set(rule.policy, (decided.get(rule.policy) ?? 0) + rule.decided);
  return (
    <TableScroll label="List of policies">
      <table class="table table-stack policies-table">
        <thead>
          <tr>
            <th scope="col">Policy</th>
            {isAnyTold && <th scope="col">What it is for</th>}
            <th scope="col">Owner</th>
            <th scope="col" class="number">
              Rules
            </th>
            <th scope="col" class="number">
              Decided
            </th>
          </tr>
        </thead>
        <tbody>
          {items.map(({ name, owner, doc, rules: count, file }) => (
            <tr key={name}>
              <td>
                <a href={fileHref({ path: file, policy: name })}>{name}</a>
              </td>
              {isAnyTold && (
                <td class="policies-doc" data-label="For">
                  <Doc text={doc} />
                </td>
              )}
              <td data-label="Owner">
                {owner === null ? (
                  <span class="policies-never">nobody</span>
                ) : (
                  <PlainText text={owner} isShort />
                )}
              </td>
              <td class="number" data-label="Rules">
                {count}
              </td>
              <td class="number" data-label="Decided">
                {(decided.get(name) ?? 0).toLocaleString()}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableScroll>
  );
}

/** The documentation of a policy, as its author wrote it. */
function Doc({ text }: { readonly text: string | null }) {
  return text === null ? <span class="policies-never">no documentation</span> : <PlainText text={text} />;
}
