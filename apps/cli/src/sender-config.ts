import { ConfigurationError, readEnvironment } from '@orders/runtime/config/environment.ts';
import { processEnvironment, type SenderEnvironment, senderEnvironment } from '@orders/runtime/config/settings.ts';
import { localDirectoryOf, readLocalJson } from './config.ts';

export interface SenderConfig {
  /** Without a trailing slash. */
  url: string;
  apiKey: string;
  signingSecret: string | undefined;
}

/** The variables of `readSenderConfig`, for the help of a command. */
export const SENDER_ENVIRONMENT_HELP = `\
Environment:
  ORDERS_URL             the address of the service
  ORDERS_API_KEY         the API key of the account
  ORDERS_SIGNING_SECRET  its signing secret, for --webhook
  Each may come from a file: ORDERS_API_KEY_FILE is the path of a file with ORDERS_API_KEY.`;

type Environment = Partial<SenderEnvironment> & { NODE_ENV: string };

const SCHEMA = { NODE_ENV: processEnvironment.NODE_ENV, ...senderEnvironment };

/**
 * Reads a sender's settings; in development, those of the first account of `npm start` are the default. That account's key is used only
 * with its own address and never sent to another one.
 *
 * @param url overrides `ORDERS_URL`.
 * @throws {ConfigurationError} with one line that says which variable to set.
 */
export async function readSenderConfig(
  env: NodeJS.ProcessEnv,
  url: string | undefined,
  localDirectory = localDirectoryOf(env),
): Promise<SenderConfig> {
  const own = readEnvironment<Environment>(SCHEMA, { ...env, ...(url && { ORDERS_URL: url }) });
  const local = own.NODE_ENV === 'production' ? null : await readLocalSender(localDirectory);
  const { ORDERS_URL = local?.url, ORDERS_API_KEY, ORDERS_SIGNING_SECRET } = own;
  if (!ORDERS_URL)
    throw new ConfigurationError('Configuration: set ORDERS_URL to the address of the service, or give --url.');
  const ofLocal = local && local.url === ORDERS_URL && !ORDERS_API_KEY ? local : null;
  const apiKey = ORDERS_API_KEY ?? ofLocal?.apiKey;
  if (!apiKey) throw new ConfigurationError('Configuration: set ORDERS_API_KEY to the API key of your account.');
  return { url: ORDERS_URL, apiKey, signingSecret: ORDERS_SIGNING_SECRET ?? ofLocal?.signingSecret };
}

async function readLocalSender(directory: string): Promise<SenderConfig | null> {
  const dev = await readLocalJson<{
    intakeUrl?: string;
    accounts?: { apiKey: string; signingSecret: string | null }[];
  }>(directory, 'dev.json');
  const [account] = dev?.accounts ?? [];
  if (!dev?.intakeUrl || !account) return null;
  return { url: dev.intakeUrl, apiKey: account.apiKey, signingSecret: account.signingSecret ?? undefined };
}
