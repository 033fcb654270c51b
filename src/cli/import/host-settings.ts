// What the settings of a coding agent say about its tools, in one shape for all hosts: readers of settings make it, and
// `write-policies.ts` turns it into policies. INVARIANT: each entry of the settings is a rule or is not carried; an entry
// that allows may be narrower than the host's, and one that asks or denies may be wider.

import { isJsonObject, type JsonObject } from '../../language/model/json.ts';
import { CommentedJsonError, readCommentedJson } from '../output/commented-json.ts';

export type HostEffect = 'allow' | 'ask' | 'deny';

/** The calls of a tool that an entry is about. */
export type CallPattern =
  | { readonly kind: 'any' }
  /** Every call that no other entry is about. */
  | { readonly kind: 'rest' }
  /**
   * Shell commands that begin with one of these lists of words; `more` says whether arguments may follow, and `isAlone`
   * that the host compares the whole line, so that it allows no line with other commands.
   */
  | {
      readonly kind: 'command';
      readonly starts: readonly (readonly string[])[];
      readonly more: 'none' | 'some' | 'any';
      readonly isAlone?: true;
    }
  /** Shell commands with these texts in this order, and anything between and around them. */
  | { readonly kind: 'text'; readonly parts: readonly string[] }
  /** Shell lines with a match of this RE2 pattern; only for entries that ask or deny. */
  | { readonly kind: 'pattern'; readonly pattern: string }
  /** Paths that match an RE2 pattern: exactly those of the host for entries that allow, at least those for others. */
  | { readonly kind: 'path'; readonly pattern: string; readonly sample: string }
  /** Shell lines in which one of the programs opens a file with such a name; only for entries that ask or deny. */
  | { readonly kind: 'files'; readonly programs: readonly string[]; readonly core: string }
  /** URLs of a host. An entry that asks or denies also covers the hosts below it. */
  | { readonly kind: 'host'; readonly host: string; readonly isBelow: boolean };

/** Where an entry stands: its list or table, and its text. */
export interface Entry {
  readonly list: string;
  readonly text: string;
}

export interface HostRule extends Entry {
  readonly effect: HostEffect;
  /** Names of the tools in `HostSettings.tools`. */
  readonly tools: readonly string[];
  readonly pattern: CallPattern;
  /** Why the policy is stricter than this entry; absent where it is not. */
  readonly stricter?: string;
}

/** An entry without a rule, and why. */
export interface EntryLeftOut extends Entry {
  readonly reason: string;
}

/** The payload field that a tool's entries are about, with its type in the policy. */
export interface ToolField {
  readonly name: string;
  readonly kind: 'line' | 'path' | 'url';
}

/** Tools that are decided together, with one policy. */
export interface HostTool {
  readonly name: string;
  readonly keys: readonly string[];
  readonly title: string;
  readonly field: ToolField | null;
  /** What the host does when no entry matches. */
  readonly otherwise: HostEffect;
}

export interface HostSettings {
  /** The host's name for people. */
  readonly host: string;
  /** The name of the output files. */
  readonly name: string;
  readonly tools: readonly HostTool[];
  readonly rules: readonly HostRule[];
  readonly leftOut: readonly EntryLeftOut[];
  /** Where the policies are stricter than the host, or what they assume, in sentences. */
  readonly notes: readonly string[];
}

/** The folders that relative patterns and `~` mean. */
export interface HostFolders {
  readonly project: string;
  readonly home: string;
}

/** The settings cannot be read; the message says where and why. */
export class SettingsError extends Error {}

/** Reads settings in JSON, which may have comments. Throws a SettingsError when they are no object. */
export function readJsonSettings(source: string): JsonObject {
  try {
    const settings = readCommentedJson(source);
    if (!isJsonObject(settings)) throw new SettingsError('the file is not an object');
    return settings;
  } catch (error) {
    if (error instanceof CommentedJsonError) throw new SettingsError(error.message);
    throw error;
  }
}
