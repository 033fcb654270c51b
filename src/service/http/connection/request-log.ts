// The log of one request: its lines carry the request's id. Nearly no request logs anything, so the logger
// behind it is made for the first line.

import type { FastifyBaseLogger } from 'fastify';
import type { Bindings, ChildLoggerOptions } from 'pino';

type Line = readonly [what: unknown, message?: string, ...values: readonly unknown[]];

/** A class because Fastify takes any object with the methods of a logger, and makes one for each request. */
export class RequestLog {
  readonly #log: FastifyBaseLogger;
  readonly #bindings: Bindings;
  #opened: FastifyBaseLogger | null = null;

  constructor(log: FastifyBaseLogger, bindings: Bindings) {
    this.#log = log;
    this.#bindings = bindings;
  }

  get level(): string {
    return this.#log.level;
  }

  fatal(...line: Line): void {
    this.#lines().fatal(...line);
  }

  error(...line: Line): void {
    this.#lines().error(...line);
  }

  warn(...line: Line): void {
    this.#lines().warn(...line);
  }

  info(...line: Line): void {
    this.#lines().info(...line);
  }

  debug(...line: Line): void {
    this.#lines().debug(...line);
  }

  trace(...line: Line): void {
    this.#lines().trace(...line);
  }

  silent(): void {}

  child(bindings: Bindings, options?: ChildLoggerOptions): FastifyBaseLogger {
    return this.#lines().child(bindings, options);
  }

  #lines(): FastifyBaseLogger {
    this.#opened ??= this.#log.child(this.#bindings);
    return this.#opened;
  }
}
