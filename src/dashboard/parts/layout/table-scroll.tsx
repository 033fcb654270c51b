// A table that may be wider than its place: the table scrolls, by keyboard too, and the page does not. A
// table of the class `table-stack` becomes cards when there is little room.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import './table-scroll.css';

interface TableScrollProps {
  /** Names the contents of the table. */
  readonly label: string;
  /** Whether newer contents are being loaded. */
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
  // A region that scrolls must be reachable by keyboard; one that does not scroll would be a useless stop.
  const reach = isWide ? ({ tabIndex: 0, role: 'region', 'aria-label': label } as const) : {};
  return (
    <div ref={frame} class="table-wrap" aria-busy={isOld} {...reach}>
      {children}
    </div>
  );
}
