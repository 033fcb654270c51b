// Which of a connection's requests are being answered. A client may send requests one behind the other without reading a
// reply; those that are not answered yet wait here, and while any waits nothing more is read. INVARIANT: what a connection
// costs is bounded, and what waits on all connections together is, too: of those that hold it, the greediest is cut.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface RequestGate {
  /** A new connection, on which nothing has been asked. */
  admit(socket: Socket): void;
  /** Hands a request to `listener`, now or when earlier ones on its connection have been answered. */
  receive(message: IncomingMessage, response: ServerResponse, listener: RequestListener): void;
  /** Ends the connection that has been idle for longest; false where none is idle. */
  endIdlest(): boolean;
}

export interface RequestGateOptions {
  /** A client that takes nothing of what waits for it for so long is cut off. */
  readonly stalledMs: number;
}

/** Requests for decisions are small, and so are their replies: so many of a connection are answered at the same time. */
const decisionsAtOnceMax = 32;
/** Of all connections together; beyond it each has one. */
const underWayMax = 2_048;
/** Requests that wait for others on their connections, all together. One that was read at once may hold some 2,000. */
const waitingMax = 12_000;
/** Requests that have waited go on by so many in a turn of the event loop. */
const ofTurnMax = 2;
/** Bytes of replies that the client has not read; beyond it nothing more is answered. */
const unreadBytesMax = 64 * 1024;

interface Exchange {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly listener: RequestListener;
}

interface Connection {
  readonly socket: Socket;
  /** Requests that are being answered, and whether all of them are for decisions. */
  underWay: number;
  isForDecisions: boolean;
  /** In the order in which they came. */
  readonly waiting: Exchange[];
  /** What had left for the client when it was last looked at. */
  bytesSent: number;
}

export function createRequestGate({ stalledMs }: RequestGateOptions): RequestGate {
  const connections = new WeakMap<Socket, Connection>();
  /** The one that has been idle for longest comes first. */
  const idle = new Set<Connection>();
  const holders = new Set<Connection>();
  /** Those whose next request may go on, by turns. */
  const ready = new Set<Connection>();
  let isTurnScheduled = false;
  let underWay = 0;
  let waiting = 0;

  function admit(socket: Socket): Connection {
    const connection: Connection = { socket, underWay: 0, isForDecisions: true, waiting: [], bytesSent: 0 };
    connections.set(socket, connection);
    idle.add(connection);
    const watch = setInterval(() => cutIfStalled(connection), stalledMs).unref();
    // Whoever reads a body resumes its connection, which is not to be read while requests wait.
    socket.on('resume', () => {
      if (holds(connection)) socket.pause();
    });
    socket.once('close', () => {
      clearInterval(watch);
      forget(connection);
    });
    return connection;
  }

  function forget(connection: Connection): void {
    waiting -= connection.waiting.length;
    connection.waiting.length = 0;
    holders.delete(connection);
    ready.delete(connection);
    idle.delete(connection);
  }

  function receive(message: IncomingMessage, response: ServerResponse, listener: RequestListener): void {
    const { socket } = message;
    // Cut off, though its last bytes are still being read.
    if (socket.destroyed) return;
    const connection = connections.get(socket) ?? admit(socket);
    const exchange: Exchange = { message, response, listener };
    if (!holds(connection) && mayGoOn(connection, message)) {
      goOn(connection, exchange);
      return;
    }
    connection.waiting.push(exchange);
    holders.add(connection);
    waiting += 1;
    socket.pause();
    if (waiting > waitingMax) greediest().socket.destroy();
  }

  function mayGoOn({ socket, underWay: own, isForDecisions }: Connection, message: IncomingMessage): boolean {
    if (own === 0) return true;
    const atOnceMax = underWay < underWayMax ? decisionsAtOnceMax : 1;
    return isForDecisions && isDecision(message) && own < atOnceMax && socket.writableLength < unreadBytesMax;
  }

  function goOn(connection: Connection, { message, response, listener }: Exchange): void {
    if (connection.underWay === 0) {
      idle.delete(connection);
      connection.isForDecisions = isDecision(message);
    }
    connection.underWay += 1;
    underWay += 1;
    response.once('close', () => finish(connection));
    listener(message, response);
  }

  function finish(connection: Connection): void {
    connection.underWay -= 1;
    underWay -= 1;
    if (connection.socket.destroyed) return;
    if (holds(connection)) schedule(connection);
    else if (connection.underWay === 0) idle.add(connection);
  }

  function schedule(connection: Connection): void {
    ready.add(connection);
    scheduleTurn();
  }

  function scheduleTurn(): void {
    if (isTurnScheduled) return;
    isTurnScheduled = true;
    setImmediate(takeTurn);
  }

  /** One of each connection in turn, and few in a turn of the event loop, so that whoever comes alone waits for few. */
  function takeTurn(): void {
    isTurnScheduled = false;
    for (let count = 0; count < ofTurnMax && ready.size > 0; count += 1) {
      const [connection] = ready;
      ready.delete(connection!);
      takeNext(connection!);
    }
    if (ready.size > 0) scheduleTurn();
  }

  function takeNext(connection: Connection): void {
    const [next] = connection.waiting;
    if (next === undefined || !mayGoOn(connection, next.message)) return;
    connection.waiting.shift();
    waiting -= 1;
    goOn(connection, next);
    if (holds(connection)) {
      ready.add(connection);
    } else {
      holders.delete(connection);
      connection.socket.resume();
    }
  }

  function greediest(): Connection {
    let most: Connection | null = null;
    for (const one of holders) if (most === null || one.waiting.length > most.waiting.length) most = one;
    if (most === null) throw new Error('what waits, waits on a connection');
    return most;
  }

  /** Replies lie there, and nothing of them has left since the look before. */
  function cutIfStalled(connection: Connection): void {
    const { socket } = connection;
    const queued = queuedBytes(socket);
    const sent = socket.bytesWritten - queued;
    if (queued > 0 && sent === connection.bytesSent) socket.destroy();
    connection.bytesSent = sent;
  }

  return {
    admit: (socket) => void admit(socket),
    receive,
    endIdlest() {
      const [longest] = idle;
      longest?.socket.destroy();
      return longest !== undefined;
    },
  };
}

/** Bytes that the operating system has not taken yet. Of a large write that is under way Node tells it nowhere else. */
function queuedBytes(socket: Socket): number {
  const { _handle: handle } = socket as { readonly _handle?: { readonly writeQueueSize?: number } | null };
  return handle?.writeQueueSize ?? 0;
}

function holds({ waiting }: Connection): boolean {
  return waiting.length > 0;
}

function isDecision({ method, url }: IncomingMessage): boolean {
  return method === 'POST' && url === '/v1/authorize';
}
