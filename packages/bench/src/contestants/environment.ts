/** @throws {Error} one line with the missing variable. */
export function readSetting(name: 'DATABASE_URL' | 'QUEUE_URL' | 'PORT'): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set.`);
  return value;
}
