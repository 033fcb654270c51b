// What a request adds to meters, as rows of the store, and the part of the active policies that metering
// uses.

import type { ActivePolicies } from '../../../language/model/active-policies.ts';
import type { MeterUse } from '../../../language/model/metering.ts';
import { type Decimal, formatDecimal } from '../../../language/value/decimal.ts';
import type { MeterEntryRow, MeterSeries, SettledEntryRow } from '../../store/contract/metering.ts';

/** The part of the active policies that metering uses. */
export type MeteredPolicies = Pick<ActivePolicies, 'digest' | 'meters' | 'entriesRecorded'>;

/** Returns the entries to store: those that count and whose key is known. */
export function entryRows(uses: readonly MeterUse[]): readonly MeterEntryRow[] {
  return uses.flatMap(({ definition, key, contribution }) =>
    key === null || contribution === null
      ? []
      : [
          {
            definition: definition.id,
            key,
            isCertain: contribution.isCertain,
            value: valueText(contribution.value),
          },
        ],
  );
}

/** Returns how the entries that depend on a call's result now stand; `uses` are computed with that result. */
export function settledRows(uses: readonly MeterUse[]): readonly SettledEntryRow[] {
  return uses.flatMap(({ definition, key, contribution }) =>
    key === null || definition.readsResult !== true
      ? []
      : [
          {
            definition: definition.id,
            key,
            isCertain: contribution?.isCertain ?? false,
            value: contribution === null ? null : valueText(contribution.value),
            isGone: contribution === null,
          },
        ],
  );
}

/** Returns the meters that a request reads or enters; meters whose key is unknown are left out. */
export function meterSeriesOf(uses: readonly MeterUse[]): readonly MeterSeries[] {
  return uses.flatMap(({ definition, key }) => (key === null ? [] : [{ definition: definition.id, key }]));
}

function valueText(value: Decimal | string | null): string | null {
  return value === null || typeof value === 'string' ? value : formatDecimal(value);
}
