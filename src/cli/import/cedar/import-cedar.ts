// Turns Cedar policies into the files of an import: policies, tests, and a report with the comparison of both. INVARIANT: files
// come only from a comparison in which the policies granted nothing that Cedar denies.

import { many } from '../../output/many.ts';
import { code, type ImportFiles, inCell, reportText, type TestCase, testsText } from '../report.ts';
import { settleWarnings } from '../settle-warnings.ts';
import { type CedarFile, type CedarPolicy, readCedarPolicies } from './cedar-policies.ts';
import type { CedarSchema } from './cedar-schema.ts';
import type { Cedar } from './cedar-wasm.ts';
import {
  type ComparedRequest,
  type Comparison,
  type ComparisonOptions,
  compareWithCedar,
} from './compare.ts';
import { environmentsOf } from './environment.ts';
import { entryText, type PrincipalFact, writeCedarPolicies } from './write-cedar.ts';

export interface CedarImport {
  readonly cedar: Cedar;
  readonly schema: CedarSchema;
  readonly files: readonly CedarFile[];
  /** The enforcement point that sends the requests. */
  readonly point: string;
  /** The fact that the principal has to be; null for none. */
  readonly principal: PrincipalFact | null;
}

export type CedarImportResult =
  | { readonly kind: 'files'; readonly files: ImportFiles }
  | { readonly kind: 'looser'; readonly requests: readonly ComparedRequest[] };

export async function importCedar(
  source: CedarImport,
  options: ComparisonOptions,
): Promise<CedarImportResult> {
  const { cedar, schema } = source;
  const policies = readCedarPolicies(cedar, source.files, schema.text);
  const environments = environmentsOf(schema);
  const written = writeCedarPolicies({ ...source, policies, environments });
  const policy = settleWarnings(written.policy, 'the Cedar policies have this condition');
  const comparison = await compareWithCedar(
    { ...source, policies, environments, rules: written.rules, policy },
    options,
  );
  if (comparison.looser.length > 0) return { kind: 'looser', requests: comparison.looser };
  const { entries } = written;
  return {
    kind: 'files',
    files: {
      policy,
      entries,
      words,
      tests: testsText(testCases(policies, comparison), {
        about: 'requests that Cedar decided, too',
        defaults: [`request: { point: ${JSON.stringify(source.point)} }`],
      }),
      report: reportText({
        title: 'Cedar policies',
        words,
        rest: 'what only they permit stays denied',
        entries,
        notes: notesOf(source),
        more: comparisonLines(policies, comparison),
      }),
    },
  };
}

const words = { entry: 'policy', entries: 'policies', place: 'place' };

/** For each policy, the first request that it decided; and one for each rule that denies what Cedar allows. */
function testCases(policies: readonly CedarPolicy[], { decided, stricter }: Comparison): readonly TestCase[] {
  const named = policies.flatMap((policy) => {
    const found = decided.get(policy.id);
    return found === undefined ? [] : [{ ...found, name: `${policy.id}: ${entryText(policy)}` }];
  });
  const denied = [...stricter.values()].map(({ example }) => ({
    ...example,
    name: `Cedar allows this, ${example.rule} does not`,
  }));
  const all = [...named, ...denied].map(({ name, key: action, payload, decision, rule }) => ({
    name,
    action,
    payload,
    decision,
    rule,
  }));
  return [...new Map(all.map((one) => [JSON.stringify([one.action, one.payload]), one])).values()];
}

function notesOf({ point, principal }: CedarImport): readonly string[] {
  return [
    `The payload is what the program sent to Cedar: the principal and the resource with their attributes, and the context. It counts only from the enforcement point \`${point}\`.`,
    ...(principal === null
      ? []
      : [`The principal has to be ${principalText[principal]}; another one is denied.`]),
    'An entity is its id. Where a policy reads its attributes or memberships, it is a record with all of its attributes, and its groups are in fields such as `in_team`, with the groups of its groups. An entity that the program does not know has no record, so the request is denied; Cedar would skip the policies that read it.',
    'A request that the schema does not admit is denied.',
    'Whole numbers beyond ±9,007,199,254,740,991, decimals beyond ±99,999,999,999.9999 and ranges of addresses in the place of an address are refused.',
  ];
}

const principalText: Readonly<Record<PrincipalFact, string>> = {
  user: 'the person of the request (`request.user.id`)',
  agent: 'the agent, by its name',
};

// ---- comparison

function comparisonLines(policies: readonly CedarPolicy[], comparison: Comparison): readonly string[] {
  const { requests, allowed, denied, stricter, decided, errors } = comparison;
  const shown = (id: string): string => code(entryText(policies.find((one) => one.id === id)!));
  const listed = (ids: readonly string[]): string =>
    ids.map((id) => `${shown(id)} (${inCell(id)})`).join(', ');
  const idle = policies.filter(({ id }) => !decided.has(id)).map(({ id }) => id);
  return [
    '## Compared with Cedar\n',
    `Cedar and the policies decided ${many(requests, 'request')}. Cedar allowed ${count(allowed)} and denied ${count(denied)}. The policies allowed none that Cedar denied${stricter.size === 0 ? ', and denied none that it allowed' : ''}.\n`,
    ...(stricter.size === 0 ? [] : stricterLines(stricter)),
    ...(idle.length === 0 ? [] : [`None of these requests was decided by ${listed(idle)}.\n`]),
    ...(errors.size === 0
      ? []
      : [
          `Cedar skipped policies whose evaluation ended in an error: ${listed([...errors.keys()].toSorted())}.\n`,
        ]),
  ];
}

function stricterLines(stricter: Comparison['stricter']): readonly string[] {
  return [
    'Requests that Cedar allowed and the policies denied:\n',
    '| denied by | requests | for example |',
    '|---|---|---|',
    ...[...stricter].map(
      ([rule, { count: requests, example }]) =>
        `| \`${rule}\` | ${count(requests)} | ${code(`${example.key} ${JSON.stringify(example.payload)}`)} |`,
    ),
    '',
  ];
}

function count(number: number): string {
  return number.toLocaleString('en');
}
