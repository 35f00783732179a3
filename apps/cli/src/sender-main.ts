#!/usr/bin/env node
import { type Program, runProcess, runProgram } from './run-program.ts';
import { SENDER_ENVIRONMENT_HELP } from './sender-config.ts';

/** The senders' commands, as @orders/client has them: without those of operators and what they need. */
const SENDERS: Program = {
  about: 'The command line of the order ingestion service, for senders.',
  commands: {
    send: async () => (await import('./commands/send.ts')).send,
    preview: async () => (await import('./commands/preview.ts')).preview,
    cancel: async () => (await import('./commands/cancel.ts')).cancel,
    listen: async () => (await import('./commands/listen.ts')).listen,
    events: async () => ({
      about: "the log of what happened to your account's orders",
      commands: { follow: (await import('./commands/follow-events.ts')).follow },
    }),
  },
  epilogue: `\n${SENDER_ENVIRONMENT_HELP}\n\nExit codes: 0 done, 1 failed, 2 usage error.`,
};

// There is no clone whose npm start could name a service.
await runProcess((argv, context) => runProgram(SENDERS, argv, Object.assign(context, { localDirectory: '' })), {
  ...process.env,
  NODE_ENV: 'production',
});
