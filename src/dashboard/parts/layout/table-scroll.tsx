// A table that may be wider than its place: it is scrolled within, by keyboard too, so that the page never is. A table of
// the class `table-stack` becomes cards where there is little room.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import './table-scroll.css';

interface TableScrollProps {
  /** What the table is of. */
  readonly label: string;
  /** Whether something newer is being looked for. */
  readonly isOld?: boolean;
  readonly children: ComponentChildren;
}

export function TableScroll({ label, isOld = false, children }: TableScrollProps) {
  const frame = useRef<HTMLDivElement>(null);
  const [isWide, setWide] = useState(false);
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setWide(element.scrollWidth > element.clientWidth));
    observer.observe(element);
    for (const child of element.children) observer.observe(child);
    return () => observer.disconnect();
  }, []);
  // A region that scrolls must be reached by keyboard; one that does not would be a stop for nothing.
  const reach = isWide ? ({ tabIndex: 0, role: 'region', 'aria-label': label } as const) : {};
  return (
    <div ref={frame} class="table-wrap" aria-busy={isOld} {...reach}>
      {children}
    </div>
  );
}
