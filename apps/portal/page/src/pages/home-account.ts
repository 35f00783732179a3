import type { SessionAccount } from '../api/session.ts';

const STORED = 'last-account';

/** The account that the user opened last on this device, or else the first; undefined for a user of none. */
export function homeAccount(accounts: readonly SessionAccount[]): SessionAccount | undefined {
  const last = Number(localStorage.getItem(STORED));
  return accounts.find(({ account_id }) => account_id === last) ?? accounts[0];
}

/** Makes this the account that is opened first. */
export function rememberAccount(accountId: number): void {
  localStorage.setItem(STORED, String(accountId));
}
