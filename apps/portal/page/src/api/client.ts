/** An error response of the portal's API (RFC 9457). */
export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string;
  readonly errors: { pointer: string; code: string; detail: string }[];

  constructor(status: number, body: Partial<Record<'code' | 'detail' | 'request_id', string>> & { errors?: unknown }) {
    super(body.detail ?? 'The portal did not answer.');
    this.status = status;
    this.code = body.code ?? 'unreachable';
    this.requestId = body.request_id ?? '';
    this.errors = (body.errors as ApiProblem['errors']) ?? [];
  }
}

export function isProblem(error: unknown, code?: string): error is ApiProblem {
  return error instanceof ApiProblem && (code === undefined || error.code === code);
}

let notifySignedOut = (): void => {};
let notifyForbidden = (): void => {};

/** Calls `run` whenever a request fails because the session has ended. */
export function onSignedOut(run: () => void): void {
  notifySignedOut = run;
}

/** Calls `run` whenever a request fails because the user may not do it, or no longer may. */
export function onForbidden(run: () => void): void {
  notifyForbidden = run;
}

/** Why a request needs a proof of identity. */
export type ProofReason = 'authentication_required' | 'second_factor_required';

let confirm = async (_reason: ProofReason): Promise<boolean> => false;
let confirming: Promise<boolean> | null = null;

/**
 * Calls `run` when a request needs a recent proof of identity, or a second factor. If it resolves to true, the request is repeated.
 * Requests that wait at the same time share one call.
 */
export function onConfirmationNeeded(run: (reason: ProofReason) => Promise<boolean>): void {
  confirm = run;
}

function isConfirmed(reason: ProofReason): Promise<boolean> {
  confirming ??= confirm(reason).finally(() => {
    confirming = null;
  });
  return confirming;
}

/** Query parameters; undefined, null and empty ones are omitted. */
export type Query = Record<string, string | number | boolean | null | undefined>;

interface CallOptions {
  body?: unknown;
  query?: Query;
  signal?: AbortSignal;
  /** The id with which the portal carries out a change and its repetitions once, if the page tells them apart better than their content does. */
  submission?: string;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Calls the portal's API.
 *
 * @throws {ApiProblem} for any response other than 2xx, or `unreachable` with status 0 without a response or if it is cut off.
 */
export async function call<T>(method: Method, path: string, options: CallOptions = {}): Promise<T> {
  const response = await send(method, path, options);
  if (response.status === 204) return undefined as T;
  return response.json().catch((error: unknown) => {
    // What was to be changed is changed, whatever became of the body.
    if (method !== 'GET') return {};
    if (options.signal?.aborted) throw error;
    throw new ApiProblem(0, {});
  });
}

/** Like `call`, for a file. */
export async function callForFile(method: Method, path: string, options: CallOptions = {}): Promise<Blob> {
  const response = await send(method, path, options);
  return response.blob();
}

/** The routes with which a proof is given. */
const PROOFS = ['/session/confirm', '/session/passkey/options'];

async function send(method: Method, path: string, options: CallOptions): Promise<Response> {
  const response = await sendOnce(method, path, options);
  if (response instanceof Response) return response;
  const { code } = response;
  if (!needsProof(code) || PROOFS.includes(path) || !(await isConfirmed(code))) throw response;
  const repeated = await sendOnce(method, path, options);
  if (repeated instanceof Response) return repeated;
  throw repeated;
}

function needsProof(code: string): code is ProofReason {
  return code === 'authentication_required' || code === 'second_factor_required';
}

/** In milliseconds; the portal keeps its response as long. */
const REPEATED_WITHIN_MS = 10 * 60_000;

/** Requests that are sent or whose outcome is unknown, by their content. */
const unsettled = new Map<string, { id: string; at: number; isSent: boolean }>();

/** The id with which the portal carries out a request and its repetitions once. */
function idOf(content: string): string {
  const sent = unsettled.get(content);
  const isRepeated = sent && Date.now() - sent.at < REPEATED_WITHIN_MS;
  const request = isRepeated ? sent : { id: crypto.randomUUID(), at: Date.now(), isSent: true };
  request.isSent = true;
  unsettled.set(content, request);
  return request.id;
}

/** @param status of the response; null without one. */
function settle(content: string, status: number | null): void {
  const request = unsettled.get(content);
  if (request) request.isSent = false;
  // After a 5xx it may have been done, as after none.
  if (status === null || status >= 500) return;
  unsettled.delete(content);
  // After another change the same content means something new: an order that was confirmed again can be undone again.
  for (const [other, { isSent }] of unsettled) if (!isSent) unsettled.delete(other);
}

/** @returns the response, or the problem of one other than 2xx. */
async function sendOnce(method: Method, path: string, options: CallOptions): Promise<Response | ApiProblem> {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(options.query ?? {})) {
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value));
  }
  const address = `/api${path}${search.size > 0 ? `?${search}` : ''}`;
  const body = options.body === undefined ? null : JSON.stringify(options.body);
  const content = `${method} ${address} ${body}`;
  const headers = new Headers(body === null ? {} : { 'Content-Type': 'application/json' });
  if (method !== 'GET') headers.set('Idempotency-Key', options.submission ?? idOf(content));
  const response = await fetch(address, { method, signal: options.signal ?? null, headers, body }).catch(
    (error: unknown) => {
      settle(content, null);
      if (options.signal?.aborted) throw error;
      throw new ApiProblem(0, {});
    },
  );
  if (method !== 'GET') settle(content, response.status);
  if (response.ok) return response;
  const problem = new ApiProblem(response.status, await response.json().catch(() => ({})));
  // A request for the session itself expects this answer.
  if (isProblem(problem, 'not_signed_in') && path !== '/session') notifySignedOut();
  if (isProblem(problem, 'not_permitted') || isProblem(problem, 'account_suspended')) notifyForbidden();
  return problem;
}

/** The type of a value after JSON serialization. */
export type Json<T> = T extends Date
  ? string
  : T extends (infer U)[]
    ? Json<U>[]
    : T extends object
      ? { [K in keyof T]: Json<T[K]> }
      : T;
