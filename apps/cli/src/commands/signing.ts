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
import { ACCOUNT, overlap } from '../arguments.ts';
import { recordAccountAction, recordAction } from '../audit.ts';
import type { CommandSpec, Group } from '../command.ts';
import { Failure } from '../errors.ts';
import { requireAccount } from '../require.ts';
import { plural, table } from '../table.ts';

/** @returns the entry for the audit trail. */
type Work = (
  transaction: Connection,
  keys: SecretsKeys,
  accountId: number,
  options: { overlap: number },
) => Promise<{
  action: 'signing_enabled' | 'signing_secret_revealed' | 'signing_secret_rotated';
  details?: { overlap_ms: number };
}>;

/** A command that does `work`, then shows the valid secrets. An account without secrets gets no audit entry. */
function secretsCommand(spec: Omit<CommandSpec, 'arguments' | 'run'>, work: Work): CommandSpec {
  return {
    ...spec,
    arguments: [ACCOUNT],
    async run({ withSecrets }, reference: string, options: { overlap: number }) {
      const { account_id, secrets } = await withSecrets(async (database, keys) => {
        const { account_id } = await requireAccount(database, reference);
        const worked = inTransaction(database, async (transaction) => {
          const { action, details } = await work(transaction, keys, account_id, options);
          const secrets = await showSigning(transaction, keys, account_id);
          if (secrets.length > 0) await recordAccountAction(transaction, account_id, action, details);
          return { account_id, secrets };
        });
        return readable(account_id, worked);
      });
      return [{ account_id, secrets }, describe(account_id, secrets)];
    },
  };
}

export const signing: Group = {
  about: "the secrets that accounts' webhooks are signed with",
  commands: {
    enable: secretsCommand(
      { about: 'give an account its signing secret; one that has a secret keeps it' },
      async (transaction, keys, accountId) => {
        const before = await lockAccount(transaction, accountId);
        await enableSigning(transaction, keys, accountId);
        return { action: before?.signing_enabled ? 'signing_secret_revealed' : 'signing_enabled' };
      },
    ),
    show: secretsCommand({ about: 'the valid secrets, newest first' }, async () => ({
      action: 'signing_secret_revealed',
    })),
    rotate: secretsCommand(
      {
        about: 'make a new secret; the old one stays valid for a while',
        options: [overlap('for how long')],
        examples: ['orders signing rotate "Corner Bakery" --overlap 7d'],
      },
      async (transaction, keys, accountId, { overlap: overlapMs }) => {
        if (!(await rotateSigning(transaction, keys, accountId, overlapMs)))
          throw new Failure(`Signing is not enabled for account ${accountId}: orders signing enable ${accountId}`);
        return { action: 'signing_secret_rotated', details: { overlap_ms: overlapMs } };
      },
    ),
    disable: {
      about: 'remove all secrets; webhooks of the account are rejected within 5 seconds',
      arguments: [ACCOUNT],
      async run({ inTransaction }, reference: string) {
        // Works without SECRETS_KEY, so it also helps if that was lost.
        const { account_id } = await inTransaction(async (transaction) => {
          const account = await requireAccount(transaction, reference);
          const before = await lockAccount(transaction, account.account_id);
          if (before?.signed_only)
            throw new Failure(
              `Account ${account.account_id} accepts signed deliveries only, so without signing it could send nothing. First run: orders accounts signed-only ${account.account_id} off`,
            );
          await disableSigning(transaction, account.account_id);
          if (before?.signing_enabled) await recordAccountAction(transaction, account.account_id, 'signing_disabled');
          return account;
        });
        return [{ account_id, secrets: [] }, describe(account_id, [])];
      },
    },
    reseal: {
      about: 'encrypt all secrets of SECRETS_KEY_PREVIOUS with SECRETS_KEY; safe to repeat',
      async run({ withSecrets }) {
        const { key, ...outcome } = await withSecrets((database, keys) =>
          inTransaction(database, async (transaction) => {
            const outcome = await resealAll(transaction, keys);
            const { resealed, unreadable, unreadable_users } = outcome;
            const details = { resealed, unreadable, unreadable_users: unreadable_users.length };
            await recordAction(transaction, {
              accountId: null,
              action: 'signing_resealed',
              subject: 'secrets',
              details,
            });
            return { key: fingerprintOf(keys), ...outcome };
          }),
        );
        const { resealed, unchanged, unreadable, unreadable_users: users } = outcome;
        const neither = `Neither SECRETS_KEY (${key}) nor SECRETS_KEY_PREVIOUS decrypts`;
        const failures = [
          unreadable.length > 0 &&
            `${neither} a secret of these accounts, so keep both keys; all other secrets are encrypted with SECRETS_KEY: ${unreadable.join(', ')}.`,
          users.length > 0 &&
            `${neither} the authenticator app of these users; they can start again after orders users reset-second-factor: ${users.join(', ')}.`,
        ].filter((failure) => failure !== false);
        if (failures.length > 0) throw new Failure(failures.join('\n'));
        const done = `${plural(resealed, 'secret was', 'secrets were')} encrypted again, ${plural(unchanged, 'was', 'were')} already; SECRETS_KEY ${key} decrypts all of them.`;
        const next =
          resealed > 0
            ? 'Run this again until it says 0.'
            : `Remove SECRETS_KEY_PREVIOUS once /health/ready of each intake, notifier and portal says "secrets_key":"${key}".`;
        return [{ secrets_key: key, ...outcome }, `${done}\n${next}`];
      },
    },
  },
};

/** Encrypts all secrets again: of signing, sources, endpoints and authenticator apps. */
async function resealAll(transaction: Connection, keys: SecretsKeys) {
  // Loaded on demand, as only this command needs the authentication library.
  const { resealSecrets, resealTotpSecrets } = await import('../reseal.ts');
  const secrets = await resealSecrets(transaction, keys);
  const totp = await resealTotpSecrets(transaction, keys);
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
