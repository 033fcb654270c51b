// Bounds how many servers and sessions the proxy keeps at a time. INVARIANT: no caller holds more slots than its share,
// nobody loses a slot while a request is under way on it, and a caller takes a slot only from one who has more.

/** Something of a caller that costs memory while it is kept: a session, or a server that the proxy has started. */
export interface Slot {
  readonly caller: string;
  /** When it was last used, in milliseconds; null while a request is under way. */
  readonly idleSinceMs: () => number | null;
  readonly end: () => void;
}

export interface SlotLimits {
  readonly ofCallerMax: number;
  readonly max: number;
}

export interface SlotPool {
  /** Takes a slot, in place of the one that was idle for longest when there is no other. Throws NoSlotError. */
  take(slot: Slot): void;
  leave(slot: Slot): void;
  /** Ends the slots that were last used before this moment. */
  endIdle(beforeMs: number): void;
}

/** There is no slot now; `isOwn` when the caller itself holds all that it may. */
export class NoSlotError extends Error {
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

export function createSlotPool({ ofCallerMax, max }: SlotLimits): SlotPool {
  const taken = new Set<Slot>();
  const countOf = (caller: string): number => [...taken].filter((slot) => slot.caller === caller).length;
  const end = (slot: Slot): void => {
    taken.delete(slot);
    slot.end();
  };
  const endIdlest = (slots: readonly Slot[]): boolean => {
    const [idlest] = slots
      .filter((slot) => slot.idleSinceMs() !== null)
      .toSorted((one, other) => Number(one.idleSinceMs()) - Number(other.idleSinceMs()));
    if (idlest !== undefined) end(idlest);
    return idlest !== undefined;
  };
  return {
    take(slot) {
      const count = countOf(slot.caller);
      const callerSlots = [...taken].filter(({ caller }) => caller === slot.caller);
      if (count >= ofCallerMax && !endIdlest(callerSlots)) throw new NoSlotError(true, ofCallerMax);
      const others = [...taken].filter(({ caller }) => caller === slot.caller || countOf(caller) > count);
      if (taken.size >= max && !endIdlest(others)) throw new NoSlotError(false, max);
      taken.add(slot);
    },
    leave: (slot) => void taken.delete(slot),
    endIdle(beforeMs) {
      for (const slot of taken) {
        const sinceMs = slot.idleSinceMs();
        if (sinceMs !== null && sinceMs < beforeMs) end(slot);
      }
    },
  };
}
