"""An agent in Python, with the one file that it needs: integrations/python/writ.py."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "integrations", "python"))
import writ  # noqa: E402

client = writ.Writ(os.environ.get("WRIT_URL", "http://127.0.0.1:8181"), os.environ["WRIT_API_KEY"], wait=0)


def deliver(*, to, text):
    """The tool. Here it prints; yours has a mail server."""
    print(f"sent to {to}", flush=True)


send = client.guard("mail.send")(deliver)


MAILS = [
    {"to": "bo@example.com", "text": "Lunch at noon?"},
    {"to": "kim@shop.example", "text": "Your parcel is on its way."},
    {"to": "max@rival.example", "text": "Our prices for next year."},
]

for mail in MAILS:
    try:
        try:
            send(**mail)
        except writ.PendingError as waiting:
            print(f"waits for people: {waiting.decision.url}", flush=True)
            # The same call again comes back to the same request, and is held until people have decided.
            client.run("mail.send", mail, lambda _: deliver(**mail), wait=4 * 3600)
    except writ.DeniedError as denied:
        print(f"not sent: {denied.decision.reason}", flush=True)
