import { setTimeout as sleep } from 'node:timers/promises';
import { limitConcurrency } from '@orders/runtime/concurrency/fair-sharing.ts';
import { backoff, withTimeout } from '@orders/runtime/concurrency/timers.ts';
import { describeError } from '@orders/runtime/observability/describe-error.ts';
import type { Logger } from '@orders/runtime/observability/logger.ts';
import type { MailOutcome } from '../metrics.ts';
import type { MailKind } from './mail-texts.ts';
import type { Mail, SendMail } from './send-by-smtp.ts';

/** Sends mails in the background; nothing that it does delays or fails a request. Mails that wait are lost in a crash. */
export interface MailQueue {
  /** Whether there is a mail server. Without one, nothing is sent. */
  readonly isEnabled: boolean;
  /**
   * Writes and sends a mail later.
   *
   * @param kind for the log. Mails that anybody can ask for, of the kind `password_reset`, take at most half of the room.
   * @param write resolves to null if no mail is to be sent.
   */
  send(kind: MailKind, write: () => Mail | null | Promise<Mail | null>): void;
  /** Accepts no more, waits for those under way, and drops what is left after this many milliseconds. */
  close(timeoutMs: number): Promise<void>;
}

/** Max mails that wait or are being sent; further ones are dropped. A mail takes some kilobytes. */
const MAX_PENDING = 100;
/** Max of them that anybody can ask for, so that there is always room for notices to users. */
const MAX_PENDING_RESETS = MAX_PENDING / 2;
/** Max connections to the mail server. */
const MAX_CONCURRENT = 4;
const MAX_ATTEMPTS = 3;
/** For one attempt, however slowly the server answers. */
const ATTEMPT_TIMEOUT_MS = 20_000;
const RETRY = { base: 1000, cap: 30_000 };

/** @param count counts the mails by outcome. */
export function createMailQueue(
  sendMail: SendMail | null,
  { logger, count }: { logger: Logger; count: (outcome: MailOutcome) => void },
): MailQueue {
  const pending = new Map<Promise<void>, MailKind>();
  const runLimited = limitConcurrency(MAX_CONCURRENT);
  // The first ends the delays between attempts, the second the attempts.
  const [closing, aborting] = [new AbortController(), new AbortController()];
  let isFull = false;

  function hasRoom(kind: MailKind): boolean {
    const resets = [...pending.values()].filter((other) => other === 'password_reset');
    return pending.size < MAX_PENDING && (kind !== 'password_reset' || resets.length < MAX_PENDING_RESETS);
  }

  async function attemptAll(send: SendMail, mail: Mail): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await runLimited(() =>
          send(mail, AbortSignal.any([aborting.signal, AbortSignal.timeout(ATTEMPT_TIMEOUT_MS)])),
        );
      } catch (error) {
        if (attempt === MAX_ATTEMPTS || isFinal(error) || aborting.signal.aborted) throw error;
      }
      const delay = backoff(attempt - 1, RETRY);
      await sleep(delay, null, { signal: closing.signal }).catch(() => {});
    }
  }

  async function work(send: SendMail, kind: MailKind, write: () => Mail | null | Promise<Mail | null>): Promise<void> {
    try {
      const mail = await runLimited(async () => write());
      if (!mail) return;
      await attemptAll(send, mail);
      count('sent');
    } catch (error) {
      count(aborting.signal.aborted ? 'dropped' : 'failed');
      logger.warn('mail not sent', { kind, smtp_status: statusOf(error), error: describeError(error) });
    }
  }

  return {
    isEnabled: sendMail !== null,
    send(kind, write) {
      if (!sendMail) return;
      if (closing.signal.aborted || !hasRoom(kind)) {
        count('dropped');
        if (!isFull) logger.warn('mail dropped: too many wait', { kind });
        isFull = true;
        return;
      }
      isFull = false;
      const running = work(sendMail, kind, write).finally(() => pending.delete(running));
      pending.set(running, kind);
    },
    async close(timeoutMs) {
      closing.abort();
      await withTimeout(Promise.all(pending.keys()), timeoutMs);
      aborting.abort();
      await Promise.all(pending.keys());
    },
  };
}

/** The status of the mail server's reply. */
function statusOf(error: unknown): number | undefined {
  const { responseCode } = error as { responseCode?: unknown };
  return typeof responseCode === 'number' ? responseCode : undefined;
}

/** Whether the server rejected the mail for good (RFC 5321, section 4.2.1). */
function isFinal(error: unknown): boolean {
  return (statusOf(error) ?? 0) >= 500;
}
