// Turns the settings of a coding agent into the files of an import: policies, tests of what they decide about calls made from
// the entries, and a report of what became of each entry.

import { loadPolicies } from '../../embedded/policies.ts';
import type { JsonObject } from '../../language/model/json.ts';
import type { CallPattern, HostRule, HostSettings, HostTool } from './host-settings.ts';
import { type ImportFiles, reportText, type TestCase, testsText } from './report.ts';
import { settleWarnings } from './settle-warnings.ts';
import { writePolicies } from './write-policies.ts';

export async function importFiles(settings: HostSettings): Promise<ImportFiles> {
  const { policy, entries } = writePolicies(settings);
  const settled = settleWarnings(policy, 'the settings have this entry');
  return {
    policy: settled,
    tests: testsText(await testCases(settings, settled), { about: 'calls made from the entries' }),
    report: reportText({
      title: `The permissions of ${settings.host}`,
      words,
      rest: 'a call that only they allow is not granted without a person',
      entries,
      notes: settings.notes,
    }),
    entries,
    words,
  };
}

const words = { entry: 'entry', entries: 'entries', place: 'list' };

// ---- tests

/** A call made from an entry. */
interface SampleCall {
  readonly name: string;
  readonly action: string;
  readonly payload: JsonObject;
}

async function testCases(settings: HostSettings, policy: string): Promise<readonly TestCase[]> {
  const policies = await loadPolicies([{ path: `${settings.name}.policy`, text: policy }]);
  const calls = settings.rules.flatMap((rule) => samplesOf(rule, settings.tools));
  const unique = [
    ...new Map(calls.map((call) => [JSON.stringify([call.action, call.payload]), call])).values(),
  ];
  return unique.map((call) => ({ ...call, ...policies.decide(call) }));
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
