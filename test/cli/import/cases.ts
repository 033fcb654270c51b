// The cases of `writ import`: folders with a settings file and the files that the import makes of it.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ImportSource, importSources, settingsOf } from '../../../src/cli/commands/import.ts';
import type { HostSettings } from '../../../src/cli/import/host-settings.ts';

export const casesFolder = join(import.meta.dirname, 'cases');

/** The folders that relative patterns and `~` mean in the cases. */
export const folders = { project: '/work/project', home: '/home/ann' };

export interface ImportCase {
  readonly name: string;
  readonly source: ImportSource;
  /** The settings file's name. */
  readonly file: string;
  readonly text: string;
  readonly settings: HostSettings;
}

export function importCases(): readonly ImportCase[] {
  return readdirSync(casesFolder).map((name) => {
    const folder = join(casesFolder, name);
    const file = readdirSync(folder).find((one) => /\.(?:json|toml|rules)$/.test(one))!;
    const text = readFileSync(join(folder, file), 'utf8');
    const source = importSources.find((one) => one.startsWith(name.split('-')[0]!))!;
    return { name, source, file, text, settings: settingsOf(source, { file, text, folders }) };
  });
}
