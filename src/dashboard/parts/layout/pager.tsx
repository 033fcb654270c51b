// Moves through a list page by page. The address keeps the place, so the browser's back button returns to the previous
// page.

import { useAddress } from '../../navigation/navigation.ts';
import { ButtonLink } from './button.tsx';
import './pager.css';

/** Renders nothing when there is only one page. `parameter`: the query parameter that holds the cursor. */
export function Pager({
  nextCursor,
  parameter = 'cursor',
}: {
  readonly nextCursor: string | null;
  readonly parameter?: string;
}) {
  const { path, query } = useAddress();
  const isFirst = !query.has(parameter);
  if (isFirst && nextCursor === null) return null;
  const address = (cursor: string | null): string => {
    const changed = new URLSearchParams(query);
    if (cursor === null) changed.delete(parameter);
    else changed.set(parameter, cursor);
    const text = changed.toString();
    return text === '' ? path : `${path}?${text}`;
  };
  return (
    <nav class="pager" aria-label="Pages of the list">
      {!isFirst && <ButtonLink href={address(null)}>Latest</ButtonLink>}
      {nextCursor !== null && (
        <ButtonLink href={address(nextCursor)} icon="right">
          Older
        </ButtonLink>
      )}
    </nav>
  );
}
