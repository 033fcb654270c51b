// `writ decide`: decides one request by a policy set and shows the decision, the deciding rule and what would
// change the decision. With `--trace` it shows every rule with the value of each part. The command records
// nothing and changes no meter.

import type { Command } from 'commander';
import { digest } from '../../service/policies/digest.ts';
import { type ExitCode, exitCodes, print, printJson } from '../output/output.ts';
import { explainGiven } from '../support/explain-given.ts';
import {
  explanationJson,
  renderChanges,
  renderDecision,
  renderNear,
  renderRules,
  renderUnknown,
} from '../support/explain-text.ts';
import { type FactOptions, readGivenFacts, withFactOptions } from '../support/fact-options.ts';
import { defaultPath, loadWorking } from '../support/load-policies.ts';

export function defineDecide(command: Command, finish: (code: ExitCode) => void): void {
  const decided = command
    .option(
      '--policies <path>',
      'a policy directory, or one file (default: ./policies, else the current directory)',
    )
    .option(
      '--action <key>',
      'the action; without it, the command reads a whole request from standard input as JSON',
    );
  withFactOptions(decided)
    .option('--trace', 'show every rule with the value of each part of its condition')
    .option('--json', 'print the decision and the explanation as JSON')
    .addHelpText('after', examples)
    .action(async (options: Options) => {
      finish(await decide(options));
    });
}

const examples = `
Examples:
  writ decide --action payment.create --payload '{"amount": 800, "currency": "USD", "vendor": "Staples"}'
  writ decide --action payment.create --payload @request.json --agent '{"risk_tier": "low"}' --trace
  echo '{"action": "repo.read", "payload": {"name": "web"}}' | writ decide --json
  sed -n 7p log.jsonl | writ decide --policies new --trace

A line of exported requests is decided with its recorded facts. Missing facts are unknown.
Exit codes: 0 ALLOW, 3 any other decision, 1 the policies have errors, 2 wrong usage.`;

interface Options extends FactOptions {
  readonly policies?: string;
  readonly trace?: boolean;
  readonly json?: boolean;
}

async function decide(options: Options): Promise<ExitCode> {
  const given = await readGivenFacts(options);
  const working = await loadWorking(options.policies ?? defaultPath());
  if (working === null) return exitCodes.wrong;
  const { set, read } = working;
  const explained = explainGiven(given, working);
  const { decision } = explained;
  if (options.json === true) printJson({ digest: digest(set), ...explanationJson(explained, read.sourceOf) });
  else {
    print(renderDecision(explained));
    print(renderRules(explained, { sourceOf: read.sourceOf, isWhole: options.trace === true }));
    print(renderUnknown(explained));
    if (decision.by === 'default_deny') print(renderNear(explained));
    print(renderChanges(explained));
  }
  return decision.outcome === 'ALLOW' ? exitCodes.ok : exitCodes.notAllowed;
}
