/** What one request holds of intake: the bytes of its body as they arrive and, once it is complete, a slot. */
export interface RequestSlot {
  /**
   * Counts bytes of the body that just arrived. Where the account's share does not allow them, it waits until others are released.
   *
   * @returns false when that took too long.
   */
  addBytes(count: number): boolean | Promise<boolean>;
  /** Takes the slot of a body that is complete. Waits a moment for one. @returns false when there is none for this account. */
  complete(): boolean | Promise<boolean>;
  /** Gives everything back; may be called more than once, and does nothing while `holdUntil` is running. */
  release(): void;
  /** Holds everything until `work` ends, even if the client disconnects: what is being recorded still takes memory. */
  holdUntil<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** The slot of a request that takes none. */
export const NO_SLOT: RequestSlot = {
  addBytes: () => true,
  complete: () => true,
  release: () => {},
  holdUntil: (work) => work(),
};
