// Meters whose entries last, as they count uses: a grant that was given back still counts. They are known by the beginning of their
// ids, so that a store can tell them apart by id alone.

/** The ids of declared meters are digests, so none begins so. */
export const lastingMeterPrefix = 'lasting:';

export function isLastingMeter(definition: string): boolean {
  return definition.startsWith(lastingMeterPrefix);
}
