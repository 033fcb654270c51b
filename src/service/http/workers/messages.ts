// The messages between a worker and its supervisor. Both belong to one start of one program, so a message
// always has the form in which it was sent.

/** A message from a worker. */
export type WorkerMessage =
  /** The worker listens; `welcome` is the text that a service prints. */
  | { readonly kind: 'serving'; readonly welcome: string }
  /** Somebody has requested the metrics of all workers from this one. */
  | { readonly kind: 'metrics-asked'; readonly ask: number }
  /** The worker's own metrics, for the round that asked for them. */
  | { readonly kind: 'metrics'; readonly round: number; readonly text: string };

/** A message from the supervisor. */
export type SupervisorMessage =
  | { readonly kind: 'stop' }
  | { readonly kind: 'metrics-wanted'; readonly round: number }
  /** The metrics of all workers that answered in time, for the request with the number `ask`. */
  | { readonly kind: 'metrics-of-all'; readonly ask: number; readonly text: string };
