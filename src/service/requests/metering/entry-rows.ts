// What a request adds to meters, as rows of the store; and what metering asks of the active policies.

import type { ActivePolicies } from '../../../language/model/active-policies.ts';
import type { MeterUse } from '../../../language/model/metering.ts';
import { type Decimal, formatDecimal } from '../../../language/value/decimal.ts';
import type { MeterEntryRow, MeterPlace, SettledEntryRow } from '../../store/contract/metering.ts';

/** What metering asks of the active policies. */
export type MeteredPolicies = Pick<ActivePolicies, 'digest' | 'meters' | 'entriesRecorded'>;

/** What is stored of entries: those that count, and whose key is known. */
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

/** How the request's entries stand that depend on what its call has returned, as `uses` say with the result. */
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

/** The meters that a request reads or enters, as far as it is known for whom they count. */
export function meterPlaces(uses: readonly MeterUse[]): readonly MeterPlace[] {
  return uses.flatMap(({ definition, key }) => (key === null ? [] : [{ definition: definition.id, key }]));
}

function valueText(value: Decimal | string | null): string | null {
  return value === null || typeof value === 'string' ? value : formatDecimal(value);
}
