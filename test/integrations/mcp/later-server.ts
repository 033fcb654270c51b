// A server on the official library that speaks both protocol eras over its standard streams.

import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod/v4';

serveStdio(() => {
  const server = new McpServer({ name: 'forecast', version: '1.0.0' });
  server.registerTool(
    'forecast',
    { description: 'The weather', inputSchema: z.object({ city: z.string() }) },
    async ({ city }) => ({ content: [{ type: 'text', text: `${city}: sunny` }] }),
  );
  return server;
});
