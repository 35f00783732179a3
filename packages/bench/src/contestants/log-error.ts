/** Logs only the message, because other members of a Postgres error can contain data of an order. */
export function logError(error: unknown): void {
  console.error(Error.isError(error) ? error.message : error);
}
