"""An agent in Python, with the package that `npm run wheel` builds. WRIT_URL and WRIT_API_KEY name the service and the key."""

import math

import writ

client = writ.Writ(wait=0)


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
            client.run("mail.send", mail, lambda _: deliver(**mail), wait=math.inf)
    except writ.DeniedError as denied:
        print(f"not sent: {denied.decision.reason}", flush=True)
