// `writ decide`: puts one request to a policy set and shows the decision and, rule by rule, how it came about. The
// facts are read as a test reads them; nothing is recorded, no meter is touched.

import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Command } from 'commander';
import { type Diagnostic, hasErrors } from '../../diagnostic/diagnostic.ts';
import { readJson } from '../../json/read.ts';
import { gates } from '../../model/decision.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import type { PolicySet } from '../../model/policy.ts';
import type { Facts } from '../../model/request.ts';
import { digest } from '../../sources/digest.ts';
import { authorize } from '../../spec/authorize.ts';
import { explain } from '../../spec/explain.ts';
import { applyPart, changeKeys, factKeys } from '../../testing/changes.ts';
import { readMap } from '../../testing/fields.ts';
import { readSituation, toFacts } from '../../testing/situation.ts';
import { fromJson, type Report } from '../../testing/yaml.ts';
import { explanationToJson, renderDecision, renderRules } from '../explain.ts';
import { type ExitCode, exitCodes, print, printJson, UsageError } from '../output.ts';
import { defaultPath, loadPolicies, showDiagnostics } from '../policies.ts';

export function define(command: Command, finish: (code: ExitCode) => void): void {
  command
    .option(
      '--policies <path>',
      'a policy directory, or one file (default: ./policies, else the current directory)',
    )
    .option('--action <key>', 'the action; without it a whole request is read from standard input as JSON')
    .option('--payload <json>', 'the payload: JSON, @file, or - for standard input', '{}')
    .option('--agent <json>', 'what the registry knows of the agent')
    .option('--request <json>', 'what the host knows of the request: ip, signed, session')
    .option('--meters <json>', 'readings by meter: 10, [10, 25] or "100 USD"')
    .option('--satisfied <json>', 'requirements that are met: {"escalate": [...], "reauth": [...]}')
    .option('--now <time>', 'the time to decide at, with an offset (default: the current time)')
    .option('--unknown <path...>', 'facts to be taken as unknown, such as agent.risk_tier')
    .option('--json', 'print the decision and the explanation as JSON')
    .addHelpText('after', examples)
    .action(async (options: Options) => {
      finish(await decide(options));
    });
}

const examples = `
Examples:
  writ decide --action payment.create --payload '{"amount": 800, "currency": "USD", "vendor": "Staples"}'
  writ decide --action payment.create --payload @request.json --agent '{"risk_tier": "low"}' --meters '{"spent_24h": 0}'
  echo '{"action": "repo.read", "payload": {"name": "web"}}' | writ decide --json

A fact that is not given is unknown. Exit codes: 0 ALLOW, 3 any other decision, 1 the policies have errors, 2 usage.`;

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
  readonly json?: boolean;
}

async function decide(options: Options): Promise<ExitCode> {
  const given = await readRequest(options);
  const { read, compiled, diagnostics } = await loadPolicies(options.policies ?? defaultPath());
  const { set, engine } = compiled;
  if (set === null || engine === null || hasErrors(diagnostics)) {
    showDiagnostics(diagnostics.filter(isError), read.sourceOf);
    return exitCodes.wrong;
  }
  const facts = readFacts(given, set);
  const decision = engine.decide(facts);
  if (!isDeepStrictEqual(decision, authorize(set, facts))) {
    throw new Error(`the compiled policies and the definition disagree on ${JSON.stringify(given)}`);
  }
  const isRefused = decision.by !== 'default_deny' && (gates as readonly string[]).includes(decision.by);
  const rules = isRefused ? [] : explain(set, facts);
  if (options.json === true) {
    printJson({
      decision,
      digest: digest(set),
      rules: rules.map((rule) => explanationToJson(rule, read.sourceOf)),
    });
  } else {
    print(renderDecision(decision));
    print(renderRules(rules, { decision, set, sourceOf: read.sourceOf }));
  }
  return decision.outcome === 'ALLOW' ? exitCodes.ok : exitCodes.notAllowed;
}

/** The facts as JSON, from options or from standard input. */
async function readRequest(options: Options): Promise<JsonObject> {
  const whole = options.action === undefined ? await readWhole() : null;
  const parts = await Promise.all(
    (['agent', 'request', 'meters', 'satisfied'] as const).map(async (name) => {
      const text = options[name];
      return text === undefined ? [] : [[name, await readValue(text, `--${name}`)] as const];
    }),
  );
  const base: JsonObject = whole ?? {
    action: options.action ?? '',
    payload: await readValue(options.payload, '--payload'),
  };
  const now = options.now ?? base.now ?? new Date().toISOString();
  const unknown = [
    ...(Array.isArray(base.unknown) ? (base.unknown as readonly Json[]) : []),
    ...(options.unknown ?? []),
  ];
  return { ...base, ...Object.fromEntries(parts.flat()), now, ...(unknown.length > 0 ? { unknown } : {}) };
}

async function readWhole(): Promise<JsonObject> {
  if (process.stdin.isTTY) throw new UsageError('name an --action, or pipe a whole request as JSON');
  const value = await readValue('-', 'the request');
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError('the request must be a JSON object');
  }
  const { action_key: action, ...rest } = value as JsonObject;
  // The body of POST /v1/authorize calls it `action_key`.
  return action === undefined ? rest : { action, ...rest };
}

async function readValue(text: string, name: string): Promise<Json> {
  const result = readJson(await readBytes(text, name));
  if (result.ok) return result.value;
  const { pointer, detail } = result.issue;
  throw new UsageError(`${name} is not JSON: ${detail}${pointer === '' ? '' : ` at ${pointer}`}`);
}

async function readBytes(text: string, name: string): Promise<Uint8Array> {
  if (text === '-') return readInput();
  if (!text.startsWith('@')) return Buffer.from(text);
  try {
    return await readFile(text.slice(1));
  } catch (error) {
    throw new UsageError(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function readInput(): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Throws a UsageError that lists every mistake. */
function readFacts(given: JsonObject, set: PolicySet): Facts {
  const mistakes: string[] = [];
  const report: Report = (_span, message, help) => {
    mistakes.push(help === undefined ? message : `${message} (${help})`);
  };
  const span = { file: '', start: 0, end: 0 };
  const map = readMap(
    fromJson(given, span),
    { name: 'the request', keys: [...factKeys, ...changeKeys] },
    report,
  );
  const facts = map && applyPart(new Map(), map, report);
  const situation = facts && readSituation(facts, span, report);
  const complete = situation && toFacts(situation, set, report);
  if (complete === null || mistakes.length > 0) throw new UsageError(mistakes.join('\n       '));
  return complete;
}

function isError({ severity }: Diagnostic): boolean {
  return severity === 'error';
}
