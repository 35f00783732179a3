/** The places of the orders that are in flight: from their first sight until they are recorded, refused or answered. */
export interface Places {
  readonly max: number;
  /** How many are taken now. */
  readonly taken: number;
  /**
   * @param holder who asks; any text that tells one sender from another.
   * @param giveWay is asked when somebody else finds no place, and returns true to give this one up. The longest held is asked first.
   * @returns how to give the place back, which may be called more than once; null if there is none for this holder.
   */
  take(holder: string, giveWay?: () => boolean): (() => void) | null;
}

/**
 * Bounds the memory that orders in flight take, and leaves room for the others while one sender floods: none gets more than half of
 * the places.
 */
export function createPlaces(max: number): Places {
  const maxOfOne = Math.ceil(max / 2);
  const heldBy = new Map<string, number>();
  const yielding = new Set<{ holder: string; giveWay: () => boolean; leave: () => void }>();
  let taken = 0;

  const isOut = (holder: string) => taken >= max || (heldBy.get(holder) ?? 0) >= maxOfOne;

  function makeRoom(holder: string): void {
    // Whoever has all that one gets is helped by none but its own.
    const ownAlone = (heldBy.get(holder) ?? 0) >= maxOfOne;
    for (const other of yielding) {
      if ((ownAlone && other.holder !== holder) || !other.giveWay()) continue;
      other.leave();
      return;
    }
  }

  return {
    max,
    get taken() {
      return taken;
    },
    take(holder, giveWay) {
      if (isOut(holder)) makeRoom(holder);
      if (isOut(holder)) return null;
      heldBy.set(holder, (heldBy.get(holder) ?? 0) + 1);
      taken += 1;
      let isHeld = true;
      const leave = () => {
        if (!isHeld) return;
        isHeld = false;
        taken -= 1;
        if (place) yielding.delete(place);
        const left = (heldBy.get(holder) as number) - 1;
        if (left > 0) heldBy.set(holder, left);
        else heldBy.delete(holder);
      };
      const place = giveWay && { holder, giveWay, leave };
      if (place) yielding.add(place);
      return leave;
    },
  };
}
