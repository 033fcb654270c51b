// What a resource is to a reader: its problem with a button that tries again, a placeholder while it loads, then its
// contents. INVARIANT: a problem never removes contents that are loaded.

import type { ComponentChildren } from 'preact';
import type { Resource } from '../../api/resource.ts';
import { Loading, ProblemNote } from './note.tsx';

interface ResourceViewProps<Data> {
  readonly resource: Resource<Data>;
  /** Tells a screen reader what is loading. */
  readonly loading?: string | undefined;
  /** The lines of the placeholder. */
  readonly lines?: number | undefined;
  readonly children: (data: Data) => ComponentChildren;
}

export function ResourceView<Data>({ resource, loading, lines, children }: ResourceViewProps<Data>) {
  const { data, problem, reload } = resource;
  return (
    <>
      <ProblemNote problem={problem} onRetry={reload} />
      {data !== null ? children(data) : problem === null && <Loading label={loading} lines={lines} />}
    </>
  );
}
