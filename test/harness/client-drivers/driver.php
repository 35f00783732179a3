<?php

// Makes calls: see client-drivers.ts.

error_reporting(E_ALL);
// As frameworks do: a warning or a deprecation of the client would end the call.
set_error_handler(fn (int $level, string $message) => throw new ErrorException($message, 0, $level));

require_once "$argv[1]/orders.php";

function camel(string $name): string
{
    return lcfirst(str_replace('_', '', ucwords($name, '_')));
}

function named(array $options): array
{
    return array_combine(array_map(camel(...), array_keys($options)), $options);
}

function run(array $given, string $method, array $args, array $options): mixed
{
    if ($method === 'sign_body' || $method === 'verify_event') {
        return ('Orders\\' . camel($method))(...$args, ...$options);
    }
    $client = new Orders\OrdersClient(...named($given));
    if ($method !== 'events') {
        return $client->{camel($method)}(...$args, ...named($options));
    }
    $events = [];
    foreach ($client->events($options['after'] ?? null) as $event) {
        $events[] = $event;
        if (count($events) === $options['take']) {
            break;
        }
    }
    return $events;
}

function outcome(array $given, string $method, array $args, array $options): array
{
    try {
        return ['ok' => run($given, $method, $args, $options)];
    } catch (Orders\OrdersException $error) {
        return ['error' => [
            'kind' => preg_replace('/^Orders\\\\|Exception$/', '', $error::class),
            'code' => $error->errorCode,
            'status' => $error->status,
            'retry_after' => $error->retryAfter,
            'request_id' => $error->requestId,
            'is_retryable' => $error->isRetryable,
            'errors' => $error->errors ?? [],
            'installation_url' => $error instanceof Orders\WrongInstallationException ? $error->installationUrl() : null,
            'kept_as' => $error->keptAs ?? null,
            'receipt' => $error->receipt ?? null,
            'message' => $error->getMessage(),
        ]];
    } catch (InvalidArgumentException | Error $error) {
        return ['misuse' => $error->getMessage()];
    }
}

$calls = json_decode(stream_get_contents(STDIN), true);
echo json_encode(array_map(fn (array $call) => outcome($call['client'], $call['method'], $call['args'], $call['options']), $calls));
