// A section with a list of the service: its problem, a placeholder while it loads, what to say when it is empty, and the
// way to its next pages.

import type { ComponentChildren } from 'preact';
import type { Resource } from '../../api/resource.ts';
import { Section } from './page.tsx';
import { Pager } from './pager.tsx';
import { ResourceView } from './resource-view.tsx';

interface List<Item> {
  readonly items: readonly Item[];
  /** Absent for a list without pages. */
  readonly next_cursor?: string | null;
}

interface ListSectionProps<Item> {
  readonly title: string;
  readonly actions?: ComponentChildren;
  /** Shown above the list. */
  readonly lead?: ComponentChildren;
  readonly list: Resource<List<Item>>;
  /** The lines of the placeholder. */
  readonly lines?: number;
  /** Shown when the list has no items. */
  readonly empty: ComponentChildren;
  /** `isOld`: whether newer items are being loaded. */
  readonly children: (items: readonly Item[], isOld: boolean) => ComponentChildren;
}

export function ListSection<Item>(props: ListSectionProps<Item>) {
  const { title, actions, lead, list, lines, empty, children } = props;
  return (
    <Section
      title={title}
      actions={
        <>
          {actions}
          <Pager nextCursor={list.data?.next_cursor ?? null} />
        </>
      }
    >
      {lead}
      <ResourceView resource={list} lines={lines}>
        {({ items }) => (items.length === 0 ? empty : children(items, list.isLoading))}
      </ResourceView>
    </Section>
  );
}
