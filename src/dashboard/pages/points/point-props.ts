// The props of every section of an enforcement point's page.

import type { Reply } from '../../../api/operations.ts';

export type Point = Reply<'getEnforcementPoint'>;

/** `onChange` is called when the section has changed the enforcement point. */
export interface PointProps {
  readonly point: Point;
  readonly onChange: () => void;
}
