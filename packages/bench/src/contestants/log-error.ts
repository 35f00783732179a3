/** Only the message: what else an error of Postgres carries can hold what an order says. */
export function logError(error: unknown): void {
  console.error(Error.isError(error) ? error.message : error);
}
