import { MAX_POINTER, pointerSegments, toJsonPointer } from './json-pointer.ts';
import { CONDITIONS, type OrderMapping } from './mapping.ts';
import { type DeliveryReading, parseDelivery } from './read-delivery.ts';

type Reading = Pick<DeliveryReading, 'mapping' | 'settings'>;

/** Max members that are named, and that are looked at: a page shows them one by one. */
const [MAX_UNREAD, MAX_SEEN] = [300, 20_000];

/** Segments that a mapping reads; `*` stands for each entry of a list. */
interface Step {
  next: Map<string, Step>;
  isRead: boolean;
}

/**
 * The members of a delivery that its source does not read, as pointers (RFC 6901) in the order of the document: texts that are not blank,
 * numbers but 0, and `true`. At most 300, and none that is too long for a mapping. Empty if the delivery is not JSON.
 */
export function unreadMembers(delivery: Buffer, { mapping, settings }: Reading): string[] {
  const root: Step = { next: new Map(), isRead: false };
  for (const path of [...readPaths(mapping), ...pathsIn(settings, [])]) addPath(root, path);
  const unread: string[] = [];
  let seen = 0;
  const visit = (value: unknown, path: string, steps: readonly Step[]): void => {
    seen += 1;
    if (seen > MAX_SEEN || unread.length >= MAX_UNREAD || steps.some(({ isRead }) => isRead)) return;
    if (path.length > MAX_POINTER) return;
    if (typeof value === 'object' && value !== null) {
      for (const [name, member] of Object.entries(value)) {
        const names = Array.isArray(value) ? [name, '*'] : [name];
        visit(
          member,
          name.length > MAX_POINTER ? name : path + toJsonPointer([name]),
          steps.flatMap(({ next }) => names.flatMap((one) => next.get(one) ?? [])),
        );
      }
    } else if (value !== 0 && value !== false && value !== null && String(value).trim() !== '') {
      unread.push(path);
    }
  };
  try {
    visit(parseDelivery(delivery), '', [root]);
  } catch {
    return [];
  }
  return unread;
}

function addPath(root: Step, path: readonly string[]): void {
  let step = root;
  for (const segment of path) {
    const next = step.next.get(segment) ?? { next: new Map(), isRead: false };
    step.next.set(segment, next);
    step = next;
  }
  step.isRead = true;
}

/** The paths of all pointers of a mapping, of conditions too. */
function readPaths({ items, details = [], ...fields }: OrderMapping): string[][] {
  const ofFields = pathsIn(fields, []);
  const ofDetails = details.flatMap((detail) => pathsIn('each' in detail ? detail : detail.value, []));
  if (!items || !('list' in items)) return [...ofFields, ...ofDetails, ...pathsIn(items, [])];
  const { list, ...inItem } = items;
  const ofItems = [list].flat().flatMap((pointer) => pathsIn(inItem, [...pointerSegments(pointer as string), '*']));
  return [...ofFields, ...ofDetails, ...ofItems];
}

function pathsIn(part: unknown, base: readonly string[]): string[][] {
  if (typeof part === 'string') return part.startsWith('/') ? [[...base, ...pointerSegments(part)]] : [];
  if (typeof part !== 'object' || part === null) return [];
  const list = 'find' in part ? part.find : 'each' in part ? part.each : undefined;
  if (typeof list === 'string') {
    const { find, each, ...inEntry } = part as { find?: string; each?: string };
    return pathsIn(inEntry, [...base, ...pointerSegments(list), '*']);
  }
  return Object.entries(part).flatMap(([name, value]) => {
    if (name === 'constant' || name === 'separator') return [];
    return CONDITIONS.has(name)
      ? Object.keys(value).flatMap((pointer) => pathsIn(pointer, base))
      : pathsIn(value, base);
  });
}
