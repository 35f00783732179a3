import { type Connection, run } from '@orders/database/run.ts';

/** The first steps that an account has done. */
export interface AccountSetup {
  has_key: boolean;
  has_order: boolean;
  /** Whether an order was confirmed or rejected. */
  has_decision: boolean;
  /** Whether a key was used, so that a system of the shop has sent something. */
  has_sent: boolean;
}

export async function readSetup(connection: Connection, accountId: number): Promise<AccountSetup> {
  const [setup] = await run<AccountSetup>(
    connection,
    `select exists (select from api_keys where account_id = $1::int) as has_key,
            exists (select from orders where account_id = $1::int) as has_order,
            exists (select from orders where account_id = $1::int and review_state in ('confirmed', 'rejected')) as has_decision,
            exists (select from api_keys where account_id = $1::int and last_used_at is not null) as has_sent`,
    [accountId],
  );
  return setup as AccountSetup;
}
