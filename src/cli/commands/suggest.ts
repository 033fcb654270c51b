// `writ suggest`: shows the smallest changes of the policies that would allow a request that was refused or has to wait.
// Each change is compiled, decided, compared and proved; the command writes nothing.

import { existsSync, statSync } from 'node:fs';
import type { Command } from 'commander';
import { displayPath } from '../../analysis/findings/display-path.ts';
import { factsOfRecord } from '../../analysis/records/recorded-request.ts';
import type { TallyResult } from '../../analysis/replay/engine/tally.ts';
import { createSuggester, type Suggester, type Suggestions } from '../../analysis/suggest/suggest.ts';
import {
  type ReportedSuggestion,
  type SuggestionReport,
  sidesOf,
  suggestionReport,
} from '../../analysis/suggest/suggestion-report.ts';
import type { Facts } from '../../language/model/request.ts';
import { type ApiOptions, step, withApi } from '../client/api-client.ts';
import { type DataOption, storeMeaning } from '../client/with-store.ts';
import { type ExitCode, exitCodes, print, printError, printJson, UsageError } from '../output/output.ts';
import { type FactOptions, readGivenFacts, withFactOptions } from '../support/fact-options.ts';
import { findRecord, isRequestId } from '../support/find-record.ts';
import { defaultPath, loadWorking, type WorkingPolicies } from '../support/load-policies.ts';
import { readSince } from '../support/parse-time.ts';
import { readCases } from '../support/read-cases.ts';
import { readFacts, readRequestFile } from '../support/read-facts.ts';
import { suggestionText } from '../support/suggestion-text.ts';

export function defineSuggest(command: Command, finish: (code: ExitCode) => void): void {
  const asked = command
    .argument('[request]', 'the id of a recorded request, a JSON file, or - for standard input')
    .option(
      '--policies <path>',
      'a policy directory, or one file (default: ./policies, else the current directory)',
    )
    .option('--action <key>', 'the action, instead of a request');
  withFactOptions(asked)
    .option(
      '--data <directory>',
      'where the recorded request is: the data directory of the service (default: ./var)',
    )
    .option('--store <address>', storeMeaning)
    .option(
      '--url <address>',
      'ask this running service instead, about one of its requests and its active policies',
    )
    .option('--token <token>', 'a personal token for --url (WRIT_TOKEN hides it from other users)')
    .option(
      '--log <path>',
      'count in these requests of the past: a data directory of the service, or a file of exported requests',
    )
    .option('--since <time>', 'with --log: requests of the last 90d, 12h or 2w, or from a date or time on')
    .option('--patch [n]', 'print only the patch of the first suggestion, or of the n-th')
    .option('--json', 'print the suggestions as JSON')
    .addHelpText('after', examples)
    .action(async (request: string | undefined, options: Options) => {
      finish(await suggest(request, options));
    });
}

const examples = `
Examples:
  writ suggest 019d2c5e-7a61-7c3e-9d8e-3f1a5b0c7d42
  writ suggest --action payment.create --payload '{"amount": 800, "currency": "USD", "vendor": "Acme"}'
  writ suggest request.json --policies policies/payments --log /var/lib/writ --since 30d
  writ suggest request.json --patch 2 | git apply
  writ suggest 019d2c5e-7a61-7c3e-9d8e-3f1a5b0c7d42 --url https://writ.example.com

A recorded request is looked up by its id in a store (--data, --store); the suggestions are changes of --policies. With
--url, a running service looks up its own request and suggests changes of its active policies. WRIT_TOKEN or --token names
the person who asks, and the patches are for its policy directory.

A suggestion never changes what a guarantee says, and every guarantee stays proved. Exit codes: 0 suggestions, or the
request is allowed already, 1 no suggestion or policies with errors, 2 wrong usage.`;

interface Options extends FactOptions, Partial<DataOption>, ApiOptions {
  readonly policies?: string;
  readonly log?: string;
  readonly since?: string;
  readonly patch?: string | true;
}

async function suggest(request: string | undefined, options: Options): Promise<ExitCode> {
  const number = patchNumber(options);
  if (options.since !== undefined && options.log === undefined) throw new UsageError('--since needs --log');
  if (options.url !== undefined) return await suggestByService(request, number, options);
  if (options.token !== undefined)
    throw new UsageError('--token needs --url, the address of a running service');
  const read = await readRequest(request, options);
  if (read === 'none') return exitCodes.wrong;
  const path = options.policies ?? defaultPath();
  const working = await loadWorking(path);
  const suggester = working === null ? null : createSuggester(working.read.sources);
  if (working === null || suggester === null) return exitCodes.wrong;
  const found = suggester.suggest(read(working));
  const logs = await filedLogs(found, suggester, options);
  const cases = await readCases([path]);
  const report = suggestionReport(found, {
    base: suggester.base,
    shown: (file) => displayPath(working.read.root, file),
    tests: cases.length === 0 ? null : cases,
    ...(logs === null ? {} : { logs }),
  });
  return show(report, number, options);
}

/** What a service needs no option for: it has the request, the policies and the records. */
const ownOptions = ['policies', 'action', 'data', 'store', 'log'] as const;

async function suggestByService(
  request: string | undefined,
  number: number | null,
  options: Options,
): Promise<ExitCode> {
  const stranger = ownOptions.find((name) => options[name] !== undefined);
  if (stranger !== undefined)
    throw new UsageError(
      `a service answers with its own requests and policies: leave out --${stranger} or --url`,
    );
  if (request === undefined || !isRequestId(request))
    throw new UsageError('--url takes the id of a request that the service has recorded');
  let code: ExitCode = exitCodes.wrong;
  const ran = await withApi(options, async (api) => {
    const reply = await api.get<ServiceReport>(`/v1/requests/${step(request)}/suggestions`);
    code = show(withoutTests(reply), number, options);
  });
  return ran === exitCodes.ok ? code : ran;
}

/** The service sends its report; it has no test files. */
interface ServiceReport extends Omit<SuggestionReport, 'suggestions'> {
  readonly suggestions: readonly Omit<ReportedSuggestion, 'broken_tests'>[];
}

function withoutTests({ suggestions, ...report }: ServiceReport): SuggestionReport {
  return { ...report, suggestions: suggestions.map((one) => ({ ...one, broken_tests: null })) };
}

/** Returns the number of the suggestion to print, counted from 1; null for all. */
function patchNumber({ patch }: Options): number | null {
  if (patch === undefined) return null;
  if (patch === true) return 1;
  if (!/^[1-9]$/.test(patch)) throw new UsageError(`--patch takes a number from 1, not \`${patch}\``);
  return Number(patch);
}

/** How to read the request for a set of policies. */
type ReadRequest = (working: WorkingPolicies) => Facts;

async function readRequest(request: string | undefined, options: Options): Promise<ReadRequest | 'none'> {
  if (request !== undefined && options.action !== undefined)
    throw new UsageError('name a request or an --action, not both');
  if (request === undefined) {
    const given = await readGivenFacts(options);
    return ({ set }) => readFacts(given, set);
  }
  if (isRequestId(request)) {
    const { data = './var', store } = options;
    const record = await findRecord(request, { data, store });
    return record === 'none' ? 'none' : () => factsOfRecord(record);
  }
  if (request !== '-' && !existsSync(request))
    throw new UsageError(`\`${request}\` is neither a request id nor a file`);
  const read = await readRequestFile(
    request === '-' ? '-' : `@${request}`,
    request === '-' ? 'the request' : request,
  );
  const given = { ...read, given: { now: new Date().toISOString(), ...read.given } };
  return ({ set }) => readFacts(given, set);
}

/** The requests of the log under the findings of each suggestion; null when no log is named. */
async function filedLogs(
  { suggestions }: Suggestions,
  { base }: Suggester,
  { log, since, store, json }: Options,
): Promise<readonly TallyResult[] | null> {
  if (log === undefined) return null;
  const { withLog, showFaults } = await import('../support/open-log.ts');
  const { countFindings } = await import('../../analysis/replay/finding-counts.ts');
  const isFolder = statSync(log, { throwIfNoEntry: false })?.isDirectory() === true;
  const sinceMs = readSince(since ?? '90d', Date.now());
  const named = {
    file: isFolder ? null : log,
    data: log,
    sinceMs,
    windowMs: 0,
    json,
    ...(store === undefined ? {} : { store }),
  };
  const filed: TallyResult[] = [];
  for (const { changed, diff } of suggestions) {
    const sides = sidesOf(base, changed, (path) => path);
    await withLog(named, async (source) => {
      filed.push(await countFindings(source, { sides, diff, sinceMs }));
      showFaults(source.faults);
      return exitCodes.ok;
    });
  }
  return filed;
}

function show(report: SuggestionReport, number: number | null, { json }: Options): ExitCode {
  const isGood = report.suggestions.length > 0 || report.decision.decision === 'ALLOW';
  if (number !== null) {
    const patch = report.suggestions[number - 1]?.patch;
    if (patch === undefined) {
      printError(`error: there is no suggestion ${number}\n`);
      return exitCodes.wrong;
    }
    print(patch);
  } else if (json === true) printJson(report);
  else print(suggestionText(report));
  return isGood ? exitCodes.ok : exitCodes.wrong;
}
