// Decides which of a connection's requests are being answered. A request that comes alone goes on at once. A
// request that comes behind another, or after many refusals, waits. Waiting requests go on by turns, at a
// pace that leaves most of the time to others; while one waits, nothing more of its connection is parsed.
// INVARIANT: what a connection costs is bounded, and so is what waits on all connections together: when too
// much waits, the connection with the most waiting requests is cut.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { readInParts } from './partial-reads.ts';

export interface RequestGate {
  /** Adds a new connection, on which no request has come yet. */
  admit(socket: Socket): void;
  /** Hands a request to `listener`, at once or when the gate's turn comes to it. */
  receive(message: IncomingMessage, response: ServerResponse, listener: RequestListener): void;
  /**
   * Ends the connection that has been idle for longest, else the one whose client has kept it waiting for
   * longest; false when there is none.
   */
  makeRoom(): boolean;
}

export interface RequestGateOptions {
  /** A client that takes nothing of its pending replies for this long is cut off. */
  readonly stalledMs: number;
}

/**
 * Requests for decisions of one connection that are answered at the same time; these requests and their
 * replies are small.
 */
const decisionsAtOnceMax = 32;
/**
 * Requests of all connections together that are answered at the same time; beyond this number each connection
 * has one.
 */
const underWayMax = 2_048;
/** Requests of all connections together that wait behind others of their connection. */
const waitingMax = 12_000;
/**
 * Requests for anything but a decision that go on at once in one turn of the event loop; further ones wait.
 */
const othersOfTurnMax = 4;
/** Waiting requests that go on in one turn of the event loop. */
const ofTurnMax = 2;
/** Waiting requests that go on in a millisecond. */
const perMs = 3;
/** As how many waiting requests one counts on a connection that is slowed for its refusals. */
const refusedCost = 3;
/** Bytes of a reply that count as one more waiting request. */
const bytesOfOne = 16 * 1024;
/** How much unused allowance is kept for turns that come late, in requests. */
const unusedMax = 60;
/** This many requests waiting on one connection are a flood. */
const floodOf = 64;
/** How long reads of all connections are guarded after a flood. */
const guardedMs = 60_000;
/** Refusals that one connection may have at once without being slowed. */
const refusalsFree = 5;
/** The time after which one refusal is forgotten. */
const refusalForgottenMs = 1_000;
/**
 * Bytes of replies that a client has not read; from this size on, its requests are no longer answered side by
 * side.
 */
const unreadBytesMax = 64 * 1024;

/** A client makes room for others when it has left a request unfinished, or a reply unread, for this long. */
const keptWaitingMs = 1_000;

interface Exchange {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly listener: RequestListener;
}

interface Connection {
  readonly socket: Socket;
  /** Requests that are being answered; `isForDecisions` tells whether all of them are for decisions. */
  underWay: number;
  isForDecisions: boolean;
  /** The latest request that went on; `latestAtMs` is when it did. */
  latest: IncomingMessage | null;
  latestAtMs: number;
  /** Requests that wait, in the order in which they came. */
  readonly waiting: Exchange[];
  /** How many bytes had left for the client when the connection was last checked. */
  bytesSent: number;
  /** Refusals that are not forgotten, as of `refusedAtMs`. */
  refusals: number;
  refusedAtMs: number;
  /** Parses on, when that is allowed; null when the connection is not read in parts. */
  parseOn: (() => void) | null;
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a closure over the turns of all connections.
export function createRequestGate({ stalledMs }: RequestGateOptions): RequestGate {
  const connections = new Map<Socket, Connection>();
  /** Connections without a request; the one that has been idle for longest comes first. */
  const idle = new Set<Connection>();
  const holders = new Set<Connection>();
  /** Connections whose next request may go on, by turns. */
  const ready = new Set<Connection>();
  let isTurnScheduled = false;
  /** How many waiting requests may go on, as of `refilledAtMs`. */
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
    // A reader of a body resumes its connection, which must not be read while requests wait.
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
    // The connection was cut off, though its last bytes are still being read.
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

  /** Whether a request may go on at once when nothing else is under way on its connection. */
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

  /**
   * Takes one request of each connection in turn, and few at a time, so that a caller that comes alone waits
   * for few.
   */
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

  /**
   * Guards the reads of all connections, because a flood seldom comes alone: from now on no connection has
   * many requests read at a time.
   */
  function guardReads(): void {
    guardedUntilMs = performance.now() + guardedMs;
    for (const connection of connections.values()) guardRead(connection);
  }

  function greediest(): Connection {
    let most: Connection | null = null;
    for (const one of holders) if (most === null || one.waiting.length > most.waiting.length) most = one;
    if (most === null) throw new Error('a waiting request has no connection');
    return most;
  }

  /** Cuts a connection whose replies wait to be sent, when nothing of them has left since the last check. */
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

/**
 * The connection whose client has kept it waiting for longest, for the rest of a request or for room for a
 * reply; null when there is none.
 */
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

/**
 * Bytes that the operating system has not taken yet. For a large write that is under way, Node shows them
 * nowhere else.
 */
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
