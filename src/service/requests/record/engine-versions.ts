// The versions that a decision depends on besides policies and facts: this program, and the Unicode and
// time-zone data of the Node that runs it. Each record names these versions, and a replay under other
// versions points that out.

export interface EngineVersions {
  /** The version of this program. */
  readonly writ: string;
  readonly unicode: string;
  readonly timeZones: string;
}

/** A test compares this with the version of the package. */
const writVersion = '0.1.0';

export const engineVersions: EngineVersions = {
  writ: writVersion,
  unicode: process.versions.unicode ?? 'unknown',
  timeZones: process.versions.tz ?? 'unknown',
};

/** Returns the differences as text for people; empty if there are none. */
export function versionDifferences(then: EngineVersions, now: EngineVersions): readonly string[] {
  const names = { writ: 'Writ', unicode: 'Unicode', timeZones: 'time zones' } as const;
  return (['writ', 'unicode', 'timeZones'] as const)
    .filter((name) => then[name] !== now[name])
    .map((name) => `${names[name]} ${then[name]}, now ${now[name]}`);
}
