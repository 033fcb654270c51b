// Bounds how many servers and sessions the proxy keeps at a time. INVARIANT: no caller holds more seats than its share,
// nobody loses a seat while a request is under way on it, and a caller takes a seat only from one who has more.

/** Something of a caller that costs memory while it is kept: a session, or a server that the proxy has started. */
export interface Seat {
  readonly caller: string;
  /** When it was last used, in milliseconds; null while a request is under way. */
  readonly idleSinceMs: () => number | null;
  readonly end: () => void;
}

export interface SeatLimits {
  readonly ofCallerMax: number;
  readonly max: number;
}

export interface Seats {
  /** Takes a seat, in place of the one that was idle for longest when there is no other. Throws NoSeat. */
  take(seat: Seat): void;
  leave(seat: Seat): void;
  /** Ends the seats that were last used before this moment. */
  endIdle(beforeMs: number): void;
}

/** There is no seat now; `isOwn` when the caller itself holds all that it may. */
export class NoSeat extends Error {
  readonly isOwn: boolean;

  constructor(isOwn: boolean, countMax: number) {
    super(
      isOwn
        ? `all ${countMax} sessions of this key have requests under way: wait for one of them, or end a session`
        : `all ${countMax} sessions of the proxy have requests under way`,
    );
    this.isOwn = isOwn;
  }
}

export function createSeats({ ofCallerMax, max }: SeatLimits): Seats {
  const taken = new Set<Seat>();
  const countOf = (caller: string): number => [...taken].filter((seat) => seat.caller === caller).length;
  const end = (seat: Seat): void => {
    taken.delete(seat);
    seat.end();
  };
  const endIdlest = (seats: readonly Seat[]): boolean => {
    const [idlest] = seats
      .filter((seat) => seat.idleSinceMs() !== null)
      .toSorted((one, other) => Number(one.idleSinceMs()) - Number(other.idleSinceMs()));
    if (idlest !== undefined) end(idlest);
    return idlest !== undefined;
  };
  return {
    take(seat) {
      const count = countOf(seat.caller);
      const callersSeats = [...taken].filter(({ caller }) => caller === seat.caller);
      if (count >= ofCallerMax && !endIdlest(callersSeats)) throw new NoSeat(true, ofCallerMax);
      const others = [...taken].filter(({ caller }) => caller === seat.caller || countOf(caller) > count);
      if (taken.size >= max && !endIdlest(others)) throw new NoSeat(false, max);
      taken.add(seat);
    },
    leave: (seat) => void taken.delete(seat),
    endIdle(beforeMs) {
      for (const seat of taken) {
        const sinceMs = seat.idleSinceMs();
        if (sinceMs !== null && sinceMs < beforeMs) end(seat);
      }
    },
  };
}
