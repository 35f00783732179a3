import { lockAccount } from '@orders/database/accounts/accounts.ts';
import { fingerprintOf, type SecretsKeys } from '@orders/database/accounts/seal.ts';
import {
  disableSigning,
  enableSigning,
  rotateSigning,
  type SigningSecret,
  showSigning,
} from '@orders/database/accounts/signing-secrets.ts';
import { type Connection, inTransaction } from '@orders/database/run.ts';
import { type Command, Option } from 'commander';
import { json, span } from '../arguments.ts';
import { recordAccountAction, recordAction } from '../audit.ts';
import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';
import { requireAccount } from '../require.ts';
import { resealSecrets, resealTotpSecrets } from '../reseal.ts';
import { plural, table } from '../table.ts';

const overlap = span('--overlap');

type Work = (transaction: Connection, keys: SecretsKeys, accountId: number) => Promise<Done>;

/** The entry for the audit trail. */
interface Done {
  action: 'signing_enabled' | 'signing_secret_revealed' | 'signing_secret_rotated';
  details?: { overlap_ms: number };
}

/** `orders signing enable | show | rotate | disable | reseal`. */
export function addSigningCommands(program: Command, context: Context): void {
  const signing = program.command('signing').description("the secrets that accounts' webhooks are signed with");

  /** Runs `work`, then shows the valid secrets. An account without secrets gets no audit entry. */
  const run = (work: Work) => async (reference: string, options: { json?: boolean }) => {
    const { account_id, secrets } = await context.withSecrets(async (database, keys) => {
      const { account_id } = await requireAccount(database, reference);
      const worked = inTransaction(database, async (transaction) => {
        const { action, details } = await work(transaction, keys, account_id);
        const secrets = await showSigning(transaction, keys, account_id);
        if (secrets.length > 0) await recordAccountAction(transaction, account_id, action, details);
        return { account_id, secrets };
      });
      return readable(account_id, worked);
    });
    context.print(options, { account_id, secrets }, () => describe(account_id, secrets));
  };

  signing
    .command('enable')
    .description('give an account its signing secret; one that has a secret keeps it')
    .argument('<account>', 'id or exact name')
    .addOption(json())
    .action(
      run(async (transaction, keys, accountId) => {
        const before = await lockAccount(transaction, accountId);
        await enableSigning(transaction, keys, accountId);
        return { action: before?.signing_enabled ? 'signing_secret_revealed' : 'signing_enabled' };
      }),
    );

  signing
    .command('show')
    .description('the valid secrets, newest first')
    .argument('<account>', 'id or exact name')
    .addOption(json())
    .action(run(async () => ({ action: 'signing_secret_revealed' })));

  signing
    .command('rotate')
    .description('make a new secret; the old one stays valid for a while')
    .argument('<account>', 'id or exact name')
    .addOption(new Option('--overlap <time>', 'for how long').argParser(overlap).default(overlap('24h'), '24h'))
    .addOption(json())
    .addHelpText('after', '\nExample:\n  $ orders signing rotate "Corner Bakery" --overlap 7d')
    .action((reference: string, options) =>
      run(async (transaction, keys, accountId) => {
        if (!(await rotateSigning(transaction, keys, accountId, options.overlap)))
          throw new Failure(`Signing is not enabled for account ${accountId}: orders signing enable ${accountId}`);
        return { action: 'signing_secret_rotated', details: { overlap_ms: options.overlap } };
      })(reference, options),
    );

  signing
    .command('disable')
    .description('remove all secrets; webhooks of the account are refused within 5 seconds')
    .argument('<account>', 'id or exact name')
    .addOption(json())
    .action(async (reference: string, options) => {
      // Works without SECRETS_KEY, so it also helps if that was lost.
      const { account_id } = await context.withDatabase(async (database) => {
        const account = await requireAccount(database, reference);
        await inTransaction(database, async (transaction) => {
          const before = await lockAccount(transaction, account.account_id);
          if (before?.signed_only)
            throw new Failure(
              `Account ${account.account_id} accepts signed deliveries only, so without signing it could send nothing. First run: orders accounts signed-only ${account.account_id} off`,
            );
          await disableSigning(transaction, account.account_id);
          if (before?.signing_enabled) await recordAccountAction(transaction, account.account_id, 'signing_disabled');
        });
        return account;
      });
      context.print(options, { account_id, secrets: [] }, () => describe(account_id, []));
    });

  signing
    .command('reseal')
    .description('encrypt all secrets of SECRETS_KEY_PREVIOUS with SECRETS_KEY; safe to repeat')
    .addOption(json())
    .action(async (options) => {
      const { key, ...outcome } = await context.withSecrets((database, keys) =>
        inTransaction(database, async (transaction) => {
          const outcome = await resealAll(transaction, keys);
          const { resealed, unreadable, unreadable_users } = outcome;
          const details = { resealed, unreadable, unreadable_users: unreadable_users.length };
          await recordAction(transaction, { accountId: null, action: 'signing_resealed', subject: 'secrets', details });
          return { key: fingerprintOf(keys), ...outcome };
        }),
      );
      const { resealed, unchanged, unreadable, unreadable_users: users } = outcome;
      const neither = `Neither SECRETS_KEY (${key}) nor SECRETS_KEY_PREVIOUS decrypts`;
      const failures = [
        ...(unreadable.length > 0
          ? [
              `${neither} a secret of these accounts, so keep both keys; all other secrets are encrypted with SECRETS_KEY: ${unreadable.join(', ')}.`,
            ]
          : []),
        ...(users.length > 0
          ? [
              `${neither} the authenticator app of these users; they can start again after orders users reset-second-factor: ${users.join(', ')}.`,
            ]
          : []),
      ];
      if (failures.length > 0) throw new Failure(failures.join('\n'));
      context.print(options, { secrets_key: key, ...outcome }, () =>
        [
          `${plural(resealed, 'secret was', 'secrets were')} encrypted again, ${plural(unchanged, 'was', 'were')} already; SECRETS_KEY ${key} decrypts all of them.`,
          resealed > 0
            ? 'Run this again until it says 0.'
            : `Remove SECRETS_KEY_PREVIOUS once /health/ready of each intake, notifier and portal says "secrets_key":"${key}".`,
        ].join('\n'),
      );
    });
}

/** Encrypts all secrets again: of signing, sources, endpoints and authenticator apps. */
async function resealAll(transaction: Connection, keys: SecretsKeys) {
  const secrets = await resealSecrets(transaction, keys);
  // Loaded on demand, as only this command needs the library.
  const { createTotpResealer } = await import('../reseal-totp.ts');
  const totp = await resealTotpSecrets(transaction, createTotpResealer(keys));
  return {
    resealed: secrets.resealed + totp.resealed,
    unchanged: secrets.unchanged + totp.unchanged,
    unreadable: secrets.unreadable,
    unreadable_users: totp.unreadable,
  };
}

async function readable<Result>(accountId: number, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    // Node's error of a failed AES-GCM authentication has no code.
    if (!(Error.isError(error) && error.message.includes('unable to authenticate data'))) throw error;
    throw new Failure(
      `SECRETS_KEY is not the key that the secrets of account ${accountId} were encrypted with: use that one, or make new secrets with signing disable and enable.`,
    );
  }
}

function describe(accountId: number, secrets: readonly SigningSecret[]): string {
  if (secrets.length === 0) return `Signing is not enabled for account ${accountId}.`;
  return table(secrets, [
    { head: 'SECRET', cell: ({ secret }) => secret },
    { head: 'CREATED', cell: ({ created_at }) => created_at },
    { head: 'VERIFIES UNTIL', cell: ({ expires_at }) => expires_at ?? 'it is rotated' },
  ]);
}
