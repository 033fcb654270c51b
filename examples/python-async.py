"""An agent on asyncio that sends its mails at the same time: one waits for people, and the others go on."""

import asyncio
import math

import writ

client = writ.AsyncWrit(wait=0)


async def deliver(to: str, text: str) -> None:
    """The tool. Here it prints; yours has a mail server."""
    print(f"sent to {to}", flush=True)


async def send(to: str, text: str) -> None:
    try:
        try:
            await client.guard("mail.send")(deliver)(to, text)
        except writ.PendingError as waiting:
            print(f"waits for people: {waiting.decision.url}", flush=True)
            # The same call again comes back to the same request, and is held until people have decided.
            await client.guard("mail.send", wait=math.inf)(deliver)(to, text)
    except writ.DeniedError as denied:
        print(f"not sent: {denied.decision.reason}", flush=True)


async def main() -> None:
    await asyncio.gather(
        send("bo@example.com", "Lunch at noon?"),
        send("kim@shop.example", "Your parcel is on its way."),
        send("max@rival.example", "Our prices for next year."),
    )


asyncio.run(main())
