"""Client of the order ingestion service: one file for Python 3.9 and newer, without a dependency.

    from orders import OrdersClient

    orders = OrdersClient("https://orders.example.com", api_key="oik_…")
    receipt_id = orders.submit_order({"source_order_id": "SHOP-10001"})["receipt_id"]
    print(orders.wait_for_receipt(receipt_id)["status"])

Every call is retried after a broken connection, no reply in time, 408, 429 and 5xx; `Retry-After` is obeyed. All
attempts of a call have one idempotency key, so each order is accepted once. Replies are plain dicts. Members, statuses
and types of events that newer services add are passed on. Redirects are not followed, and proxies are not used. Every
request has a connection of its own: send many orders with `submit_batch`. The logger `orders` warns of each retry.
"""

from __future__ import annotations

import base64
import binascii
import builtins
import datetime
import decimal
import email.utils
import functools
import hashlib
import hmac
import http.client
import json
import logging
import math
import random
import re
import socket
import ssl
import threading
import time
import urllib.parse
import uuid
from typing import Any, Callable, Dict, Iterable, Iterator, Literal, Mapping, Optional, Protocol, Sequence, Union

# Without the three errors that have the names of builtins.
__all__ = [
    "AuthenticationError",
    "CursorExpiredError",
    "IdempotencyMismatchError",
    "InvalidRequestError",
    "NotFoundError",
    "OrdersClient",
    "OrdersError",
    "Payload",
    "ProblemError",
    "RateLimitError",
    "ServerError",
    "UnavailableError",
    "ValidationError",
    "VerificationError",
    "WrongInstallationError",
    "sign_body",
    "verify_event",
]

VERSION = "0.3.0"

#: An order, whose decimals are sent as their text, or the JSON of one order in UTF-8, which is sent unchanged.
Payload = Union[Mapping[str, Any], str, bytes, bytearray]
_Read = Callable[[Dict[str, Any], str], Optional[Dict[str, Any]]]

_log = logging.getLogger(__name__)

_FINAL = ("written", "duplicate", "dead")
_MAX_WAIT = 30
_MAX_PAGE = 1000
#: Above any reply of the service. The largest one, of a batch, contains at most the 8 MiB that were sent.
_MAX_REPLY_BYTES = 16 * 2**20
#: The share of a call's timeout for one attempt, so that a silent connection does not use up the whole timeout.
_ATTEMPT_SHARE = 1 / 3
#: A wait that ended after a smaller share of its time was cut short.
_WAIT_SHARE = 0.8
#: `Retry-After` may be any number or date.
_MAX_PAUSE = 86_400.0
#: As Standard Webhooks 1.0 recommends; a recorded request cannot be replayed later.
_TOLERANCE_SECONDS = 300
#: A route of the service at the end of an address, as copied from a guide or the portal.
_ROUTE = re.compile(r"(/ingest/(?:orders|webhook|preview|reconcile|sources|status|events))(?:/|$)")


class OrdersError(Exception):
    """The error of a call. No error of this module contains a key, a secret or any data of an order."""

    #: Whether the same call may succeed later.
    is_retryable = False
    #: The HTTP status of the reply, if the service replied with an error.
    status: int | None = None
    #: The seconds until the next attempt, if the reply states them.
    retry_after: float | None = None

    def __init__(self, message: str, code: str, request_id: str | None = None):
        super().__init__(message)
        #: The `code` of the service's problem, or `connection_failed`, `timed_out`, `unexpected_reply`,
        #: `payload_mismatch`, `verification_failed`.
        self.code = code
        #: Quote it when you report a problem: the service logs it.
        self.request_id = request_id

    def __reduce__(self) -> tuple[Any, ...]:
        # By default a copy is made by a call with `args`, which are not the arguments of the subclasses.
        return _restore_error, (type(self), self.args, self.__dict__)


def _restore_error(kind: type[OrdersError], args: tuple[Any, ...], state: dict[str, Any]) -> OrdersError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class ConnectionError(OrdersError, builtins.ConnectionError):
    """The service could not be reached, or the connection broke before its reply was complete."""

    is_retryable = True

    def __init__(self, message: str, request_id: str):
        super().__init__(message, "connection_failed", request_id)


class TimeoutError(OrdersError, builtins.TimeoutError):
    """The timeout ended before a reply arrived or, in `wait_for_receipt`, before the receipt was final."""

    is_retryable = True

    def __init__(self, message: str, request_id: str | None = None, receipt: dict[str, Any] | None = None):
        super().__init__(message, "timed_out", request_id)
        #: From `wait_for_receipt`: the last known state of the receipt, if any.
        self.receipt = receipt


class IdempotencyMismatchError(OrdersError):
    """The idempotency key was already used for other content. Do not retry."""

    def __init__(self, accepted: dict[str, Any], request_id: str):
        kept_as = accepted.get("kept_as")
        stored = f"This delivery is kept as receipt {kept_as}." if kept_as else "Nothing of this delivery is stored."
        message = f"This idempotency key was used before with other content. {stored}"
        super().__init__(message, "payload_mismatch", request_id)
        #: The reply: its `receipt_id` is that of the first delivery under this key.
        self.accepted = accepted
        #: The receipt of this delivery: it ends as `duplicate` for the same source_order_id, otherwise as `dead`.
        self.kept_as = kept_as


class VerificationError(OrdersError):
    """From `verify_event`: the request is not a recent, correctly signed event."""

    def __init__(self, message: str):
        super().__init__(message, "verification_failed")


class ProblemError(OrdersError):
    """The service replied with an error."""

    def __init__(self, problem: dict[str, Any], status: int, retry_after: float | None, hint: str):
        errors = problem.get("errors", [])
        shown = "".join(f" {error['pointer']}: {error['detail']}" for error in errors[:3])
        more = f" And {len(errors) - 3} more." if len(errors) > 3 else ""
        super().__init__(f"{problem['detail']}{shown}{more}{hint}", problem["code"], problem["request_id"])
        self.status = status
        #: The problem as received (RFC 9457), or a substitute with the code `unexpected_reply`.
        self.problem = problem
        self.retry_after = retry_after
        self.is_retryable = status in (408, 429) or status >= 500

    @property
    def errors(self) -> list[dict[str, Any]]:
        """Each broken rule of a 422, with a `pointer` (RFC 6901) into the order as sent, `code` and `detail`."""
        return self.problem.get("errors", [])


class AuthenticationError(ProblemError):
    """401: the API key or the signature is missing or wrong."""


class PermissionError(ProblemError):
    """403: the account is suspended, or the key may not do this."""


class NotFoundError(ProblemError):
    """404: the account has no such receipt, or `base_url` is wrong."""


class InvalidRequestError(ProblemError):
    """400, 405, 413, 415: the service cannot read the request. Also 409 `events_disabled`, and any other 4xx."""


class CursorExpiredError(ProblemError):
    """410: events after the cursor were removed because of their age. Start again without a cursor."""


class WrongInstallationError(ProblemError):
    """421: another installation of the service has the account. Use its address as `base_url`; a retry does not help."""

    @property
    def installation_url(self) -> str | None:
        """The base URL of that installation."""
        return self.problem.get("installation_url")


class ValidationError(ProblemError):
    """422: the order breaks rules; `errors` lists them."""


class RateLimitError(ProblemError):
    """429: the account exceeds its rate limit."""


class UnavailableError(ProblemError):
    """503: the service cannot accept requests at the moment."""


class ServerError(ProblemError):
    """Any other 5xx."""


_BY_CODE: dict[str, type[ProblemError]] = {
    "cursor_expired": CursorExpiredError,
    "wrong_installation": WrongInstallationError,
}

_BY_STATUS: dict[int, type[ProblemError]] = {
    401: AuthenticationError,
    403: PermissionError,
    404: NotFoundError,
    422: ValidationError,
    429: RateLimitError,
    503: UnavailableError,
}


class OrdersClient:
    """Calls the service. It may be used by several threads.

    :param base_url: such as `https://orders.example.com`, with the prefix of its routes if there is one.
    :param api_key: the API key (`oik_…`) of the account that receives the orders.
    :param signing_secret: the signing secret (`oss_…`) for `send_webhook`.
    :param timeout: seconds for a whole call with its retries and pauses. An attempt gets a third of it, the last one
        all that is left. The seconds of `wait` are added. Only the lookup of the host's name cannot be ended in time.
    :param max_retries: how often a failed call is repeated; 0 for a single attempt.
    :param ssl_context: replaces the platform's certificates.

    All calls take `timeout` and `max_retries`. They raise `OrdersError`, and `ValueError` or `TypeError` for arguments
    that cannot be sent.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        signing_secret: str | None = None,
        *,
        timeout: float = 30,
        max_retries: int = 5,
        ssl_context: ssl.SSLContext | None = None,
    ):
        if not isinstance(api_key, str) or not re.fullmatch(r"[\x21-\x7e]+", api_key):
            raise ValueError('api_key must be an API key of your account ("oik_…"), without spaces or line breaks.')
        self._url = _read_base_url(base_url)
        self._api_key = api_key
        self._signing_secret = signing_secret
        self._timeout, self._max_retries = _read_limits(timeout, max_retries)
        self._ssl_context = ssl_context

    def submit_order(
        self,
        order: Payload,
        *,
        idempotency_key: str | None = None,
        strict: bool = False,
        wait: float = 0,
        timeout: float | None = None,
        max_retries: int | None = None,
    ) -> dict[str, Any]:
        """Sends an order. When this returns the order is stored and can no longer be lost.

        :param order: a dict, or its JSON.
        :param idempotency_key: 1 to 255 visible ASCII characters. By default the SHA-256 of the body, so that the same
            order sent again, also by another program, gets the same receipt.
        :param strict: reject an order with a `ValidationError` instead of correcting it with a warning.
        :param wait: seconds, at most 30, for which the service may hold its reply until the order is written.
        :returns: `receipt_id`, and `duplicate` for an order sent again.
        :raises IdempotencyMismatchError: when the key was used before with other content.
        """
        body = _bytes_of(order)
        headers = {"Content-Type": "application/json", **_submit_headers(body, idempotency_key, strict, wait)}
        return self._post("/ingest/orders", headers, body, _read_accepted, wait, timeout, max_retries)

    def send_webhook(
        self,
        order: Payload,
        *,
        signing_secret: str | None = None,
        idempotency_key: str | None = None,
        strict: bool = False,
        wait: float = 0,
        timeout: float | None = None,
        max_retries: int | None = None,
    ) -> dict[str, Any]:
        """Sends an order as a webhook with a signature of the exact bytes sent; otherwise as `submit_order`."""
        body = _bytes_of(order)
        headers = {
            "Content-Type": "application/json",
            **self._signature(body, signing_secret),
            **_submit_headers(body, idempotency_key, strict, wait),
        }
        return self._post("/ingest/webhook", headers, body, _read_accepted, wait, timeout, max_retries)

    def submit_batch(
        self,
        orders: Iterable[Payload],
        *,
        idempotency_key: str | None = None,
        strict: bool = False,
        timeout: float | None = None,
        max_retries: int | None = None,
    ) -> dict[str, Any]:
        """Sends 1 to 1,000 orders in one request. Its timeout is by default four times that of other calls.

        :returns: `accepted`, `refused`, `mismatched`, and `results` with one result for each order, in order. Errors of
            single orders are not raised: a result may have an `error` or `payload_mismatch`.
        """
        _reject_text(orders, "orders")
        lines = [_line_of(order) for order in orders]
        body = b"".join(line + b"\n" for line in lines)
        headers = {"Content-Type": "application/x-ndjson", **_submit_headers(body, idempotency_key, strict, 0)}
        # Longer, because a batch may have many megabytes.
        timeout = self._timeout * 4 if timeout is None else timeout
        read = _read_results(len(lines), _is_batch_result)
        return self._post("/ingest/orders/batch", headers, body, read, 0, timeout, max_retries)

    def get_receipt(
        self, receipt_id: str, *, wait: float = 0, timeout: float | None = None, max_retries: int | None = None
    ) -> dict[str, Any]:
        """Returns a receipt with its current `status`. The service may hold its reply for `wait` seconds."""
        if not isinstance(receipt_id, str) or not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", receipt_id):
            raise ValueError("receipt_id must be the receipt_id of an accepted order.")
        path = f"/ingest/status/{receipt_id}"
        return self._call("GET", path, _prefer(wait), None, _read_receipt, wait, timeout, max_retries)

    def wait_for_receipt(self, receipt_id: str, *, timeout: float = 60) -> dict[str, Any]:
        """Waits until a receipt is final: `written`, `duplicate` or `dead`. It also waits for the end of an outage.

        :raises TimeoutError: after the timeout; its `receipt` is the last known state.
        """
        timeout, _ = _read_limits(timeout, 0)
        started_at = time.monotonic()
        deadline = started_at + timeout
        receipt: dict[str, Any] | None = None
        early = 0
        while True:
            asked_at = time.monotonic()
            left = max(deadline - asked_at, 0.001)
            wait = min(_MAX_WAIT, math.floor(left * _WAIT_SHARE))
            try:
                receipt = self.get_receipt(receipt_id, wait=wait, timeout=max(left - wait, 0.001), max_retries=10**9)
            except OrdersError as error:
                if not error.is_retryable:
                    raise
                message = f"Not known to be final after {time.monotonic() - started_at:.1f} s: {error}"
                late = TimeoutError(message, error.request_id, receipt)
                late.retry_after = error.retry_after
                raise late from error
            if receipt["status"] in _FINAL:
                return receipt
            # A service that drains, or has too many waits, replies early.
            is_early = wait == 0 or time.monotonic() - asked_at < wait * _WAIT_SHARE
            pause = _backoff(early) if is_early else 0
            if is_early:
                early += 1
            # The last question is asked shortly before the deadline.
            spare = deadline - time.monotonic() - 0.5
            if spare <= 0:
                message = f'Still "{receipt["status"]}" after {time.monotonic() - started_at:.1f} s.'
                raise TimeoutError(message, None, receipt)
            time.sleep(min(pause, spare))

    def preview(
        self, order: Payload, *, timeout: float | None = None, max_retries: int | None = None
    ) -> dict[str, Any]:
        """Returns the order as it would be stored, with its warnings. Nothing is stored."""
        return self._post_json("/ingest/preview", _bytes_of(order), _read_preview, timeout, max_retries)

    def reconcile(
        self, source_order_ids: Sequence[str], *, timeout: float | None = None, max_retries: int | None = None
    ) -> dict[str, Any]:
        """Returns the outcome of up to 1,000 orders by your own ids: the newest receipt of each, or `never_seen`."""
        _reject_text(source_order_ids, "source_order_ids")
        body = _json_bytes({"source_order_ids": list(source_order_ids)})
        return self._post_json("/ingest/reconcile", body, _read_reconciled, timeout, max_retries)

    def cancel_order(
        self,
        source_order_id: str,
        *,
        reason: str | None = None,
        via: Literal["rest", "webhook"] = "rest",
        signing_secret: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
    ) -> dict[str, Any]:
        """Cancels an order. It is always safe to repeat.

        :param via: `webhook` signs the request, as `send_webhook` does.
        :returns: `outcome`: `cancelled`; `requested`, a person decides; `held`, until the order arrives; or `archived`.
        """
        body = _json_bytes(_cancellation(source_order_id, reason))
        return self._cancel(body, _read_cancelled, via, signing_secret, timeout, max_retries)

    def cancel_orders(
        self,
        orders: Iterable[str | Mapping[str, Any]],
        *,
        via: Literal["rest", "webhook"] = "rest",
        signing_secret: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
    ) -> dict[str, Any]:
        """Cancels 1 to 1,000 orders in one request, all or none: ids, or dicts of `source_order_id` and `reason`.

        :returns: `results` with the outcome of each, in the same order.
        """
        _reject_text(orders, "orders")
        cancellations = [_cancellation(order, None) if isinstance(order, str) else order for order in orders]
        body = _json_bytes({"cancellations": cancellations})
        read = _read_results(len(cancellations), _is_cancel_result)
        return self._cancel(body, read, via, signing_secret, timeout, max_retries)

    def get_events(
        self,
        *,
        after: str | int | None = None,
        limit: int | None = None,
        wait: float = 0,
        timeout: float | None = None,
        max_retries: int | None = None,
    ) -> dict[str, Any]:
        """Returns a page of the account's events, oldest first: `events`, `next` (the cursor of the next page), `more`.

        :param after: the `next` of a page, or the `sequence` of an event; `newest` skips all stored events (default: from
            the oldest stored event).
        :param limit: of the page, at most 1,000.
        :param wait: seconds, at most 30, that the service waits for an event before it replies with an empty page.
        """
        query = {}
        if after is not None:
            if not re.fullmatch(r"[0-9]{1,15}|newest", str(after)):
                raise ValueError('after must be the `next` of a page, the `sequence` of an event, or "newest".')
            query["after"] = str(after)
        if limit is not None:
            if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= _MAX_PAGE:
                raise ValueError(f"limit must be a whole number from 1 to {_MAX_PAGE}.")
            query["limit"] = str(limit)
        path = "/ingest/events" + (f"?{urllib.parse.urlencode(query)}" if query else "")
        return self._call("GET", path, _prefer(wait), None, _read_event_page, wait, timeout, max_retries)

    def events(self, *, after: str | int | None = None) -> Iterator[dict[str, Any]]:
        """Yields the account's events, oldest first, and waits for new ones for ever, also through an outage.

        After an event was processed, store its `data.sequence` and pass it as `after` when the program starts again.
        """
        early = failures = 0
        while True:
            asked_at = time.monotonic()
            try:
                page = self.get_events(after=after, limit=_MAX_PAGE, wait=_MAX_WAIT, max_retries=0)
            except OrdersError as error:
                if not error.is_retryable:
                    raise
                _pause(_backoff(failures) + (error.retry_after or 0), error)
                failures += 1
                continue
            failures = 0
            yield from page["events"]
            after = page["next"]
            # A service that drains, or has too many waits, replies early.
            if page["events"] or time.monotonic() - asked_at >= _MAX_WAIT * _WAIT_SHARE:
                early = 0
            else:
                time.sleep(_backoff(early))
                early += 1

    def _signature(self, body: bytes, signing_secret: str | None) -> dict[str, str]:
        secret = self._signing_secret if signing_secret is None else signing_secret
        if not secret:
            raise ValueError('A webhook needs the signing_secret of your account ("oss_…").')
        return {"x-service-signature": sign_body(body, secret)}

    def _cancel(self, body, read, via, signing_secret, timeout, max_retries) -> dict[str, Any]:
        if via == "rest":
            return self._post_json("/ingest/orders/cancel", body, read, timeout, max_retries)
        if via != "webhook":
            raise ValueError('via must be "rest" or "webhook".')
        signature = self._signature(body, signing_secret)
        return self._post_json("/ingest/webhook/cancel", body, read, timeout, max_retries, signature)

    def _post_json(self, path, body, read, timeout, max_retries, headers=None) -> dict[str, Any]:
        headers = {"Content-Type": "application/json", **(headers or {})}
        return self._post(path, headers, body, read, 0, timeout, max_retries)

    def _post(self, path, headers, body, read, wait, timeout, max_retries) -> dict[str, Any]:
        return self._call("POST", path, headers, body, read, wait, timeout, max_retries)

    def _call(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: bytes | None,
        read: _Read,
        wait: float,
        timeout: float | None,
        max_retries: int | None,
    ) -> dict[str, Any]:
        """Sends one call, and repeats it unchanged until there is a final reply."""
        timeout, max_retries = _read_limits(
            self._timeout if timeout is None else timeout, self._max_retries if max_retries is None else max_retries
        )
        request_id = str(uuid.uuid4())
        headers = {
            **headers,
            "Accept": "application/json, application/problem+json",
            "Authorization": f"Bearer {self._api_key}",
            "User-Agent": f"orders-python/{VERSION}",
            "X-Request-Id": request_id,
        }
        started_at = time.monotonic()
        deadline = started_at + timeout + wait
        share = timeout * _ATTEMPT_SHARE
        attempt = 0
        while True:
            left = max(0.001, deadline - time.monotonic())
            # All that is left, if no retry may follow or it would get less than a share.
            is_last = attempt >= max_retries or left - (share + wait) < share
            effort = (started_at, attempt + 1)
            try:
                reply = self._exchange(method, path, headers, body, left if is_last else share + wait, effort)
                return self._read_reply(reply, path, read, request_id)
            except OrdersError as error:
                pause = _backoff(attempt) + (error.retry_after or 0)
                if not error.is_retryable or attempt >= max_retries or time.monotonic() + pause >= deadline:
                    raise
                _pause(pause, error)
            attempt += 1

    def _exchange(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: bytes | None,
        limit: float,
        effort: tuple[float, int],
    ) -> tuple[int, http.client.HTTPMessage, bytes | None]:
        """Sends one request, and returns status, headers and body of the reply; the body is None above the limit."""
        url, ends_at = self._url, time.monotonic() + limit
        context = (self._ssl_context or _default_context()) if url.scheme == "https" else None
        host, port = url.hostname or "", url.port or (443 if context else 80)
        connection = http.client.HTTPConnection(host, port)
        if context:
            connection = http.client.HTTPSConnection(host, port, context=context)
        timed_out = threading.Event()
        failure: Exception
        try:
            sock = connection.sock = _connect(host, port, ends_at)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if context:
                sock.settimeout(_left(ends_at))
                sock = connection.sock = context.wrap_socket(sock, server_hostname=host)
            sock.settimeout(_left(ends_at))

            def end() -> None:
                # The timeout of the socket is for each read, so a server that sends a byte now and then would never
                # end. `connection.sock` is not used, as http.client drops it after `Connection: close`.
                timed_out.set()
                try:
                    socket.socket.shutdown(sock, socket.SHUT_RDWR)
                except OSError:
                    pass

            timer = threading.Timer(_left(ends_at), end)
            timer.daemon = True
            timer.start()
            try:
                try:
                    connection.request(method, url.path + path, body, headers)
                except (BrokenPipeError, ConnectionAbortedError, ConnectionResetError):
                    pass  # A server that rejects a body may reply before it has read all of it.
                with connection.getresponse() as response:
                    text = bytearray()
                    while len(text) <= _MAX_REPLY_BYTES:
                        part = response.read(65_536)
                        if not part:
                            break
                        text += part
                    if len(text) > _MAX_REPLY_BYTES:
                        return response.status, response.headers, None
                    # Reads of a limited size do not report a body that ends early.
                    if response.length or timed_out.is_set():
                        raise http.client.IncompleteRead(b"")
                    return response.status, response.headers, bytes(text)
            finally:
                timer.cancel()
        except (OSError, http.client.HTTPException) as error:
            failure = error
        finally:
            connection.close()
        # Outside of `except`, as an HTTPException can carry a part of the reply, and so of the order.
        cause = failure if isinstance(failure, OSError) else None
        spent = f"{time.monotonic() - effort[0]:.1f} s and {effort[1]} attempt{'s' if effort[1] > 1 else ''}"
        request_id = headers["X-Request-Id"]
        if timed_out.is_set() or isinstance(failure, socket.timeout) or time.monotonic() >= ends_at:
            raise TimeoutError(f"Timed out after {spent}: no reply.", request_id) from cause
        reason = getattr(failure, "strerror", None) or type(failure).__name__
        broken = ConnectionError(f"No reply from {url.scheme}://{url.netloc} after {spent}: {reason}.", request_id)
        broken.is_retryable = not isinstance(failure, ssl.SSLCertVerificationError)
        raise broken from cause

    def _read_reply(self, reply, path: str, read, request_id: str) -> dict[str, Any]:
        status, headers, text = reply
        media_type = headers.get("Content-Type") or "without a type"
        request_id = headers.get("X-Request-Id") or request_id
        body = _parse_object(text)
        if 200 <= status < 300:
            result = None if body is None else read(body, request_id)
            if result is not None:
                return result
            message = f"The reply ({status}, {media_type}) is not from the service; check base_url."
            raise OrdersError(message, "unexpected_reply", request_id)
        if 300 <= status < 400:
            message = "The address redirects; redirects are not followed, to protect the key."
            raise OrdersError(message, "unexpected_reply", request_id)
        problem = _read_problem(body) or {
            "type": "about:blank",
            "title": "Unexpected reply",
            "status": status,
            # It quotes nothing of the body, which may contain the request.
            "detail": f"A proxy or another server replied with {status} ({media_type}).",
            "code": "unexpected_reply",
        }
        problem["request_id"] = request_id
        hint = ""
        if status == 404 and problem["code"] in ("not_found", "unexpected_reply"):
            went_to = self._url.path + path.split("?")[0]
            hint = f" The request went to {went_to}; check base_url, to which the client appends the route."
        # By their codes: a 410 of a proxy says nothing about the cursor, nor a 421 about the account.
        kind = _BY_CODE.get(problem["code"]) or _BY_STATUS.get(status)
        by_range = ServerError if status >= 500 else InvalidRequestError
        raise (kind or by_range)(problem, status, _read_retry_after(headers), hint)


def sign_body(body: str | bytes, secret: str) -> str:
    """The value of `x-service-signature` for the exact bytes that will be sent: `sha256=` and 64 hexadecimal digits."""
    if not isinstance(secret, str) or not secret:
        raise ValueError("The signing secret is missing.")
    data = _utf8(body) if isinstance(body, str) else body
    return "sha256=" + hmac.new(_utf8(secret), data, hashlib.sha256).hexdigest()


class _Headers(Protocol):
    def items(self) -> Iterable[tuple[Any, Any]]: ...


def verify_event(body: str | bytes, headers: _Headers, secret: str | Sequence[str]) -> dict[str, Any]:
    """Verifies a delivered event (Standard Webhooks 1.0) in constant time, and returns it.

    :param body: the exact bytes received, before parsing.
    :param headers: of the request, in any case, such as `self.headers` or `request.headers`.
    :param secret: `whsec_…`; several during a rotation: a signature by any of them is valid.
    :raises VerificationError: when the request must be rejected.
    """
    keys = [_read_secret(one) for one in ([secret] if isinstance(secret, str) else secret or ())]
    if not keys:
        raise ValueError("The secret to verify with is missing.")
    if not isinstance(body, (str, bytes, bytearray)):
        raise TypeError("body must be the bytes or the text of the request, before parsing.")
    data = body.encode("utf-8", "replace") if isinstance(body, str) else bytes(body)
    identifier, timestamp, signatures = (
        _read_header(headers, name) for name in ("webhook-id", "webhook-timestamp", "webhook-signature")
    )
    if not re.fullmatch(r"[0-9]{1,12}", timestamp):
        raise VerificationError("webhook-timestamp is not a Unix time in seconds.")
    difference = int(timestamp) - math.floor(time.time())
    if abs(difference) > _TOLERANCE_SECONDS:
        relation = "before" if difference < 0 else "after"
        raise VerificationError(
            f"webhook-timestamp is {abs(difference)} seconds {relation} the clock of this machine; "
            f"at most {_TOLERANCE_SECONDS} are allowed."
        )
    signed = f"{identifier}.{timestamp}.".encode("utf-8", "replace") + data
    expected = [b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()) for key in keys]
    # All of them are compared, so that the time does not tell which one matches.
    given = [signature.encode("utf-8", "replace") for signature in signatures.split(" ")]
    matches = [hmac.compare_digest(one, other) for one in expected for other in given]
    if not any(matches):
        raise VerificationError("No signature matches: check the secret, and that the body is as it was received.")
    event = _parse_object(data)
    if event is None or not _is_event(event):
        raise VerificationError("The signature is valid, but the body is not an event.")
    return event


def _read_base_url(base_url: str) -> urllib.parse.SplitResult:
    message = 'base_url must be an address such as "https://orders.example.com", without a user, query or hash.'
    try:
        url = urllib.parse.urlsplit(base_url)
        is_valid = url.scheme in ("http", "https") and url.hostname and (url.port is None or url.port > 0)
        # http.client fails at names that this cannot encode.
        (url.hostname or "").encode("idna")
    except (ValueError, AttributeError, TypeError):
        is_valid = False
    if not is_valid or "@" in url.netloc or url.query or url.fragment or not re.fullmatch(r"[\x21-\x7e]+", base_url):
        raise ValueError(message)
    route = _ROUTE.search(url.path)
    if route:
        raise ValueError(f'base_url must be the address of the service without a route: leave out "{route[1]}".')
    return url._replace(path=url.path.rstrip("/"))


def _read_limits(timeout: float, max_retries: int) -> tuple[float, int]:
    if not _is_number(timeout) or not timeout > 0:
        raise ValueError("timeout must be a number of seconds above 0.")
    if not _is_number(max_retries) or not max_retries >= 0:
        raise ValueError("max_retries must be a number from 0.")
    # The longest timeout of a socket.
    return min(timeout, 10**6), max_retries


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _submit_headers(body: bytes, idempotency_key: str | None, strict: bool, wait: float) -> dict[str, str]:
    key = hashlib.sha256(body).hexdigest() if idempotency_key is None else idempotency_key
    if not isinstance(key, str) or not re.fullmatch(r"[\x21-\x7e]{1,255}", key):
        raise ValueError("idempotency_key must be a string of 1 to 255 visible ASCII characters.")
    preferences = [*(["handling=strict"] if strict else []), *_prefer(wait).values()]
    return {"Idempotency-Key": key, **({"Prefer": ", ".join(preferences)} if preferences else {})}


def _prefer(wait: float) -> dict[str, str]:
    if not _is_number(wait) or not 0 <= wait <= _MAX_WAIT:
        raise ValueError(f"wait must be a number of seconds from 0 to {_MAX_WAIT}.")
    return {"Prefer": f"wait={math.ceil(wait)}"} if wait > 0 else {}


def _reject_text(value: Any, name: str) -> None:
    """A text, bytes or a dict can be iterated too, but never is a list of orders."""
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise TypeError(f"{name} must be a list.")


def _json_bytes(value: Any) -> bytes:
    text = None
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_encode)
    except (ValueError, RecursionError):
        pass
    if text is None:
        raise ValueError("The order contains a number or a reference that JSON cannot express.")
    return _utf8(text)


def _encode(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, decimal.Decimal) and value.is_finite():
        return format(value, "f")
    raise TypeError(f"JSON cannot express this {type(value).__name__}.")


def _utf8(text: str) -> bytes:
    """The error of `encode` contains the text, as the context of any error that is raised while it is handled."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        pass
    raise ValueError("The text contains half of a surrogate pair, which is not a character.")


def _bytes_of(order: Payload) -> bytes:
    if isinstance(order, (bytes, bytearray)):
        return bytes(order)
    if isinstance(order, str):
        return _utf8(order)
    if not isinstance(order, Mapping):
        raise TypeError("An order must be a dict, or its JSON as str or bytes.")
    return _json_bytes(order)


def _line_of(order: Payload) -> bytes:
    """Line breaks become tabs: between JSON tokens the two are equivalent, and inside a string both are invalid. An
    empty order is sent as `null`, so that it is rejected at its position and not skipped."""
    line = re.sub(rb"[\r\n]", b"\t", _bytes_of(order))
    try:
        return line if line.decode().strip() else b"null"
    except UnicodeDecodeError:
        pass
    raise ValueError("An order of the batch is not UTF-8.")


def _cancellation(source_order_id: str, reason: str | None) -> dict[str, Any]:
    return {"source_order_id": source_order_id, **({} if reason is None else {"reason": reason})}


def _parse_object(text: bytes | None) -> dict[str, Any] | None:
    try:
        value = json.loads(text or b"")
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _read_problem(body: dict[str, Any] | None) -> dict[str, Any] | None:
    """An invalid list of errors is dropped; the problem stays."""
    if body is None or not _has_texts(body, "code", "detail"):
        return None
    errors = body.pop("errors", None)
    if isinstance(errors, list):
        body["errors"] = [error for error in errors if _has_texts(error, "pointer", "code", "detail")]
    return body


def _has_texts(value: Any, *names: str) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(name), str) for name in names)


def _read_retry_after(headers: http.client.HTTPMessage) -> float | None:
    """`Retry-After` in seconds, a day at most. A date is relative to the date of the reply, not to the local clock."""
    value = (headers.get("Retry-After") or "").strip()
    if re.fullmatch(r"[0-9]+", value):
        return min(float(value), _MAX_PAUSE)
    until = _read_date(value)
    if until is None:
        return None
    now = _read_date(headers.get("Date") or "")
    return min(max(0.0, until - (time.time() if now is None else now)), _MAX_PAUSE)


def _read_date(value: str) -> float | None:
    try:
        date = email.utils.parsedate_to_datetime(value)
        return (date if date.tzinfo else date.replace(tzinfo=datetime.timezone.utc)).timestamp()
    except (TypeError, ValueError, IndexError, OverflowError):
        return None


def _backoff(failures: int) -> float:
    """Exponential, capped and random, so that clients that failed together do not retry together."""
    return random.random() * min(8, 0.5 * 2 ** min(failures, 10))


def _read_accepted(body: dict[str, Any], request_id: str) -> dict[str, Any] | None:
    if not _has_texts(body, "receipt_id"):
        return None
    if body.get("payload_mismatch"):
        raise IdempotencyMismatchError(body, request_id)
    return body


def _pause(seconds: float, error: OrdersError) -> None:
    _log.warning("Retrying in %.1f s: %s", seconds, error)
    time.sleep(seconds)


def _left(ends_at: float) -> float:
    """The seconds left, for a socket, for which 0 has another meaning."""
    return max(0.001, ends_at - time.monotonic())


@functools.lru_cache(maxsize=None)
def _default_context() -> ssl.SSLContext:
    """Once for all, as it takes some 100 ms of CPU; and not of the client, which could no longer be pickled."""
    return ssl.create_default_context()


def _connect(host: str, port: int, ends_at: float) -> socket.socket:
    """Each address but the last gets half of the time left, so that a dead one leaves time for the next."""
    failure: OSError = socket.timeout()
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    for index, (*_, address) in enumerate(addresses, 1):
        left = ends_at - time.monotonic()
        if left <= 0:
            break
        try:
            return socket.create_connection((str(address[0]), port), left if index == len(addresses) else left / 2)
        except OSError as error:
            failure = error
    raise failure


def _read_results(count: int, is_result: Callable[[Any], bool]) -> _Read:
    def read(body: dict[str, Any], request_id: str) -> dict[str, Any] | None:
        results = body.get("results")
        if not isinstance(results, list) or not all(is_result(result) for result in results):
            return None
        if len(results) != count:
            message = f"The reply has {len(results)} results for {count} orders."
            raise OrdersError(message, "unexpected_reply", request_id)
        return body

    return read


def _is_batch_result(result: Any) -> bool:
    if not isinstance(result, dict):
        return False
    if "error" not in result:
        return _has_texts(result, "receipt_id")
    return _has_texts(result["error"], "code", "detail") and "receipt_id" not in result


def _is_cancel_result(result: Any) -> bool:
    return _has_texts(result, "outcome", "source_order_id")


def _read_cancelled(body: dict[str, Any], _: str) -> dict[str, Any] | None:
    return body if _is_cancel_result(body) else None


def _read_receipt(body: dict[str, Any], _: str) -> dict[str, Any] | None:
    return body if _has_texts(body, "receipt_id", "status") else None


def _read_preview(body: dict[str, Any], _: str) -> dict[str, Any] | None:
    return body if isinstance(body.get("normalized"), dict) else None


def _read_reconciled(body: dict[str, Any], _: str) -> dict[str, Any] | None:
    results = body.get("results")
    is_valid = isinstance(results, list) and all(_has_texts(one, "source_order_id", "status") for one in results)
    return body if is_valid else None


def _read_event_page(body: dict[str, Any], _: str) -> dict[str, Any] | None:
    events = body.get("events")
    is_valid = _has_texts(body, "next") and isinstance(events, list) and all(_is_event(event) for event in events)
    return body if is_valid else None


def _is_event(value: Any) -> bool:
    return _has_texts(value, "id", "type", "timestamp") and isinstance(value.get("data"), dict)


def _read_secret(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret[len("whsec_") :], validate=True) if secret.startswith("whsec_") else b""
    except (binascii.Error, ValueError, AttributeError):
        key = b""
    if not key:
        raise ValueError('The secret must be "whsec_" and base64.')
    return key


def _read_header(headers: _Headers, name: str) -> str:
    """Several values are joined, so that a header that was added to the request makes the signature invalid."""
    value = " ".join(str(value) for key, value in headers.items() if str(key).lower() == name).strip()
    if not value:
        raise VerificationError(f"The header {name} is missing.")
    return value
