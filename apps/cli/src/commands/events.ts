import { ACCOUNT } from '../arguments.ts';
import type { Group } from '../command.ts';
import { follow } from './follow-events.ts';

/** Loaded on demand, as `follow` needs no database. */
const manage = () => import('../events/manage-events.ts');

export const events: Group = {
  about: "the log of what happened to an account's orders",
  commands: {
    enable: {
      about: "record an account's events from now on, for senders to read",
      arguments: [ACCOUNT],
      examples: ['orders events enable "Corner Bakery"'],
      run: async (context, reference: string) => (await manage()).changeEvents(context, reference, true),
    },
    disable: {
      about: 'record no more events; reading them is rejected until they are enabled again',
      arguments: [ACCOUNT],
      run: async (context, reference: string) => (await manage()).changeEvents(context, reference, false),
    },
    show: {
      about: 'whether events are enabled, and which are stored',
      arguments: [ACCOUNT],
      run: async (context, reference: string) => (await manage()).showEvents(context, reference),
    },
    follow,
  },
};
