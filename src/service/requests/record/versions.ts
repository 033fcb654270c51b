// What the meaning of a decision depends on besides policies and facts: this program, and the Unicode and time-zone data
// of the Node that it runs on. Each record names them, and a replay under others says so.

export interface EngineVersions {
  /** Of this program. */
  readonly writ: string;
  readonly unicode: string;
  readonly timeZones: string;
}

/** A test holds it equal to the package's version. */
const writVersion = '0.1.0';

export const engineVersions: EngineVersions = {
  writ: writVersion,
  unicode: process.versions.unicode ?? 'unknown',
  timeZones: process.versions.tz ?? 'unknown',
};

/** What differs, as a person reads it; empty where nothing does. */
export function versionDifferences(then: EngineVersions, now: EngineVersions): readonly string[] {
  const names = { writ: 'Writ', unicode: 'Unicode', timeZones: 'time zones' } as const;
  return (['writ', 'unicode', 'timeZones'] as const)
    .filter((name) => then[name] !== now[name])
    .map((name) => `${names[name]} ${then[name]}, now ${now[name]}`);
}
