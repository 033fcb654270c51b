// `writ doctor`: examines an installation of the service, and names each fault with what to do about it.

import type { Command } from 'commander';
import { type Config, loadConfig } from '../../service/settings/load.ts';
import { examineSlack, examineTeams } from '../doctor/chats.ts';
import { type PartFinding, unused } from '../doctor/finding.ts';
import { examineData, examinePackages, examineRoom } from '../doctor/machine.ts';
import {
  clockOf,
  examineAddress,
  examineGaps,
  examineIssuer,
  examineMail,
  examinePort,
  examineWorkloadIssuers,
} from '../doctor/network.ts';
import { examineBundle, examinePolicies } from '../doctor/policies.ts';
import { type ClockSample, examineClock, examineRecords } from '../doctor/records.ts';
import { examineSiem } from '../doctor/siem.ts';
import { createMarks, type ExitCode, exitCodes, print, printJson } from '../output/output.ts';
import { settingsGiven, withSettings } from '../support/setting-flags.ts';

export function defineDoctor(command: Command, finish: (code: ExitCode) => void): void {
  command
    .option('--config <file>', 'configuration file (default: writ.yaml, if present)')
    .option('--json', 'print the findings as JSON');
  withSettings(command)
    .addHelpText('after', examples)
    .action(async (options: Options) => {
      finish(await doctor(options));
    });
}

const examples = `
Examples:
  writ doctor
  writ doctor --config /etc/writ.yaml --json
  writ doctor --policies /etc/writ/policies --data /var/lib/writ

Run it as the service's user, with the options and the environment of \`writ serve\`. It changes nothing, and the
service may be running. The exit code is 1 for a fault, and 0 if there are only warnings.`;

interface Options {
  readonly config?: string;
  readonly json?: boolean;
}

type ReportEntry =
  | NamedFinding
  | { readonly part: 'settings'; readonly state: 'wrong'; readonly what: string; readonly fix: string };

async function doctor({ config: file, json, ...flags }: Options): Promise<ExitCode> {
  const loaded = loadConfig({
    directory: process.cwd(),
    file,
    environment: process.env,
    flags: settingsGiven(flags),
  });
  const findings: readonly ReportEntry[] = loaded.ok
    ? await examineInstallation(loaded.config)
    : loaded.problems.map((what) => ({
        part: 'settings',
        state: 'wrong',
        what,
        fix: '`writ serve --help` lists every setting and its values',
      }));
  const isWrong = findings.some(({ state }) => state === 'wrong');
  if (json === true) printJson({ ok: !isWrong, findings });
  else for (const finding of findings) print(textOf(finding));
  return isWrong ? exitCodes.wrong : exitCodes.ok;
}

const [stateWidth, partWidth] = ['warning'.length, 'packages'.length];

function textOf(finding: ReportEntry): string {
  const { state, part, what } = finding;
  const { good, bad, faint } = createMarks();
  const paint = state === 'ok' ? good : state === 'unused' ? faint : bad;
  const line = `${paint(state.padEnd(stateWidth))}  ${part.padEnd(partWidth)}  ${what}\n`;
  return 'fix' in finding ? `${line}${' '.repeat(stateWidth + partWidth + 4)}fix: ${finding.fix}\n` : line;
}

// Examines an installation part by part, as the settings describe it. INVARIANT: nothing is changed except
// for a small file that is written to the data directory and deleted again.

/** The parts of an installation, in the words of docs/cli/operation.md. */
export type InstallationPart =
  | ('packages' | 'data' | 'disk' | 'key' | 'store' | 'clock' | 'policies' | 'bundle')
  | ('gaps' | 'port' | 'address' | 'mail' | 'slack' | 'teams' | 'sign-on' | 'users' | 'workloads' | 'siem');

export type NamedFinding = PartFinding & { readonly part: InstallationPart };

/** Examines all parts. Parts on which other parts depend come first. */
export async function examineInstallation(config: Config): Promise<readonly NamedFinding[]> {
  const packages = await examinePackages(config);
  // Without the packages, the findings about other parts would only repeat this one.
  if (packages.state === 'wrong') return [{ part: 'packages', ...packages }];
  const { key, store, examined } = await examineRecords(config);
  const { sso, users, agentIssuers } = config;
  const isServed = examined?.isServed === true;
  const clock = async () =>
    examineClock(Date.now(), examined?.newestMs ?? null, await timesOf(config, examined?.serverMs ?? null));
  const examining = {
    packages,
    disk: examineRoom(config),
    key,
    store,
    clock: clock(),
    policies: examinePolicies(config),
    bundle: examineBundle(config),
    gaps: examineGaps(config, isServed),
    port: examinePort(config, isServed),
    address: examineAddress(config),
    mail: examineMail(config),
    slack: examineSlack(config),
    teams: examineTeams(config),
    'sign-on':
      sso === null
        ? unused('no sso.issuer: people have passwords and passkeys')
        : examineIssuer({ setting: 'sso.issuer', issuer: sso.issuer, keys: null }),
    users:
      users === null
        ? unused('no users.issuer: agents act for no user')
        : examineIssuer({ setting: 'users.issuer', ...users }),
    workloads: examineWorkloadIssuers(agentIssuers),
    siem: examineSiem(config, examined),
  } as const satisfies Partial<Record<InstallationPart, PartFinding | Promise<PartFinding>>>;
  const findings = await Promise.all(
    Object.entries(examining).map(async ([part, finding]) => ({
      part: part as InstallationPart,
      ...(await finding),
    })),
  );
  const data = examineData(config).map((finding): NamedFinding => ({ part: 'data', ...finding }));
  return [...findings.slice(0, 1), ...data, ...findings.slice(1)];
}

/** The clocks of other machines that the settings name, and that of the database. */
async function timesOf(
  { publicUrl, sso, users, agentIssuers }: Config,
  serverMs: number | null,
): Promise<readonly ClockSample[]> {
  const addresses = [publicUrl, sso?.issuer ?? null, users?.issuer ?? null]
    .concat(agentIssuers.map(({ issuer }) => issuer))
    .filter((one) => one !== null);
  const seen = await Promise.all([...new Set(addresses)].map(clockOf));
  const ofDatabase = serverMs === null ? null : { whose: 'the database', atMs: serverMs };
  return [...seen, ofDatabase].filter((one) => one !== null);
}
