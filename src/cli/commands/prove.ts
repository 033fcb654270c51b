// `writ prove`: proves the guarantees of a policy set, or a question from the command line. It can write the
// proofs as certificates, and check such certificates again.

import { readFile, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { displayPath } from '../../analysis/findings/display-path.ts';
import {
  type ClauseResult,
  clauseToJson,
  evaluateGuarantees,
  isGoodClause,
} from '../../analysis/findings/guarantee-results.ts';
import { position, renderDiagnostics, type SourceOf } from '../../language/diagnostic/render.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import { horizon } from '../../reasoning/cells/times.ts';
import { createProblem } from '../../reasoning/prove/problem.ts';
import {
  areLemmas,
  type Certificate,
  certificatesOf,
  wrongWith,
} from '../../reasoning/prove/report/certificate.ts';
import { clauseText } from '../../reasoning/prove/report/wording.ts';
import { digest } from '../../service/policies/digest.ts';
import { addCases } from '../../testing/adding/add-cases.ts';
import { type AddedCase, caseOfClause } from '../../testing/adding/case-of-clause.ts';
import { fileError } from '../output/file-error.ts';
import {
  type ExitCode,
  exitCodes,
  print,
  printError,
  printJson,
  UsageError,
  useColor,
} from '../output/output.ts';
import { replaceFile } from '../output/replace-file.ts';
import { renderClauses } from '../support/clauses-text.ts';
import { loadClaims } from '../support/load-claims.ts';
import { defaultPath } from '../support/load-policies.ts';

export function defineProve(command: Command, finish: (code: ExitCode) => void): void {
  command
    .argument('[path]', 'a policy directory, or one file (default: ./policies, else the current directory)')
    .argument('[claim]', 'with --on: the claim to prove, as in a guarantee')
    .option('--on <pattern>', 'prove your own claim for these actions instead of the guarantees')
    .option('--strict', 'treat undecided claims as failures')
    .option('--explain', 'show what the proofs cover: requests, dates and conditions')
    .option('--certificate <file>', 'write the proofs to a file')
    .option('--verify <file>', 'check the proofs in a file against the policies, without proving again')
    .option(
      '--add-tests [file]',
      'write each refutation as a test (default: next to the file of the guarantee)',
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      "\nExamples:\n  writ prove\n  writ prove policies/payments --explain\n  writ prove --on payment.create 'never allow when payload.amount > 10_000 USD'\n  writ prove --certificate proofs.json && writ prove --verify proofs.json\n  writ prove --add-tests && writ test",
    )
    .action(async (path: string | undefined, claim: string | undefined, options: Options) => {
      finish(await prove(path, claim, options));
    });
}

interface Options {
  readonly on?: string;
  readonly strict?: boolean;
  readonly explain?: boolean;
  readonly certificate?: string;
  readonly verify?: string;
  readonly addTests?: string | true;
  readonly json?: boolean;
}

async function prove(
  first: string | undefined,
  second: string | undefined,
  options: Options,
): Promise<ExitCode> {
  const { path, claim } = argumentsOf(first, second, options);
  if (claim !== null && options.addTests === true)
    throw new UsageError('your claim is in no policy file: name the test file after --add-tests');
  const query = await loadClaims(path, claim === null ? null : { on: options.on!, claim });
  if ('errors' in query) {
    printError(renderDiagnostics(query.errors, query.sourceOf, { color: useColor(process.stderr) }));
    return exitCodes.wrong;
  }
  if (options.verify !== undefined) return verify(options.verify, query.set, options);
  const judged = evaluateGuarantees(query.set, { decide: query.decide });
  if (options.json === true) {
    const guarantees = judged.map((one) => clauseToJson(one, query.sourceOf));
    printJson({ digest: digest(query.set), guarantees });
  } else print(renderClauses(judged, query.sourceOf));
  if (options.explain === true) print(explain(query.set, query.sourceOf));
  if (options.addTests !== undefined)
    for (const line of await addTests(judged, query, options.addTests)) printError(line);
  if (options.certificate !== undefined) await writeCertificates(options.certificate, query.set);
  const isGood = judged.every((one) => isGoodClause(one, options.strict === true));
  return isGood ? exitCodes.ok : exitCodes.wrong;
}

/** Splits the arguments into path and claim. With `--on`, a single argument is the claim. */
function argumentsOf(
  first: string | undefined,
  second: string | undefined,
  { on }: Options,
): { readonly path: string; readonly claim: string | null } {
  if (on === undefined) {
    if (second !== undefined) throw new UsageError('a claim needs --on, which names the actions');
    return { path: first ?? defaultPath(), claim: null };
  }
  const claim = second ?? first;
  if (claim === undefined) throw new UsageError("--on needs a claim such as 'never allow'");
  return { path: second === undefined ? defaultPath() : first!, claim };
}

function explain(set: PolicySet, sourceOf: SourceOf): string {
  const dates = [horizon.from, horizon.to].map((second) =>
    new Date(second * 1000).toISOString().slice(0, 10),
  );
  const actions = [...new Set(set.guarantees.flatMap(({ actions: all }) => all))];
  return [
    '\nA proof covers every request of the declared shape by any agent, with any facts missing, lists of any allowed',
    `length and any possible meter reading, decided from ${dates.join(' to ')} or near dates that the policies name.`,
    'Below are the cells of each field: groups of values that no condition distinguishes. A condition that the prover',
    'cannot analyse is listed as assumed: proofs hold whether it is true or false.\n',
    ...actions.map((action) => explainAction(set, action, sourceOf)),
  ].join('\n');
}

function explainAction(set: PolicySet, action: string, sourceOf: SourceOf): string {
  const claims = set.guarantees
    .filter(({ actions }) => actions.includes(action))
    .flatMap((one) => one.claims);
  const { ctx } = createProblem(set, action, { claims });
  const cells = [...ctx.leaves.values()].map((leaf) => `  ${leaf.key}: ${leaf.cells.length} cells`);
  const guesses = [...ctx.guesses.values()].map(
    ({ span }) => `  assumed: ${span.file}:${position(sourceOf(span.file) ?? '', span.start).line}`,
  );
  return [`${action}:`, ...cells, ...guesses].join('\n').concat('\n');
}

const format = 'writ-proofs-1';

async function writeCertificates(path: string, set: PolicySet): Promise<void> {
  const proofs = certificatesOf(set);
  await writeFile(path, `${JSON.stringify({ format, digest: digest(set), proofs })}\n`);
}

async function verify(path: string, set: PolicySet, { json }: Options): Promise<ExitCode> {
  const proofs = await readCertificates(path);
  const results = proofs.map((proof) => ({ proof, wrong: wrongWith(proof, set) }));
  const rows = results.map(({ proof: { guarantee, claim, action }, wrong }) => ({
    guarantee,
    claim,
    action,
    wrong,
  }));
  if (json === true) printJson({ proofs: rows });
  else {
    for (const { guarantee, claim, action, wrong } of rows)
      print(
        `${wrong === null ? '✓' : '✗'} ${guarantee}, claim ${claim + 1}, on ${action}${wrong === null ? '' : `: ${wrong}`}\n`,
      );
  }
  return results.length > 0 && results.every(({ wrong }) => wrong === null) ? exitCodes.ok : exitCodes.wrong;
}

async function readCertificates(path: string): Promise<readonly Certificate[]> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (!isCertificateFile(value)) throw new Error(`it is not a proof file (${format})`);
    return value.proofs;
  } catch (error) {
    throw new UsageError(`${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function isCertificateFile(value: unknown): value is { readonly proofs: readonly Certificate[] } {
  if (typeof value !== 'object' || value === null || !('format' in value) || value.format !== format)
    return false;
  return 'proofs' in value && Array.isArray(value.proofs) && value.proofs.every(isCertificate);
}

function isCertificate(value: unknown): boolean {
  const { rules, clauses, lemmas, steps, assumptions } = (value ?? {}) as Partial<Record<string, unknown>>;
  const areClauses = (all: unknown): boolean => Array.isArray(all) && all.every((one) => Array.isArray(one));
  const areRules = rules === null || (Array.isArray(rules) && rules.every((id) => typeof id === 'string'));
  return (
    areRules && areClauses(clauses) && areLemmas(lemmas) && areClauses(steps) && Array.isArray(assumptions)
  );
}

// Turns requests that refute claims into cases of the test files beside the policies, each once.

interface ProofSources {
  readonly root: string | null;
  readonly sourceOf: SourceOf;
}

/**
 * Adds the cases, and returns a line for each file about what was written. `file` is true for the file beside
 * each guarantee.
 */
export async function addTests(
  judged: readonly ClauseResult[],
  { root, sourceOf }: ProofSources,
  file: string | true,
): Promise<readonly string[]> {
  const refuted = judged.flatMap(({ guarantee, claim, counterexample }) =>
    // What approvals may stand for is no part of a decision, so no test can expect it.
    counterexample === null || claim.effect === 'standing'
      ? []
      : [{ guarantee: guarantee.name, claim, claimText: clauseText(claim, sourceOf), ...counterexample }],
  );
  const pathOf = (policy: string): string =>
    file === true ? displayPath(root, policy.replace(/\.policy$/, '.test.yaml')) : file;
  if (root === null && file === true && refuted.length > 0)
    throw new UsageError('the policies come from a bundle: name the file to which the tests are added');
  const byFile = Map.groupBy(refuted, ({ claim }) => pathOf(claim.span.file));
  const lines: string[] = [];
  for (const [path, own] of byFile) lines.push(await addTo(path, own.map(caseOfClause)));
  return lines;
}

async function addTo(path: string, cases: readonly AddedCase[]): Promise<string> {
  const before = await textOf(path);
  const made = addCases({ path, text: before ?? '' }, cases);
  if (made === null)
    throw new UsageError(`${path}: its tests cannot be extended: \`writ test\` reports the problem`);
  const { text, added } = made;
  if (before === null) await create(path, text);
  else if (added.length > 0) await replaceFile(path, text);
  const there = cases.length - added.length;
  return `${path}: ${added.length} added${there === 0 ? '' : `, ${there} there already`}\n`;
}

/** The text of a file; null when there is no such file. */
async function textOf(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new UsageError(`cannot read ${path}: ${fileError(error)}`);
  }
}

async function create(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { flag: 'wx' });
  } catch (error) {
    throw new UsageError(`cannot write ${path}: ${fileError(error)}`);
  }
}
