// `writ serve`: starts the service. Every setting is a flag; settings without a flag come from the
// environment and writ.yaml.

import type { Command } from 'commander';
import { StartError } from '../../service/http/start-error.ts';
import type { ConfigSources } from '../../service/settings/load.ts';
import { flagOf, type SettingName } from '../../service/settings/table.ts';
import { type ExitCode, exitCodes, print, printError, UsageError } from '../output/output.ts';
import { type SettingFlags, settingsGiven, withSettings } from '../support/setting-flags.ts';
import { notifyReady } from '../support/supervisor.ts';

export function defineServe(command: Command, finish: (code: ExitCode) => void): void {
  command
    .option('--config <file>', 'configuration file (default: writ.yaml, if present)')
    .option('--demo', 'serve simulated agents and people with temporary data, deleted at the end');
  withSettings(command)
    .addHelpText('after', examples)
    .action(async (options: Options) => {
      finish(await start(options));
    });
}

const examples = `
Examples:
  writ serve
  writ serve --demo
  writ serve --port 9000 --policies ./policies --data /var/lib/writ
  writ serve --bundle https://policies.example.com/writ.bundle --bundle-key "$BUNDLE_KEY"
  writ serve --store postgres://writ@db.example.com/writ --data /var/lib/writ
  writ serve --store postgres://writ@db.example.com/writ --workers 8
  WRIT_LOG_LEVEL=warn writ serve --config /etc/writ.yaml

Flags override environment variables (such as WRIT_PORT), which override the file, which overrides the defaults.
SIGTERM and SIGINT stop the service gracefully, a second signal immediately; SIGHUP reloads the policies.`;

interface Options {
  readonly config?: string;
  readonly demo?: boolean;
}

async function start({ config, demo = false, ...flagOptions }: Options): Promise<ExitCode> {
  const flags = settingsGiven(flagOptions);
  try {
    const code = demo ? await startDemo({ config, flags }) : await startService({ file: config, flags });
    if (code === exitCodes.ok) await notifyReady((line) => printError(`${line}\n`));
    return code;
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    printError(`${error.message}\n`);
    return error.exitCode === 2 ? exitCodes.usage : exitCodes.wrong;
  }
}

async function startService(sources: Pick<ConfigSources, 'file' | 'flags'>): Promise<ExitCode> {
  // Loaded here, because the help does without the packages of the service.
  const { configured, endWithService, serveConfigured } = await import('../../service/http/main.ts');
  const config = configured(sources);
  if (config.workers > 1) {
    const { startWorkers } = await import('../support/workers.ts');
    return await startWorkers(config);
  }
  endWithService(await serveConfigured(config));
  return exitCodes.ok;
}

/**
 * The only flags that a demo takes, and of the environment WRIT_PORT alone. Any other could let the demo reach
 * real systems, or let strangers reach the demo.
 */
const demoFlags: ReadonlySet<string> = new Set<SettingName>(['port', 'log.level']);

async function startDemo({
  config,
  flags,
}: {
  readonly config?: string | undefined;
  readonly flags: SettingFlags;
}): Promise<ExitCode> {
  const names = Object.keys(flags).filter((name) => flags[name] !== undefined && !demoFlags.has(name));
  const refused = [
    ...(config === undefined ? [] : ['--config']),
    ...names.map((name) => flagOf(name as SettingName)),
  ];
  if (refused.length > 0)
    throw new UsageError(`a demo has its own data and settings: omit ${refused.join(', ')}, or omit --demo`);
  const { openDemo } = await import('../../packaging/demo/demo.ts');
  const { demoWelcome } = await import('../../packaging/demo/demo-welcome.ts');
  const demo = await openDemo({
    port: flags.port,
    logLevel: flags['log.level'],
    onProgress: (text) => print(`${text}\n`),
  });
  if (demo !== null) print(demoWelcome(demo));
  return exitCodes.ok;
}
