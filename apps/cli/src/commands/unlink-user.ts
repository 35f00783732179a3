import { unbindUser } from '@orders/database/users/identities.ts';
import type { Command } from 'commander';
import { email, json } from '../arguments.ts';
import { whoami } from '../audit.ts';
import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';

/** `orders users unlink`. */
export function addUnlinkCommand(users: Command, context: Context): void {
  users
    .command('unlink')
    .description('let a user sign in by another account of the identity provider; end their sessions')
    .argument('<email>', 'as users list shows it', email)
    .addOption(json())
    .addHelpText(
      'after',
      '\nThe first sign-in by the identity provider links a user to that account there. After this command, the next one does so again.',
    )
    .action(async (address: string, options) => {
      const found = await context.withDatabase((database) => unbindUser(database, address, whoami()));
      if (!found) throw new Failure(`There is no user ${address}; orders users list shows all.`);
      const { user, wasBound } = found;
      context.print(options, { email: user.email, unlinked: wasBound }, () =>
        wasBound
          ? `${user.email} is unlinked; all sessions have ended.`
          : `${user.email} was not linked to an account of an identity provider.`,
      );
    });
}
