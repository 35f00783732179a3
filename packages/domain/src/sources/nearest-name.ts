import { typingDistance } from '../normalize/place/typing-distance.ts';

/** Longer names are costly to compare. */
const MAX_NAME = 40;

/** The one of the names that is spelled most alike; null if none differs by at most a quarter of its letters. */
export function nearestName(name: string, names: readonly string[]): string | null {
  if (name.length > MAX_NAME) return null;
  const most = Math.max(1, Math.floor(name.length / 4));
  const near = names
    .filter((other) => Math.abs(other.length - name.length) <= most)
    .map((other) => ({ other, distance: typingDistance(name, other) }))
    .filter(({ distance }) => distance <= most)
    .toSorted((a, b) => a.distance - b.distance);
  return near[0]?.other ?? null;
}
