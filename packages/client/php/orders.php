<?php

declare(strict_types=1);

/**
 * Client of the order ingestion service: one file for PHP 8.1 and newer, without a dependency.
 *
 *     require 'orders.php';
 *
 *     $orders = new Orders\OrdersClient('https://orders.example.com', 'oik_…');
 *     $accepted = $orders->submitOrder(['source_order_id' => 'SHOP-10001']);
 *     echo $orders->waitForReceipt($accepted['receipt_id'])['status'];
 *
 * Every call is retried after a broken connection, no reply in time, 408, 429 and 5xx; `Retry-After` is obeyed. All
 * attempts of a call have one idempotency key, so each order is accepted once. Replies are arrays. Members, statuses and
 * types of events that newer services add are passed on. Redirects are not followed, and proxies are not used.
 *
 * Options are named arguments: `submitOrder($order, strict: true)`. PHP rejects names that it does not know.
 */

namespace Orders;

const VERSION = '0.3.0';

/** The error of a call. No error of this file contains a key, a secret or any data of an order. */
class OrdersException extends \RuntimeException
{
    /** Whether the same call may succeed later. */
    public bool $isRetryable = false;
    /** The HTTP status of the reply, if the service replied with an error. */
    public ?int $status = null;
    /** The seconds until the next attempt, if the reply states them. */
    public ?float $retryAfter = null;

    /**
     * @param string $errorCode the `code` of the service's problem, or `connection_failed`, `timed_out`,
     *   `unexpected_reply`, `payload_mismatch`, `verification_failed`
     * @param ?string $requestId quote it when you report a problem: the service logs it
     */
    public function __construct(
        string $message,
        public readonly string $errorCode,
        public readonly ?string $requestId = null,
        ?\Throwable $previous = null,
    ) {
        parent::__construct($message, 0, $previous);
    }
}

/** The service could not be reached, or the connection broke before its reply was complete. */
class ConnectionException extends OrdersException
{
    public bool $isRetryable = true;

    public function __construct(string $message, string $requestId)
    {
        parent::__construct($message, 'connection_failed', $requestId);
    }
}

/** The timeout ended before a reply arrived or, in `waitForReceipt`, before the receipt was final. */
class TimeoutException extends OrdersException
{
    public bool $isRetryable = true;

    /** @param ?array $receipt from `waitForReceipt`: the last known state of the receipt, if any */
    public function __construct(
        string $message,
        ?string $requestId = null,
        public readonly ?array $receipt = null,
        ?\Throwable $previous = null,
    ) {
        parent::__construct($message, 'timed_out', $requestId, $previous);
    }
}

/** The idempotency key was already used for other content. Do not retry. */
class IdempotencyMismatchException extends OrdersException
{
    /** The receipt of this delivery: it ends as `duplicate` for the same source_order_id, otherwise as `dead`. */
    public readonly ?string $keptAs;

    /** @param array $accepted the reply: its `receipt_id` is that of the first delivery under this key */
    public function __construct(public readonly array $accepted, string $requestId)
    {
        $this->keptAs = $accepted['kept_as'] ?? null;
        $stored = $this->keptAs ? "This delivery is kept as receipt $this->keptAs." : 'Nothing of this delivery is stored.';
        $message = "This idempotency key was used before with other content. $stored";
        parent::__construct($message, 'payload_mismatch', $requestId);
    }
}

/** From `verifyEvent`: the request is not a recent, correctly signed event. */
class VerificationException extends OrdersException
{
    public function __construct(string $message)
    {
        parent::__construct($message, 'verification_failed');
    }
}

/** The service replied with an error. */
class ProblemException extends OrdersException
{
    /** Each broken rule of a 422, with a `pointer` (RFC 6901) into the order as sent, `code` and `detail`. */
    public readonly array $errors;

    /** @param array $problem as received (RFC 9457), or a substitute with the code `unexpected_reply` */
    public function __construct(public readonly array $problem, int $status, ?float $retryAfter, string $hint)
    {
        $this->errors = $problem['errors'] ?? [];
        $message = $problem['detail'];
        foreach (array_slice($this->errors, 0, 3) as $error) {
            $message .= " {$error['pointer']}: {$error['detail']}";
        }
        $more = count($this->errors) - 3;
        parent::__construct($message . ($more > 0 ? " And $more more." : '') . $hint, $problem['code'], $problem['request_id']);
        $this->status = $status;
        $this->retryAfter = $retryAfter;
        $this->isRetryable = $status === 408 || $status === 429 || $status >= 500;
    }
}

/** 401: the API key or the signature is missing or wrong. */
class AuthenticationException extends ProblemException {}

/** 403: the account is suspended, or the key may not do this. */
class PermissionException extends ProblemException {}

/** 404: the account has no such receipt, or `baseUrl` is wrong. */
class NotFoundException extends ProblemException {}

/** 400, 405, 413, 415 and any other 4xx without its own class: the service cannot read the request. */
class InvalidRequestException extends ProblemException {}

/** 410: events after the cursor were removed because of their age. Start again without a cursor. */
class CursorExpiredException extends ProblemException {}

/** 422: the order breaks rules; `errors` lists them. */
class ValidationException extends ProblemException {}

/** 429: the account exceeds its rate limit. */
class RateLimitException extends ProblemException {}

/** 503: the service cannot accept requests at the moment. */
class UnavailableException extends ProblemException {}

/** Any other 5xx. */
class ServerException extends ProblemException {}

/**
 * Calls the service.
 *
 * All calls take `timeout` and `maxRetries`. An order is an array, or the JSON of one order as a string in UTF-8, which is
 * sent unchanged. They throw `OrdersException`, and `InvalidArgumentException` for arguments that cannot be sent.
 */
final class OrdersClient
{
    private const MAX_WAIT = 30;
    private const MAX_PAGE = 1000;
    private const FINAL = ['written', 'duplicate', 'dead'];
    /** The share of a call's timeout for one attempt, so that a silent connection does not use up the whole timeout. */
    private const ATTEMPT_SHARE = 1 / 3;
    /** A wait that ended after a smaller share of its time was cut short. */
    private const WAIT_SHARE = 0.8;
    /** A route of the service at the end of an address, as copied from a guide or the portal. */
    private const ROUTE = '~(/ingest/(?:orders|webhook|preview|reconcile|sources|status|events))(?:/|$)~';
    private const BY_STATUS = [
        401 => AuthenticationException::class,
        403 => PermissionException::class,
        404 => NotFoundException::class,
        422 => ValidationException::class,
        429 => RateLimitException::class,
        503 => UnavailableException::class,
    ];

    private readonly Http $http;

    /**
     * @param string $baseUrl such as `https://orders.example.com`, with the prefix of its routes if there is one
     * @param string $apiKey the API key (`oik_…`) of the account that receives the orders
     * @param ?string $signingSecret the signing secret (`oss_…`) for `sendWebhook`
     * @param float $timeout seconds for a whole call with its retries and pauses; an attempt gets a third of it, the last
     *   one all that is left. The seconds of `wait` are added.
     * @param int $maxRetries of a call
     * @param array $ssl options of the `ssl` context, such as `cafile`
     */
    public function __construct(
        string $baseUrl,
        #[\SensitiveParameter] private readonly string $apiKey,
        #[\SensitiveParameter] private readonly ?string $signingSecret = null,
        private readonly float $timeout = 30,
        private readonly int $maxRetries = 5,
        array $ssl = [],
    ) {
        if (!preg_match('/^[\x21-\x7e]+$/D', $apiKey)) {
            throw new \InvalidArgumentException('apiKey must be an API key of your account ("oik_…"), without spaces or line breaks.');
        }
        self::requireLimits($timeout, $maxRetries);
        $url = preg_match('/^[\x21-\x7e]+$/D', $baseUrl) ? parse_url($baseUrl) : false;
        $isValid = $url && in_array($url['scheme'] ?? '', ['http', 'https'], true) && ($url['host'] ?? '') !== '';
        if (!$isValid || isset($url['user']) || isset($url['pass']) || isset($url['query']) || isset($url['fragment'])) {
            throw new \InvalidArgumentException('baseUrl must be an address such as "https://orders.example.com", without a user, query or hash.');
        }
        if (preg_match(self::ROUTE, $url['path'] ?? '', $route)) {
            throw new \InvalidArgumentException("baseUrl must be the address of the service without a route: leave out \"$route[1]\".");
        }
        $this->http = new Http($url['scheme'], $url['host'], $url['port'] ?? null, rtrim($url['path'] ?? '', '/'), $ssl);
    }

    /**
     * Sends an order. When this returns the order is stored and can no longer be lost.
     *
     * @param ?string $idempotencyKey 1 to 255 visible ASCII characters; by default the SHA-256 of the body, so that the same
     *   order sent again, also by another program, gets the same receipt
     * @param bool $strict reject an order with a `ValidationException` instead of correcting it with a warning
     * @param float $wait seconds, at most 30, for which the service may hold its reply until the order is written
     * @return array `receipt_id`, and `duplicate` for an order sent again
     */
    public function submitOrder(
        array|string $order,
        ?string $idempotencyKey = null,
        bool $strict = false,
        float $wait = 0,
        ?float $timeout = null,
        ?int $maxRetries = null,
    ): array {
        $body = self::bodyOf($order);
        $headers = self::submitHeaders($body, $idempotencyKey, $strict, $wait);
        return $this->post('/ingest/orders', $headers, $body, self::readAccepted(...), $timeout, $maxRetries, $wait);
    }

    /** Sends an order as a webhook with a signature of the exact bytes sent; otherwise as `submitOrder`. */
    public function sendWebhook(
        array|string $order,
        #[\SensitiveParameter] ?string $signingSecret = null,
        ?string $idempotencyKey = null,
        bool $strict = false,
        float $wait = 0,
        ?float $timeout = null,
        ?int $maxRetries = null,
    ): array {
        $body = self::bodyOf($order);
        $headers = $this->signature($body, $signingSecret) + self::submitHeaders($body, $idempotencyKey, $strict, $wait);
        return $this->post('/ingest/webhook', $headers, $body, self::readAccepted(...), $timeout, $maxRetries, $wait);
    }

    /**
     * Sends 1 to 1,000 orders in one request. Its timeout is by default four times that of other calls.
     *
     * @param list<array|string> $orders
     * @return array `accepted`, `refused`, `mismatched`, and `results` with one result for each order, in order. Errors of
     *   single orders are not thrown: a result may have an `error` or `payload_mismatch`.
     */
    public function submitBatch(
        array $orders,
        ?string $idempotencyKey = null,
        bool $strict = false,
        ?float $timeout = null,
        ?int $maxRetries = null,
    ): array {
        self::requireList($orders, 'orders');
        $body = implode('', array_map(fn (array|string $order) => self::lineOf($order) . "\n", $orders));
        $headers = ['Content-Type' => 'application/x-ndjson'] + self::submitHeaders($body, $idempotencyKey, $strict, 0);
        $read = self::readResults(count($orders), self::isBatchResult(...));
        // Longer, because a batch may have many megabytes.
        return $this->post('/ingest/orders/batch', $headers, $body, $read, $timeout ?? $this->timeout * 4, $maxRetries);
    }

    /** Returns a receipt with its current `status`. `$wait` is for how many seconds the service may hold its reply. */
    public function getReceipt(string $receiptId, float $wait = 0, ?float $timeout = null, ?int $maxRetries = null): array
    {
        if (!preg_match('/^[\w-]{1,64}$/D', $receiptId)) {
            throw new \InvalidArgumentException('receiptId must be the receipt_id of an accepted order.');
        }
        $read = fn (array $body) => self::hasTexts($body, 'receipt_id', 'status') ? $body : null;
        return $this->call('GET', "/ingest/status/$receiptId", self::prefer($wait), null, $read, $timeout, $maxRetries, $wait);
    }

    /**
     * Waits until a receipt is final: `written`, `duplicate` or `dead`. It also waits for the end of an outage.
     *
     * @throws TimeoutException after the timeout; its `receipt` is the last known state
     */
    public function waitForReceipt(string $receiptId, float $timeout = 60): array
    {
        self::requireLimits($timeout, 0);
        $startedAt = self::now();
        $deadline = $startedAt + $timeout;
        $receipt = null;
        for ($early = 0; ; ) {
            $askedAt = self::now();
            $left = max($deadline - $askedAt, 0.001);
            $wait = min(self::MAX_WAIT, floor($left * self::WAIT_SHARE));
            try {
                $receipt = $this->getReceipt($receiptId, $wait, max($left - $wait, 0.001), PHP_INT_MAX);
            } catch (OrdersException $error) {
                if (!$error->isRetryable) {
                    throw $error;
                }
                $message = sprintf('Not known to be final after %.1f s.', self::now() - $startedAt);
                throw new TimeoutException($message, $error->requestId, $receipt, $error);
            }
            if (in_array($receipt['status'], self::FINAL, true)) {
                return $receipt;
            }
            // A service that drains, or has too many waits, replies early.
            $isEarly = $wait < 1 || self::now() - $askedAt < $wait * self::WAIT_SHARE;
            $pause = $isEarly ? self::backoff($early++) : 0.0;
            if (self::now() + $pause >= $deadline) {
                $message = sprintf('Still "%s" after %.1f s.', $receipt['status'], self::now() - $startedAt);
                throw new TimeoutException($message, null, $receipt);
            }
            self::pause($pause);
        }
    }

    /** Returns the order as it would be stored, with its warnings. Nothing is stored. */
    public function preview(array|string $order, ?float $timeout = null, ?int $maxRetries = null): array
    {
        $read = fn (array $body) => is_array($body['normalized'] ?? null) ? $body : null;
        return $this->post('/ingest/preview', [], self::bodyOf($order), $read, $timeout, $maxRetries);
    }

    /**
     * Returns the outcome of up to 1,000 orders by your own ids: the newest receipt of each, or `never_seen`.
     *
     * @param list<string> $sourceOrderIds
     */
    public function reconcile(array $sourceOrderIds, ?float $timeout = null, ?int $maxRetries = null): array
    {
        self::requireList($sourceOrderIds, 'sourceOrderIds');
        $body = self::jsonOf(['source_order_ids' => $sourceOrderIds]);
        $isResult = fn ($result) => self::hasTexts($result, 'source_order_id', 'status');
        $read = fn (array $reply) => self::isListOf($reply['results'] ?? null, $isResult) ? $reply : null;
        return $this->post('/ingest/reconcile', [], $body, $read, $timeout, $maxRetries);
    }

    /**
     * Cancels an order. It is always safe to repeat.
     *
     * @param string $via `webhook` signs the request, as `sendWebhook` does
     * @return array `outcome`: `cancelled`; `requested`, a person decides; `held`, until the order arrives; or `archived`
     */
    public function cancelOrder(
        string $sourceOrderId,
        ?string $reason = null,
        string $via = 'rest',
        #[\SensitiveParameter] ?string $signingSecret = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
    ): array {
        $body = self::jsonOf(self::cancellationOf($sourceOrderId, $reason));
        $read = fn (array $reply) => self::isCancelResult($reply) ? $reply : null;
        return $this->cancel($body, $read, $via, $signingSecret, $timeout, $maxRetries);
    }

    /**
     * Cancels 1 to 1,000 orders in one request, all or none.
     *
     * @param list<string|array> $orders ids, or arrays of `source_order_id` and `reason`
     * @return array `results` with the outcome of each, in the same order
     */
    public function cancelOrders(
        array $orders,
        string $via = 'rest',
        #[\SensitiveParameter] ?string $signingSecret = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
    ): array {
        self::requireList($orders, 'orders');
        $cancellations = array_map(fn ($order) => is_string($order) ? self::cancellationOf($order, null) : $order, $orders);
        $read = self::readResults(count($orders), self::isCancelResult(...));
        return $this->cancel(self::jsonOf(['cancellations' => $cancellations]), $read, $via, $signingSecret, $timeout, $maxRetries);
    }

    /**
     * Returns a page of the account's events, oldest first: `events`, `next` (the cursor for the next page), `more`.
     *
     * @param string|int|null $after the `next` of a page, or the `sequence` of an event (default: from the oldest stored event)
     * @param ?int $limit of the page, at most 1,000
     * @param float $wait seconds, at most 30, that the service waits for an event before it replies with an empty page
     */
    public function getEvents(
        string|int|null $after = null,
        ?int $limit = null,
        float $wait = 0,
        ?float $timeout = null,
        ?int $maxRetries = null,
    ): array {
        if ($after !== null && !preg_match('/^\d{1,15}$/D', (string) $after)) {
            throw new \InvalidArgumentException('after must be the `next` of a page or the `sequence` of an event.');
        }
        if ($limit !== null && ($limit < 1 || $limit > self::MAX_PAGE)) {
            throw new \InvalidArgumentException('limit must be a whole number from 1 to ' . self::MAX_PAGE . '.');
        }
        $query = http_build_query(['after' => $after, 'limit' => $limit]);
        $path = '/ingest/events' . ($query === '' ? '' : "?$query");
        $isPage = fn (array $body) => self::hasTexts($body, 'next') && self::isListOf($body['events'] ?? null, isEvent(...));
        $read = fn (array $body) => $isPage($body) ? $body : null;
        return $this->call('GET', $path, self::prefer($wait), null, $read, $timeout, $maxRetries, $wait);
    }

    /**
     * Yields the account's events, oldest first, and waits for new ones for ever, also through an outage.
     *
     * After an event was processed, store its `data.sequence` and pass it as `$after` when the program starts again.
     *
     * @return \Generator<int, array>
     */
    public function events(string|int|null $after = null): \Generator
    {
        for ($early = $failures = 0; ; ) {
            $askedAt = self::now();
            try {
                $page = $this->getEvents($after, self::MAX_PAGE, self::MAX_WAIT, maxRetries: 0);
            } catch (OrdersException $error) {
                if (!$error->isRetryable) {
                    throw $error;
                }
                self::pause(self::backoff($failures++) + ($error->retryAfter ?? 0));
                continue;
            }
            $failures = 0;
            foreach ($page['events'] as $event) {
                yield $event;
            }
            $after = $page['next'];
            // A service that drains, or has too many waits, replies early.
            if ($page['events'] || self::now() - $askedAt >= self::MAX_WAIT * self::WAIT_SHARE) {
                $early = 0;
            } else {
                self::pause(self::backoff($early++));
            }
        }
    }

    private function cancel(string $body, \Closure $read, string $via, ?string $secret, ?float $timeout, ?int $maxRetries): array
    {
        return match ($via) {
            'rest' => $this->post('/ingest/orders/cancel', [], $body, $read, $timeout, $maxRetries),
            'webhook' => $this->post('/ingest/webhook/cancel', $this->signature($body, $secret), $body, $read, $timeout, $maxRetries),
            default => throw new \InvalidArgumentException('via must be "rest" or "webhook".'),
        };
    }

    private function signature(string $body, ?string $signingSecret): array
    {
        $secret = $signingSecret ?? $this->signingSecret;
        if ($secret === null || $secret === '') {
            throw new \InvalidArgumentException('A webhook needs the signingSecret of your account ("oss_…").');
        }
        return ['x-service-signature' => signBody($body, $secret)];
    }

    private function post(
        string $path,
        array $headers,
        string $body,
        \Closure $read,
        ?float $timeout,
        ?int $maxRetries,
        float $wait = 0,
    ): array {
        return $this->call('POST', $path, $headers + ['Content-Type' => 'application/json'], $body, $read, $timeout, $maxRetries, $wait);
    }

    /** Sends one call, and repeats it unchanged until there is a final reply. */
    private function call(
        string $method,
        string $path,
        array $headers,
        ?string $body,
        \Closure $read,
        ?float $timeout,
        ?int $maxRetries,
        float $wait,
    ): array {
        $timeout ??= $this->timeout;
        $maxRetries ??= $this->maxRetries;
        self::requireLimits($timeout, $maxRetries);
        $requestId = self::uuid();
        $headers += [
            'Accept' => 'application/json, application/problem+json',
            'Authorization' => "Bearer $this->apiKey",
            'User-Agent' => 'orders-php/' . VERSION,
            'X-Request-Id' => $requestId,
        ];
        $startedAt = self::now();
        $deadline = $startedAt + $timeout + $wait;
        $share = $timeout * self::ATTEMPT_SHARE;
        for ($attempt = 0; ; $attempt++) {
            $left = max(0.001, $deadline - self::now());
            // All that is left, if no retry may follow or it would get less than a share.
            $isLast = $attempt >= $maxRetries || $left - ($share + $wait) < $share;
            try {
                $reply = $this->http->exchange($method, $path, $headers, $body, $isLast ? $left : $share + $wait);
                return $this->readReply($reply, $path, $read, $requestId);
            } catch (NoReply $none) {
                $spent = sprintf('%.1f s and %d attempt%s', self::now() - $startedAt, $attempt + 1, $attempt > 0 ? 's' : '');
                $error = $none->isTimeout
                    ? new TimeoutException("Timed out after $spent: no reply.", $requestId)
                    : new ConnectionException("No reply from {$this->http->origin()} after $spent: {$none->getMessage()}.", $requestId);
            } catch (OrdersException $error) {
            }
            $pause = self::backoff($attempt) + ($error->retryAfter ?? 0);
            if (!$error->isRetryable || $attempt >= $maxRetries || self::now() + $pause >= $deadline) {
                throw $error;
            }
            self::pause($pause);
        }
    }

    private function readReply(Reply $reply, string $path, \Closure $read, string $requestId): array
    {
        $status = $reply->status;
        $type = $reply->headers['content-type'] ?? 'without a type';
        $requestId = $reply->headers['x-request-id'] ?? $requestId;
        $body = parseObject($reply->body);
        if ($status >= 200 && $status < 300) {
            return ($body === null ? null : $read($body, $requestId)) ?? throw new OrdersException(
                "The reply ($status, $type) is not from the service; check baseUrl.",
                'unexpected_reply',
                $requestId,
            );
        }
        if ($status >= 300 && $status < 400) {
            $message = 'The address redirects; redirects are not followed, to protect the key.';
            throw new OrdersException($message, 'unexpected_reply', $requestId);
        }
        $problem = self::readProblem($body) ?? [
            'type' => 'about:blank',
            'title' => 'Unexpected reply',
            'status' => $status,
            // It quotes nothing of the body, which may contain the request.
            'detail' => "A proxy or another server replied with $status ($type).",
            'code' => 'unexpected_reply',
        ];
        $problem['request_id'] = $requestId;
        $hint = '';
        if ($status === 404 && in_array($problem['code'], ['not_found', 'unexpected_reply'], true)) {
            $wentTo = $this->http->prefix . strtok($path, '?');
            $hint = " The request went to $wentTo; check baseUrl, to which the client appends the route.";
        }
        $class = self::BY_STATUS[$status] ?? ($status >= 500 ? ServerException::class : InvalidRequestException::class);
        // By its code, because a 410 of a proxy says nothing about the cursor.
        $class = $problem['code'] === 'cursor_expired' ? CursorExpiredException::class : $class;
        throw new $class($problem, $status, self::readRetryAfter($reply->headers), $hint);
    }

    /** An invalid list of errors is dropped; the problem stays. */
    private static function readProblem(?array $body): ?array
    {
        if (!self::hasTexts($body, 'code', 'detail')) {
            return null;
        }
        $isError = fn ($error) => self::hasTexts($error, 'pointer', 'code', 'detail');
        $body['errors'] = is_array($body['errors'] ?? null) ? array_values(array_filter($body['errors'], $isError)) : [];
        return $body;
    }

    /** `Retry-After` in seconds. A date is relative to the date of the reply, not to the local clock. */
    private static function readRetryAfter(array $headers): ?float
    {
        $value = trim($headers['retry-after'] ?? '');
        if (preg_match('/^\d+$/D', $value)) {
            return min((float) $value, 1e9);
        }
        $until = $value === '' ? false : strtotime($value);
        return $until === false ? null : (float) max(0, $until - (strtotime($headers['date'] ?? '') ?: time()));
    }

    private static function readAccepted(array $body, string $requestId): ?array
    {
        if (!self::hasTexts($body, 'receipt_id')) {
            return null;
        }
        return ($body['payload_mismatch'] ?? false) ? throw new IdempotencyMismatchException($body, $requestId) : $body;
    }

    private static function readResults(int $count, \Closure $isResult): \Closure
    {
        return function (array $body, string $requestId) use ($count, $isResult): ?array {
            $results = $body['results'] ?? null;
            if (!self::isListOf($results, $isResult)) {
                return null;
            }
            return count($results) === $count ? $body : throw new OrdersException(
                'The reply has ' . count($results) . " results for $count orders.",
                'unexpected_reply',
                $requestId,
            );
        };
    }

    private static function isBatchResult(mixed $result): bool
    {
        if (!is_array($result) || !array_key_exists('error', $result)) {
            return self::hasTexts($result, 'receipt_id');
        }
        return self::hasTexts($result['error'], 'code', 'detail') && !array_key_exists('receipt_id', $result);
    }

    private static function isCancelResult(mixed $result): bool
    {
        return self::hasTexts($result, 'outcome', 'source_order_id');
    }

    private static function isListOf(mixed $value, \Closure $isItem): bool
    {
        return is_array($value) && array_is_list($value) && array_filter($value, $isItem) === $value;
    }

    private static function hasTexts(mixed $value, string ...$names): bool
    {
        return is_array($value) && array_filter($names, fn (string $name) => !is_string($value[$name] ?? null)) === [];
    }

    private static function requireLimits(float $timeout, int $maxRetries): void
    {
        if (!($timeout > 0)) {
            throw new \InvalidArgumentException('timeout must be a number of seconds above 0.');
        }
        if ($maxRetries < 0) {
            throw new \InvalidArgumentException('maxRetries must be a number from 0.');
        }
    }

    private static function requireList(array $value, string $name): void
    {
        if (!array_is_list($value)) {
            throw new \InvalidArgumentException("$name must be a list.");
        }
    }

    private static function submitHeaders(string $body, ?string $idempotencyKey, bool $strict, float $wait): array
    {
        $key = $idempotencyKey ?? hash('sha256', $body);
        if (!preg_match('/^[\x21-\x7e]{1,255}$/D', $key)) {
            throw new \InvalidArgumentException('idempotencyKey must be a string of 1 to 255 visible ASCII characters.');
        }
        $preferences = [...($strict ? ['handling=strict'] : []), ...array_values(self::prefer($wait))];
        return ['Idempotency-Key' => $key] + ($preferences ? ['Prefer' => implode(', ', $preferences)] : []);
    }

    private static function prefer(float $wait): array
    {
        if (!($wait >= 0 && $wait <= self::MAX_WAIT)) {
            throw new \InvalidArgumentException('wait must be a number of seconds from 0 to ' . self::MAX_WAIT . '.');
        }
        return $wait > 0 ? ['Prefer' => 'wait=' . (int) $wait] : [];
    }

    private static function bodyOf(array|string $order): string
    {
        // An empty array of PHP is an object here, because an order has members.
        return is_string($order) ? $order : self::jsonOf($order === [] ? new \stdClass() : $order);
    }

    private static function jsonOf(array|object $value): string
    {
        try {
            $flags = JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_PRESERVE_ZERO_FRACTION | JSON_THROW_ON_ERROR;
            return json_encode($value, $flags);
        } catch (\JsonException $error) {
            throw new \InvalidArgumentException("It cannot be sent as JSON: {$error->getMessage()}.");
        }
    }

    /**
     * Line breaks become tabs: between JSON tokens the two are equivalent, and inside a string both are invalid. An empty
     * order is sent as `null`, so that it is rejected at its position and not skipped.
     */
    private static function lineOf(array|string $order): string
    {
        $line = strtr(self::bodyOf($order), "\r\n", "\t\t");
        if (!preg_match('//u', $line)) {
            throw new \InvalidArgumentException('An order of the batch is not UTF-8.');
        }
        return trim($line) === '' ? 'null' : $line;
    }

    private static function cancellationOf(string $sourceOrderId, ?string $reason): array
    {
        return ['source_order_id' => $sourceOrderId] + ($reason === null ? [] : ['reason' => $reason]);
    }

    /** Exponential, capped and random, so that clients that failed together do not retry together. */
    private static function backoff(int $failures): float
    {
        return random_int(0, 1_000_000) / 1e6 * min(8, 0.5 * 2 ** min($failures, 10));
    }

    private static function pause(float $seconds): void
    {
        $seconds = min($seconds, 1e9);
        time_nanosleep((int) $seconds, (int) (fmod($seconds, 1) * 1e9));
    }

    private static function now(): float
    {
        return hrtime(true) / 1e9;
    }

    private static function uuid(): string
    {
        $bytes = random_bytes(16);
        $bytes[6] = chr(ord($bytes[6]) & 0x0f | 0x40);
        $bytes[8] = chr(ord($bytes[8]) & 0x3f | 0x80);
        return vsprintf('%s%s-%s-%s-%s-%s%s%s', str_split(bin2hex($bytes), 4));
    }
}

/** The value of `x-service-signature` for the exact bytes that will be sent: `sha256=` and 64 hexadecimal digits. */
function signBody(string $body, #[\SensitiveParameter] string $secret): string
{
    if ($secret === '') {
        throw new \InvalidArgumentException('The signing secret is missing.');
    }
    return 'sha256=' . hash_hmac('sha256', $body, $secret);
}

/**
 * Verifies a delivered event (Standard Webhooks 1.0) in constant time, and returns it.
 *
 * @param string $body the exact bytes received, before parsing: `file_get_contents('php://input')`
 * @param array $headers of the request by their names, in any case, or `$_SERVER`
 * @param string|list<string> $secret `whsec_…`; several during a rotation: a signature by any of them is valid
 * @throws VerificationException when the request must be rejected
 */
function verifyEvent(string $body, array $headers, #[\SensitiveParameter] string|array $secret): array
{
    $keys = array_map(function (string $one): string {
        $key = str_starts_with($one, 'whsec_') ? base64_decode(substr($one, strlen('whsec_')), true) : false;
        return $key ?: throw new \InvalidArgumentException('The secret must be "whsec_" and base64.');
    }, (array) $secret);
    if ($keys === []) {
        throw new \InvalidArgumentException('The secret to verify with is missing.');
    }
    $header = function (string $name) use ($headers): string {
        $values = [];
        foreach ($headers as $key => $value) {
            $key = strtr(strtolower((string) $key), '_', '-');
            if ($key === $name || $key === "http-$name") {
                array_push($values, ...(array) $value);
            }
        }
        // Several values are joined, so that a header that was added to the request makes the signature invalid.
        $value = trim(implode(' ', $values));
        return $value === '' ? throw new VerificationException("The header $name is missing.") : $value;
    };
    [$id, $timestamp, $signatures] = array_map($header, ['webhook-id', 'webhook-timestamp', 'webhook-signature']);
    if (!preg_match('/^\d{1,12}$/D', $timestamp)) {
        throw new VerificationException('webhook-timestamp is not a Unix time in seconds.');
    }
    // As Standard Webhooks 1.0 recommends; a recorded request cannot be replayed later.
    $tolerance = 300;
    $difference = (int) $timestamp - time();
    if (abs($difference) > $tolerance) {
        $relation = $difference < 0 ? 'before' : 'after';
        $message = 'webhook-timestamp is ' . abs($difference) . " seconds $relation the clock of this machine; at most $tolerance are allowed.";
        throw new VerificationException($message);
    }
    $isAuthentic = false;
    foreach ($keys as $key) {
        $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
        // All of them are compared, so that the time does not tell which one matches.
        foreach (explode(' ', $signatures) as $signature) {
            $isAuthentic = hash_equals($expected, $signature) || $isAuthentic;
        }
    }
    if (!$isAuthentic) {
        throw new VerificationException('No signature matches: check the secret, and that the body is as it was received.');
    }
    $event = parseObject($body);
    return isEvent($event) ? $event : throw new VerificationException('The signature is valid, but the body is not an event.');
}

/** @internal */
function isEvent(mixed $value): bool
{
    return is_array($value) && is_string($value['id'] ?? null) && is_string($value['type'] ?? null)
        && is_string($value['timestamp'] ?? null) && is_array($value['data'] ?? null);
}

/** @internal */
function parseObject(?string $text): ?array
{
    $text = trim($text ?? '');
    $value = str_starts_with($text, '{') ? json_decode($text, true, 512, JSON_BIGINT_AS_STRING) : null;
    return is_array($value) ? $value : null;
}

/** @internal A complete reply; the body is null above the limit. */
final class Reply
{
    /** @param array<string, string> $headers by their names in lower case */
    public function __construct(
        public readonly int $status,
        public readonly array $headers,
        public readonly ?string $body,
    ) {}
}

/** @internal */
final class NoReply extends \RuntimeException
{
    public function __construct(string $message, public readonly bool $isTimeout = false)
    {
        parent::__construct($message);
    }
}

/**
 * @internal Sends requests by HTTP/1.1 over a socket: it needs neither the curl extension nor `allow_url_fopen`, and one
 * deadline bounds connecting, sending and reading.
 */
final class Http
{
    /** Above any reply of the service. The largest one, of a batch, contains at most the 8 MiB that were sent. */
    private const MAX_REPLY_BYTES = 16 * 2 ** 20;
    private const MAX_HEAD_BYTES = 65_536;

    /** @var ?resource */
    private $socket;
    private string $buffer;
    private float $endsAt;
    private ?string $warning;

    public function __construct(
        private readonly string $scheme,
        private readonly string $host,
        private readonly ?int $port,
        public readonly string $prefix,
        private readonly array $ssl,
    ) {}

    public function origin(): string
    {
        return "$this->scheme://{$this->authority()}";
    }

    private function authority(): string
    {
        return $this->host . ($this->port === null ? '' : ":$this->port");
    }

    /** @throws NoReply without a complete reply in time */
    public function exchange(string $method, string $path, array $headers, ?string $body, float $seconds): Reply
    {
        $this->endsAt = hrtime(true) / 1e9 + $seconds;
        $this->buffer = '';
        // Warnings become exceptions in applications that have a handler of their own.
        set_error_handler(function (int $_, string $message): bool {
            $this->warning ??= $message;
            return true;
        });
        $this->warning = null;
        try {
            $this->socket = $this->connect($seconds);
            // A server that rejects a body may reply before it has read all of it, so a failure to send is none yet.
            $this->write($this->requestOf($method, $path, $headers, $body));
            return $this->readReply();
        } finally {
            restore_error_handler();
            if (is_resource($this->socket)) {
                fclose($this->socket);
            }
            $this->socket = null;
        }
    }

    /** @return resource */
    private function connect(float $seconds)
    {
        $isSecure = $this->scheme === 'https';
        $address = ($isSecure ? 'tls' : 'tcp') . "://$this->host:" . ($this->port ?? ($isSecure ? 443 : 80));
        $context = stream_context_create(['ssl' => ['peer_name' => trim($this->host, '[]')] + $this->ssl]);
        $socket = stream_socket_client($address, $_, $reason, min($seconds, 1e6), STREAM_CLIENT_CONNECT, $context);
        if ($socket) {
            return $socket;
        }
        // A failure of TLS has only a warning.
        $reason = $reason ?: preg_replace(['/^\w+\(\): /', '/\s+/'], ['', ' '], $this->warning ?? 'it failed');
        throw new NoReply($reason, hrtime(true) / 1e9 >= $this->endsAt);
    }

    private function requestOf(string $method, string $path, array $headers, ?string $body): string
    {
        $headers = ['Host' => $this->authority(), 'Connection' => 'close'] + $headers;
        if ($body !== null) {
            $headers['Content-Length'] = strlen($body);
        }
        $lines = array_map(fn (string $name, string|int $value) => "$name: $value\r\n", array_keys($headers), $headers);
        return "$method $this->prefix$path HTTP/1.1\r\n" . implode('', $lines) . "\r\n$body";
    }

    private function write(string $request): void
    {
        for ($sent = 0; $sent < strlen($request); ) {
            $this->limitTime();
            $written = fwrite($this->socket, substr($request, $sent, 65_536));
            if (!$written) {
                return;
            }
            $sent += $written;
        }
    }

    private function readReply(): Reply
    {
        do {
            [$status, $headers] = $this->readHead();
        } while ($status < 200);
        if ($status === 204 || $status === 304) {
            return new Reply($status, $headers, '');
        }
        $isChunked = strtolower($headers['transfer-encoding'] ?? '') === 'chunked';
        return new Reply($status, $headers, $isChunked ? $this->readChunks() : $this->readBody($headers['content-length'] ?? null));
    }

    /** @return array{int, array<string, string>} */
    private function readHead(): array
    {
        while (($end = strpos($this->buffer, "\r\n\r\n")) === false) {
            if (strlen($this->buffer) > self::MAX_HEAD_BYTES || !$this->fill()) {
                throw new NoReply('the reply is not HTTP, or ended early');
            }
        }
        $lines = explode("\r\n", substr($this->buffer, 0, $end));
        $this->buffer = substr($this->buffer, $end + 4);
        if (!preg_match('~^HTTP/1\.[01] (\d{3})(?: |$)~', array_shift($lines), $status)) {
            throw new NoReply('the reply is not HTTP');
        }
        $headers = [];
        foreach ($lines as $line) {
            [$name, $value] = explode(':', $line, 2) + [1 => ''];
            $headers[strtolower(trim($name))] = trim($value);
        }
        return [(int) $status[1], $headers];
    }

    private function readBody(?string $length): ?string
    {
        if ($length !== null && !ctype_digit($length)) {
            throw new NoReply('the reply is not HTTP');
        }
        if ((int) $length > self::MAX_REPLY_BYTES) {
            return null;
        }
        while ($length === null || strlen($this->buffer) < (int) $length) {
            if (strlen($this->buffer) > self::MAX_REPLY_BYTES) {
                return null;
            }
            if (!$this->fill()) {
                return $length === null ? $this->buffer : throw new NoReply('the reply ended early');
            }
        }
        return substr($this->buffer, 0, (int) $length);
    }

    private function readChunks(): ?string
    {
        for ($body = ''; ; ) {
            while (!preg_match('/^([0-9a-f]{1,8})[^\r\n]*\r\n/i', $this->buffer, $head)) {
                if (strlen($this->buffer) > self::MAX_HEAD_BYTES || !$this->fill()) {
                    throw new NoReply('the reply ended early');
                }
            }
            $size = (int) hexdec($head[1]);
            if ($size === 0) {
                return $body;
            }
            if (strlen($body) + $size > self::MAX_REPLY_BYTES) {
                return null;
            }
            $end = strlen($head[0]) + $size + 2;
            while (strlen($this->buffer) < $end) {
                if (!$this->fill()) {
                    throw new NoReply('the reply ended early');
                }
            }
            $body .= substr($this->buffer, strlen($head[0]), $size);
            $this->buffer = substr($this->buffer, $end);
        }
    }

    /** Reads what has arrived, or waits for more. @return bool false at the end of the reply */
    private function fill(): bool
    {
        $this->limitTime();
        $part = fread($this->socket, 65_536);
        if ($part !== false && $part !== '') {
            $this->buffer .= $part;
            return true;
        }
        if (stream_get_meta_data($this->socket)['timed_out']) {
            throw new NoReply('no reply', isTimeout: true);
        }
        return !feof($this->socket) && $part !== false;
    }

    /** The next read or write may take the time that is left. */
    private function limitTime(): void
    {
        $left = min($this->endsAt - hrtime(true) / 1e9, 1e6);
        if ($left <= 0) {
            throw new NoReply('no reply', isTimeout: true);
        }
        stream_set_timeout($this->socket, (int) $left, max(1, (int) (fmod($left, 1) * 1e6)));
    }
}
