/** What one request occupies: the bytes of its body while they arrive and, once the body is complete, a slot. */
export interface RequestSlot {
  /**
   * Counts bytes that just arrived. Waits for other bytes to be released if the account's share is used up.
   *
   * @returns false if the wait timed out.
   */
  addBytes(count: number): boolean | Promise<boolean>;
  /** Acquires a slot for the complete body, waiting up to 20 ms. @returns false if the account gets none. */
  complete(): boolean | Promise<boolean>;
  /** Releases everything. Idempotent; does nothing while `holdUntil` runs. */
  release(): void;
  /** Holds everything until `work` ends, even if the client disconnects: a body that is being recorded still takes memory. */
  holdUntil<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** For requests that need no slot. */
export const NO_SLOT: RequestSlot = {
  addBytes: () => true,
  complete: () => true,
  release: () => {},
  holdUntil: (work) => work(),
};
