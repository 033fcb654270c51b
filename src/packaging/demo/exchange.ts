// Calls of the demo's people and agents, over HTTP like those of real ones.

export interface Reply {
  readonly status: number;
  /** The parsed JSON; null for an empty body. */
  // biome-ignore lint/suspicious/noExplicitAny: the caller knows what it asked for
  readonly body: any;
  /** The cookie of a session that begins; null for other replies. */
  readonly cookie: string | null;
}

export interface DemoCaller {
  /** Resolves to the reply, whatever its status is. Rejects when the service cannot be reached. */
  send(path: string, body?: unknown, method?: string): Promise<Reply>;
  /** Resolves to the body of a reply; rejects when the service refuses. */
  done(path: string, body?: unknown, method?: string): Promise<Reply['body']>;
}

export function createCaller(url: string, headers: Readonly<Record<string, string>> = {}): DemoCaller {
  const send: DemoCaller['send'] = async (path, body, method = 'POST') => {
    const reply = await fetch(url + path, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    const cookie = reply.headers.get('set-cookie')?.split(';')[0] ?? null;
    return { status: reply.status, body: text === '' ? null : JSON.parse(text), cookie };
  };
  return {
    send,
    async done(path, body, method) {
      const reply = await send(path, body, method);
      if (reply.status >= 400) throw new Error(`${path}: ${JSON.stringify(reply.body)}`);
      return reply.body;
    },
  };
}
