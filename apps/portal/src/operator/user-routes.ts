import { endSessions, findAccount, inviteUser, listUsers, removeUser, type User } from '@orders/database';
import { Problem, parseEmailAddress } from '@orders/domain';
import { type Request, Router } from 'express';
import Joi from 'joi';
import { recordBy } from '../audit/record.ts';
import { NO_TRANSFORM } from '../compress-responses.ts';
import { personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { paginate } from '../paginate.ts';
import { bodyOf, plainText, queryOf, smallId, textIdOf } from '../read-request.ts';

const PAGE_SIZE = 100;
const INVITATION_TTL_MS = 7 * 86_400_000;

const emailAddress = Joi.string()
  .required()
  .custom((text: string) => {
    const address = parseEmailAddress(text);
    if (address === null) throw new Error('no address');
    return address;
  });

/** Lists, invites and removes users. A removed user's sessions end with the next request. */
export function userRoutes({ knex, config }: PortalDeps): Router {
  const router = Router();

  router.get('/users', async (request, response) => {
    const { account_id, after } = queryOf<{ account_id?: number; after?: string }>(request, {
      account_id: smallId,
      after: plainText(320),
    });
    const users = await listUsers(knex, { accountId: account_id, after, limit: PAGE_SIZE + 1 });
    const { page, next } = paginate(users, PAGE_SIZE, ({ email }) => email);
    response.json({ users: page, next });
  });

  // Without an account, invites an operator. For an existing user, the link sets a new password.
  router.post('/users', async (request, response) => {
    const { email, account_id } = bodyOf<{ email: string; account_id: number | null }>(request, {
      email: emailAddress,
      account_id: smallId.allow(null).required(),
    });
    if (account_id !== null && !(await findAccount(knex, account_id))) throw new Problem('account_not_found');
    const role = account_id === null ? 'operator' : 'account_holder';
    const invited = { email, role, accountId: account_id } as const;
    const invitation = await inviteUser(knex, invited, personOf(request).email, INVITATION_TTL_MS);
    if (!invitation) throw new Problem('user_elsewhere');
    response
      .status(201)
      .set(NO_TRANSFORM)
      .json({
        email,
        link: `${config.PORTAL_URL}/invitation#${invitation.token}`,
        expires_at: new Date(Date.now() + INVITATION_TTL_MS),
        sets_new_password: invitation.isUser,
      });
  });

  router.delete('/users/:userId', async (request, response) => {
    const user = await requireUser(request);
    if (user.user_id === personOf(request).userId) throw new Problem('own_user');
    await removeUser(knex, user.email, personOf(request).email);
    response.status(204).end();
  });

  router.delete('/users/:userId/sessions', async (request, response) => {
    const user = await requireUser(request);
    await knex.transaction(async (trx) => {
      const ended = await endSessions(trx, user.user_id);
      await recordBy(trx, request, {
        accountId: user.account_id,
        action: 'sessions_ended',
        subject: `user:${user.email}`,
        details: { ended },
      });
    });
    response.status(204).end();
  });

  async function requireUser(request: Request): Promise<User> {
    const userId = textIdOf(request.params.userId);
    const [user] = userId === null ? [] : await listUsers(knex, { userId });
    if (!user) throw new Problem('user_not_found');
    return user;
  }

  return router;
}
