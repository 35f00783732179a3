import { readEmirate } from '../normalize/place/read-emirate.ts';
import { WarningList } from '../normalize/warnings.ts';

type Payload = Record<string, unknown>;

/** Makes `null` of what platforms send in place of nothing: the emirate again as the area, and the number 0 as the id of a guest. */
export function tidyPayload({ area, customer, ...payload }: Payload): Payload {
  return {
    ...payload,
    ...(area !== undefined && { area: repeatsEmirate(area, payload.emirate) ? null : area }),
    ...(customer !== undefined && { customer: withoutZeroId(customer) }),
  };
}

/** Whether the area is only another spelling of the emirate, as a city often is. */
function repeatsEmirate(area: unknown, emirate: unknown): boolean {
  const { emirate_code, rest } = readEmirate(area, new WarningList());
  if (emirate_code === null || rest !== null) return false;
  return readEmirate(emirate, new WarningList()).emirate_code === emirate_code;
}

function withoutZeroId(customer: unknown): unknown {
  const { id, ...others } = { ...(customer as Payload) };
  return id === '0' ? { ...others, id: null } : customer;
}
