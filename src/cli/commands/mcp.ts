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
import { addExamples } from '../support/help-layout.ts';

type Finish = (code: ExitCode) => void;

export function defineMcp(command: Command, finish: Finish): void {
  const proxy = withServerOptions(command.command('run', { isDefault: true }));
  proxy
    .description('run the proxy (the default)')
    .option('--service <address>', 'the address of the service (WRIT_URL; default: http://127.0.0.1:8181)')
    .option('--key-file <file>', 'the file with the key (default: WRIT_API_KEY)')
    .option('--agent <agent>', "with an enforcement point's key: the agent to ask for (WRIT_AGENT)")
    .option('--lock <file>', 'show only the reviewed tools in this file')
    .option('--hold <seconds>', 'how long a reply waits while people decide', '50')
    .option('--session <id>', 'the session of all calls (default: one per agent)')
    .option('--plans', 'offer models the tool `writ_plan`, which announces several calls as a plan')
    .option('--receipts', 'send the receipt of each grant to the server')
    .option('--prefix <prefix>', 'prefix of the names in `_meta`, such as com.example/', '')
    .option(
      '--pass <method...>',
      'forward this method without a decision, although the proxy does not know it',
    )
    .option('--inspect <detector>', 'a program or an address that labels results with a field `labels`')
    .option('--inspect-timeout <seconds>', 'how long an inspection may take', '5')
    .option('--coaz', 'refuse with the error code of COAZ-MCP instead of a result')
    .option(
      '--listen <address>',
      'serve clients over streamable HTTP at this address, such as 127.0.0.1:8282',
    )
    .option('--shared-key', "with --listen: clients without a key use the proxy's key")
    .option('--sessions <count>', 'with --listen: the maximum number of sessions and servers', '32')
    .option('--sessions-of-caller <count>', 'with --listen: the maximum per key', '4')
    .option('--origin <origin...>', 'with --listen: origins of pages that may call')
    .option('--host <name...>', 'with --listen: names of this address')
    .addHelpText('after', examples)
    .action(async (server: readonly string[], options: ProxyOptions) => {
      finish(await runProxy(server, options));
    });
  defineReview(command, finish);
  addExamples(command, examples);
}

function defineReview(command: Command, finish: Finish): void {
  withServerOptions(command.command('actions'))
    .description("print declarations of a server's tools")
    .option('--open', 'allow payload fields that are not in the schemas')
    .action(async (server: readonly string[], options: ActionOptions) => {
      finish(await printActions(server, options));
    });
  withServerOptions(command.command('lock'))
    .description("write a server's tool descriptions to the lock file, for review")
    .option('--lock <file>', 'the lock file', lockFileDefault)
    .action(async (server: readonly string[], options: LockOptions) => {
      finish(await writeReview(server, options));
    });
  withServerOptions(command.command('diff'))
    .description('show the changes since the review; exit code 1 if there are any')
    .option('--lock <file>', 'the lock file', lockFileDefault)
    .option('--json', 'print JSON')
    .action(async (server: readonly string[], options: DifferenceOptions) => {
      finish(await showDifferences(server, options));
    });
  command
    .command('wrap')
    .description("add the proxy to every server in a client's configuration")
    .argument('<file>', "the client's configuration, such as .mcp.json")
    .requiredOption('--key-file <file>', "the file with the proxies' key")
    .option('--service <address>', 'the address of the service')
    .option('--lock <file>', 'the lock file of the servers')
    .option('--dry-run', 'print the result, write nothing')
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
