// Approval groups that may decide by chat up to another risk than before. No decision changes by it, but how people
// approve does. A group that only one side declares is left out: whom the rules ask then changes, too.

import type { PolicySet } from '../../language/model/policy.ts';
import type { BothSides } from './joint-set.ts';

export interface ChatLimitChange {
  readonly group: string;
  /** The highest risk at which the group may decide by chat; null for never. */
  readonly maxRisk: BothSides<number | null>;
  readonly isLooser: boolean;
}

export function chatLimitChanges({ before, after }: BothSides<PolicySet>): readonly ChatLimitChange[] {
  return [...before.approvers.values()].flatMap(({ name, chat }) => {
    const now = after.approvers.get(name);
    const maxRisk = { before: chat?.maxRisk ?? null, after: now?.chat?.maxRisk ?? null };
    if (now === undefined || maxRisk.before === maxRisk.after) return [];
    return [{ group: name, maxRisk, isLooser: (maxRisk.after ?? never) > (maxRisk.before ?? never) }];
  });
}

/** Below every risk. */
const never = -1;
