// Turns every setting of the service into a flag of a command line.

import type { Command } from 'commander';
import {
  flagOf,
  type Setting,
  type SettingName,
  settingNames,
  settings,
} from '../../service/settings/table.ts';

/** The values of the flags; undefined for a flag that was not given. */
export type SettingFlags = Readonly<Record<string, string | undefined>>;

export function withSettings(command: Command): Command {
  for (const name of settingNames) {
    const { placeholder, help, default: preset, kind }: Setting = settings[name];
    const text = kind.is === 'boolean' ? `${help}: true or false` : help;
    command.option(
      `${flagOf(name)} <${placeholder}>`,
      preset === null || preset === '' ? text : `${text} (default: ${preset})`,
    );
  }
  return command;
}

/** The flags among the options that a command was given. */
export function settingsGiven(options: object): SettingFlags {
  const values = options as SettingFlags;
  return Object.fromEntries(settingNames.map((name) => [name, values[optionName(name)]]));
}

/** The name that the parser gives to the value of a flag: `--limits-burst` is `limitsBurst`. */
function optionName(name: SettingName): string {
  return flagOf(name)
    .slice(2)
    .replace(/-(.)/g, (_match, letter: string) => letter.toUpperCase());
}
