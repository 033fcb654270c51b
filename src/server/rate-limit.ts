// Counts what each holder sends, as a bucket of tokens that refills steadily and never holds more than the burst.
// INVARIANT: over any time t a holder passes at most burst + t x rate times.

export interface RateLimit {
  readonly perMinute: number;
  /** How many may come at once. */
  readonly burst: number;
}

interface RateReading {
  readonly isWithin: boolean;
  /** Whole tokens that are left. */
  readonly remaining: number;
  /** Seconds until the bucket is full again. */
  readonly resetSeconds: number;
  /** Seconds until the next token; 0 while there is one. */
  readonly retryAfterSeconds: number;
}

export interface RateLimiter {
  /** Takes a token of the holder's if there is one; `nowMs` may be of any clock that does not go back. */
  take(holder: string, nowMs: number): RateReading;
  /** The three headers' values of draft-ietf-httpapi-ratelimit-headers. */
  headers(reading: RateReading): Readonly<Record<string, string>>;
}

interface Bucket {
  tokens: number;
  atMs: number;
}

/** With this many holders, those that are full are forgotten, */
const holdersMax = 10_000;
/** and where too many are left, those that came first: a good many at a time, so that looking through all is rare. */
const holdersKept = 9_000;

export function createRateLimiter(name: string, limit: RateLimit): RateLimiter {
  const buckets = new Map<string, Bucket>();
  const perMs = limit.perMinute / 60_000;
  const fillSeconds = Math.ceil(limit.burst / perMs / 1000);
  const policy = `"${name}";q=${limit.burst};w=${fillSeconds}`;

  const refill = (bucket: Bucket, nowMs: number) => {
    bucket.tokens = Math.min(limit.burst, bucket.tokens + Math.max(0, nowMs - bucket.atMs) * perMs);
    bucket.atMs = nowMs;
  };
  const open = (holder: string, nowMs: number): Bucket => {
    if (buckets.size >= holdersMax) makeRoom(nowMs);
    const bucket = { tokens: limit.burst, atMs: nowMs };
    buckets.set(holder, bucket);
    return bucket;
  };
  const makeRoom = (nowMs: number) => {
    for (const [holder, bucket] of buckets) {
      refill(bucket, nowMs);
      if (bucket.tokens >= limit.burst) buckets.delete(holder);
    }
    for (const holder of buckets.keys()) {
      if (buckets.size <= holdersKept) return;
      buckets.delete(holder);
    }
  };

  return {
    take(holder, nowMs) {
      const bucket = buckets.get(holder) ?? open(holder, nowMs);
      refill(bucket, nowMs);
      const isWithin = bucket.tokens >= 1;
      if (isWithin) bucket.tokens -= 1;
      return {
        isWithin,
        remaining: Math.floor(bucket.tokens),
        resetSeconds: Math.ceil((limit.burst - bucket.tokens) / perMs / 1000),
        retryAfterSeconds: bucket.tokens >= 1 ? 0 : Math.ceil((1 - bucket.tokens) / perMs / 1000),
      };
    },
    headers({ isWithin, remaining, resetSeconds, retryAfterSeconds }) {
      const told = { 'ratelimit-policy': policy, ratelimit: `"${name}";r=${remaining};t=${resetSeconds}` };
      return isWithin ? told : { ...told, 'retry-after': String(retryAfterSeconds) };
    },
  };
}
