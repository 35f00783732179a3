/** The places of the orders that are in flight: from their first sight until they are recorded, refused or answered. */
export interface Places {
  readonly max: number;
  /** How many are taken now. */
  readonly taken: number;
  /**
   * @param holder who asks; any text that tells one sender from another.
   * @returns how to give the place back, which may be called more than once; null if there is none for this holder.
   */
  take(holder: string): (() => void) | null;
}

/**
 * Bounds the memory that orders in flight take, and leaves room for the others while one sender floods: none gets more than half of
 * the places.
 */
export function createPlaces(max: number): Places {
  const maxOfOne = Math.ceil(max / 2);
  const heldBy = new Map<string, number>();
  let taken = 0;

  return {
    max,
    get taken() {
      return taken;
    },
    take(holder) {
      const held = heldBy.get(holder) ?? 0;
      if (taken >= max || held >= maxOfOne) return null;
      heldBy.set(holder, held + 1);
      taken += 1;
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        taken -= 1;
        const left = (heldBy.get(holder) as number) - 1;
        if (left > 0) heldBy.set(holder, left);
        else heldBy.delete(holder);
      };
    },
  };
}
