// Turns the settings of a coding agent into the files of an import: policies, tests of what they decide about calls made from
// the entries, and a report of what became of each entry.

import { loadPolicies } from '../../embedded/policies.ts';
import type { JsonObject } from '../../language/model/json.ts';
import type { CallPattern, HostRule, HostSettings, HostTool } from './host-settings.ts';
import { settleWarnings } from './settle-warnings.ts';
import { type ImportedEntry, writePolicies } from './write-policies.ts';

export interface ImportFiles {
  readonly policy: string;
  readonly tests: string;
  readonly report: string;
  readonly entries: readonly ImportedEntry[];
}

export async function importFiles(settings: HostSettings): Promise<ImportFiles> {
  const { policy, entries } = writePolicies(settings);
  const settled = settleWarnings(policy);
  return {
    policy: settled,
    tests: await testsText(settings, settled),
    report: reportText(settings, entries),
    entries,
  };
}

// ---- tests

/** A call made from an entry. */
interface SampleCall {
  readonly name: string;
  readonly action: string;
  readonly payload: JsonObject;
}

async function testsText(settings: HostSettings, policy: string): Promise<string> {
  const policies = await loadPolicies([{ path: `${settings.name}.policy`, text: policy }]);
  const calls = settings.rules.flatMap((rule) => samplesOf(rule, settings.tools));
  const unique = [
    ...new Map(calls.map((call) => [JSON.stringify([call.action, call.payload]), call])).values(),
  ];
  const cases = unique.map(({ name, action, payload }) => {
    const { decision, rule } = policies.decide({ action, payload });
    return [
      `  - name: ${JSON.stringify(name)}`,
      `    action: ${action}`,
      `    payload: ${JSON.stringify(payload)}`,
      `    expect: { decision: ${decision}, by: ${rule} }`,
      '',
    ].join('\n');
  });
  return `# What the imported policies decide about calls made from the entries. Written by \`writ import\`.\n\ndefaults:\n  now: 2026-03-02T10:00:00Z\n\ntests:\n${cases.join('')}`;
}

function samplesOf({ text, tools, pattern }: HostRule, all: readonly HostTool[]): readonly SampleCall[] {
  return all
    .filter(({ name }) => tools.includes(name))
    .flatMap(({ keys: [action = ''], field }) =>
      payloadsOf(pattern, field).map(({ about, payload }) => ({
        name: `${text}: ${about}`,
        action,
        payload,
      })),
    );
}

interface SamplePayload {
  readonly about: string;
  readonly payload: JsonObject;
}

function payloadsOf(pattern: CallPattern, field: HostTool['field']): readonly SamplePayload[] {
  if (field === null) return [{ about: 'any call', payload: {} }];
  const sample = (about: string, value: string): SamplePayload => ({
    about,
    payload: { [field.name]: value },
  });
  switch (pattern.kind) {
    case 'any':
    case 'rest':
    case 'pattern':
    case 'files':
      return [];
    case 'command': {
      const line = `${(pattern.starts[0] ?? []).join(' ')}${pattern.more === 'some' ? ' x' : ''}`;
      return lineSamples(line).map(([about, value]) => sample(about, value));
    }
    case 'text':
      return lineSamples(pattern.parts.join('x').trim()).map(([about, value]) => sample(about, value));
    case 'path':
      return [sample('a path', pattern.sample), sample('a path with `..`', `/nowhere/..${pattern.sample}`)];
    case 'host': {
      const host = pattern.isBelow ? `www.${pattern.host}` : pattern.host;
      return [
        sample('the host', `https://${host}/a`),
        sample('a host that ends so', `https://not-${host}/a`),
      ];
    }
  }
}

/** The line, and lines that begin or end with it. */
function lineSamples(line: string): readonly (readonly [string, string])[] {
  return [
    ['the line', line],
    ['with another command', `${line} && touch x`],
    ['with a substitution', `${line} $(touch x)`],
    ['behind another command', `touch x; ${line}`],
  ];
}

// ---- report

function reportText({ host, notes }: HostSettings, entries: readonly ImportedEntry[]): string {
  const left = entries.filter(({ reason }) => reason !== null).length;
  return [
    `# The permissions of ${host} as policies\n`,
    `${entries.length - left} of ${entries.length} entries have rules. The others are not carried; a call that only they allow is not granted without a person.\n`,
    '| list | entry | rules |',
    '|---|---|---|',
    ...entries.map((one) => `| ${inCell(one.list)} | ${code(one.text)} | ${becameText(one)} |`),
    '',
    '## What the policies assume, and where they are stricter\n',
    ...notes.map((note) => `- ${note}`),
    '',
  ].join('\n');
}

function becameText({ rules, reason, stricter }: ImportedEntry): string {
  if (reason !== null) return `not carried: ${inCell(reason)}`;
  const names = rules.map((name) => `\`${name}\``).join(', ');
  return stricter === null ? names : `${names}; stricter: ${inCell(stricter)}`;
}

function inCell(value: string): string {
  return value.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|');
}

function code(value: string): string {
  return `\`${inCell(value).replaceAll('`', "'")}\``;
}
