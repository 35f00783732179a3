"""What only the client for Python does: see client-package.test.ts. The argument is the folder of orders.py."""

import builtins
import copy
import datetime
import decimal
import http.server
import json
import logging
import math
import os
import pickle
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
import unittest.mock

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv.pop(1))

import orders  # noqa: E402

KEY, SECRET, NAME = "oik_secret-of-a-key", "oss_secret-of-a-signature", "Aisha-of-the-order"
HALF = "\ud800"
logging.disable()


class Server(http.server.ThreadingHTTPServer):
    """Stores the bodies that arrive, and replies to each. A body of None drips until the client closes."""

    def __init__(self, status=202, headers=None, body=b'{"receipt_id":"r"}', context=None):
        super().__init__(("127.0.0.1", 0), Handler)
        if context:
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.reply, self.arrived = (status, headers or {}, body), []
        self.url = f"http{'s' if context else ''}://localhost:{self.server_port}"
        threading.Thread(target=self.serve_forever, args=[0.01], daemon=True).start()

    def handle_error(self, *_):
        pass

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.server.arrived.append(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        status, headers, body = self.server.reply
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        while body is None:
            self.wfile.write(b" ")
            time.sleep(0.1)
        self.wfile.write(body)

    do_GET = do_POST


def client(url, **options):
    return orders.OrdersClient(url, KEY, SECRET, **options)


def nowhere(**options):
    return client("http://127.0.0.1:9", max_retries=0, **options)


def address(port):
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]


def error_of(call, *args, **options):
    try:
        call(*args, **options)
    except Exception as error:
        return error
    raise AssertionError("No error.")


def rejected(retry_after, **headers):
    problem = json.dumps({"code": "overloaded", "detail": "Said no."}).encode()
    with Server(503, {"Retry-After": retry_after, **headers}, problem) as server:
        return error_of(client(server.url, max_retries=0).submit_order, {})


class Errors(unittest.TestCase):
    def test_they_survive_pickle_and_copy(self):
        errors = [{"pointer": "/a", "code": "b", "detail": "c"}]
        problem = {"code": "c", "detail": "d", "request_id": "i", "errors": errors}
        kinds = [orders.ProblemError, *orders.ProblemError.__subclasses__()]
        every = [kind(problem, 503, 7.0, " Hint.") for kind in kinds]
        every += [orders.OrdersError("m", "c", "i"), orders.ConnectionError("m", "i"), orders.VerificationError("m")]
        every += [orders.TimeoutError("m", "i", {"status": "received"})]
        every += [orders.IdempotencyMismatchError({"receipt_id": "r", "kept_as": "k"}, "i")]
        for error in every:
            copies = [pickle.loads(pickle.dumps(error, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
            for one in [*copies, copy.copy(error), copy.deepcopy(error)]:
                self.assertIs(type(one), type(error))
                self.assertEqual((one.args, str(one), vars(one)), (error.args, str(error), vars(error)))
        self.assertEqual(len(every), 16)

    def test_they_are_those_of_python(self):
        self.assertIsInstance(error_of(nowhere().submit_order, {}), builtins.ConnectionError)
        self.assertTrue(issubclass(orders.TimeoutError, builtins.TimeoutError))
        names = {}
        exec("from orders import *", names)
        self.assertNotIn("TimeoutError", names)
        self.assertIs(names["OrdersClient"], orders.OrdersClient)

    def test_they_contain_no_secret_and_no_order(self):
        order = {"source_order_id": "s", "name": NAME}
        echo = json.dumps({"receipt_id": 1, **order}).encode()
        broken = b"%x\r\n%s\r\nff\r\n%s" % (len(echo), echo, echo)
        errors = [
            error_of(nowhere().submit_order, order),
            error_of(nowhere().submit_order, {**order, "total": math.nan}),
            error_of(nowhere().submit_order, {**order, "half": HALF}),
            error_of(nowhere().submit_order, f"{NAME}{HALF}"),
            error_of(nowhere().submit_batch, [f'{{"name":"{NAME}"}}'.encode() + b"\xff"]),
            error_of(nowhere().send_webhook, order, signing_secret=SECRET + HALF),
            error_of(orders.sign_body, NAME + HALF, SECRET),
            error_of(orders.verify_event, NAME + HALF, {}, f"whsec_{SECRET}é"),
            error_of(orders.OrdersClient, f"https://me:{SECRET}@host", KEY),
        ]
        chunked = {"Transfer-Encoding": "chunked"}
        for status, headers, body in [(202, {}, echo), (500, {}, echo), (202, chunked, broken)]:
            with Server(status, headers, body) as server:
                errors.append(error_of(client(server.url, max_retries=0).submit_order, order))
        for error in errors:
            self.assertIsInstance(error, (orders.OrdersError, ValueError))
            while error:
                shown = repr((error, error.args, vars(error), str(error), getattr(error, "object", None)))
                for secret in (KEY, SECRET, NAME):
                    self.assertNotIn(secret, shown)
                error = error.__cause__ or error.__context__
        self.assertNotIn(SECRET, repr(nowhere()))

    def test_of_wait_for_receipt_tells_the_reason_and_the_pause(self):
        with Server(200, {}, b'{"receipt_id":"r","status":"written"}') as server:
            receipt = client(server.url).wait_for_receipt("r", timeout=math.inf)
            self.assertEqual(receipt["status"], "written")
        with Server(429, {"Retry-After": "900"}, b'{"code":"rate_limited","detail":"Too many."}') as server:
            error = error_of(client(server.url).wait_for_receipt, "r")
        self.assertEqual((type(error), error.retry_after), (orders.TimeoutError, 900))
        self.assertIn("Too many.", str(error))


class Bodies(unittest.TestCase):
    def test_decimals_are_sent_as_their_text_and_mappings_as_objects(self):
        with Server() as server:
            to, total, tax = types.MappingProxyType({"a": 1}), decimal.Decimal("49.00"), decimal.Decimal("1E+2")
            client(server.url).submit_order(types.MappingProxyType({"total": total, "tax": tax, "to": to}))
            client(server.url).submit_order(bytearray(b'{ "a":1}'))
        self.assertEqual(server.arrived, [b'{"total":"49.00","tax":"100","to":{"a":1}}', b'{ "a":1}'])

    def test_what_is_no_order_is_rejected(self):
        endless = []
        for _ in range(100_000):
            endless = [endless]
        for order in (None, 5, [{}]):
            with self.assertRaisesRegex(TypeError, "must be a dict"):
                nowhere().submit_order(order)
        for value in (datetime.date(2026, 1, 1), decimal.Decimal("NaN")):
            with self.assertRaisesRegex(TypeError, type(value).__name__):
                nowhere().submit_order({"value": value})
        with self.assertRaisesRegex(ValueError, "cannot express"):
            nowhere().submit_order({"value": endless})

    def test_what_is_no_delivery_is_rejected(self):
        now = {"webhook-id": "e", "webhook-timestamp": str(int(time.time())), "webhook-signature": "v1,AAAA"}
        with self.assertRaises(orders.VerificationError):
            orders.verify_event(HALF, now, "whsec_AAAA")
        with self.assertRaisesRegex(ValueError, "missing"):
            orders.verify_event(b"", now, None)

    def test_what_is_no_option_is_rejected(self):
        for host in ("a..example.com", "a" * 64 + ".example.com"):
            with self.assertRaisesRegex(ValueError, "base_url"):
                orders.OrdersClient(f"https://{host}", KEY)
        with self.assertRaisesRegex(ValueError, "limit"):
            nowhere().get_events(limit=True)


class Pauses(unittest.TestCase):
    def test_a_pause_is_at_most_a_day(self):
        for far in ("9" * 4000, "Fri, 31 Dec 9999 23:59:59 GMT"):
            self.assertEqual(rejected(far).retry_after, 86_400)

    def test_a_date_without_a_zone_is_in_utc(self):
        os.environ["TZ"] = "Asia/Dubai"
        time.tzset()
        error = rejected("Tue, 24 Nov 2026 08:45:00 -0000", Date="Tue, 24 Nov 2026 08:30:00 GMT")
        self.assertEqual(error.retry_after, 900)

    def test_a_retry_is_logged(self):
        logging.disable(logging.NOTSET)
        with self.assertLogs("orders") as logs, unittest.mock.patch("time.sleep"):
            error_of(client("http://127.0.0.1:9", max_retries=1).submit_order, {})
        logging.disable()
        self.assertRegex(logs.output[0], r"^WARNING:orders:Retrying in [\d.]+ s: No reply .* refused\.$")


class Connections(unittest.TestCase):
    def test_a_dead_address_leaves_time_for_the_next(self):
        given, connect = [], socket.create_connection

        def first_is_dead(to, timeout, *rest):
            given.append(timeout)
            if len(given) == 1:
                raise socket.timeout
            return connect(to, timeout, *rest)

        with Server() as server, unittest.mock.patch("socket.create_connection", first_is_dead):
            with unittest.mock.patch("socket.getaddrinfo", lambda _, port, *rest, **more: address(port) * 2):
                client(server.url, timeout=100, max_retries=0).submit_order({})
        self.assertEqual(len(given), 2)
        self.assertLessEqual(given[0], 50)

    def test_nothing_is_sent_after_the_time_is_up(self):
        def slow(_, port, *rest, **more):
            time.sleep(1)
            return address(port)

        with Server() as server, unittest.mock.patch("socket.getaddrinfo", slow):
            error = error_of(client(server.url, timeout=0.5, max_retries=0).submit_order, {})
        self.assertEqual((type(error), server.arrived), (orders.TimeoutError, []))

    def test_over_tls(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        certificate = os.path.join(folder.name, "certificate.pem")
        command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost".split()
        options = ["-addext", "subjectAltName=DNS:localhost", "-keyout", certificate, "-out", certificate]
        subprocess.run([*command, *options], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        trusting = ssl.create_default_context(cafile=certificate)
        with Server(context=context) as server:
            one = client(server.url)
            error = error_of(one.submit_order, {})
            self.assertEqual((type(error), error.is_retryable), (orders.ConnectionError, False))
            self.assertIn("certificate verify failed", str(error))
            pickle.loads(pickle.dumps(one))
            self.assertEqual(client(server.url, ssl_context=trusting).submit_order({}), {"receipt_id": "r"})
        with Server(body=None, context=context) as server:
            one = client(server.url, ssl_context=trusting, max_retries=0, timeout=2)
            self.assertIsInstance(error_of(one.submit_order, {}), orders.TimeoutError)


unittest.main()
