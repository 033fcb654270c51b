// What the service refused before any policy: reasons with their counts.

import type { Reply } from '../../../api/operations.ts';
import './refusal-list.css';

export function RefusalList({ refusals }: Pick<Reply<'getOverview'>, 'refusals'>) {
  return (
    <ul class="refusal-list">
      {refusals.map(({ code, title, count }) => (
        <li key={code}>
          <span>
            {title} <code>{code}</code>
          </span>
          <span class="number">{count.toLocaleString()}</span>
        </li>
      ))}
    </ul>
  );
}
