// An agent on the Claude Agent SDK. Leave out `spawnClaudeCodeProcess` to use Claude Code itself.

import { createSdkMcpServer, query, tool } from '@anthropic-ai/claude-agent-sdk';
import { z } from 'zod';
import { guardClaude } from '../../integrations/typescript/adapters/claude-agent.ts';
import { connectFromEnvironment, createPeople, type Mail, send, task } from '../mails.ts';
import { spawnStandIn } from './stand-in.ts';

const writ = connectFromEnvironment();
const guard = guardClaude({ writ, onWait: createPeople(writ).onWait });

const sendMail = guard.tool(
  'mail',
  tool('send', 'Sends a mail', { to: z.string(), text: z.string() }, async (mail: Mail) => ({
    content: [{ type: 'text' as const, text: await send(mail) }],
  })),
);

const run = query({
  prompt: task,
  options: {
    hooks: guard.hooks,
    mcpServers: { mail: createSdkMcpServer({ name: 'mail', tools: [sendMail] }) },
    pathToClaudeCodeExecutable: process.execPath,
    spawnClaudeCodeProcess: spawnStandIn as never,
  },
});
for await (const message of run) if (message.type === 'result') break;
