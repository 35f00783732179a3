<?php

// Makes calls that fail, and prints all that PHP shows of their errors and of a client. "hidden" must not be in it.

require_once $argv[1];

const SIGNING = 'hidden-signing-secret';
const ORDER = ['source_order_id' => 'hidden-order'];
const DELIVERED = ['HTTP_WEBHOOK_ID' => 'hidden-header', 'HTTP_WEBHOOK_TIMESTAMP' => '1', 'HTTP_WEBHOOK_SIGNATURE' => 'v1'];
define('WHSEC', 'whsec_' . base64_encode('hidden-endpoint-secret'));

/** A client of a server that quotes the request, or of none. */
function client(?string $baseUrl = null): Orders\OrdersClient
{
    $baseUrl ??= $GLOBALS['argv'][2];
    return new Orders\OrdersClient($baseUrl, 'hidden-key', SIGNING, maxRetries: 0, ssl: ['passphrase' => 'hidden']);
}

function shown(mixed $value): array
{
    ob_start();
    var_dump($value);
    return [print_r($value, true), ob_get_clean(), $value instanceof Throwable ? (string) $value : ''];
}

$calls = [
    'an address with a password' => static fn () => new Orders\OrdersClient('https://me:hidden@localhost', 'hidden-key'),
    'a key that is none' => static fn () => new Orders\OrdersClient('https://localhost', 'hidden key'),
    'no connection' => static fn () => client('http://127.0.0.1:9')->submitOrder(ORDER),
    'no TLS' => static fn () => client(str_replace('http', 'https', $GLOBALS['argv'][2]))->submitOrder(ORDER),
    'submitOrder' => static fn () => client()->submitOrder(ORDER),
    'submitOrder without JSON' => static fn () => client()->submitOrder(['source_order_id' => "hidden\xff"]),
    'submitOrder with a wait' => static fn () => client()->submitOrder(ORDER, wait: 31),
    'sendWebhook' => static fn () => client()->sendWebhook(ORDER, SIGNING),
    'submitBatch' => static fn () => client()->submitBatch([ORDER]),
    'submitBatch without a list' => static fn () => client()->submitBatch(ORDER),
    'submitBatch without an order' => static fn () => client()->submitBatch([ORDER, 5]),
    'submitBatch without UTF-8' => static fn () => client()->submitBatch(["hidden\xff"]),
    'preview' => static fn () => client()->preview(ORDER),
    'reconcile' => static fn () => client()->reconcile(['hidden-order']),
    'reconcile without a list' => static fn () => client()->reconcile(ORDER),
    'cancelOrder' => static fn () => client()->cancelOrder('hidden-order', 'hidden-reason', 'webhook', SIGNING),
    'cancelOrder without a way' => static fn () => client()->cancelOrder('hidden-order', 'hidden-reason', 'mail', SIGNING),
    'cancelOrders' => static fn () => client()->cancelOrders([ORDER], 'webhook', SIGNING),
    'signBody' => static fn () => Orders\signBody('hidden-body', ''),
    'verifyEvent' => static fn () => Orders\verifyEvent('hidden-body', DELIVERED, WHSEC),
    'verifyEvent without headers' => static fn () => Orders\verifyEvent('hidden-body', ['X' => 'hidden-header'], WHSEC),
    'verifyEvent without a secret' => static fn () => Orders\verifyEvent('hidden-body', DELIVERED, ['hidden-secret']),
    'serialize' => static fn () => serialize(client()),
];

// Also after a reply, of which it keeps nothing.
$client = client();
try {
    $client->submitOrder(ORDER);
} catch (Orders\OrdersException) {
}
$shown = ['the client' => shown($client)];
foreach ($calls as $name => $call) {
    try {
        $call();
        exit("$name has not failed");
    } catch (Throwable $error) {
        $shown[$name] = shown($error);
    }
}
echo json_encode($shown, JSON_INVALID_UTF8_SUBSTITUTE);
