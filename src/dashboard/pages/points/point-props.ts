// What every section of an enforcement point's page is given.

import type { Reply } from '../../api/client.ts';

export type Point = Reply<'getPoint'>;

/** What a section of the page shows and can do: it says when the point is another than before. */
export interface PointProps {
  readonly point: Point;
  readonly onChange: () => void;
}
