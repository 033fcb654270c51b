// `writ mcp`: the proxy between clients and a server of the Model Context Protocol. Its subcommands come
// before that: they declare the server's tools, record their review, and show what has changed since.

import type { Command } from 'commander';
import {
  type ActionOptions,
  type DifferenceOptions,
  type LockOptions,
  lockFileDefault,
  printActions,
  showDifferences,
  writeReview,
} from '../mcp/review-server.ts';
import { type ProxyOptions, runProxy } from '../mcp/run-proxy.ts';
import { withServerOptions } from '../mcp/server-options.ts';
import { type WrapOptions, wrapConfiguration } from '../mcp/wrap.ts';
import type { ExitCode } from '../output/output.ts';

type Finish = (code: ExitCode) => void;

export function defineMcp(command: Command, finish: Finish): void {
  const proxy = withServerOptions(command.command('run', { isDefault: true }));
  proxy
    .description('the proxy itself, which runs without this word, too')
    .option('--service <address>', 'where the service is (WRIT_URL; default: http://127.0.0.1:8181)')
    .option('--key-file <file>', 'the key is in this file (default: WRIT_API_KEY)')
    .option('--agent <agent>', 'with the key of an enforcement point: for whom it asks (WRIT_AGENT)')
    .option('--lock <file>', 'show the reviewed tools of this file, and no others')
    .option('--hold <seconds>', 'how long a reply is held while people decide', '50')
    .option('--session <id>', 'the session of all calls (default: one for each agent)')
    .option('--receipts', 'send the receipt of each grant to the server')
    .option('--prefix <prefix>', 'prefix of the names in `_meta`, such as com.example/', '')
    .option('--pass <method...>', 'forward a method that the proxy does not know, undecided')
    .option('--coaz', 'refuse with the error code of COAZ-MCP instead of a result')
    .option('--listen <address>', 'serve clients over streamable HTTP, such as on 127.0.0.1:8282')
    .option('--shared-key', 'with --listen: clients without a key of their own use the key of the proxy')
    .option('--sessions <count>', 'with --listen: how many sessions and servers are kept at a time', '32')
    .option('--sessions-of-caller <count>', 'with --listen: how many of them for one key', '4')
    .option('--origin <origin...>', 'with --listen: pages of these origins may call')
    .option('--host <name...>', 'with --listen: clients may reach it under these names')
    .addHelpText('after', examples)
    .action(async (server: readonly string[], options: ProxyOptions) => {
      finish(await runProxy(server, options));
    });
  defineReview(command, finish);
  command.addHelpText('after', examples);
}

function defineReview(command: Command, finish: Finish): void {
  withServerOptions(command.command('actions'))
    .description('print declarations of the tools of a server')
    .option('--open', 'payloads may have fields that the schemas do not name')
    .action(async (server: readonly string[], options: ActionOptions) => {
      finish(await printActions(server, options));
    });
  withServerOptions(command.command('lock'))
    .description('write what a server says about its tools into the lock file, for review')
    .option('--lock <file>', 'the lock file', lockFileDefault)
    .action(async (server: readonly string[], options: LockOptions) => {
      finish(await writeReview(server, options));
    });
  withServerOptions(command.command('diff'))
    .description('show what has changed since the review; exit code 1 where something has')
    .option('--lock <file>', 'the lock file', lockFileDefault)
    .option('--json', 'print JSON')
    .action(async (server: readonly string[], options: DifferenceOptions) => {
      finish(await showDifferences(server, options));
    });
  command
    .command('wrap')
    .description("put the proxy in front of every server of a client's configuration")
    .argument('<file>', 'such as .mcp.json')
    .requiredOption('--key-file <file>', 'where the proxies find their key')
    .option('--service <address>', 'where the service is')
    .option('--lock <file>', 'the lock file of the servers')
    .option('--dry-run', 'print the file and leave it as it is')
    .action(async (file: string, options: WrapOptions) => {
      finish(await wrapConfiguration(file, options));
    });
}

const examples = `
Examples:
  writ mcp actions --as files -- npx -y @modelcontextprotocol/server-filesystem /workspace > policies/files.policy
  writ mcp lock --as files -- npx -y @modelcontextprotocol/server-filesystem /workspace
  WRIT_API_KEY=writ_... writ mcp --as files --lock mcp.lock -- npx -y @modelcontextprotocol/server-filesystem /workspace
  writ mcp --as crm --url https://crm.example.com/mcp --header 'Authorization: env:CRM_TOKEN'
  writ mcp --as files --listen 127.0.0.1:8282 -- npx -y @modelcontextprotocol/server-filesystem /workspace
  writ mcp diff --as files -- npx -y @modelcontextprotocol/server-filesystem /workspace
  writ mcp wrap .mcp.json --key-file ~/.writ/key --dry-run`;
