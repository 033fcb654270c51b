// Which of a connection's requests are being answered. A request that comes alone goes on at once. One that comes behind
// another, or after many refusals, waits here: those go on by turns, at a pace that leaves most of the time to others, and
// while any waits nothing more of its connection is parsed. INVARIANT: what a connection costs is bounded, and what waits on
// all connections together is, too: of those that hold it, the greediest is cut.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { readInParts } from './partial-reads.ts';

export interface RequestGate {
  /** A new connection, on which nothing has been asked. */
  admit(socket: Socket): void;
  /** Hands a request to `listener`, now or when earlier ones on its connection have been answered. */
  receive(message: IncomingMessage, response: ServerResponse, listener: RequestListener): void;
  /** Ends the connection that has been idle for longest, else the one whose client has kept it waiting; false where there is none. */
  makeRoom(): boolean;
}

export interface RequestGateOptions {
  /** A client that takes nothing of what waits for it for so long is cut off. */
  readonly stalledMs: number;
}

/** Requests for decisions of one connection that are answered at the same time: they and their replies are small. */
const decisionsAtOnceMax = 32;
/** Requests of all connections together that are answered at the same time; beyond it each connection has one. */
const underWayMax = 2_048;
/** Requests of all connections together that wait behind others of their connection. */
const waitingMax = 12_000;
/** Requests for anything but a decision that go on at once in a turn of the event loop; the others wait, too. */
const othersOfTurnMax = 4;
/** Requests that have waited and go on in one turn of the event loop. */
const ofTurnMax = 2;
/** Requests that have waited and go on in a millisecond. */
const perMs = 3;
/** As how many of these a request counts on a connection that is slowed for its refusals. */
const refusedCost = 3;
/** Bytes of a reply that count as one more of these. */
const bytesOfOne = 16 * 1024;
/** How many of these that were not used are kept for turns that come late. */
const unusedMax = 60;
/** Requests that wait on one connection and are a flood. */
const floodOf = 64;
/** How long all connections are guarded after a flood. */
const guardedMs = 60_000;
/** Refusals that one connection may have at once without being slowed. */
const refusalsFree = 5;
/** After how long one of these refusals is forgotten. */
const refusalForgottenMs = 1_000;
/** Bytes of replies that a client has not read; beyond it nothing more is answered. */
const unreadBytesMax = 64 * 1024;

/** A client that has sent a part of a request, or not read a reply, for so long makes room for others. */
const keptWaitingMs = 1_000;

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
  /** The latest of them, and since when. */
  latest: IncomingMessage | null;
  latestAtMs: number;
  /** In the order in which they came. */
  readonly waiting: Exchange[];
  /** What had left for the client when it was last looked at. */
  bytesSent: number;
  /** Refusals that are not forgotten, as of `refusedAtMs`. */
  refusals: number;
  refusedAtMs: number;
  /** Parses on, where it may; null where it is not read in parts. */
  parseOn: (() => void) | null;
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a closure over the turns of all connections.
export function createRequestGate({ stalledMs }: RequestGateOptions): RequestGate {
  const connections = new Map<Socket, Connection>();
  /** The one that has been idle for longest comes first. */
  const idle = new Set<Connection>();
  const holders = new Set<Connection>();
  /** Those whose next request may go on, by turns. */
  const ready = new Set<Connection>();
  let isTurnScheduled = false;
  /** How many requests that have waited may go on, as of `refilledAtMs`. */
  let allowance = unusedMax;
  let refilledAtMs = performance.now();
  let othersOfTurn = 0;
  let guardedUntilMs = -Infinity;
  let underWay = 0;
  let waiting = 0;

  function admit(socket: Socket): Connection {
    const connection: Connection = {
      socket,
      underWay: 0,
      isForDecisions: true,
      latest: null,
      latestAtMs: 0,
      waiting: [],
      bytesSent: 0,
      refusals: 0,
      refusedAtMs: 0,
      parseOn: null,
    };
    connections.set(socket, connection);
    idle.add(connection);
    if (performance.now() < guardedUntilMs) guardRead(connection);
    const watch = setInterval(() => cutIfStalled(connection), stalledMs).unref();
    // A reader of a body resumes its connection, which is not to be read while requests wait.
    socket.on('resume', () => {
      if (holds(connection)) socket.pause();
      else connection.parseOn?.();
    });
    socket.once('close', () => {
      clearInterval(watch);
      forget(connection);
    });
    return connection;
  }

  function forget(connection: Connection): void {
    connections.delete(connection.socket);
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
    const isAlone = !holds(connection) && connection.underWay === 0;
    if (isAlone && mayGoAtOnce(connection, message)) {
      goOn(connection, exchange);
      return;
    }
    connection.waiting.push(exchange);
    holders.add(connection);
    waiting += 1;
    socket.pause();
    schedule(connection);
    if (connection.waiting.length === floodOf) guardReads();
    if (waiting > waitingMax) greediest().socket.destroy();
  }

  /** Of a connection on which nothing else is under way. */
  function mayGoAtOnce(connection: Connection, message: IncomingMessage): boolean {
    if (isSlowed(connection)) return false;
    if (isDecision(message)) return true;
    if (othersOfTurn === 0) setImmediate(() => (othersOfTurn = 0));
    othersOfTurn += 1;
    return othersOfTurn <= othersOfTurnMax;
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
    connection.latest = message;
    connection.latestAtMs = performance.now();
    underWay += 1;
    response.once('close', () => finish(connection, response));
    listener(message, response);
  }

  function finish(connection: Connection, response: ServerResponse): void {
    connection.underWay -= 1;
    underWay -= 1;
    if (response.statusCode >= 400) countRefusal(connection);
    if (connection.socket.destroyed) return;
    if (holds(connection)) {
      allowance -= Number(response.getHeader('content-length') ?? 0) / bytesOfOne;
      schedule(connection);
    } else if (connection.underWay === 0) idle.add(connection);
  }

  function schedule(connection: Connection): void {
    ready.add(connection);
    scheduleTurn();
  }

  function scheduleTurn(): void {
    if (isTurnScheduled) return;
    isTurnScheduled = true;
    refill();
    if (allowance >= 1) setImmediate(takeTurn);
    else setTimeout(takeTurn, (1 - allowance) / perMs);
  }

  function refill(): void {
    const nowMs = performance.now();
    allowance = Math.min(unusedMax, allowance + (nowMs - refilledAtMs) * perMs);
    refilledAtMs = nowMs;
  }

  /** One of each connection in turn, and few at a time, so that a caller that comes alone waits for few. */
  function takeTurn(): void {
    isTurnScheduled = false;
    refill();
    for (let count = 0; count < ofTurnMax && ready.size > 0 && allowance >= 1; count += 1) {
      const [connection] = ready;
      allowance -= isSlowed(connection!) ? refusedCost : 1;
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
    if (holds(connection)) ready.add(connection);
    else {
      holders.delete(connection);
      connection.socket.resume();
      connection.parseOn?.();
    }
  }

  /** A flood seldom comes alone: from now on no connection has many requests read at a time. */
  function guardReads(): void {
    guardedUntilMs = performance.now() + guardedMs;
    for (const connection of connections.values()) guardRead(connection);
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
    makeRoom() {
      const [idlest = longestKeptWaiting(connections.values())] = idle;
      idlest?.socket.destroy();
      return idlest !== null;
    },
  };
}

/** The connection whose client has let it wait for longest, for the rest of a request or for room for a reply. */
function longestKeptWaiting(connections: Iterable<Connection>): Connection | null {
  let longest: Connection | null = null;
  let sinceMs = performance.now() - keptWaitingMs;
  for (const connection of connections) {
    const { latest, latestAtMs, socket } = connection;
    if (latestAtMs > sinceMs || latest === null || socket.destroyed) continue;
    if (latest.complete && queuedBytes(socket) === 0) continue;
    longest = connection;
    sinceMs = latestAtMs;
  }
  return longest;
}

/** Bytes that the operating system has not taken yet. Of a large write that is under way Node tells it nowhere else. */
function queuedBytes(socket: Socket): number {
  const { _handle: handle } = socket as { readonly _handle?: { readonly writeQueueSize?: number } | null };
  return handle?.writeQueueSize ?? 0;
}

function guardRead(connection: Connection): void {
  const { socket } = connection;
  connection.parseOn ??= readInParts(socket, () => holds(connection) || socket.isPaused());
}

function countRefusal(connection: Connection): void {
  connection.refusals = refusalsNow(connection) + 1;
  connection.refusedAtMs = performance.now();
}

function isSlowed(connection: Connection): boolean {
  return connection.refusals > 0 && refusalsNow(connection) > refusalsFree;
}

function refusalsNow({ refusals, refusedAtMs }: Connection): number {
  return Math.max(0, refusals - (performance.now() - refusedAtMs) / refusalForgottenMs);
}

function holds({ waiting }: Connection): boolean {
  return waiting.length > 0;
}

function isDecision({ method, url }: IncomingMessage): boolean {
  return method === 'POST' && url === '/v1/authorize';
}
