/** The checksum of each migration as it landed after the first release. Lines are added, never changed: see "Migrations" in CONTRIBUTING.md. */
export const LANDED: Record<string, string> = {};
