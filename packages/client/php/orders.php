<?php

/**
 * Client of the order ingestion service: one file for PHP 8.1 and newer, without a dependency.
 *
 *     require_once __DIR__ . '/orders.php';
 *
 *     $orders = new Orders\OrdersClient('https://orders.example.com', 'oik_…');
 *     $accepted = $orders->submitOrder(['source_order_id' => 'SHOP-10001']);
 *     echo $orders->waitForReceipt($accepted['receipt_id'])['status'];
 *
 * Every call is retried after a broken connection, no reply in time, 408, 429 and 5xx; `Retry-After` is obeyed. All
 * attempts of a call have one idempotency key, so each order is accepted once. Replies are arrays. Members, statuses
 * and types of events that newer services add are passed on. Redirects are not followed, and proxies are not used.
 *
 * Options are named arguments: `submitOrder($order, strict: true)`. PHP rejects names that it does not know.
 *
 * With Composer: `"autoload": {"files": ["orders.php"]}`. From PHP 8.2 on no trace shows a key, a secret or an order;
 * with 8.1 leave `zend.exception_ignore_args` on, as php.ini-production has it.
 */

declare(strict_types=1);

namespace Orders;

const VERSION = '0.3.0';

/** The error of a call. No error of this file contains a key, a secret or any data of an order. */
class OrdersException extends \RuntimeException
{
    /**
     * @param string $errorCode the `code` of the service's problem, or `connection_failed`, `timed_out`,
     *   `unexpected_reply`, `payload_mismatch`, `verification_failed`
     * @param ?string $requestId quote it when you report a problem: the service logs it
     * @param bool $isRetryable whether the same call may succeed later
     * @param ?int $status the HTTP status of the reply, if the service replied with an error
     * @param ?float $retryAfter the seconds until the next attempt, if the reply states them
     */
    public function __construct(
        string $message,
        public readonly string $errorCode,
        public readonly ?string $requestId = null,
        public readonly bool $isRetryable = false,
        public readonly ?int $status = null,
        public readonly ?float $retryAfter = null,
        ?\Throwable $previous = null,
    ) {
        parent::__construct($message, 0, $previous);
    }
}

/** The service could not be reached, or the connection broke before its reply was complete. */
class ConnectionException extends OrdersException
{
    public function __construct(string $message, string $requestId, ?\Throwable $previous = null)
    {
        parent::__construct($message, 'connection_failed', $requestId, true, previous: $previous);
    }
}

/** The timeout ended before a reply arrived or, in `waitForReceipt`, before the receipt was final. */
class TimeoutException extends OrdersException
{
    /** @param ?array<string, mixed> $receipt from `waitForReceipt`: the last known state of the receipt, if any */
    public function __construct(
        string $message,
        ?string $requestId = null,
        public readonly ?array $receipt = null,
        ?float $retryAfter = null,
        ?\Throwable $previous = null,
    ) {
        parent::__construct($message, 'timed_out', $requestId, true, null, $retryAfter, $previous);
    }
}

/** The idempotency key was already used for other content. Do not retry. */
class IdempotencyMismatchException extends OrdersException
{
    /** The receipt of this delivery: it ends as `duplicate` for the same source_order_id, otherwise as `dead`. */
    public readonly ?string $keptAs;

    /** @param array<string, mixed> $accepted the reply: its `receipt_id` is of the first delivery under this key */
    public function __construct(public readonly array $accepted, string $requestId)
    {
        $keptAs = $accepted['kept_as'] ?? null;
        $this->keptAs = is_string($keptAs) ? $keptAs : null;
        $stored = $this->keptAs === null
            ? 'Nothing of this delivery is stored.'
            : "This delivery is kept as receipt $this->keptAs.";
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
    /**
     * Each broken rule of a 422, with a `pointer` (RFC 6901) into the order as sent.
     *
     * @var list<array{pointer: string, code: string, detail: string}>
     */
    public readonly array $errors;

    /** @param array<string, mixed> $problem as received (RFC 9457), or a substitute with the code `unexpected_reply` */
    public function __construct(public readonly array $problem, int $status, ?float $retryAfter, string $hint)
    {
        $this->errors = $problem['errors'] ?? [];
        $message = $problem['detail'];
        foreach (array_slice($this->errors, 0, 3) as $error) {
            $message .= " {$error['pointer']}: {$error['detail']}";
        }
        $more = count($this->errors) - 3;
        $message .= ($more > 0 ? " And $more more." : '') . $hint;
        $isRetryable = $status === 408 || $status === 429 || $status >= 500;
        parent::__construct($message, $problem['code'], $problem['request_id'], $isRetryable, $status, $retryAfter);
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

/** 421: another installation of the service has the account. Use its address as `baseUrl`; a retry does not help. */
class WrongInstallationException extends ProblemException
{
    /** The base URL of that installation. */
    public function installationUrl(): ?string
    {
        return $this->problem['installation_url'] ?? null;
    }
}

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
 * All calls take `timeout` and `maxRetries`. An order is an array, or the JSON of one order as a string in UTF-8, which
 * is sent unchanged. They throw `OrdersException`, and `InvalidArgumentException` for arguments that cannot be sent.
 *
 * @phpstan-type Accepted array{receipt_id: string, duplicate?: true, status?: string, order_id?: ?int, ...}
 * @phpstan-type Receipt array{receipt_id: string, status: string, order_id: ?int, source_order_id: string, ...}
 * @phpstan-type Cancelled array{outcome: string, source_order_id: string, order_id: ?int}
 * @phpstan-type Event array{id: string, type: string, timestamp: string, data: array<string, mixed>}
 * @phpstan-type EventPage array{events: list<Event>, next: string, more: bool}
 * @phpstan-type Reader \Closure(array<string, mixed>, string): ?array<string, mixed>
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
    /** `Retry-After` may be any number or date. */
    private const MAX_PAUSE = 86_400;
    /** A route of the service at the end of an address, as copied from a guide or the portal. */
    private const ROUTE = '~(/ingest/(?:orders|webhook|preview|reconcile|sources|status|events))(?:/|$)~';
    private const BY_CODE = [
        'cursor_expired' => CursorExpiredException::class,
        'wrong_installation' => WrongInstallationException::class,
    ];

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
     * @param float $timeout seconds for a whole call with its retries and pauses; an attempt gets a third of it, the
     *   last one all that is left. The seconds of `wait` are added.
     * @param int $maxRetries of a call
     * @param array<string, mixed> $ssl options of the `ssl` context, such as `cafile`
     * @throws \InvalidArgumentException for options that cannot be used
     */
    public function __construct(
        #[\SensitiveParameter] string $baseUrl,
        #[\SensitiveParameter] string $apiKey,
        #[\SensitiveParameter] private readonly ?string $signingSecret = null,
        private readonly float $timeout = 30,
        private readonly int $maxRetries = 5,
        #[\SensitiveParameter] array $ssl = [],
    ) {
        if (!preg_match('/^[\x21-\x7e]+$/D', $apiKey)) {
            $message = 'apiKey must be an API key of your account ("oik_…"), without spaces or line breaks.';
            throw new \InvalidArgumentException($message);
        }
        self::requireLimits($timeout, $maxRetries);
        $url = preg_match('/^[\x21-\x7e]+$/D', $baseUrl) ? parse_url($baseUrl) : false;
        $scheme = strtolower($url['scheme'] ?? '');
        $isValid = in_array($scheme, ['http', 'https'], true) && ($url['host'] ?? '') !== '';
        if (!$isValid || array_intersect_key($url, array_flip(['user', 'pass', 'query', 'fragment'])) !== []) {
            $message = 'baseUrl must be an address such as "https://orders.example.com", without user, query and hash.';
            throw new \InvalidArgumentException($message);
        }
        $path = $url['path'] ?? '';
        if (preg_match(self::ROUTE, $path, $route)) {
            $message = "baseUrl must be the address of the service without a route: leave out \"$route[1]\".";
            throw new \InvalidArgumentException($message);
        }
        if ($scheme === 'https' && !extension_loaded('openssl')) {
            throw new \InvalidArgumentException('An https address needs the openssl extension of PHP.');
        }
        $this->http = new Http($apiKey, $scheme, $url['host'], $url['port'] ?? null, rtrim($path, '/'), $ssl);
    }

    /** @return array<string, mixed> what var_dump shows: no key, no secret */
    public function __debugInfo(): array
    {
        $address = $this->http->origin() . $this->http->prefix;
        return ['address' => $address, 'timeout' => $this->timeout, 'maxRetries' => $this->maxRetries];
    }

    public function __serialize(): never
    {
        throw new \LogicException('A client cannot be serialized: it has a key.');
    }

    /**
     * Sends an order. When this returns the order is stored and can no longer be lost.
     *
     * @param array<string, mixed>|string $order
     * @param ?string $idempotencyKey 1 to 255 visible ASCII characters; by default the SHA-256 of the body, so that the
     *   same order sent again, also by another program, gets the same receipt
     * @param bool $strict reject an order with a `ValidationException` instead of correcting it with a warning
     * @param float $wait seconds, at most 30, for which the service may hold its reply until the order is written
     * @return Accepted
     * @throws OrdersException|\InvalidArgumentException
     */
    public function submitOrder(
        #[\SensitiveParameter] array|string $order,
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

    /**
     * Sends an order as a webhook with a signature of the exact bytes sent; otherwise as `submitOrder`.
     *
     * @param array<string, mixed>|string $order
     * @return Accepted
     * @throws OrdersException|\InvalidArgumentException
     */
    public function sendWebhook(
        #[\SensitiveParameter] array|string $order,
        #[\SensitiveParameter] ?string $signingSecret = null,
        ?string $idempotencyKey = null,
        bool $strict = false,
        float $wait = 0,
        ?float $timeout = null,
        ?int $maxRetries = null,
    ): array {
        $body = self::bodyOf($order);
        $headers = $this->signature($body, $signingSecret);
        $headers += self::submitHeaders($body, $idempotencyKey, $strict, $wait);
        return $this->post('/ingest/webhook', $headers, $body, self::readAccepted(...), $timeout, $maxRetries, $wait);
    }

    /**
     * Sends 1 to 1,000 orders in one request. Its timeout is by default four times that of other calls.
     *
     * @param list<array<string, mixed>|string> $orders
     * @return array{accepted: int, refused: int, mismatched: int, results: list<array<string, mixed>>} one result for
     *   each order, in order. Errors of single orders are not thrown: a result may have an `error` or
     *   `payload_mismatch`.
     * @throws OrdersException|\InvalidArgumentException
     */
    public function submitBatch(
        #[\SensitiveParameter] array $orders,
        ?string $idempotencyKey = null,
        bool $strict = false,
        ?float $timeout = null,
        ?int $maxRetries = null,
    ): array {
        self::requireList($orders, 'orders');
        $body = '';
        foreach ($orders as $index => $order) {
            if (!is_array($order) && !is_string($order)) {
                throw new \InvalidArgumentException("The order at index $index must be an array or JSON.");
            }
            $body .= self::lineOf($order) . "\n";
        }
        $headers = ['Content-Type' => 'application/x-ndjson'] + self::submitHeaders($body, $idempotencyKey, $strict, 0);
        $read = self::readResults(count($orders), self::isBatchResult(...));
        // Longer, because a batch may have many megabytes.
        return $this->post('/ingest/orders/batch', $headers, $body, $read, $timeout ?? $this->timeout * 4, $maxRetries);
    }

    /**
     * Returns a receipt with its current `status`. `$wait` is for how many seconds the service may hold its reply.
     *
     * @return Receipt
     * @throws OrdersException|\InvalidArgumentException
     */
    public function getReceipt(
        string $receiptId,
        float $wait = 0,
        ?float $timeout = null,
        ?int $maxRetries = null,
    ): array {
        if (!preg_match('/^[\w-]{1,64}$/D', $receiptId)) {
            throw new \InvalidArgumentException('receiptId must be the receipt_id of an accepted order.');
        }
        $path = "/ingest/status/$receiptId";
        $read = static fn (array $body) => self::hasTexts($body, 'receipt_id', 'status') ? $body : null;
        return $this->call('GET', $path, self::prefer($wait), null, $read, $timeout, $maxRetries, $wait);
    }

    /**
     * Waits until a receipt is final: `written`, `duplicate` or `dead`. It also waits for the end of an outage.
     *
     * @return Receipt
     * @throws TimeoutException after the timeout; its `receipt` is the last known state
     * @throws OrdersException|\InvalidArgumentException
     */
    public function waitForReceipt(string $receiptId, float $timeout = 60): array
    {
        self::requireLimits($timeout, 0);
        $startedAt = self::now();
        $deadline = $startedAt + $timeout;
        $receipt = null;
        for ($early = 0;;) {
            $askedAt = self::now();
            $left = max($deadline - $askedAt, 0.001);
            $wait = min(self::MAX_WAIT, floor($left * self::WAIT_SHARE));
            try {
                $receipt = $this->getReceipt($receiptId, $wait, max($left - $wait, 0.001), PHP_INT_MAX);
            } catch (OrdersException $error) {
                if (!$error->isRetryable) {
                    throw $error;
                }
                $message = sprintf('Not known to be final after %.1f s: ', self::now() - $startedAt);
                $message .= $error->getMessage();
                if ($error->retryAfter > 0) {
                    $message .= " A retry is asked for after $error->retryAfter s, and the timeout is $timeout s.";
                }
                throw new TimeoutException($message, $error->requestId, $receipt, $error->retryAfter, $error);
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

    /**
     * Returns the order as it would be stored, with its warnings. Nothing is stored.
     *
     * @param array<string, mixed>|string $order
     * @return array{normalized: array<string, mixed>, ...}
     * @throws OrdersException|\InvalidArgumentException
     */
    public function preview(
        #[\SensitiveParameter] array|string $order,
        ?float $timeout = null,
        ?int $maxRetries = null,
    ): array {
        $read = static fn (array $body) => is_array($body['normalized'] ?? null) ? $body : null;
        return $this->post('/ingest/preview', [], self::bodyOf($order), $read, $timeout, $maxRetries);
    }

    /**
     * Returns the outcome of up to 1,000 orders by your own ids: the newest receipt of each, or `never_seen`.
     *
     * @param list<string|int> $sourceOrderIds
     * @return array{results: list<array{source_order_id: string, status: string, ...}>}
     * @throws OrdersException|\InvalidArgumentException
     */
    public function reconcile(
        #[\SensitiveParameter] array $sourceOrderIds,
        ?float $timeout = null,
        ?int $maxRetries = null,
    ): array {
        self::requireList($sourceOrderIds, 'sourceOrderIds');
        $body = self::jsonOf(['source_order_ids' => array_map(self::idOf(...), $sourceOrderIds)]);
        $isResult = static fn (mixed $result) => self::hasTexts($result, 'source_order_id', 'status');
        $read = static fn (array $reply) => self::isListOf($reply['results'] ?? null, $isResult) ? $reply : null;
        return $this->post('/ingest/reconcile', [], $body, $read, $timeout, $maxRetries);
    }

    /**
     * Cancels an order. It is always safe to repeat.
     *
     * @param string $via `webhook` signs the request, as `sendWebhook` does
     * @return Cancelled its `outcome`: `cancelled`; `requested`, a person decides; `held`, until the order arrives; or
     *   `archived`
     * @throws OrdersException|\InvalidArgumentException
     */
    public function cancelOrder(
        #[\SensitiveParameter] string|int $sourceOrderId,
        #[\SensitiveParameter] ?string $reason = null,
        string $via = 'rest',
        #[\SensitiveParameter] ?string $signingSecret = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
    ): array {
        $reasons = $reason === null ? [] : ['reason' => $reason];
        $body = self::jsonOf(['source_order_id' => self::idOf($sourceOrderId)] + $reasons);
        $signature = $via === 'webhook' ? $this->signature($body, $signingSecret) : [];
        $read = static fn (array $reply) => self::isCancelResult($reply) ? $reply : null;
        return $this->cancel($body, $signature, $read, $via, $timeout, $maxRetries);
    }

    /**
     * Cancels 1 to 1,000 orders in one request, all or none.
     *
     * @param list<string|int|array{source_order_id: string|int, reason?: string}> $orders
     * @return array{results: list<Cancelled>} the outcome of each, in the same order
     * @throws OrdersException|\InvalidArgumentException
     */
    public function cancelOrders(
        #[\SensitiveParameter] array $orders,
        string $via = 'rest',
        #[\SensitiveParameter] ?string $signingSecret = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
    ): array {
        self::requireList($orders, 'orders');
        $cancellations = [];
        foreach ($orders as $order) {
            $order = is_array($order) ? $order : ['source_order_id' => $order];
            $cancellations[] = ['source_order_id' => self::idOf($order['source_order_id'] ?? null)] + $order;
        }
        $body = self::jsonOf(['cancellations' => $cancellations]);
        $signature = $via === 'webhook' ? $this->signature($body, $signingSecret) : [];
        $read = self::readResults(count($orders), self::isCancelResult(...));
        return $this->cancel($body, $signature, $read, $via, $timeout, $maxRetries);
    }

    /**
     * Returns a page of the account's events, oldest first: `events`, `next` (the cursor for the next page), `more`.
     *
     * @param string|int|null $after the `next` of a page, or the `sequence` of an event; `newest` skips all stored
     *   events (default: from the oldest stored event)
     * @param ?int $limit of the page, at most 1,000
     * @param float $wait seconds, at most 30, that the service waits for an event before it replies with an empty page
     * @return EventPage
     * @throws OrdersException|\InvalidArgumentException
     */
    public function getEvents(
        string|int|null $after = null,
        ?int $limit = null,
        float $wait = 0,
        ?float $timeout = null,
        ?int $maxRetries = null,
    ): array {
        if ($after !== null && !preg_match('/^(?:\d{1,15}|newest)$/D', (string) $after)) {
            $message = 'after must be the `next` of a page, the `sequence` of an event, or "newest".';
            throw new \InvalidArgumentException($message);
        }
        if ($limit !== null && ($limit < 1 || $limit > self::MAX_PAGE)) {
            throw new \InvalidArgumentException('limit must be a whole number from 1 to ' . self::MAX_PAGE . '.');
        }
        $query = http_build_query(['after' => $after, 'limit' => $limit], '', '&');
        $path = '/ingest/events' . ($query === '' ? '' : "?$query");
        $read = static function (array $body): ?array {
            $isPage = self::hasTexts($body, 'next') && self::isListOf($body['events'] ?? null, isEvent(...));
            return $isPage ? $body : null;
        };
        return $this->call('GET', $path, self::prefer($wait), null, $read, $timeout, $maxRetries, $wait);
    }

    /**
     * Yields the account's events, oldest first, and waits for new ones for ever, also through an outage.
     *
     * After an event was processed, store its `data.sequence` and pass it as `$after` when the program starts again.
     *
     * @param string|int|null $after as in `getEvents`
     * @return \Generator<int, Event>
     * @throws OrdersException|\InvalidArgumentException
     */
    public function events(string|int|null $after = null): \Generator
    {
        for ($early = $failures = 0;;) {
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

    private function cancel(
        #[\SensitiveParameter] string $body,
        #[\SensitiveParameter] array $signature,
        \Closure $read,
        string $via,
        ?float $timeout,
        ?int $maxRetries,
    ): array {
        $path = match ($via) {
            'rest' => '/ingest/orders/cancel',
            'webhook' => '/ingest/webhook/cancel',
            default => throw new \InvalidArgumentException('via must be "rest" or "webhook".'),
        };
        return $this->post($path, $signature, $body, $read, $timeout, $maxRetries);
    }

    /** @return array<string, string> */
    private function signature(
        #[\SensitiveParameter] string $body,
        #[\SensitiveParameter] ?string $signingSecret,
    ): array {
        $secret = $signingSecret ?? $this->signingSecret;
        if ($secret === null || $secret === '') {
            throw new \InvalidArgumentException('A webhook needs the signingSecret of your account ("oss_…").');
        }
        return ['x-service-signature' => signBody($body, $secret)];
    }

    /**
     * @param array<string, string> $headers
     * @param Reader $read
     */
    private function post(
        string $path,
        #[\SensitiveParameter] array $headers,
        #[\SensitiveParameter] string $body,
        \Closure $read,
        ?float $timeout,
        ?int $maxRetries,
        float $wait = 0,
    ): array {
        $headers += ['Content-Type' => 'application/json'];
        return $this->call('POST', $path, $headers, $body, $read, $timeout, $maxRetries, $wait);
    }

    /**
     * Sends one call, and repeats it unchanged until there is a final reply.
     *
     * @param array<string, string> $headers
     * @param Reader $read returns a valid reply, or null
     */
    private function call(
        string $method,
        string $path,
        #[\SensitiveParameter] array $headers,
        #[\SensitiveParameter] ?string $body,
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
            'User-Agent' => 'orders-php/' . VERSION,
            'X-Request-Id' => $requestId,
        ];
        $startedAt = self::now();
        $deadline = $startedAt + $timeout + $wait;
        $share = $timeout * self::ATTEMPT_SHARE;
        for ($attempt = 0;; $attempt++) {
            $left = max(0.001, $deadline - self::now());
            // All that is left, if no retry may follow or it would get less than a share.
            $isLast = $attempt >= $maxRetries || $left - ($share + $wait) < $share;
            try {
                $reply = $this->http->exchange($method, $path, $headers, $body, $isLast ? $left : $share + $wait);
                return $this->readReply($reply, $path, $read, $requestId);
            } catch (NoReply $none) {
                $attempts = $attempt === 0 ? '1 attempt' : $attempt + 1 . ' attempts';
                $spent = sprintf('%.1f s and %s', self::now() - $startedAt, $attempts);
                $message = "No reply from {$this->http->origin()} after $spent: {$none->getMessage()}.";
                $error = $none->isTimeout
                    ? new TimeoutException("Timed out after $spent: no reply.", $requestId, previous: $none)
                    : new ConnectionException($message, $requestId, $none);
            } catch (OrdersException $error) {
            }
            $pause = self::backoff($attempt) + ($error->retryAfter ?? 0);
            if (!$error->isRetryable || $attempt >= $maxRetries || self::now() + $pause >= $deadline) {
                throw $error;
            }
            self::pause($pause);
        }
    }

    private function readReply(
        #[\SensitiveParameter] Reply $reply,
        string $path,
        \Closure $read,
        string $requestId,
    ): array {
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
        // By their codes: a 410 of a proxy says nothing about the cursor, nor a 421 about the account.
        $class = self::BY_CODE[$problem['code']] ?? $class;
        throw new $class($problem, $status, self::readRetryAfter($reply->headers), $hint);
    }

    /** An invalid list of errors is dropped; the problem stays. */
    private static function readProblem(?array $body): ?array
    {
        if (!self::hasTexts($body, 'code', 'detail')) {
            return null;
        }
        $isError = static fn (mixed $error) => self::hasTexts($error, 'pointer', 'code', 'detail');
        $errors = $body['errors'] ?? null;
        return ['errors' => is_array($errors) ? array_values(array_filter($errors, $isError)) : []] + $body;
    }

    /** `Retry-After` in seconds, a day at most. A date is relative to the date of the reply, not to the local clock. */
    private static function readRetryAfter(array $headers): ?float
    {
        $value = trim($headers['retry-after'] ?? '');
        if (preg_match('/^\d+$/D', $value)) {
            return min((float) $value, self::MAX_PAUSE);
        }
        $until = self::readDate($value);
        if ($until === null) {
            return null;
        }
        return (float) min(max(0, $until - (self::readDate($headers['date'] ?? '') ?? time())), self::MAX_PAUSE);
    }

    private static function readDate(string $text): ?int
    {
        $date = \DateTimeImmutable::createFromFormat('!' . DATE_RFC7231, $text, new \DateTimeZone('UTC'));
        // PHP moves what is no date, such as 31 November, to another one.
        return $date && $date->format(DATE_RFC7231) === $text ? $date->getTimestamp() : null;
    }

    private static function readAccepted(#[\SensitiveParameter] array $body, string $requestId): ?array
    {
        if (!self::hasTexts($body, 'receipt_id')) {
            return null;
        }
        return ($body['payload_mismatch'] ?? false) ? throw new IdempotencyMismatchException($body, $requestId) : $body;
    }

    private static function readResults(int $count, \Closure $isResult): \Closure
    {
        return static function (#[\SensitiveParameter] array $body, string $requestId) use ($count, $isResult): ?array {
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
        foreach ($names as $name) {
            if (!is_string($value[$name] ?? null)) {
                return false;
            }
        }
        return is_array($value);
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

    private static function requireList(#[\SensitiveParameter] array $value, string $name): void
    {
        if (!array_is_list($value)) {
            throw new \InvalidArgumentException("$name must be a list.");
        }
    }

    /** @return array<string, string> */
    private static function submitHeaders(
        #[\SensitiveParameter] string $body,
        ?string $idempotencyKey,
        bool $strict,
        float $wait,
    ): array {
        $key = $idempotencyKey ?? hash('sha256', $body);
        if (!preg_match('/^[\x21-\x7e]{1,255}$/D', $key)) {
            throw new \InvalidArgumentException('idempotencyKey must be 1 to 255 visible ASCII characters.');
        }
        $preferences = [...($strict ? ['handling=strict'] : []), ...array_values(self::prefer($wait))];
        return ['Idempotency-Key' => $key] + ($preferences ? ['Prefer' => implode(', ', $preferences)] : []);
    }

    private static function prefer(float $wait): array
    {
        if (!($wait >= 0 && $wait <= self::MAX_WAIT)) {
            throw new \InvalidArgumentException('wait must be a number of seconds from 0 to ' . self::MAX_WAIT . '.');
        }
        return $wait > 0 ? ['Prefer' => 'wait=' . (int) ceil($wait)] : [];
    }

    private static function bodyOf(#[\SensitiveParameter] array|string $order): string
    {
        // An empty array of PHP is an object here, because an order has members.
        return is_string($order) ? $order : self::jsonOf($order === [] ? new \stdClass() : $order);
    }

    private static function jsonOf(#[\SensitiveParameter] array|object $value): string
    {
        // With another precision 49.9 becomes 49.899999999999999. Some hosts disable ini_set.
        $precision = function_exists('ini_set') ? ini_set('serialize_precision', '-1') : false;
        try {
            $flags = JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_PRESERVE_ZERO_FRACTION;
            return json_encode($value, $flags | JSON_THROW_ON_ERROR);
        } catch (\JsonException $error) {
            throw new \InvalidArgumentException("It cannot be sent as JSON: {$error->getMessage()}.");
        } finally {
            if ($precision !== false) {
                ini_set('serialize_precision', $precision);
            }
        }
    }

    /**
     * Line breaks become tabs: between JSON tokens the two are equivalent, and inside a string both are invalid. An
     * empty order is sent as `null`, so that it is rejected at its position and not skipped.
     */
    private static function lineOf(#[\SensitiveParameter] array|string $order): string
    {
        $line = strtr(self::bodyOf($order), "\r\n", "\t\t");
        if (!preg_match('//u', $line)) {
            throw new \InvalidArgumentException('An order of the batch is not UTF-8.');
        }
        return trim($line) === '' ? 'null' : $line;
    }

    /** Text, because PHP makes whole numbers of numeric keys of arrays, and ids often are such keys. */
    private static function idOf(mixed $id): mixed
    {
        return is_int($id) ? (string) $id : $id;
    }

    /** Exponential, capped and random, so that clients that failed together do not retry together. */
    private static function backoff(int $failures): float
    {
        return random_int(0, 1_000_000) / 1e6 * min(8, 0.5 * 2 ** min($failures, 10));
    }

    private static function pause(float $seconds): void
    {
        $endsAt = self::now() + $seconds;
        // A signal ends a sleep early.
        while (($left = $endsAt - self::now()) > 0) {
            time_nanosleep((int) $left, (int) (fmod($left, 1) * 1e9));
        }
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
function signBody(#[\SensitiveParameter] string $body, #[\SensitiveParameter] string $secret): string
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
 * @param array<string, mixed> $headers of the request by their names, in any case, or `$_SERVER`
 * @param string|list<string> $secret `whsec_…`; several during a rotation: a signature by any of them is valid
 * @return array{id: string, type: string, timestamp: string, data: array<string, mixed>}
 * @throws VerificationException when the request must be rejected
 * @throws \InvalidArgumentException for a secret that is none
 */
function verifyEvent(
    #[\SensitiveParameter] string $body,
    #[\SensitiveParameter] array $headers,
    #[\SensitiveParameter] string|array $secret,
): array {
    $keys = [];
    foreach ((array) $secret as $one) {
        $isSecret = is_string($one) && str_starts_with($one, 'whsec_');
        $key = $isSecret ? base64_decode(substr($one, strlen('whsec_')), true) : false;
        $keys[] = $key ?: throw new \InvalidArgumentException('The secret must be "whsec_" and base64.');
    }
    if ($keys === []) {
        throw new \InvalidArgumentException('The secret to verify with is missing.');
    }
    $id = headerOf($headers, 'webhook-id');
    $timestamp = headerOf($headers, 'webhook-timestamp');
    $signatures = headerOf($headers, 'webhook-signature');
    if (!preg_match('/^\d{1,12}$/D', $timestamp)) {
        throw new VerificationException('webhook-timestamp is not a Unix time in seconds.');
    }
    // As Standard Webhooks 1.0 recommends; a recorded request cannot be replayed later.
    $tolerance = 300;
    $difference = (int) $timestamp - time();
    if (abs($difference) > $tolerance) {
        $relation = $difference < 0 ? 'before' : 'after';
        $message = 'webhook-timestamp is ' . abs($difference) . " seconds $relation the clock of this machine";
        throw new VerificationException("$message; at most $tolerance are allowed.");
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
        $message = 'No signature matches: check the secret, and that the body is as it was received.';
        throw new VerificationException($message);
    }
    $event = parseObject($body);
    if (!isEvent($event)) {
        throw new VerificationException('The signature is valid, but the body is not an event.');
    }
    return $event;
}

/** @internal Several values are joined, so that a header that was added to the request makes the signature invalid. */
function headerOf(#[\SensitiveParameter] array $headers, string $name): string
{
    $values = [];
    foreach ($headers as $key => $value) {
        $key = strtr(strtolower((string) $key), '_', '-');
        if ($key === $name || $key === "http-$name") {
            array_push($values, ...(array) $value);
        }
    }
    $value = trim(implode(' ', $values));
    return $value === '' ? throw new VerificationException("The header $name is missing.") : $value;
}

/** @internal */
function isEvent(mixed $value): bool
{
    return is_array($value) && is_string($value['id'] ?? null) && is_string($value['type'] ?? null)
        && is_string($value['timestamp'] ?? null) && is_array($value['data'] ?? null);
}

/** @internal */
function parseObject(#[\SensitiveParameter] ?string $text): ?array
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
        #[\SensitiveParameter] public readonly ?string $body,
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
 * @internal Sends requests by HTTP/1.1 over a socket: it needs neither the curl extension nor `allow_url_fopen`, and
 * one deadline bounds connecting, sending and reading. It has the key, so that no argument of a call contains it.
 */
final class Http
{
    /** Above any reply of the service. The largest one, of a batch, contains at most the 8 MiB that were sent. */
    private const MAX_REPLY_BYTES = 16 * 2 ** 20;
    private const MAX_HEAD_BYTES = 65_536;

    /** @var ?resource */
    private $socket;
    private string $buffer = '';
    private float $endsAt;
    private ?string $warning;

    public function __construct(
        #[\SensitiveParameter] private readonly string $apiKey,
        private readonly string $scheme,
        private readonly string $host,
        private readonly ?int $port,
        public readonly string $prefix,
        #[\SensitiveParameter] private readonly array $ssl,
    ) {}

    /** @return array<string, string> */
    public function __debugInfo(): array
    {
        return ['origin' => $this->origin()];
    }

    public function origin(): string
    {
        return "$this->scheme://{$this->authority()}";
    }

    private function authority(): string
    {
        return $this->host . ($this->port === null ? '' : ":$this->port");
    }

    /**
     * @param array<string, string> $headers
     * @throws NoReply without a complete reply in time
     */
    public function exchange(
        string $method,
        string $path,
        #[\SensitiveParameter] array $headers,
        #[\SensitiveParameter] ?string $body,
        float $seconds,
    ): Reply {
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
            $request = $this->requestOf($method, $path, $headers, $body);
            for ($sent = 0; $sent < strlen($request); $sent += $written) {
                $this->limitTime();
                $written = fwrite($this->socket, substr($request, $sent, 65_536));
                if (!$written) {
                    // A server that rejects a body may reply before it has read all of it.
                    break;
                }
            }
            return $this->readReply();
        } finally {
            restore_error_handler();
            if (is_resource($this->socket)) {
                fclose($this->socket);
            }
            $this->socket = null;
            $this->buffer = '';
        }
    }

    /** @return resource */
    private function connect(float $seconds)
    {
        $isSecure = $this->scheme === 'https';
        $address = ($isSecure ? 'tls' : 'tcp') . "://$this->host:" . ($this->port ?? ($isSecure ? 443 : 80));
        $context = stream_context_create(['ssl' => $this->ssl + ['peer_name' => trim($this->host, '[]')]]);
        $socket = stream_socket_client($address, $_, $reason, min($seconds, 1e6), STREAM_CLIENT_CONNECT, $context);
        if ($socket) {
            return $socket;
        }
        // A failure of TLS has only a warning.
        $reason = $reason ?: preg_replace(['/^\w+\(\): /', '/\s+/'], ['', ' '], $this->warning ?? 'it failed');
        throw new NoReply($reason, hrtime(true) / 1e9 >= $this->endsAt);
    }

    private function requestOf(
        string $method,
        string $path,
        #[\SensitiveParameter] array $headers,
        #[\SensitiveParameter] ?string $body,
    ): string {
        $headers = ['Host' => $this->authority(), 'Connection' => 'close'] + $headers;
        $headers['Authorization'] = "Bearer $this->apiKey";
        if ($body !== null) {
            $headers['Content-Length'] = strlen($body);
        }
        $head = "$method $this->prefix$path HTTP/1.1\r\n";
        foreach ($headers as $name => $value) {
            $head .= "$name: $value\r\n";
        }
        return "$head\r\n$body";
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
        $body = $isChunked ? $this->readChunks() : $this->readBody($headers['content-length'] ?? null);
        return new Reply($status, $headers, $body);
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
        for ($body = '';;) {
            while (!preg_match('/^0*([0-9a-f]{1,8})[ \t]*(?:;[^\r\n]*)?\r\n/i', $this->buffer, $head)) {
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
