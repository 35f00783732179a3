/**
 * Exponential backoff with jitter, so that failures do not retry in step. Times in milliseconds.
 *
 * @param doublings how often the base has doubled so far; the cap limits the delay before jitter.
 * @param schedule.jitter bounds of the random factor; by default, half of the delay is fixed and half is random.
 * @returns whole milliseconds until the next attempt, as BullMQ on Postgres accepts no fractions.
 */
export function backoff(
  doublings: number,
  schedule: { base: number; cap: number; jitter?: readonly [min: number, max: number] },
): number {
  const { base, cap, jitter: [min, max] = [0.5, 1] } = schedule;
  return Math.ceil(Math.min(cap, base * 2 ** doublings) * (min + Math.random() * (max - min)));
}
