// The list of files that the active policies were made from.

import { useResource } from '../../api/resource.ts';
import { Loading, ProblemNote } from '../../parts/layout/note.tsx';
import { TableScroll } from '../../parts/layout/table-scroll.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { fileHref } from './links.ts';

export function Files({ digest }: { readonly digest: string }) {
  const { data, problem, reload } = useResource('listPolicyFiles', {}, ['policies']);
  if (data === null)
    return problem === null ? <Loading lines={3} /> : <ProblemNote problem={problem} onRetry={reload} />;
  return (
    <TableScroll label="List of files" isOld={data.digest !== digest}>
      <table class="table table-stack">
        <thead>
          <tr>
            <th scope="col">File</th>
            <th scope="col">Kind</th>
            <th scope="col" class="number">
              Size
            </th>
          </tr>
        </thead>
        <tbody>
          {data.items.map(({ path, kind, bytes }) => (
            <tr key={path}>
              <td>
                <a href={fileHref({ path })}>
                  <PlainText text={path} isShort />
                </a>
              </td>
              <td data-label="Kind">{kind === 'policy' ? 'Policies' : 'List'}</td>
              <td class="number" data-label="Size">
                {sizeText(bytes)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableScroll>
  );
}

function sizeText(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  return bytes < 1_024 ** 2 ? `${(bytes / 1_024).toFixed(1)} KiB` : `${(bytes / 1_024 ** 2).toFixed(1)} MiB`;
}
