// `writ decide`: decides one request by a policy set and shows the decision, the deciding rule and what would
// change the decision. With `--trace` it shows every rule with the value of each part. The command records
// nothing and changes no meter.

import type { Command } from 'commander';
import type { Json, JsonObject } from '../../language/model/json.ts';
import { digest } from '../../service/policies/digest.ts';
import { type ExitCode, exitCodes, print, printJson, UsageError } from '../output/output.ts';
import { explainGiven } from '../support/explain-given.ts';
import {
  explanationJson,
  renderChanges,
  renderDecision,
  renderNear,
  renderRules,
  renderUnknown,
} from '../support/explain-text.ts';
import { defaultPath, loadWorking } from '../support/load-policies.ts';
import { type GivenFacts, readFactValue, readRequestFile } from '../support/read-facts.ts';

export function defineDecide(command: Command, finish: (code: ExitCode) => void): void {
  command
    .option(
      '--policies <path>',
      'a policy directory, or one file (default: ./policies, else the current directory)',
    )
    .option(
      '--action <key>',
      'the action; without it, the command reads a whole request from standard input as JSON',
    )
    .option('--payload <json>', 'the payload: JSON, @file, or - for standard input', '{}')
    .option('--agent <json>', 'facts about the agent, as in the registry')
    .option('--request <json>', 'facts about the request: ip, signed, session')
    .option('--meters <json>', 'readings by meter name, each like 10, [10, 25] or "100 USD"')
    .option('--satisfied <json>', 'satisfied requirements: {"escalate": [...], "reauth": [...]}')
    .option('--now <time>', 'the time of the decision, with an offset (default: the current time)')
    .option('--unknown <path...>', 'facts to treat as unknown, such as agent.risk_tier')
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

interface Options {
  readonly policies?: string;
  readonly action?: string;
  readonly payload: string;
  readonly agent?: string;
  readonly request?: string;
  readonly meters?: string;
  readonly satisfied?: string;
  readonly now?: string;
  readonly unknown?: readonly string[];
  readonly trace?: boolean;
  readonly json?: boolean;
}

async function decide(options: Options): Promise<ExitCode> {
  const given = await readGiven(options);
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

/** Reads the facts as JSON, from the options or from standard input. */
async function readGiven(options: Options): Promise<GivenFacts> {
  const whole = options.action === undefined ? await readWhole() : null;
  const parts = await Promise.all(
    (['agent', 'request', 'meters', 'satisfied'] as const).map(async (name) => {
      const text = options[name];
      return text === undefined ? [] : [[name, await readFactValue(text, `--${name}`)] as const];
    }),
  );
  const base: JsonObject = whole?.given ?? {
    action: options.action ?? '',
    payload: await readFactValue(options.payload, '--payload'),
  };
  const now = options.now ?? base.now ?? new Date().toISOString();
  const unknown = [
    ...(Array.isArray(base.unknown) ? (base.unknown as readonly Json[]) : []),
    ...(options.unknown ?? []),
  ];
  const given = { ...base, ...Object.fromEntries(parts.flat()), now };
  return {
    given: unknown.length > 0 ? { ...given, unknown } : given,
    isRecorded: whole?.isRecorded === true,
  };
}

async function readWhole(): Promise<GivenFacts> {
  if (process.stdin.isTTY) throw new UsageError('name an --action, or pipe a complete request as JSON');
  return readRequestFile('-', 'the request');
}
