/** @throws {Error} one line that names what is missing. */
export function readSetting(name: 'DATABASE_URL' | 'QUEUE_URL' | 'PORT'): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set.`);
  return value;
}
