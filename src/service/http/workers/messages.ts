// What a worker and its supervisor tell each other. Both are of one start of one program, so what comes is what was sent.

/** From a worker. */
export type WorkerMessage =
  /** It listens; the welcome is what a service prints. */
  | { readonly kind: 'serving'; readonly welcome: string }
  /** Somebody has asked it for the metrics of all. */
  | { readonly kind: 'metrics-asked'; readonly ask: number }
  /** Its own, in the round in which they were wanted. */
  | { readonly kind: 'metrics'; readonly round: number; readonly text: string };

/** From the supervisor. */
export type SupervisorMessage =
  | { readonly kind: 'stop' }
  | { readonly kind: 'metrics-wanted'; readonly round: number }
  /** Of all workers that have answered in time, for the ask of this number. */
  | { readonly kind: 'metrics-of-all'; readonly ask: number; readonly text: string };
