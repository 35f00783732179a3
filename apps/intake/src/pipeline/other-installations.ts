import type { Database } from '@orders/database/connect.ts';
import { readInstallation } from '@orders/database/installation.ts';
import { installationOf } from '@orders/domain/api-key.ts';
import { Problem } from '@orders/domain/problems.ts';

/** Rejects the keys and source ids of other installations. Only for those that are unknown here: those of a moved account keep their number. */
export interface OtherInstallations {
  /**
   * @param credential an API key or the id of a source, which is of the right form and does not work here.
   * @param worked whether it did work here, such as one of a moved account that was revoked since. The installation that the account left
   * still knows it, so it would be told to go back and forth.
   * @throws {Problem} `wrong_installation` if its number is that of another installation whose address is known; a database error if the
   * number of this one cannot be read.
   */
  reject(credential: string, worked: () => Promise<boolean>): Promise<void>;
}

/** @param addresses the base URLs of intake by the number of the installation; this one may be among them. */
export function createOtherInstallations(
  database: Database,
  addresses: ReadonlyMap<number, string>,
): OtherInstallations {
  let own: number | undefined;
  return {
    async reject(credential, worked) {
      const number = installationOf(credential);
      const installationUrl = addresses.get(number);
      if (installationUrl === undefined) return;
      // From the database and not from a setting, which could differ. It never changes.
      own ??= await readInstallation(database);
      if (number !== own && !(await worked())) throw new Problem('wrong_installation', { installationUrl });
    },
  };
}

/** @throws {Problem} `wrong_installation` for an account that was moved to another installation. */
export function rejectMoved({ movedTo }: { movedTo: string | null }): void {
  if (movedTo !== null) throw new Problem('wrong_installation', { installationUrl: movedTo });
}
