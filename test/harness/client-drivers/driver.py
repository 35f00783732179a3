"""Makes calls: see client-drivers.ts."""

import itertools
import json
import logging
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])

import orders  # noqa: E402

# Warnings of retries would be printed as errors.
logging.disable()


def run(given, method, args, options):
    if method in ("sign_body", "verify_event"):
        return getattr(orders, method)(*args, **options)
    client = orders.OrdersClient(**given)
    if method != "events":
        return getattr(client, method)(*args, **options)
    take = options.pop("take")
    return list(itertools.islice(client.events(**options), take))


def outcome(given, method, args, options):
    try:
        return {"ok": run(given, method, args, options)}
    except orders.OrdersError as error:
        return {
            "error": {
                "kind": type(error).__name__.replace("Error", ""),
                "code": error.code,
                "status": error.status,
                "retry_after": error.retry_after,
                "request_id": error.request_id,
                "is_retryable": error.is_retryable,
                "errors": getattr(error, "errors", []),
                "installation_url": getattr(error, "installation_url", None),
                "kept_as": getattr(error, "kept_as", None),
                "receipt": getattr(error, "receipt", None),
                "message": str(error),
            }
        }
    except (TypeError, ValueError) as error:
        return {"misuse": str(error)}


print(json.dumps([outcome(*(call[name] for name in ("client", "method", "args", "options"))) for call in json.load(sys.stdin)]))
